package node

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// This file bounds the memory of answers: of all requests together, from the
// first byte read until whoever asked has no more use for the answer.

const (
	// freeBytes is what every answer may take without asking. Nearly all are
	// smaller, and requests in flight are bounded.
	freeBytes = 1 << 20
	// mediumBytes is what an answer of unannounced length may grow to before it
	// has to count as one of the largest.
	mediumBytes = 8 << 20
)

// Budget is memory for the answers of nodes. Pools may share one.
//
// Half of it is for answers of medium size, half for large ones. An answer that
// grows takes its place in one and then, whole, in the other: who has a place
// among the large waits for nobody, so that there is always one that gets done.
type Budget struct {
	medium, large *semaphore.Weighted
	half          int64
}

// NewBudget makes a budget of so many bytes, at least 64 MiB.
func NewBudget(bytes int64) *Budget {
	half := max(bytes, 64<<20) / 2
	return &Budget{semaphore.NewWeighted(half), semaphore.NewWeighted(half), half}
}

// hold is what the answers of one read have taken from the budget, until it is
// released.
type hold struct {
	budget  *Budget
	waiting atomic.Int32 // how many answers wait for room

	mu     sync.Mutex
	grants []*grant
}

// grant is one piece of the budget. What was given back once cannot be given back
// again, whoever tries and in whatever order: too much given back would let more
// into memory than there is room for, and ends the process when nothing is taken.
type grant struct {
	from *semaphore.Weighted

	mu   sync.Mutex
	size int64 // what is still taken
}

// keep gives back all but size bytes.
func (g *grant) keep(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if size < g.size {
		g.from.Release(g.size - size)
		g.size = size
	}
}

func newHold(b *Budget) *hold { return &hold{budget: b} }

// take waits for room for an answer of at most size bytes. What the answer turns
// out not to need is given back with keep.
func (h *hold) take(ctx context.Context, size int64) (*grant, error) {
	from := h.budget.large
	if size <= mediumBytes {
		from = h.budget.medium
	}
	g := &grant{from: from, size: min(size, h.budget.half)}
	h.waiting.Add(1)
	err := from.Acquire(ctx, g.size)
	h.waiting.Add(-1)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grants = append(h.grants, g)
	return g, nil
}

// move hands everything over to another hold.
func (h *hold) move(to *hold) {
	grants := h.empty()
	to.mu.Lock()
	defer to.mu.Unlock()
	to.grants = append(to.grants, grants...)
}

// release gives everything back: the answers are not used any more.
func (h *hold) release() {
	for _, g := range h.empty() {
		g.keep(0)
	}
}

func (h *hold) empty() []*grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	grants := h.grants
	h.grants = nil
	return grants
}
