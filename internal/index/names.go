package index

import "hash/maphash"

// names finds rows by their keys, which it does not hold: it tells few places in a list
// where a row may stand, and the caller looks at those. It has no pointers, and mostly
// one place in memory is looked at where a map of strings has three or four.
type names struct {
	// slots have a hash and behind it the place and one, 0 for none. A row is in the first
	// free slot from where its hash says. At most half of them are taken.
	slots []uint64
	taken int
}

var seed = maphash.MakeSeed()

// hashOf is the hash of a row's key, as overlayKey has it.
func hashOf(key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

const fewestSlots = 1 << 10

// add says where a row stands that was not there.
func (n *names) add(hash uint32, place int) {
	if 2*n.taken >= len(n.slots) {
		old := n.slots
		n.slots = make([]uint64, max(fewestSlots, 2*len(old)))
		for _, s := range old {
			if s != 0 {
				n.put(s)
			}
		}
	}
	n.put(uint64(hash)<<32 | uint64(uint32(place)+1))
	n.taken++
}

func (n *names) put(slot uint64) {
	mask := uint32(len(n.slots) - 1)
	at := uint32(slot>>32) & mask
	for n.slots[at] != 0 {
		at = (at + 1) & mask
	}
	n.slots[at] = slot
}

// find returns the place of the first row with this hash that is the one, or -1.
func (n *names) find(hash uint32, is func(place int) bool) int {
	if len(n.slots) == 0 {
		return -1
	}
	mask := uint32(len(n.slots) - 1)
	for at := hash & mask; n.slots[at] != 0; at = (at + 1) & mask {
		if s := n.slots[at]; uint32(s>>32) == hash && is(int(uint32(s)-1)) {
			return int(uint32(s) - 1)
		}
	}
	return -1
}

// reset forgets all rows and keeps the memory.
func (n *names) reset() {
	clear(n.slots)
	n.taken = 0
}
