package recheck

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// Job is the auditor, a job.Job: it recomputes the finalized blocks of an index
// one after the other, at a bounded rate, and begins again at the end. What it
// finds is told and never repaired.
type Job struct {
	Store store.Engine
	Node  Fetcher
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when 0.
	Depth uint64
	// Interval is the time between two blocks; a second when 0.
	Interval time.Duration
	Logger   *slog.Logger
	Now      func() time.Time // time.Now when nil

	last time.Time
}

var _ job.Job = (*Job)(nil)

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "audit" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return audit.Enrichment() }

// Every is the time between two blocks.
func (j *Job) Every() time.Duration {
	if j.Interval > 0 {
		return j.Interval
	}
	return time.Second
}

// Step recomputes a block, unless it is too early for one.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	now := time.Now
	if j.Now != nil {
		now = j.Now
	}
	at := now()
	if at.Sub(j.last) < j.Every() {
		return false, nil // new blocks wake all jobs
	}
	var s audit.State
	var res Result
	looked := false
	err = j.Store.View(ctx, func(r store.Reader) error {
		depth := j.Depth
		if depth == 0 {
			depth = chain.DefaultDepth
		}
		state, err := chain.Read(ctx, r)
		if err != nil {
			return err
		}
		final, ok := state.FinalizedBlock(depth)
		if !ok {
			return nil
		}
		if s, _, err = audit.Read(ctx, r); err != nil {
			return err
		}
		if s.Next > final {
			s.Next = 0
			s.Passes++
		}
		looked = true
		res, err = Block(ctx, r, s.Next, state.Format.ChainID, j.Node)
		return err
	})
	if err != nil || !looked {
		return false, err
	}
	j.last = at
	j.note(&s, &res, at)
	b := &store.Batch{}
	b.Put(audit.StateKey, s.Encode())
	if err := commit(ctx, b); err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	return false, nil
}

// note adds a result to the state.
func (j *Job) note(s *audit.State, res *Result, at time.Time) {
	s.Next, s.At = res.Number+1, uint64(at.Unix())
	switch {
	case res.Mismatch != "":
		s.Mismatches++
		if !s.False || res.Number <= s.Block {
			s.False, s.Block, s.Reason = true, res.Number, res.Mismatch
		}
		if j.Logger != nil {
			j.Logger.Error("a block of the index contradicts its hash", "block", res.Number, "err", res.Mismatch)
		}
		return
	case res.Finding.Outcome == chain.Verified:
		s.Verified++
	default:
		s.Unproved++
		return
	}
	if s.False && s.Block == res.Number { // it was made good
		s.False, s.Block, s.Reason = false, 0, ""
	}
}
