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
	last   int // the list of the row before, whose name is in buf
}

// end is where a list is to end.
type end struct {
	key    store.Key // of the first row that was seen
	oldest uint64    // block
	rows   int
}

// add notes that a row of a block goes. It is false for a row that is in no list by the
// order of blocks.
func (e *ends) add(block uint64, k store.Key) bool {
	at := int(e.number[k.Table.ID])
	if at < 0 || len(k.Sort) < at+8 || binary.BigEndian.Uint64(k.Sort[at:]) != block {
		return false
	}
	name := store.Key{Table: k.Table, Partition: k.Partition, Sort: k.Sort[:at]}
	if !e.named(name) {
		e.buf = overlayKey(e.buf, name)
		i, there := e.at[string(e.buf)]
		if !there {
			i = len(e.list)
			e.at[string(e.buf)] = i
			e.list = append(e.list, end{key: e.keys.own(k)})
		}
		e.last = i
	}
	l := &e.list[e.last]
	l.oldest = block
	l.rows++
	return true
}

// named says whether a list is that of the row before, as a block's transactions are.
func (e *ends) named(k store.Key) bool {
	p := 1 + len(k.Partition)
	return len(e.buf) == p+len(k.Sort) && e.buf[0] == k.Table.ID &&
		string(e.buf[1:p]) == string(k.Partition) && string(e.buf[p:]) == string(k.Sort)
}

// put adds the changes to a commit: a row that goes alone is a row, others are a part of
// the list.
func (e *ends) put(b *store.Batch) {
	for i := range e.list {
		l := &e.list[i]
		k := l.key
		if l.rows == 1 {
			b.Delete(k)
			continue
		}
		at := int(e.number[k.Table.ID])
		binary.BigEndian.PutUint64(k.Sort[at:], l.oldest)
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
