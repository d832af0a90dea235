package index

import (
	"encoding/binary"

	"chainexplorer/internal/store"
)

// ends are the lists that lose their last rows when blocks are undone. A list that many
// of these blocks wrote to is cut once, where the oldest of them wrote: everything behind
// it is of blocks that go. Blocks come newest first.
type ends struct {
	number *[256]int8     // where numbers of blocks stand: see Replayer
	at     map[string]int // the list's number, by what its rows' keys begin with
	list   []end
	keys   keyMemory
	buf    []byte
}

// end is where a list is to end.
type end struct {
	key  store.Key // of a row of the oldest block so far
	many bool      // it is not the only row
}

// add notes that a row of a block goes. It is false for a row that is in no list by the
// order of blocks.
func (e *ends) add(block uint64, k store.Key) bool {
	at := int(e.number[k.Table.ID])
	if at < 0 || len(k.Sort) < at+8 || binary.BigEndian.Uint64(k.Sort[at:]) != block {
		return false
	}
	e.buf = overlayKey(e.buf, store.Key{Table: k.Table, Partition: k.Partition, Sort: k.Sort[:at]})
	if i, there := e.at[string(e.buf)]; there {
		copy(e.list[i].key.Sort[at:], k.Sort[at:at+8])
		e.list[i].many = true
		return true
	}
	e.at[string(e.buf)] = len(e.list)
	e.list = append(e.list, end{key: e.keys.own(k)})
	return true
}

// put adds the changes to a commit: a row that goes alone is a row, others are a part of
// the list.
func (e *ends) put(b *store.Batch) {
	for i := range e.list {
		k := &e.list[i].key
		if !e.list[i].many {
			b.Delete(*k)
			continue
		}
		at := int(e.number[k.Table.ID])
		cut := store.Cut{Table: k.Table, Partition: k.Partition, From: k.Sort[:at+8]}
		if at > 0 {
			cut.To = store.PrefixEnd(k.Sort[:at])
		}
		b.Cut(cut)
	}
}

// endBytes is what a list takes in memory beside its keys, about.
const endBytes = 250

// bytes is about how much memory the lists take.
func (e *ends) bytes() int { return e.keys.bytes*2 + endBytes*len(e.list) }

// keyMemory is where keys are kept whose own memory holds far more than them.
type keyMemory struct {
	chunk []byte
	bytes int
}

const keyChunk = 64 << 10

// own copies a key.
func (m *keyMemory) own(k store.Key) store.Key {
	n := len(k.Partition) + len(k.Sort)
	if cap(m.chunk)-len(m.chunk) < n {
		m.chunk = make([]byte, 0, max(n, keyChunk))
	}
	m.bytes += n
	from := len(m.chunk)
	m.chunk = append(append(m.chunk, k.Partition...), k.Sort...)
	b := m.chunk[from:len(m.chunk):len(m.chunk)]
	p := len(k.Partition)
	return store.Key{Table: k.Table, Partition: b[:p:p], Sort: b[p:]}
}
