package event

import (
	"cmp"
	"context"
	"math"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// condition is one of the things that an event must have, and the lists whose
// union holds all events that have it.
type condition struct {
	emitters []felt.Felt // sorted; nil: any
	values   []felt.Felt // sorted; nil: any
	position int         // of values
	lists    []list

	// After open:
	found    walker // nil when there is nothing in the range
	glimpses []glimpse
	density  float64 // events a block, estimated
}

// filter is what a query asks for, each list sorted and without repetitions.
type filter struct {
	emitters []felt.Felt
	keys     [Positions][]felt.Felt
	values   int // all of them
}

func (q *Query) filter() (f filter) {
	f.emitters = sortedSet(q.Emitters)
	f.values = len(f.emitters)
	for i := range q.Keys {
		f.keys[i] = sortedSet(q.Keys[i])
		f.values += len(f.keys[i])
	}
	return f
}

// conditions splits a filter. Emitter and topic0 together are one condition with
// lists of their own, unless the pairs would be too many.
func (f *filter) conditions() []*condition {
	emitters, topics := f.emitters, f.keys[0]
	var out []*condition
	switch pairs := len(emitters) * len(topics); {
	case pairs > 0 && pairs <= MaxPairs:
		c := &condition{emitters: emitters, values: topics}
		for i := range emitters {
			for j := range topics {
				c.lists = append(c.lists, pairList(&emitters[i], &topics[j]))
			}
		}
		out = append(out, c)
	default:
		if len(emitters) > 0 {
			c := &condition{emitters: emitters}
			for i := range emitters {
				c.lists = append(c.lists, emitterList(&emitters[i]))
			}
			out = append(out, c)
		}
		if len(topics) > 0 {
			out = append(out, onPosition(0, topics))
		}
	}
	for p := 1; p < Positions; p++ {
		if len(f.keys[p]) > 0 {
			out = append(out, onPosition(p, f.keys[p]))
		}
	}
	return out
}

func onPosition(position int, values []felt.Felt) *condition {
	c := &condition{position: position, values: values}
	for i := range values {
		c.lists = append(c.lists, positionList(position, &values[i]))
	}
	return c
}

func sortedSet(fs []felt.Felt) []felt.Felt {
	if len(fs) == 0 {
		return nil
	}
	out := slices.Clone(fs)
	arrange.By(out, felt.Felt.Cmp)
	return slices.Compact(out)
}

// match holds an event against the condition.
func (c *condition) match(e *starknet.Event) bool {
	if c.emitters != nil && !has(c.emitters, e.From) {
		return false
	}
	return c.values == nil || c.position < len(e.Keys) && has(c.values, e.Keys[c.position])
}

func has(sorted []felt.Felt, f felt.Felt) bool {
	_, found := slices.BinarySearchFunc(sorted, f, felt.Felt.Cmp)
	return found
}

// open looks at the first rows of every list: one seek each.
func (c *condition) open(ctx context.Context, r store.Reader, m *meter, o Order, first, last uint64) error {
	var members []walker
	for _, l := range c.lists {
		leaf := newLeaf(ctx, r, m, l, o, last)
		g, err := leaf.peek(first)
		if err != nil {
			return err
		}
		if g.events > 0 {
			members = append(members, leaf)
			c.glimpses = append(c.glimpses, g)
		}
	}
	switch len(members) {
	case 0:
	case 1:
		c.found = members[0]
	default:
		c.found = &union{order: o, members: members}
	}
	return nil
}

// count is how many events the first rows hold, and whether they are all.
func (c *condition) count() (events int, all bool) {
	all = true
	for _, g := range c.glimpses {
		events += g.events
		all = all && g.all
	}
	return events, all
}

// estimate sets the density as seen from a block.
func (c *condition) estimate(start, last uint64) {
	c.density = 0
	for _, g := range c.glimpses {
		end := g.last
		if g.all {
			end = last
		}
		c.density += float64(g.events) / (math.Abs(float64(end)-float64(start)) + 1)
	}
}

// fewEvents is how many events of a condition are so few that they are read
// and held against the other conditions, whose lists are then not even opened.
const fewEvents = 64

// commonTimes is how many times as frequent as the rarest a condition must be
// to be held against the events rather than joined by its lists. An event that
// has something rare mostly has what is common, too, and is read anyway.
const commonTimes = 16

// plan opens conditions, the most promising first, and decides which lists are
// joined; the rest is held against the events. Nothing can match when it
// returns no joined ones.
func plan(all []*condition, o Order, first, last uint64, open func(*condition) error) (joined, rest []*condition, err error) {
	arrange.StablyBy(all, func(a, b *condition) int {
		return cmp.Or(cmp.Compare(len(a.lists), len(b.lists)), cmp.Compare(a.rank(), b.rank()))
	})
	opened := 0
	for _, c := range all {
		if err := open(c); err != nil {
			return nil, nil, err
		}
		if c.found == nil {
			return nil, nil, nil
		}
		opened++
		if n, whole := c.count(); whole && n <= fewEvents {
			return []*condition{c}, slices.Concat(all[:opened-1], all[opened:]), nil
		}
	}
	start := all[0].glimpses[0].first
	for _, c := range all {
		for _, g := range c.glimpses {
			if o.behind(start, g.first) {
				start = g.first
			}
		}
	}
	for _, c := range all {
		c.estimate(start, last)
	}
	arrange.StablyBy(all, func(a, b *condition) int { return cmp.Compare(a.density, b.density) })
	for i, c := range all {
		if i == 0 || c.density < commonTimes*all[0].density {
			joined = append(joined, c)
		} else {
			rest = append(rest, c)
		}
	}
	return joined, rest, nil
}

// rank orders conditions that have as many lists: what is likely to be rarer first.
func (c *condition) rank() int {
	switch {
	case c.position > 0:
		return 0
	case c.emitters != nil && c.values != nil:
		return 1
	case c.emitters != nil:
		return 2
	}
	return 3
}
