package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Changes is a list of changes, packed: keys and values lie one behind the other in a few
// pieces of memory, and what is kept of each change is small and has no pointers. Commits
// of a chain that is being caught up with have hundreds of thousands of them, which are
// visited in the order of their keys: what they cost is above all the memory that is
// touched, and what the collector of garbage has to look through.
type Changes struct {
	list   []Change
	pieces [][]byte // as long as they can become
	room   []byte   // what is written of the piece that is being filled, with its number
	filled uint32
	tables *[256]*Table // by id, those of the changes
	bytes  int
	held   int   // bytes of its own pieces
	bad    error // of the first change that no store can take
}

// Change is one of Changes. Its key and value are asked of those.
type Change struct {
	// Word is the first eight bytes of the key, zeros behind its end. Whoever sorts
	// copies of changes may use it for other bytes.
	Word   uint64
	at     uint32
	piece  uint32
	value  uint32 // bytes
	key    uint16 // bytes
	ID     byte   // of its table
	Delete bool
}

// pieceBytes is how much memory Changes take at a time, beyond what was reserved.
const pieceBytes = 16 << 10

// Reserve makes room for about so many changes and so many bytes of keys and values.
func (c *Changes) Reserve(changes, bytes int) {
	if cap(c.list) < changes {
		c.list = make([]Change, 0, changes)
	}
	if bytes > 0 {
		c.newPiece(changes + bytes + bytes/16)
	}
}

func (c *Changes) newPiece(size int) {
	c.filled = uint32(len(c.pieces))
	c.room = make([]byte, 0, size)
	c.pieces = append(c.pieces, c.room[:size])
	c.held += size
}

// Put sets a row.
func (c *Changes) Put(t *Table, partition, sort, value []byte) {
	c.add(t, partition, sort, value, false)
}

// Delete removes a row.
func (c *Changes) Delete(t *Table, partition, sort []byte) { c.add(t, partition, sort, nil, true) }

func (c *Changes) add(t *Table, partition, sort, value []byte, gone bool) {
	n := 1 + len(partition) + len(sort)
	c.bytes += n - 1 + len(value)
	if c.tables == nil {
		c.tables = new([256]*Table)
	}
	if t == nil || c.tables[t.ID] != t || len(partition) != t.PartitionLen || t.SortLen != 0 && len(sort) != t.SortLen ||
		n > 1+MaxKeyBytes || len(value) > math.MaxInt32 {
		if !c.fits(t, partition, sort, value) {
			return
		}
	}
	if cap(c.room)-len(c.room) < n+len(value) {
		c.newPiece(max(n+len(value), pieceBytes))
	}
	at := len(c.room)
	c.room = append(c.room, t.ID)
	c.room = append(c.room, partition...)
	c.room = append(c.room, sort...)
	var word uint64
	if len(partition) >= 8 { // as most: what was just written is not read again
		word = uint64(t.ID)<<56 | binary.BigEndian.Uint64(partition)>>8
	} else {
		word = keyWord(c.room[at:], 0)
	}
	c.room = append(c.room, value...)
	c.list = append(c.list, Change{
		Word: word, at: uint32(at), piece: c.filled,
		key: uint16(n), value: uint32(len(value)), ID: t.ID, Delete: gone,
	})
}

// Copy adds a copy of another list's change, as it stands there. What is wrong with the
// other is not known by that: see Heed.
func (c *Changes) Copy(other *Changes, ch *Change) {
	row := other.Row(ch)
	if cap(c.room)-len(c.room) < len(row) {
		c.newPiece(max(len(row), pieceBytes))
	}
	if c.tables == nil || c.tables[ch.ID] == nil {
		c.heedTable(other.tables[ch.ID])
	}
	to := *ch
	to.at, to.piece = uint32(len(c.room)), c.filled
	c.room = append(c.room, row...)
	c.list = append(c.list, to)
	c.bytes += ch.Size()
}

// MoveLast puts the last change in the place of an earlier one, which goes.
func (c *Changes) MoveLast(i int) {
	last := len(c.list) - 1
	c.bytes -= c.list[i].Size()
	c.list[i] = c.list[last]
	c.list = c.list[:last]
}

// Held is how many bytes of memory of its own the keys and values take, also those of
// changes that went.
func (c *Changes) Held() int { return c.held }

// fits notes a table that is new here, and what is wrong with a change.
func (c *Changes) fits(t *Table, partition, sort, value []byte) bool {
	var err error
	switch {
	case t == nil:
		err = fmt.Errorf("%w: no table", ErrInvalid)
	case c.tables[t.ID] != nil && *c.tables[t.ID] != *t:
		err = fmt.Errorf("%w: tables %q and %q have the same id %d", ErrInvalid, c.tables[t.ID].Name, t.Name, t.ID)
	default:
		if c.tables[t.ID] == nil {
			c.tables[t.ID] = t
		}
		err = checkKeyLen(t, len(partition), len(sort))
		if err == nil && len(value) > math.MaxInt32 {
			err = fmt.Errorf("%w: a value of table %q has %d bytes", ErrInvalid, t.Name, len(value))
		}
	}
	if err != nil && c.bad == nil {
		c.bad = fmt.Errorf("change %d of the batch: %w", len(c.list), err)
	}
	return err == nil
}

// keyWord is eight bytes of a key, zeros behind its end.
func keyWord(key []byte, from int) uint64 {
	if from+8 <= len(key) {
		return binary.BigEndian.Uint64(key[from:])
	}
	var b [8]byte
	if from < len(key) {
		copy(b[:], key[from:])
	}
	return binary.BigEndian.Uint64(b[:])
}

// Len is the number of changes.
func (c *Changes) Len() int { return len(c.list) }

// Bytes is the size of all keys and values.
func (c *Changes) Bytes() int { return c.bytes }

// List returns the changes in the order in which they were made. The caller must not
// change them.
func (c *Changes) List() []Change { return c.list }

// Key is the id of a change's table, its partition and its sort, one behind the other.
func (c *Changes) Key(ch *Change) []byte {
	end := ch.at + uint32(ch.key)
	return c.pieces[ch.piece][ch.at:end:end]
}

// KeyWord is eight bytes of a change's key, zeros behind its end.
func (c *Changes) KeyWord(ch *Change, from int) uint64 { return keyWord(c.Key(ch), from) }

// Value is what a change sets a row to, empty if that goes.
func (c *Changes) Value(ch *Change) []byte {
	at := ch.at + uint32(ch.key)
	end := at + ch.value
	return c.pieces[ch.piece][at:end:end]
}

// Row is the key and behind it the value.
func (c *Changes) Row(ch *Change) []byte {
	end := ch.at + uint32(ch.key) + ch.value
	return c.pieces[ch.piece][ch.at:end:end]
}

// Table is a change's.
func (c *Changes) Table(ch *Change) *Table { return c.tables[ch.ID] }

// Size is that of a change's key and value.
func (ch *Change) Size() int { return int(ch.key) - 1 + int(ch.value) }

// Touch looks at the memory of changes. Where it is not in the processor's cache, looking
// at many at once takes little more time than looking at one. The sum is of no use, but
// without it nothing would be looked at.
//
//go:noinline
func (c *Changes) Touch(list []Change) (sum byte) {
	for i := range list {
		ch := &list[i]
		piece := c.pieces[ch.piece]
		sum += piece[ch.at] + piece[ch.at+uint32(ch.key)+ch.value-1]
	}
	return sum
}

// Op is a change by itself, cut from the memory of all.
func (c *Changes) Op(ch *Change) Op {
	key, t := c.Key(ch), c.tables[ch.ID]
	p := 1 + t.PartitionLen
	op := Op{Key: Key{Table: t, Partition: key[1:p:p], Sort: key[p:]}, Delete: ch.Delete}
	if !ch.Delete {
		op.Value = c.Value(ch)
	}
	return op
}

// AppendOps appends the changes.
func (c *Changes) AppendOps(ops []Op) []Op {
	for i := range c.list {
		ops = append(ops, c.Op(&c.list[i]))
	}
	return ops
}

// Last is what the last change of a row sets it to, nil if that goes; false if there is
// none.
func (c *Changes) Last(k Key) (value []byte, changed bool) {
	for i := len(c.list) - 1; i >= 0; i-- {
		ch := &c.list[i]
		if ch.ID != k.Table.ID {
			continue
		}
		key := c.Key(ch)[1:]
		if p := len(k.Partition); len(key) == p+len(k.Sort) && bytes.Equal(key[:p], k.Partition) && bytes.Equal(key[p:], k.Sort) {
			if ch.Delete {
				return nil, true
			}
			return c.Value(ch), true
		}
	}
	return nil, false
}

// Tables are those of the changes, in the order of their ids.
func (c *Changes) Tables() (list []*Table) {
	if c.tables == nil {
		return nil
	}
	for _, t := range c.tables {
		if t != nil {
			list = append(list, t)
		}
	}
	return list
}

// Heed makes what is wrong with another list wrong with this one, which takes changes of it.
func (c *Changes) Heed(other *Changes) {
	if other.tables != nil {
		for _, t := range other.tables {
			if t != nil {
				c.heedTable(t)
			}
		}
	}
	if c.bad == nil {
		c.bad = other.bad
	}
}

func (c *Changes) heedTable(t *Table) {
	if c.tables == nil {
		c.tables = new([256]*Table)
	}
	switch known := c.tables[t.ID]; {
	case known == nil:
		c.tables[t.ID] = t
	case known != t && *known != *t && c.bad == nil:
		c.bad = fmt.Errorf("%w: tables %q and %q have the same id %d", ErrInvalid, known.Name, t.Name, t.ID)
	}
}

// Share makes the memory of another list's changes that of this one as well, so that it
// can hold them. The other may not be reset before this one is.
func (c *Changes) Share(other *Changes) Shared {
	c.Heed(other)
	first := uint32(len(c.pieces))
	c.pieces = append(c.pieces, other.pieces...)
	return Shared{c, first}
}

// Shared is how a list comes to changes of another.
type Shared struct {
	c     *Changes
	first uint32 // of the other's pieces
}

// Append adds a change of the other list.
func (s Shared) Append(ch Change) {
	ch.piece += s.first
	s.c.list = append(s.c.list, ch)
	s.c.bytes += ch.Size()
}

// Replace puts a change of the other list where one of the same row is.
func (s Shared) Replace(i int, ch Change) {
	ch.piece += s.first
	s.c.bytes += ch.Size() - s.c.list[i].Size()
	s.c.list[i] = ch
}

// Reset empties the list and keeps memory of it: also what keys and values lie in, unless
// drop says that others may have that.
func (c *Changes) Reset(drop bool) {
	if drop || len(c.pieces) != 1 {
		clear(c.pieces)
		c.pieces, c.room, c.held = c.pieces[:0], nil, 0
		if !drop && c.bytes > 0 {
			c.newPiece(c.bytes + len(c.list))
		}
	}
	if c.tables != nil {
		clear(c.tables[:])
	}
	c.list, c.room, c.bytes, c.bad = c.list[:0], c.room[:0], 0, nil
}
