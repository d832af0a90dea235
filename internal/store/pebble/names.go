package pebble

// names finds series by the hashes of their names, which it does not hold: the caller looks
// at those.
type names struct {
	// slots have half of a hash and behind it a number and one, 0 for none. A name is in the
	// first free slot from where its hash says. At most half of them are taken.
	slots []uint64
	taken int
}

const firstSlots = 1 << 8

// likely is the number that a name mostly has, -1 if none has.
func (n *names) likely(hash uint64) int {
	if len(n.slots) == 0 {
		return -1
	}
	return int(uint32(n.slots[hash&uint64(len(n.slots)-1)])) - 1
}

// find is the number of the first name with this hash that is the one, or -1.
func (n *names) find(hash uint64, is func(number int) bool) int {
	if len(n.slots) == 0 {
		return -1
	}
	mask := uint64(len(n.slots) - 1)
	for at := hash & mask; n.slots[at] != 0; at = (at + 1) & mask {
		if s := n.slots[at]; uint32(s>>32) == uint32(hash) && is(int(uint32(s))-1) {
			return int(uint32(s)) - 1
		}
	}
	return -1
}

// add gives a number to a name that has none.
func (n *names) add(hash uint64, number int) {
	if 2*n.taken >= len(n.slots) {
		old := n.slots
		n.slots = make([]uint64, max(firstSlots, 2*len(old)))
		for _, s := range old {
			if s != 0 {
				n.put(s)
			}
		}
	}
	n.put(hash<<32 | uint64(number+1))
	n.taken++
}

func (n *names) put(slot uint64) {
	mask := uint64(len(n.slots) - 1)
	at := slot >> 32 & mask
	for n.slots[at] != 0 {
		at = (at + 1) & mask
	}
	n.slots[at] = slot
}

// reset forgets all names and keeps the memory.
func (n *names) reset() {
	clear(n.slots)
	n.taken = 0
}
