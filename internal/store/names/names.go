// Package names finds rows by hashes of their keys, or of what their keys begin with.
package names

// Table holds no names: it tells few places in a list where a row may stand, and the caller
// looks at those. It has no pointers, and mostly one place in memory is looked at where a
// map of strings has three or four. Its zero value is empty.
type Table struct {
	// slots have a hash and behind it the place and one, 0 for none. A row is in the first
	// free slot from where its hash says. At most half of them are taken.
	slots []uint64
	taken int
}

const fewestSlots = 1 << 8

// Add says where a row stands that was not there.
func (t *Table) Add(hash uint32, place int) {
	if 2*t.taken >= len(t.slots) {
		old := t.slots
		t.slots = make([]uint64, max(fewestSlots, 2*len(old)))
		for _, s := range old {
			if s != 0 {
				t.put(s)
			}
		}
	}
	t.put(uint64(hash)<<32 | uint64(uint32(place)+1))
	t.taken++
}

func (t *Table) put(slot uint64) {
	mask := uint32(len(t.slots) - 1)
	at := uint32(slot>>32) & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = slot
}

// Find returns the place of the first row with this hash that is the one, or -1.
func (t *Table) Find(hash uint32, is func(place int) bool) int {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint32(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if s := t.slots[at]; uint32(s>>32) == hash && is(int(uint32(s)-1)) {
			return int(uint32(s) - 1)
		}
	}
	return -1
}

// Likely is where the row with this hash mostly stands, -1 if none has the hash: whoever is to
// find many rows looks at the memory of all of them first.
func (t *Table) Likely(hash uint32) int { return t.Find(hash, func(int) bool { return true }) }

// Reset forgets all rows and keeps the memory.
func (t *Table) Reset() {
	clear(t.slots)
	t.taken = 0
}

// Bytes is how much memory it takes.
func (t *Table) Bytes() int { return 8 * len(t.slots) }
