// Package privacypool keeps the ledger of explorer/privacypool/ledger, beside the write
// path.
//
// Every step is one commit that holds whole blocks and the state after them, so that a
// kill at any moment loses nothing and counts nothing twice. A generation that can be
// served goes on being served, and goes on with the chain, while another is made beside
// it: because the registry has other classes or pools, or because the operator asked for
// it. The new one takes its place in the commit with which it catches up. A fork that
// took a generation's block away ends it at once. What is left of ended generations is
// deleted in bounded batches, when nothing else is to be done.
package privacypool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/job"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Job is a job.Job. Zero values take the defaults.
type Job struct {
	Store store.Engine
	Pools []registry.PrivacyPool // of the registry, in its order
	// Depth is how far below the head a block is finalized (default chain.DefaultDepth).
	Depth uint64
	// Interval is how often to look for new blocks (default 5 s).
	Interval time.Duration
	// StepEvents and StepHours are how much a commit takes (default 500 and 200), and
	// StepRows how many rows one deletes (default 2,000).
	StepEvents, StepHours, StepRows int
	Now                             func() time.Time
	Logger                          *slog.Logger
}

var _ job.Job = (*Job)(nil)

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "privacy-pool" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return ledger.Job() }

// Every is how often to look for new blocks.
func (j *Job) Every() time.Duration {
	if j.Interval > 0 {
		return j.Interval
	}
	return 5 * time.Second
}

func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

func depthOr(depth uint64) uint64 {
	if depth > 0 {
		return depth
	}
	return chain.DefaultDepth
}

func (j *Job) now() time.Time {
	if j.Now != nil {
		return j.Now()
	}
	return time.Now()
}

func (j *Job) log() *slog.Logger {
	if j.Logger != nil {
		return j.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// Step does one commit, if there is something to do, and reports whether there may be
// more.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	batch := &store.Batch{}
	err = j.Store.View(ctx, func(r store.Reader) error {
		more, err = j.plan(ctx, r, batch)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("privacy pools: %w", err)
	}
	if batch.Len() == 0 {
		return false, nil
	}
	if err := commit(ctx, batch); err != nil {
		return false, fmt.Errorf("privacy pools: %w", err)
	}
	return more, nil
}

// plan fills the batch of the next step.
func (j *Job) plan(ctx context.Context, r store.Reader, b *store.Batch) (more bool, err error) {
	s, err := ledger.ReadState(ctx, r)
	if err != nil {
		return false, err
	}
	here, err := chain.Read(ctx, r)
	if err != nil || !here.HasHead {
		return false, err
	}
	asked, err := ledger.ReadRequest(ctx, r)
	if err != nil {
		return false, err
	}
	ended, err := j.end(ctx, r, &s, asked)
	if err != nil {
		return false, err
	}
	if ended {
		b.Put(ledger.StateKey, s.Encode())
		return true, nil
	}
	last, ok := here.FinalizedBlock(depthOr(j.Depth))
	if !ok {
		return j.wipe(ctx, r, b, &s)
	}
	// What is served goes first: it is a few blocks behind, and the other may be all
	// of them.
	if g := s.Serving; g != nil && g.MadeBy(j.Pools) && (g.Through < last || g.Pending) {
		more, err := j.advance(ctx, r, b, &s, &s.Serving, last)
		return more || j.wanted(&s, asked), err
	}
	if g := s.Building; g == nil && j.wanted(&s, asked) {
		s.Last++
		s.Building = ledger.New(s.Last, asked, j.Pools)
		j.log().Info("the ledger of privacy pools is made anew", "generation", s.Last, "pools", len(j.Pools), "serving", s.Serving != nil)
	}
	if s.Building != nil {
		return j.advance(ctx, r, b, &s, &s.Building, last)
	}
	return j.wipe(ctx, r, b, &s)
}

// wanted says whether another generation must be made.
func (j *Job) wanted(s *ledger.State, asked uint64) bool {
	if s.Serving == nil {
		return len(j.Pools) > 0
	}
	return !s.Serving.MadeBy(j.Pools) || s.Serving.Request < asked
}

// end takes away generations that cannot be stood behind or gone on with.
func (j *Job) end(ctx context.Context, r store.Reader, s *ledger.State, asked uint64) (ended bool, err error) {
	for _, g := range []**ledger.Generation{&s.Serving, &s.Building} {
		building := g == &s.Building
		if *g == nil {
			continue
		}
		why := ""
		switch _, err := (*g).Sound(ctx, r, j.Pools); {
		case !(*g).Scope(j.Pools):
			why = "the registry has other pools"
		case building && !(*g).MadeBy(j.Pools):
			why = "the registry has other classes"
		case building && (*g).Request < asked:
			why = "another one was asked for"
		case errors.Is(err, ledger.ErrMissing) && (*g).Some:
			why = "a fork took its block away"
		case err != nil && !errors.Is(err, ledger.ErrMissing):
			return false, err
		}
		if why == "" {
			continue
		}
		j.log().Warn("a ledger of privacy pools is ended", "generation", (*g).Number, "why", why, "through", (*g).Through)
		s.Dead = append(s.Dead, (*g).Number)
		*g, ended = nil, true
	}
	return ended, nil
}

// advance takes a generation further, and swaps it in when it has caught up.
func (j *Job) advance(ctx context.Context, r store.Reader, b *store.Batch, s *ledger.State, g **ledger.Generation, last uint64) (more bool, err error) {
	limits := ledger.Limits{Events: or(j.StepEvents, 500), Hours: or(j.StepHours, 200)}
	next, done, err := ledger.Advance(ctx, r, r, *g, last, limits, j.now(), b)
	if err != nil {
		return false, err
	}
	if gap := next.Degraded(); gap != nil && (*g).Degraded() == nil {
		j.log().Warn("the ledger of privacy pools is degraded from here on", "generation", next.Number, "reason", string(gap.Reason),
			"block", gap.First.Block, "transaction", gap.First.Tx, "log", gap.First.Log)
	}
	*g = next
	if done && g == &s.Building {
		if s.Serving != nil {
			s.Dead = append(s.Dead, s.Serving.Number)
		}
		s.Serving, s.Building = next, nil
		j.log().Info("the ledger of privacy pools has caught up", "generation", next.Number, "through", next.Through, "events", next.Events)
	}
	b.Put(ledger.StateKey, s.Encode())
	return !done || s.Building != nil || len(s.Dead) > 0, nil
}

// wipe deletes some rows of ended generations.
func (j *Job) wipe(ctx context.Context, r store.Reader, b *store.Batch, s *ledger.State) (more bool, err error) {
	if len(s.Dead) == 0 {
		return false, nil
	}
	rows := or(j.StepRows, 2000)
	if err := ledger.Wipe(ctx, r, s.Dead[0], rows, b); err != nil {
		return false, err
	}
	if b.Len() < rows { // with the last rows, so that none is left behind
		s.Dead = s.Dead[1:]
		b.Put(ledger.StateKey, s.Encode())
	}
	return true, nil
}
