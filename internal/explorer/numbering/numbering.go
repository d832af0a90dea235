// Package numbering numbers the addresses, keys and holders of a block in the order in which
// they first come, for the subjects that gather lists of them. What is told apart is a felt and
// a small number beside it, which says what the felt is to the subject: the place of a key in
// its event, or the number of the token that a holder holds.
//
// A block has hundreds of each, and is asked for them thousands of times. Numbers are found by
// hashes that are seeded, so that nobody can choose felts that collide; they do not depend on
// the hashes.
package numbering

import (
	"hash/maphash"

	"chainexplorer/internal/felt"
)

// Table holds the felts of one block. The zero Table is empty.
type Table struct {
	keys []key
	// slots have a hash and behind it the number and one, 0 for none. A felt is in the first
	// free slot from where its hash says. At most half of them are taken.
	slots []uint64
}

type key struct {
	felt felt.Felt
	of   uint32
}

var seed = maphash.MakeSeed()

const fewestSlots = 1 << 8

// Number is the number of a felt and what it is; fresh says that it is new, with the next one.
func (t *Table) Number(f *felt.Felt, of uint32) (n int32, fresh bool) {
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	hash := hashOf(f, of)
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		if s := t.slots[at]; uint32(s>>32) == hash {
			n = int32(uint32(s)) - 1
			if k := &t.keys[n]; k.of == of && k.felt.Is(f) {
				return n, false
			}
		}
	}
	t.keys = append(t.keys, key{*f, of})
	t.slots[at] = uint64(hash)<<32 | uint64(len(t.keys))
	return int32(len(t.keys)) - 1, true
}

func hashOf(f *felt.Felt, of uint32) uint32 {
	return uint32(maphash.Bytes(seed, f[:])) ^ of*0x9e3779b1
}

func (t *Table) grow() {
	t.slots = make([]uint64, max(fewestSlots, 2*len(t.slots)))
	mask := uint32(len(t.slots) - 1)
	for i := range t.keys {
		hash := hashOf(&t.keys[i].felt, t.keys[i].of)
		at := hash & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint64(hash)<<32 | uint64(i+1)
	}
}

// Len is how many numbers there are.
func (t *Table) Len() int { return len(t.keys) }

// At is the felt with a number, and what it is.
func (t *Table) At(n int32) (*felt.Felt, uint32) { return &t.keys[n].felt, t.keys[n].of }

// keep bounds the felts whose memory a Table keeps after a huge block.
const keep = 1 << 14

// Reset forgets all felts, and keeps the memory for the next block unless the block was huge.
func (t *Table) Reset() {
	if cap(t.keys) > keep {
		*t = Table{}
		return
	}
	t.keys = t.keys[:0]
	clear(t.slots)
}
