package live

import (
	"slices"

	"chainexplorer/internal/felt"
)

// trail is the hashes of blocks that follow one another, by which a fork is noticed
// and its first block is found. What it holds is never changed in place, so that a
// copy of the struct can be read while the original goes on.
type trail struct {
	first  uint64 // number of the first hash, and of the next block when there is none
	hashes []felt.Felt
}

// next is the number of the block that comes after.
func (t *trail) next() uint64 { return t.first + uint64(len(t.hashes)) }

func (t *trail) empty() bool { return len(t.hashes) == 0 }

// at is the hash of a block, if it is known.
func (t *trail) at(number uint64) (felt.Felt, bool) {
	if number < t.first || number >= t.next() {
		return felt.Felt{}, false
	}
	return t.hashes[number-t.first], true
}

// follows says whether a block with this parent can be the next one. After nothing
// anything can.
func (t *trail) follows(parent felt.Felt) bool {
	return t.empty() || t.hashes[len(t.hashes)-1] == parent
}

// push adds the next block, and forgets the oldest when there are more than most.
func (t *trail) push(hash felt.Felt, most int) {
	t.hashes = append(t.hashes, hash)
	// Not one by one: what is forgotten keeps its memory until the rest is copied.
	if len(t.hashes) >= 2*most {
		gone := len(t.hashes) - most
		t.hashes = slices.Clone(t.hashes[gone:])
		t.first += uint64(gone)
	}
}

// cut forgets the blocks from number on.
func (t *trail) cut(number uint64) {
	switch {
	case number >= t.next():
	case number <= t.first:
		t.hashes = nil
	default:
		// Without the capacity: a copy may still read what was there.
		t.hashes = t.hashes[: number-t.first : number-t.first]
	}
}

// prepend puts an older trail before this one, if it reaches that far.
func (t *trail) prepend(older trail, most int) {
	older.cut(t.first)
	if older.empty() || older.next() != t.first || len(older.hashes)+len(t.hashes) > 2*most {
		return
	}
	t.hashes = slices.Concat(older.hashes, t.hashes)
	t.first = older.first
}

// fork is the number of the first block of the trail that the chain does not have any
// more: next() when it has all, first when it has none. Below a block that the chain
// has, it has all; so that a deep fork takes few questions.
func (t trail) fork(onChain func(number uint64) (felt.Felt, bool, error)) (uint64, error) {
	same := func(number uint64) (bool, error) {
		hash, found, err := onChain(number)
		mine, _ := t.at(number)
		return found && hash == mine, err
	}
	gone, step := t.next(), uint64(1) // all from gone on are
	kept := t.first                   // all below are
	for gone > t.first {
		n := t.first
		if gone-t.first > step {
			n = gone - step
		}
		ok, err := same(n)
		if err != nil {
			return 0, err
		}
		if ok {
			kept = n + 1
			break
		}
		gone, step = n, 2*step
	}
	for kept < gone {
		middle := kept + (gone-kept)/2
		ok, err := same(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			kept = middle + 1
		} else {
			gone = middle
		}
	}
	return gone, nil
}
