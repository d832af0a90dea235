package decoded

import (
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/felt"
)

// byClass is what is known of the classes of a page, each once.
type byClass[T any] struct {
	classes numbering.Few
	values  []T // by the numbers of the classes
}

// of returns what is known of a class; the zero value of one that is not there.
func (b *byClass[T]) of(h *felt.Felt) (value T) {
	if n := b.classes.Find(h); n >= 0 {
		return b.values[n]
	}
	return value
}

// set says what is known of a class.
func (b *byClass[T]) set(h *felt.Felt, value T) {
	n, fresh := b.classes.Number(h)
	if fresh {
		b.values = append(b.values, value)
		return
	}
	b.values[n] = value
}

// reset lets go of all classes.
func (b *byClass[T]) reset() {
	b.classes.Reset()
	clear(b.values)
	b.values = b.values[:0]
}
