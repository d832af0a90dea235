package index

import (
	"bytes"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/names"
)

// register numbers the keys of rows in the order in which they first come. It has its own
// copy of each, in pieces of memory without pointers. Keys are in the form that overlayKey
// makes.
type register struct {
	names names.Table // of list
	list  []entry
	// chunks hold the keys. The last in use is the one at fill.
	chunks [][]byte
	fill   int
}

// entry is a key: its hash, and where it lies.
type entry struct{ hash, chunk, from, size uint32 }

const registerChunk = 64 << 10

// at is the key of a number. It stays where it is until reset.
func (r *register) at(i int) []byte {
	e := &r.list[i]
	return r.chunks[e.chunk][e.from : e.from+e.size : e.from+e.size]
}

// key is the same as a key of its table.
func (r *register) key(i int, t *store.Table) store.Key {
	b, p := r.at(i), 1+t.PartitionLen
	return store.Key{Table: t, Partition: b[1:p:p], Sort: b[p:]}
}

// bytes is how much memory it takes, about.
func (r *register) bytes() int {
	return registerChunk*r.fill + 16*len(r.list) + r.names.Bytes()
}

// number is that of a key. One that was not known gets the next.
func (r *register) number(key []byte) (i int, known bool) { return r.numberOf(hashOf(key), key) }

// numberOf is number of a key that has been hashed.
func (r *register) numberOf(hash uint32, key []byte) (i int, known bool) {
	i = r.names.Find(hash, func(at int) bool { return bytes.Equal(r.at(at), key) })
	if i >= 0 {
		return i, true
	}
	chunk := r.room(len(key))
	i = len(r.list)
	r.list = append(r.list, entry{hash, uint32(r.fill), uint32(len(*chunk)), uint32(len(key))})
	*chunk = append(*chunk, key...)
	r.names.Add(hash, i)
	return i, false
}

// touch looks at the memory of the keys that hashes may be of, all at once: see
// store.Changes.Touch.
//
//go:noinline
func (r *register) touch(hashes []uint32) (sum byte) {
	for _, hash := range hashes {
		if i := r.names.Likely(hash); i >= 0 {
			e := &r.list[i]
			sum += r.chunks[e.chunk][e.from]
		}
	}
	return sum
}

// room is a chunk that has room for so many bytes.
func (r *register) room(size int) *[]byte {
	for ; r.fill < len(r.chunks); r.fill++ {
		if c := &r.chunks[r.fill]; cap(*c)-len(*c) >= size {
			return c
		}
	}
	r.chunks = append(r.chunks, make([]byte, 0, max(size, registerChunk)))
	return &r.chunks[r.fill]
}

// reset forgets the keys and keeps the memory.
func (r *register) reset() {
	r.names.Reset()
	r.list = r.list[:0]
	for i := range r.chunks {
		r.chunks[i] = r.chunks[i][:0]
	}
	r.fill = 0
}
