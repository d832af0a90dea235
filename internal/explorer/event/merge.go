package event

import (
	"slices"

	"chainexplorer/internal/explorer/postings"
)

// union joins lists: it stands on a block when one of them does. Its members
// are at most MaxValues or MaxPairs, and reading them costs far more than
// looking at each, hence no heap.
type union struct {
	order   Order
	members []walker // those that have not ended
	at      uint64
	err     error
}

var _ walker = (*union)(nil)

// Seek moves all members and stands on the nearest of them. Members that are
// far ahead read nothing.
func (u *union) Seek(block uint64) bool {
	if u.err != nil {
		return false
	}
	kept := u.members[:0]
	for _, p := range u.members {
		if p.Seek(block) {
			kept = append(kept, p)
		} else if u.err = p.Err(); u.err != nil {
			return false
		}
	}
	clear(u.members[len(kept):])
	u.members = kept
	for i, p := range u.members {
		if at := p.At(); i == 0 || u.order.behind(u.at, at) {
			u.at = at
		}
	}
	return len(u.members) > 0
}

func (u *union) At() uint64 { return u.at }

func (u *union) Err() error { return u.err }

func (u *union) Spots(dst []postings.Spot) (_ []postings.Spot, err error) {
	start, lists := len(dst), 0
	for _, p := range u.members {
		if p.At() != u.at {
			continue
		}
		if dst, err = p.Spots(dst); err != nil {
			return dst, err
		}
		lists++
	}
	if lists > 1 { // no event is in two of them: it has one emitter, and one value at a position
		slices.SortFunc(dst[start:], postings.Compare)
	}
	return dst, nil
}

// intersection stands on a block when all its members do, the rarest of which
// comes first: it proposes, the others answer with the next block they have.
type intersection struct {
	order   Order
	members []walker
	meter   *meter
	first   uint64 // where the search started

	// frontier is the first block that is not proven to hold nothing more, in
	// the search's order: where a search that ends early goes on.
	frontier uint64
	err      error
	lists    [2][]postings.Spot
}

func (x *intersection) reached(block uint64) {
	x.frontier = block
	if block != x.first {
		x.meter.armed = true
	}
}

// seek finds the first common block at or behind a block.
func (x *intersection) seek(block uint64) bool {
	for i := 0; i < len(x.members); i++ {
		p := x.members[i]
		if !p.Seek(block) {
			x.err = p.Err()
			return false
		}
		if at := p.At(); at != block {
			block = at
			x.reached(block)
			i = -1 // everybody is asked about the new block
			if p == x.members[0] {
				i = 0 // but not who named it
			}
		}
	}
	return true
}

// spots are the places that all members have in the block they stand on.
func (x *intersection) spots() ([]postings.Spot, error) {
	out, err := x.members[0].Spots(x.lists[0][:0])
	if err != nil {
		return nil, err
	}
	x.lists[0] = out
	for _, p := range x.members[1:] {
		if len(out) == 0 {
			break
		}
		other, err := p.Spots(x.lists[1][:0])
		if err != nil {
			return nil, err
		}
		x.lists[1] = other
		out = common(out, other)
	}
	return out, nil
}

// common keeps in a what is also in b; both ascend.
func common(a, b []postings.Spot) []postings.Spot {
	out := a[:0]
	for _, s := range a {
		for len(b) > 0 && b[0].Before(s) {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == s {
			out = append(out, s)
		}
	}
	return out
}
