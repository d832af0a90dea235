package hash

import (
	"sync"

	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// Lists are lists to be hashed by Poseidon which do not depend on each other, so that eight
// of them are hashed at once where the processor can. What is long comes first, if anything
// does: the others are done beside it. The zero value is ready, and keeps its memory.
type Lists struct {
	elements []fp.Element // of all lists, padded
	ends     []int
	sums     []fp.Element
}

// Add puts an element behind those of the list that is open.
func (l *Lists) Add(e *fp.Element) { l.elements = append(l.elements, *e) }

// End closes the list, which has a place among the sums then, and opens the next.
func (l *Lists) End() {
	begin := 0
	if n := len(l.ends); n > 0 {
		begin = l.ends[n-1]
	}
	l.elements = append(l.elements, fp.One())
	if (len(l.elements)-begin)%2 == 1 {
		l.elements = append(l.elements, fp.Element{})
	}
	l.ends = append(l.ends, len(l.elements))
}

// Sums hashes the lists that were closed and forgets them. What it returns is in their
// order, and holds until it is called again.
func (l *Lists) Sums() []fp.Element {
	l.sums = append(l.sums[:0], make([]fp.Element, len(l.ends))...)
	if eight != alone && len(l.ends) > 1 {
		l.sumLanes()
	} else {
		begin := 0
		for i, end := range l.ends {
			var ok bool
			if l.sums[i], ok = known(l.elements[begin:end]); !ok {
				l.sums[i] = absorbed(l.elements[begin:end]...)
			}
			begin = end
		}
	}
	l.elements, l.ends = l.elements[:0], l.ends[:0]
	return l.sums
}

// Two lists are everywhere: the empty one, of optional data that nobody gave, and a
// single zero, the number of things that are not there. Their sums are computed once.
var emptySum, zeroSum = sync.OnceValue(func() fp.Element { return absorbed(fp.One(), fp.Element{}) }),
	sync.OnceValue(func() fp.Element { return absorbed(fp.Element{}, fp.One()) })

func absorbed(list ...fp.Element) fp.Element {
	var s [3]fp.Element
	return absorb(&s, list)
}

// known is the sum of a padded list that is one of those.
func known(list []fp.Element) (sum fp.Element, ok bool) {
	switch {
	case len(list) != 2:
	case list[1].IsZero(): // the first is the padding
		return emptySum(), true
	case list[0].IsZero() && list[1].IsOne():
		return zeroSum(), true
	}
	return sum, false
}

// absorb is the sum of a list of which the rest is given.
func absorb(s *[3]fp.Element, rest []fp.Element) fp.Element {
	for ; len(rest) > 0; rest = rest[2:] {
		s[0].Add(&s[0], &rest[0])
		s[1].Add(&s[1], &rest[1])
		Permute(s)
	}
	return s[0]
}

// sumLanes gives every lane a list, and another one whenever one is done.
func (l *Lists) sumLanes() {
	var s lanes
	var rest [width][]fp.Element // of each lane's list
	var list [width]int
	keys := &laneKeys()[0]
	next, begin, busy := 0, 0, 0
	take := func(lane int) {
		for next < len(l.ends) {
			elements, i := l.elements[begin:l.ends[next]], next
			begin, next = l.ends[next], next+1
			if sum, ok := known(elements); ok {
				l.sums[i] = sum
				continue
			}
			rest[lane], list[lane] = elements, i
			s.clear(lane)
			busy++
			return
		}
	}
	for lane := range width {
		take(lane)
	}
	for busy > 1 {
		for lane := range width {
			if r := rest[lane]; len(r) > 0 {
				s.add(0, lane, &r[0])
				s.add(1, lane, &r[1])
				rest[lane] = r[2:]
			} else {
				rest[lane] = nil
			}
		}
		permute8(&s, keys)
		for lane := range width {
			if rest[lane] != nil && len(rest[lane]) == 0 {
				l.sums[list[lane]] = s.get(0, lane)
				rest[lane] = nil
				busy--
				take(lane)
			}
		}
	}
	for lane := range width { // the last alone is done sooner alone
		if rest[lane] != nil {
			state := [3]fp.Element{s.get(0, lane), s.get(1, lane), s.get(2, lane)}
			l.sums[list[lane]] = absorb(&state, rest[lane])
		}
	}
}

// Pairs hashes the pairs of a list by Poseidon, in place: what its first half has then. An
// element without another is left where it is.
func Pairs(list []fp.Element) {
	n := len(list) / 2
	i := 0
	if eight != alone {
		two := fp.NewElement(2)
		for ; n-i > 1; i += width {
			var s lanes
			k := min(width, n-i)
			for lane := range k {
				s.set(0, lane, &list[2*(i+lane)])
				s.set(1, lane, &list[2*(i+lane)+1])
				s.set(2, lane, &two)
			}
			permute8(&s, &laneKeys()[0])
			for lane := range k {
				list[i+lane] = s.get(0, lane)
			}
		}
	}
	for ; i < n; i++ {
		list[i] = Poseidon(&list[2*i], &list[2*i+1])
	}
}
