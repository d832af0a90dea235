package api

import (
	"context"

	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/registry"
)

// What only tests need of the inside.

// CodeInfo is an entry of the codes table.
type CodeInfo = codeInfo

// Codes is the table of all failures.
func Codes() map[Code]CodeInfo { return codes }

// Reasons is the table of them.
func Reasons() map[Reason]reasonInfo { return reasons }

// TestBody is the request body of a test route.
type TestBody struct {
	Body struct {
		Items []string `json:"items"`
	}
}

// TestAnswer is the answer of a test route.
type TestAnswer struct {
	Body struct {
		Count int `json:"count"`
	}
}

// AddRead adds a route without input to the table, behind the whole kernel.
func (s *Server) AddRead(r Route, handle func(context.Context) error) {
	register(s, r, func(ctx context.Context, _ *struct{}) (*TestAnswer, error) { return &TestAnswer{}, handle(ctx) })
}

// AddWrite adds a route with a body to the table.
func (s *Server) AddWrite(r Route, handle func(context.Context, *TestBody) error) {
	register(s, r, func(ctx context.Context, in *TestBody) (*TestAnswer, error) { return &TestAnswer{}, handle(ctx, in) })
}

// SetRegistry makes the server know other things of a chain. Nothing may be
// asked meanwhile.
func (s *Server) SetRegistry(id string, c *registry.Chain) { s.chains[id].Registry = c }

// WideCoverage is what a page of a wide search claims that began at the block top,
// with a certificate through a block, and ended at next.
func WideCoverage(requested Interval, top, certified uint64, order event.Order, next *event.Place) *RangeCoverage {
	w := &wideSearch{requested: requested, certified: certified, top: anchor{number: top}}
	return w.covers(order, next)
}

// WideTop is the last block that a wide search reaches.
func WideTop(to, through, head uint64) uint64 { return wideTop(to, through, head) }
