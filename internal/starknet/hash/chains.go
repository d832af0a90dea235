package hash

import "github.com/consensys/gnark-crypto/ecc/stark-curve/fp"

// Chains are lists to be hashed by Pedersen, as Lists are by Poseidon: from zero, with one
// element after the other, and at last with their number.
type Chains struct {
	elements []fp.Element
	ends     []int
	sums     []fp.Element
}

// Add puts an element behind those of the list that is open.
func (c *Chains) Add(e *fp.Element) { c.elements = append(c.elements, *e) }

// End closes the list, which has a place among the sums then, and opens the next.
func (c *Chains) End() {
	begin := 0
	if n := len(c.ends); n > 0 {
		begin = c.ends[n-1]
	}
	count := fp.NewElement(uint64(len(c.elements) - begin))
	c.elements = append(c.elements, count)
	c.ends = append(c.ends, len(c.elements))
}

// Sums hashes the lists that were closed and forgets them. What it returns is in their
// order, and holds until it is called again.
func (c *Chains) Sums() []fp.Element {
	c.sums = append(c.sums[:0], make([]fp.Element, len(c.ends))...)
	if eight != alone && len(c.ends) > 1 {
		c.sumLanes()
	} else {
		begin := 0
		for i, end := range c.ends {
			for j := begin; j < end; j++ {
				c.sums[i] = Pedersen(&c.sums[i], &c.elements[j])
			}
			begin = end
		}
	}
	c.elements, c.ends = c.elements[:0], c.ends[:0]
	return c.sums
}

// sumLanes gives every lane a list, and another one whenever one is done. Lanes that have
// one come first.
func (c *Chains) sumLanes() {
	var pairs [width][2]fp.Element
	var rest [width][]fp.Element // of each lane's list; never empty
	var list [width]int
	next, begin, busy := 0, 0, 0
	for {
		for busy < width && next < len(c.ends) {
			rest[busy], list[busy] = c.elements[begin:c.ends[next]], next
			begin, next = c.ends[next], next+1
			pairs[busy][0] = fp.Element{}
			busy++
		}
		if busy == 0 {
			return
		}
		for lane := range busy {
			pairs[lane][1] = rest[lane][0]
		}
		for lane, h := range pedersen8(&pairs, busy) {
			pairs[lane][0] = h
		}
		for lane := 0; lane < busy; {
			if rest[lane] = rest[lane][1:]; len(rest[lane]) > 0 {
				lane++
				continue
			}
			c.sums[list[lane]] = pairs[lane][0]
			busy-- // the last takes its place, and has its own step still before it
			rest[lane], list[lane], pairs[lane][0] = rest[busy], list[busy], pairs[busy][0]
		}
	}
}

// PedersenPairs hashes the pairs of a list by Pedersen, in place, as Pairs does by Poseidon.
func PedersenPairs(list []fp.Element) {
	n := len(list) / 2
	i := 0
	if eight != alone {
		for ; n-i > 1; i += width {
			var pairs [width][2]fp.Element
			k := min(width, n-i)
			for lane := range k {
				pairs[lane] = [2]fp.Element{list[2*(i+lane)], list[2*(i+lane)+1]}
			}
			sums := pedersen8(&pairs, k)
			copy(list[i:], sums[:k])
		}
	}
	for ; i < n; i++ {
		list[i] = Pedersen(&list[2*i], &list[2*i+1])
	}
}
