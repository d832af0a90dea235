// Package metadata asks token contracts for their names, symbols, decimals and
// supplies, beside the indexer, so that no request ever has to.
//
// Every contract that emits an event that looks like a transfer is put into a
// queue and asked, with all calls pinned to the hash of the index's head. What it
// refuses it does not have; what no node could answer is asked again after a
// pause that doubles. An answer is asked for again after Refresh if the token
// was used since, and after ever longer pauses, up to a day, while it is not:
// names change with upgrades and supplies with use.
//
// The queue is kept in the store and survives restarts. What was read names the
// block it was read at. When a fork replaces that block the token is asked again
// at once, and the search for new tokens goes back to the fork's first block.
package metadata

import (
	"context"
	"log/slog"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// Source runs view functions of contracts; *index.Nodes is one.
type Source interface {
	// Call runs a view function at the block with a hash. index.ErrReverted is the
	// contract's own answer; any other error means that nobody could answer.
	Call(ctx context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error)
}

// Job is an index.Job. The zero values of what is not said otherwise take the
// defaults.
type Job struct {
	Store  store.Engine // needed
	Source Source       // needed

	// Poll is how often the queue is looked at when it was empty (default 2 s).
	Poll time.Duration
	// Refresh is how soon an answer is asked for again (default 6 h).
	Refresh time.Duration
	// RetryMin and RetryMax bound the pause after a failure (default 30 s, 6 h).
	RetryMin, RetryMax time.Duration
	// Parallel is how many tokens are asked at a time (default 4), Batch how many
	// answers share a commit (default 64).
	Parallel, Batch int
	// CallTime bounds one call (default 10 s).
	CallTime time.Duration

	Now    func() time.Time
	Logger *slog.Logger
}

var _ index.Job = (*Job)(nil)

// New fills in the defaults.
func New(j Job) *Job {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&j.Poll, 2 * time.Second}, {&j.Refresh, 6 * time.Hour}, {&j.RetryMin, 30 * time.Second},
		{&j.RetryMax, 6 * time.Hour}, {&j.CallTime, 10 * time.Second},
	} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if j.Parallel == 0 {
		j.Parallel = 4
	}
	if j.Batch == 0 {
		j.Batch = 64
	}
	if j.Now == nil {
		j.Now = time.Now
	}
	if j.Logger == nil {
		j.Logger = slog.New(slog.DiscardHandler)
	}
	return &j
}

// Name is what logs call the job.
func (*Job) Name() string { return "token metadata" }

// Run works until ctx ends.
func (j *Job) Run(ctx context.Context, commit index.Commit) error {
	for {
		if err := j.CatchUp(ctx, commit); err != nil {
			return err
		}
		t := time.NewTimer(j.Poll)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// CatchUp works until nothing is due, or nobody answers.
func (j *Job) CatchUp(ctx context.Context, commit index.Commit) error {
	for {
		if busy, err := j.round(ctx, commit); err != nil || !busy {
			return err
		}
	}
}

// round puts new tokens into the queue and asks those that are due. It is busy
// while there is more to do at once.
func (j *Job) round(ctx context.Context, commit index.Commit) (busy bool, err error) {
	more, err := j.discover(ctx, commit)
	if err != nil {
		return false, err
	}
	asked, err := j.ask(ctx, commit)
	return more || asked, err
}
