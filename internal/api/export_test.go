package api

import (
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/registry"
)

// What only tests need of the inside.

// SetRegistry makes the routes know other things of a chain. Nothing may be asked
// meanwhile.
func (s *Routes) SetRegistry(id string, c *registry.Chain) { s.Chains[id].Registry = c }

// WideCoverage is what a page of a wide search claims that began at the block top,
// with a certificate through a block, and ended at next.
func WideCoverage(requested Interval, top, certified uint64, order event.Order, next *explorer.Place) *RangeCoverage {
	w := &wideSearch{requested: requested, certified: certified, top: block.Ref{Number: top}}
	return w.covers(order, next)
}

// WideTop is the last block that a wide search reaches.
func WideTop(to, through, head uint64) uint64 { return wideTop(to, through, head) }
