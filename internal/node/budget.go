package node

import (
	"context"
	"runtime"
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

// hold is what the answers of one read have taken from the budget. Should nobody
// release it, it is given back when the answers are garbage.
type hold struct{ *taken }

type taken struct {
	budget  *Budget
	waiting atomic.Int32 // how many answers wait for room

	mu            sync.Mutex
	medium, large int64
}

func newHold(b *Budget) *hold {
	h := &hold{&taken{budget: b}}
	runtime.AddCleanup(h, (*taken).release, h.taken)
	return h
}

// take waits for room for an answer of at most size bytes. It returns a function
// that gives back what the answer turned out not to need.
func (h *taken) take(ctx context.Context, size int64) (settle func(actual int64), err error) {
	from, held := h.budget.large, &h.large
	if size <= mediumBytes {
		from, held = h.budget.medium, &h.medium
	}
	size = min(size, h.budget.half)
	h.waiting.Add(1)
	err = from.Acquire(ctx, size)
	h.waiting.Add(-1)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	*held += size
	h.mu.Unlock()
	return func(actual int64) {
		if spare := size - min(actual, size); spare > 0 {
			h.mu.Lock()
			*held -= spare
			h.mu.Unlock()
			from.Release(spare)
		}
	}, nil
}

// move hands everything over to another hold.
func (h *taken) move(to *hold) {
	h.mu.Lock()
	medium, large := h.medium, h.large
	h.medium, h.large = 0, 0
	h.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	to.medium += medium
	to.large += large
}

// release gives everything back: the answers are not used any more.
func (h *taken) release() {
	h.mu.Lock()
	medium, large := h.medium, h.large
	h.medium, h.large = 0, 0
	h.mu.Unlock()
	h.budget.medium.Release(medium)
	h.budget.large.Release(large)
}
