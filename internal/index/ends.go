package index

import (
	"encoding/binary"

	"chainexplorer/internal/store"
)

// ends are the lists that lose their last rows when blocks are undone. A list that many
// of these blocks wrote to is cut once, where the oldest of them wrote: everything behind
// it is of blocks that go. Blocks come newest first.
type ends struct {
	number *[256]int8 // where numbers of blocks stand: see Replayer
	names  register   // of lists: what their rows' keys begin with
	list   []end
	tails  []byte // of the first rows that were seen, what stands behind the names
	last   int    // the list of the row before
}

// end is where a list is to end.
type end struct {
	table  *store.Table
	oldest uint64 // block
	rows   int
	tail   int // where it is in tails
}

// add notes that a row of a block goes. It is false for a row that is in no list by the
// order of blocks. The key is in the form that overlayKey makes.
func (e *ends) add(block uint64, t *store.Table, key []byte) bool {
	number := int(e.number[t.ID])
	if number < 0 {
		return false
	}
	at := 1 + t.PartitionLen + number
	if len(key) < at+8 || binary.BigEndian.Uint64(key[at:]) != block {
		return false
	}
	// A block's transactions come one behind the other.
	if name := key[:at]; len(e.list) == 0 || string(e.names.at(e.last)) != string(name) {
		i, known := e.names.number(name)
		if !known {
			e.list = append(e.list, end{table: t, tail: len(e.tails)})
			e.tails = append(e.tails, key[at:]...)
		}
		e.last = i
	}
	l := &e.list[e.last]
	l.oldest = block
	l.rows++
	return true
}

// put adds the changes to a commit: a row that goes alone is a row, others are a part of
// the list.
func (e *ends) put(b *store.Batch) {
	var buf []byte
	for i := range e.list {
		l := &e.list[i]
		name := e.names.key(i, l.table)
		if l.rows == 1 {
			end := len(e.tails)
			if i+1 < len(e.list) {
				end = e.list[i+1].tail
			}
			buf = append(append(buf[:0], name.Sort...), e.tails[l.tail:end]...)
			b.Delete(store.Key{Table: l.table, Partition: name.Partition, Sort: buf})
			continue
		}
		cut := store.Cut{Table: l.table, Partition: name.Partition, From: make([]byte, 0, len(name.Sort)+8)}
		cut.From = binary.BigEndian.AppendUint64(append(cut.From, name.Sort...), l.oldest)
		if len(name.Sort) > 0 {
			cut.To = store.PrefixEnd(name.Sort)
		}
		b.Cut(cut)
	}
}

// endBytes is what a list takes in memory beside its name, about.
const endBytes = 200

// bytes is about how much memory the lists take.
func (e *ends) bytes() int { return e.names.bytes() + cap(e.tails) + endBytes*len(e.list) }
