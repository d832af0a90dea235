// Package metadata asks token contracts for their names, symbols, decimals and
// supplies, beside the indexer, so that no request ever has to.
//
// Every contract that emits an event that looks like a transfer is put into a
// queue, and when nothing in it is due so are contracts that the entry points of
// their class make tokens and that have not moved one: the Known ones, and the
// oldest 64 of each class, which bounds what a crowd of worthless ones costs. A proxy whose
// class tells nothing is not known for a token before it moves one. Tokens are asked, with all calls pinned to the hash of the index's head. What it
// refuses it does not have; what no node could answer is asked again after a
// pause that doubles. An answer is asked for again after Refresh if the token
// was used since, and after ever longer pauses, up to a day, while it is not:
// supplies change with use. Names change with upgrades: a token whose class a block
// replaces is asked again at once, unless it was asked in the last ten minutes.
//
// The queue is kept in the store and survives restarts. What was read names the
// block it was read at. When a fork replaces that block the token is asked again
// at once, and the search for new tokens goes back to the fork's first block.
package metadata

import (
	"context"
	"log/slog"
	"time"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// Source runs view functions of contracts; *index.Nodes is one.
type Source interface {
	// Call runs a view function at the block with a hash. index.ErrReverted is the
	// contract's own answer; any other error means that nobody could answer.
	Call(ctx context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error)
}

// Job is a job.Job. The zero values of what is not said otherwise take the
// defaults.
type Job struct {
	Store  store.Engine // needed
	Source Source       // needed

	// Known are tokens that are asked before they move, in front of all others.
	Known []felt.Felt

	// Poll is how often the queue is looked at when it was empty (default 2 s).
	Poll time.Duration
	// Refresh is how soon an answer is asked for again (default 6 h).
	Refresh time.Duration
	// Sweep is how soon the directory of classes is looked through again for tokens
	// that have not moved (default 10 min).
	Sweep time.Duration
	// RetryMin and RetryMax bound the pause after a failure (default 30 s, 6 h).
	RetryMin, RetryMax time.Duration
	// Parallel is how many tokens are asked at a time (default 4), Batch how many
	// answers share a commit (default 64).
	Parallel, Batch int
	// CallTime bounds one call (default 10 s).
	CallTime time.Duration

	Now    func() time.Time
	Logger *slog.Logger

	swept *class.Place // how far the directory was looked through; nil at its beginning
	rest  time.Time    // until when it is not
}

var _ job.Job = (*Job)(nil)

// New fills in the defaults.
func New(j Job) *Job {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&j.Poll, 2 * time.Second}, {&j.Refresh, 6 * time.Hour}, {&j.RetryMin, 30 * time.Second},
		{&j.RetryMax, 6 * time.Hour}, {&j.CallTime, 10 * time.Second}, {&j.Sweep, 10 * time.Minute},
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

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "token-metadata" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return token.Enrichment() }

// Every is how often the queue is looked at.
func (j *Job) Every() time.Duration { return j.Poll }

// CatchUp works until nothing is due, or nobody answers.
func (j *Job) CatchUp(ctx context.Context, commit job.Commit) error {
	for {
		if more, err := j.Step(ctx, commit); err != nil || !more {
			return err
		}
	}
}

// Step puts new and upgraded tokens into the queue and asks those that are due. It reports
// whether there is more to do at once.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	found, err := j.discover(ctx, commit)
	if err != nil {
		return false, err
	}
	asked, err := j.ask(ctx, commit)
	if err != nil || found || asked {
		return found || asked, err
	}
	return j.sweep(ctx, commit)
}
