package main

import (
	"cmp"
	"slices"

	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// seen is how often a value occurs, and where.
type seen struct {
	count       int
	first, last uint64
}

// census counts the values of the first keys while the chain is made, so that
// the queries can be chosen by how frequent their values are.
type census struct {
	events, transactions, blocks int

	selectors map[felt.Felt]*seen
	keys      [3]map[felt.Felt]*seen // positions 1 and 2 of Transfer events with three keys
	transfer  felt.Felt
}

func newCensus() *census {
	c := &census{selectors: map[felt.Felt]*seen{}, transfer: felt.Selector("Transfer")}
	for i := range c.keys {
		c.keys[i] = map[felt.Felt]*seen{}
	}
	return c
}

func (c *census) observe(b *starknet.Block) {
	c.blocks++
	c.transactions += len(b.Transactions)
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			e := &b.Receipts[i].Events[j]
			c.events++
			if len(e.Keys) == 0 {
				continue
			}
			note(c.selectors, e.Keys[0], b.Number)
			if e.Keys[0] == c.transfer && len(e.Keys) == 3 {
				note(c.keys[1], e.Keys[1], b.Number)
				note(c.keys[2], e.Keys[2], b.Number)
			}
		}
	}
}

func note(m map[felt.Felt]*seen, f felt.Felt, block uint64) {
	s := m[f]
	if s == nil {
		s = &seen{first: block}
		m[f] = s
	}
	s.count++
	s.last = block
}

// valuesAt lists the values at a position that want accepts, in a fixed order.
func (c *census) valuesAt(position int, want func(*seen) bool) (out []felt.Felt) {
	for f, s := range c.keys[position] {
		if want(s) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, felt.Felt.Cmp)
	return out
}

// frequent lists the n most frequent values at a position.
func (c *census) frequent(position, n int) []felt.Felt {
	out := c.valuesAt(position, func(*seen) bool { return true })
	slices.SortStableFunc(out, func(a, b felt.Felt) int {
		return cmp.Compare(c.keys[position][b].count, c.keys[position][a].count)
	})
	return out[:min(n, len(out))]
}

// selectorNear is the selector whose count is nearest to n.
func (c *census) selectorNear(n int) (best felt.Felt) {
	distance := -1
	for f, s := range c.selectors {
		d := max(s.count-n, n-s.count)
		if distance < 0 || d < distance || d == distance && f.Cmp(best) < 0 {
			best, distance = f, d
		}
	}
	return best
}

func transfers(transfer felt.Felt, position int, value felt.Felt) (q event.Query) {
	q.Keys[0] = []felt.Felt{transfer}
	q.Keys[position] = []felt.Felt{value}
	return q
}
