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

	rows   []losing // of the block that is being undone
	hashes []uint32 // of the names of their lists
}

// end is where a list is to end.
type end struct {
	table  *store.Table
	oldest uint64 // block
	rows   int
	tail   int // where it is in tails
}

// losing are rows of a block that are one behind the other in a list.
type losing struct {
	table *store.Table
	key   []byte // of the first
	name  int    // how much of it is the list's name
	rows  int
}

// add notes that a row of a block goes. It is false for a row that is in no list by the
// order of blocks. The key is in the form that overlayKey makes, and is looked at until
// the block is done.
func (e *ends) add(block uint64, t *store.Table, key []byte) bool {
	number := int(e.number[t.ID])
	if number < 0 {
		return false
	}
	name := 1 + t.PartitionLen + number
	if len(key) < name+8 || binary.BigEndian.Uint64(key[name:]) != block {
		return false
	}
	if n := len(e.rows); n > 0 && string(e.rows[n-1].key[:e.rows[n-1].name]) == string(key[:name]) { // as a block's transactions are
		e.rows[n-1].rows++
		return true
	}
	e.rows = append(e.rows, losing{t, key, name, 1})
	e.hashes = append(e.hashes, hashOf(key[:name]))
	return true
}

// done finds the lists of a block's rows.
func (e *ends) done(block uint64) {
	e.names.touch(e.hashes)
	for i := range e.rows {
		r := &e.rows[i]
		n, known := e.names.numberOf(e.hashes[i], r.key[:r.name])
		if !known {
			e.list = append(e.list, end{table: r.table, tail: len(e.tails)})
			e.tails = append(e.tails, r.key[r.name:]...)
		}
		l := &e.list[n]
		l.oldest = block
		l.rows += r.rows
	}
	e.rows, e.hashes = e.rows[:0], e.hashes[:0]
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
