package simnode

import (
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// EventFilter selects events as starknet_getEvents does.
type EventFilter struct {
	From, To  uint64      // blocks, both included
	Addresses []felt.Felt // any emitter when empty
	// Keys lists the allowed values per position; an empty list allows all.
	// Events with fewer keys than positions that ask for something are out.
	Keys [][]felt.Felt
}

// EventRef is an event and its place.
type EventRef struct {
	Block   *starknet.Block
	TxIndex int
	Index   int // in its transaction
	Event   *starknet.Event
}

// matches reports whether the filter wants an event, whatever its block.
func (f *EventFilter) matches(e *starknet.Event) bool {
	if len(f.Addresses) > 0 && !slices.Contains(f.Addresses, e.From) {
		return false
	}
	for i, allowed := range f.Keys {
		if len(allowed) == 0 {
			continue
		}
		if i >= len(e.Keys) || !slices.Contains(allowed, e.Keys[i]) {
			return false
		}
	}
	return true
}

// Events lists the events that match, in chain order.
func (c *Chain) Events(f EventFilter) []EventRef {
	var out []EventRef
	v := c.view.Load()
	for n := f.From; n <= f.To && n < uint64(len(v.blocks)); n++ {
		b := v.blocks[n].block()
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				if e := &b.Receipts[i].Events[j]; f.matches(e) {
					out = append(out, EventRef{b, i, j, e})
				}
			}
		}
	}
	return out
}
