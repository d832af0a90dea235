package simnode

import "sort"

// history is a table of values by key that remembers at which block each one
// changed. It is both the chain's state and its ground truth: the state is the
// newest version, a question about the past is a search, and a fork cuts the
// newest versions off again.
//
// When keep is false only the newest version is held, for chains that are
// streamed and never asked.
type history[K comparable, V any] struct {
	keep bool
	rows map[K][]version[V]
	// log lists the changes in order of their blocks: what a fork undoes.
	log []change[K]
}

type version[V any] struct {
	block uint64
	value V
}

type change[K comparable] struct {
	block uint64
	key   K
}

func newHistory[K comparable, V any](keep bool) *history[K, V] {
	return &history[K, V]{keep: keep, rows: map[K][]version[V]{}}
}

// get is the newest value, or the zero value.
func (h *history[K, V]) get(k K) (v V) {
	if vs := h.rows[k]; len(vs) > 0 {
		return vs[len(vs)-1].value
	}
	return v
}

// at is the value after a block.
func (h *history[K, V]) at(k K, block uint64) (v V, ok bool) {
	vs := h.rows[k]
	i := sort.Search(len(vs), func(i int) bool { return vs[i].block > block })
	if i == 0 {
		return v, false
	}
	return vs[i-1].value, true
}

func (h *history[K, V]) set(block uint64, k K, v V) {
	vs := h.rows[k]
	if n := len(vs); n > 0 && vs[n-1].block == block {
		vs[n-1].value = v
		return
	}
	h.log = append(h.log, change[K]{block, k})
	if !h.keep && len(vs) > 0 {
		vs[0] = version[V]{block, v}
		return
	}
	h.rows[k] = append(vs, version[V]{block, v})
}

// changed calls fn for each key that the newest block changed, in order of
// first change.
func (h *history[K, V]) changed(block uint64, fn func(K, V)) {
	i := len(h.log)
	for i > 0 && h.log[i-1].block == block {
		i--
	}
	for _, c := range h.log[i:] {
		fn(c.key, h.get(c.key))
	}
}

// rollback forgets everything at or above a block.
func (h *history[K, V]) rollback(from uint64) {
	n := len(h.log)
	for ; n > 0 && h.log[n-1].block >= from; n-- {
		k := h.log[n-1].key
		vs := h.rows[k]
		if len(vs) == 1 {
			delete(h.rows, k)
		} else {
			h.rows[k] = vs[:len(vs)-1]
		}
	}
	h.log = h.log[:n]
}

// endBlock drops what a streamed chain will not need.
func (h *history[K, V]) endBlock() {
	if !h.keep {
		h.log = h.log[:0]
	}
}

// list is a sequence whose items belong to the block that appended them.
type list[T any] struct {
	items  []T
	blocks []uint64
}

func (l *list[T]) add(block uint64, item T) int {
	l.items = append(l.items, item)
	l.blocks = append(l.blocks, block)
	return len(l.items) - 1
}

func (l *list[T]) len() int { return len(l.items) }

// until is how many items existed after a block.
func (l *list[T]) until(block uint64) int {
	return sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i] > block })
}

func (l *list[T]) rollback(from uint64) {
	if from == 0 {
		l.items, l.blocks = l.items[:0], l.blocks[:0]
		return
	}
	n := l.until(from - 1)
	clear(l.items[n:])
	l.items, l.blocks = l.items[:n], l.blocks[:n]
}
