package index

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// committed remembers rows that this process committed lately and that blocks may ask for
// again, such as the balances of holders. Whatever may have changed the store behind its
// back empties it: see Indexer.load.
//
// To read a row from the store takes some fifty times as long as from here, and a block of
// a chain that is being caught up with may ask for a hundred. Most rows are a long key and
// a few bytes of value: keys are remembered by a name of 16 bytes, so that a row takes about
// 40 bytes in all, and two million of them fit.
type committed struct {
	secret [sha256.Size / 2]byte
	// Rows of older are moved to newer when they are asked for. When newer is
	// full it becomes older, and what nobody asked for is gone.
	newer, older generation
	// rows and bytes bound a generation.
	rows, bytes int
}

// What the indexer remembers: two million rows, and at most 80 MiB with what finds them.
const (
	keepRows  = 1 << 20
	keepBytes = 32 << 20
)

// longestKept is of a value. There is none that long.
const longestKept = 4 << 10

func newCommitted(rows, bytes int) (c committed) {
	rand.Read(c.secret[:])                                     //nolint:errcheck // it never fails
	c.rows, c.bytes = rows, min(bytes, mostBytes-2*pieceBytes) // the last record lies behind them
	return c
}

// name stands for a row's key. Two keys with one name would be two balances taken for one:
// names are those of a cryptographic hash, and of a secret, so that nobody who makes up
// addresses can look for such keys.
type name [16]byte

func (c *committed) nameOf(key []byte) name {
	var buf [128]byte
	sum := sha256.Sum256(append(append(buf[:0], c.secret[:]...), key...))
	return name(sum[:])
}

func (c *committed) forget() { c.newer, c.older = generation{}, generation{} }

// learn takes over the rows of a batch that was committed, of these tables.
func (c *committed) learn(o *overlay, tables *[256]bool) {
	list := o.rows.List()
	for i := range list {
		if ch := &list[i]; tables[ch.ID] {
			n := c.nameOf(o.rows.Key(ch))
			c.put(&n, o.value(i))
		}
	}
}

func (c *committed) put(n *name, value []byte) {
	if len(value) > longestKept {
		c.forget() // what is remembered of the row would be wrong
		return
	}
	if c.newer.rows >= c.rows || c.newer.used >= c.bytes {
		c.newer, c.older = c.older, c.newer
		c.newer.reset()
	}
	c.newer.put(n, value)
}

// get appends the value of a row to room and returns that, and what it has appended: nil for
// a row that is known not to be there.
func (c *committed) get(room, key []byte) (_, value []byte, known bool) {
	if c.newer.rows == 0 {
		return room, nil, false
	}
	n := c.nameOf(key)
	kept, known := c.newer.get(&n)
	if !known {
		if kept, known = c.older.get(&n); known {
			room, value = appended(room, kept)
			c.put(&n, value)
			return room, value, true
		}
	}
	room, value = appended(room, kept)
	return room, value, known
}

func appended(room, value []byte) (_, copied []byte) {
	if len(value) == 0 {
		return room, value
	}
	from := len(room)
	room = append(room, value...)
	return room, room[from:len(room):len(room)]
}

// generation is rows by their names. It has few pointers, and its memory is used again.
type generation struct {
	// slots have the place of a record, see placed, and 0 for none. A record is in the first
	// free slot from where its name says. At most three of four are taken.
	slots []uint32
	rows  int
	// pieces hold the records one behind the other: see the parts of one below.
	pieces [][]byte
	used   int // bytes of pieces, from the first on
}

// A record is a name, how long the value is, or that there is none, how long it may become
// where it is, and the value.
const (
	sizeAt  = len(name{})
	roomAt  = sizeAt + 2
	valueAt = roomAt + 2
	absent  = math.MaxUint16

	pieceBits  = 18
	pieceBytes = 1 << pieceBits
	firstSlots = 1 << 10
)

func (g *generation) reset() {
	clear(g.slots)
	g.rows, g.used = 0, 0
}

// A slot is a part of the name and, in the lower bits, the place of the record, in words, and
// one. Slots lie together and records far apart: the part tells nearly all others' records
// from the one that is looked for without a look at them.
const (
	placeBits = 24
	wordBytes = 4
	mostBytes = (1<<placeBits - 1) * wordBytes
)

func placed(n *name, place int) uint32 { return partOf(n)<<placeBits | uint32(place/wordBytes+1) }

// partOf is of bytes that do not say where the slot is.
func partOf(n *name) uint32 { return uint32(n[len(n)-1]) }

func (g *generation) record(slot uint32) []byte {
	place := (slot&(1<<placeBits-1) - 1) * wordBytes
	return g.pieces[place>>pieceBits][place&(pieceBytes-1):]
}

// find is the slot of a row, or the one that it is to take.
func (g *generation) find(n *name) int {
	mask, part := len(g.slots)-1, partOf(n)
	for at := int(binary.LittleEndian.Uint64(n[:])) & mask; ; at = (at + 1) & mask {
		if s := g.slots[at]; s == 0 || s>>placeBits == part && name(g.record(s)) == *n {
			return at
		}
	}
}

func (g *generation) get(n *name) (value []byte, known bool) {
	if g.rows == 0 {
		return nil, false
	}
	s := g.slots[g.find(n)]
	if s == 0 {
		return nil, false
	}
	r := g.record(s)
	size := binary.LittleEndian.Uint16(r[sizeAt:])
	if size == absent {
		return nil, true
	}
	return r[valueAt:][:size], true
}

func (g *generation) put(n *name, value []byte) {
	if 4*g.rows >= 3*len(g.slots) {
		g.grow()
	}
	at := g.find(n)
	var r []byte
	if s := g.slots[at]; s != 0 {
		r = g.record(s)
	} else {
		g.rows++
	}
	if r == nil || int(binary.LittleEndian.Uint16(r[roomAt:])) < len(value) {
		// Most values are a few bytes, and become longer by one now and then.
		r = g.take(n, at, (len(value)+7)&^(wordBytes-1))
	}
	size := uint16(len(value))
	if value == nil {
		size = absent
	}
	binary.LittleEndian.PutUint16(r[sizeAt:], size)
	copy(r[valueAt:], value)
}

// take makes a record for a slot, with so much room for the value, of whole words.
func (g *generation) take(n *name, at, room int) []byte {
	size := valueAt + room
	if left := pieceBytes - g.used&(pieceBytes-1); left < size {
		g.used += left
	}
	if g.used>>pieceBits == len(g.pieces) {
		g.pieces = append(g.pieces, make([]byte, pieceBytes))
	}
	g.slots[at] = placed(n, g.used)
	g.used += size
	r := g.record(g.slots[at])
	copy(r, n[:])
	binary.LittleEndian.PutUint16(r[roomAt:], uint16(room))
	return r
}

func (g *generation) grow() {
	old := g.slots
	g.slots = make([]uint32, max(firstSlots, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			n := name(g.record(s))
			g.slots[g.find(&n)] = s
		}
	}
}
