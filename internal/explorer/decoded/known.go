package decoded

import "chainexplorer/internal/felt"

// byClass is what is known of the classes of a page, each once. A page has few: they are looked through one by one,
// and where there are more a map finds them.
type byClass[T any] struct {
	hashes []felt.Felt
	values []T
	places map[felt.Felt]int // nil while there are few
}

// fewClasses are as many as are looked through sooner than a map is made.
const fewClasses = 12

// find returns the place of a class, and -1 for one that is not there.
func (b *byClass[T]) find(h *felt.Felt) int {
	if b.places != nil {
		if i, ok := b.places[*h]; ok {
			return i
		}
		return -1
	}
	for i := range b.hashes {
		if b.hashes[i].Is(h) {
			return i
		}
	}
	return -1
}

// of returns what is known of a class; the zero value of one that is not there.
func (b *byClass[T]) of(h *felt.Felt) (value T) {
	if i := b.find(h); i >= 0 {
		return b.values[i]
	}
	return value
}

// set says what is known of a class.
func (b *byClass[T]) set(h *felt.Felt, value T) {
	if i := b.find(h); i >= 0 {
		b.values[i] = value
		return
	}
	b.hashes, b.values = append(b.hashes, *h), append(b.values, value)
	if n := len(b.hashes); b.places != nil {
		b.places[*h] = n - 1
	} else if n > fewClasses {
		b.places = make(map[felt.Felt]int, 2*n)
		for i := range b.hashes {
			b.places[b.hashes[i]] = i
		}
	}
}

// reset lets go of all classes, and keeps the memory of few.
func (b *byClass[T]) reset() {
	if b.places != nil {
		*b = byClass[T]{}
		return
	}
	clear(b.values)
	b.hashes, b.values = b.hashes[:0], b.values[:0]
}
