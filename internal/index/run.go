package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/lease"
)

// Run keeps the index up to date until ctx ends, which is no error, or until
// something happens that a person must look at. A node that is away, slow or
// behind is waited for.
func (x *Indexer) Run(ctx context.Context) error { return x.run(ctx, nil) }

// RunTo is Run until the index has the block with this number.
func (x *Indexer) RunTo(ctx context.Context, number uint64) error { return x.run(ctx, &number) }

func (x *Indexer) run(parent context.Context, until *uint64) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	if err := x.open(ctx); err != nil {
		if parent.Err() != nil {
			return nil
		}
		return err
	}
	if err := x.beginAgreement(ctx); err != nil {
		return err
	}
	var beside sync.WaitGroup
	beside.Go(func() { lease.Keep(ctx, x.Store, x.lease, x.TTL, x.Logger, cancel) })
	if peers, ok := x.Source.(Peers); ok && x.Quorum >= 2 {
		beside.Go(func() { x.agree(ctx, peers) })
	}
	if x.Heard != nil {
		beside.Go(func() { x.beat(ctx) })
	}
	x.startBackfill(ctx)
	x.progress.begin()
	err := x.loop(ctx, until)
	if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
		err = cause // the lease was lost
	}
	cancel(nil)
	beside.Wait()
	x.background.Wait() //nolint:errcheck // it reports through channels
	// The lease is given back even when the caller is in a hurry.
	release, done := context.WithTimeout(context.WithoutCancel(parent), 2*time.Second)
	defer done()
	if !storeGone(err) {
		x.reportFault(release, err)
		if rerr := x.Store.Release(release, x.lease); rerr != nil {
			x.Logger.Warn("could not release the lease", "err", rerr)
		}
	}
	if parent.Err() != nil && !permanent(err) {
		return nil
	}
	return err
}

// open takes the lease, learns the chain and refuses a store that is not ours.
func (x *Indexer) open(ctx context.Context) error {
	var err error
	if x.lease, err = x.acquire(ctx); err != nil {
		return err
	}
	if err := x.load(ctx); err != nil {
		return err
	}
	err = x.patiently(ctx, "ask the node for its chain", func() (err error) {
		x.chainID, err = x.Source.ChainID(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if x.state.Present && x.state.Format.ChainID != x.chainID {
		return wrongChain(x.state.Format.ChainID, x.chainID)
	}
	x.Logger.Info("index opened", "chain", ChainName(x.chainID), "next_block", x.nextBlock(), "verify", string(x.Verify))
	if x.state.HasHead {
		x.Metrics.head(x.state.Head)
	}
	return nil
}

// loop runs rounds: index what is there, then wait for more.
func (x *Indexer) loop(ctx context.Context, until *uint64) error {
	heads := x.Source.Heads(ctx)
	poll := time.NewTicker(x.PollInterval)
	defer poll.Stop()
	failures := 0
	for {
		if until != nil && x.state.HasHead && x.state.Head.Number >= *until && !x.state.Rewinding {
			return nil
		}
		worked, err := x.round(ctx, until)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			failures = 0
			if x.standoff != nil {
				x.hinder(ctx, x.standoff, failures)
			} else if err := x.unhinder(ctx); err != nil {
				x.Logger.Warn("the status of the index is old", "err", err)
			}
		case permanent(err) || storeGone(err):
			return err
		default:
			failures++
			x.Metrics.failures.Inc()
			x.Logger.Warn("round failed, trying again", "err", err, "failures", failures)
			x.hinder(ctx, err, failures)
			if err := x.pause(ctx, failures); err != nil {
				return err
			}
			// Memory may be ahead of the store, or behind it when a commit
			// succeeded and its answer was lost.
			if err := x.load(ctx); err != nil {
				return fmt.Errorf("read the state of the index: %w", err)
			}
			continue
		}
		if worked {
			continue
		}
		select {
		case <-heads:
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// storeGone tells the errors after which this process cannot write any more.
func storeGone(err error) bool {
	return errors.Is(err, store.ErrFenced) || errors.Is(err, lease.ErrLost) || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrStopped)
}

// round looks at the source once and does what there is to do.
func (x *Indexer) round(ctx context.Context, until *uint64) (worked bool, err error) {
	x.standoff = nil
	if x.state.Rewinding { // a process before this one did not come to the end of it
		x.Logger.Warn("fork: going on going back", "head", x.state.Head.Number, "ancestor", x.state.Rewind.Ancestor)
		return true, x.rewind(ctx, x.state.Rewind)
	}
	head, err := x.Source.Head(ctx)
	if errors.Is(err, ErrNotFound) {
		return false, nil // an empty chain
	}
	if err != nil {
		return false, fmt.Errorf("ask for the head: %w", err)
	}
	if err := x.storeFound(ctx); err != nil {
		return false, err
	}
	x.known = head.Number
	if x.expected != nil && x.state.HasHead && x.state.Head.Number >= x.expected.head() {
		x.expected = nil
	}
	x.Metrics.target.Set(float64(head.Number))

	replaced, err := x.replacedInPlace(ctx, head)
	if err != nil {
		return false, err
	}
	switch {
	case replaced:
		what, err := x.heal(ctx, head.Number)
		if err != nil {
			return false, err
		}
		worked = what == settled
	case !x.state.HasHead || head.Number > x.state.Head.Number:
		target := head.Number
		if until != nil {
			target = min(target, *until)
		}
		err := x.advance(ctx, target)
		if err != nil {
			return x.afterFailure(ctx, head.Number, err)
		}
		worked = true
	case head.Hash != x.state.Head.Hash:
		what, err := x.heal(ctx, head.Number)
		if err != nil {
			return false, err
		}
		worked = what == settled
	}
	if err := x.settleOrigins(ctx, head); err != nil {
		return worked, err
	}
	if now := time.Now(); now.Sub(x.l1Asked) >= x.L1Interval {
		x.l1Asked = now
		if err := x.retryMissing(ctx); err != nil {
			return false, err
		}
		contradicts, err := x.trackL1(ctx)
		if err != nil {
			return false, err
		}
		if contradicts {
			what, err := x.heal(ctx, head.Number)
			return what == settled || worked, err
		}
	}
	return worked, nil
}

// afterFailure tells a fork from a node that contradicts itself or has just
// gone back, and gives up on the latter after a while.
func (x *Indexer) afterFailure(ctx context.Context, sourceHead uint64, err error) (bool, error) {
	var fork *forkError
	var stray *strayError
	switch {
	case errors.As(err, &fork):
		if err := x.load(ctx); err != nil {
			return false, err
		}
		what, herr := x.heal(ctx, sourceHead)
		switch {
		case inconsistent(herr):
			err = herr
		case herr != nil:
			return false, herr
		case what != noFork:
			return what == settled, nil
		default:
			x.blame(fork.Node, err) // it has our blocks, and one that does not build on them
		}
	case errors.As(err, &stray):
		return x.afterStray(ctx, stray)
	case inconsistent(err):
	case errors.Is(err, ErrNotFound):
		// The head went back between two questions, or a fork is under way.
		return false, err
	default:
		return false, err
	}
	x.stuck++
	if x.stuck >= x.MaxStuck {
		return false, &StuckError{Rounds: x.stuck, Last: err}
	}
	return false, err
}

// patiently repeats a question that only fails while the node is away.
func (x *Indexer) patiently(ctx context.Context, what string, ask func() error) error {
	for failures := 1; ; failures++ {
		err := ask()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.Logger.Warn("waiting for the node", "what", what, "err", err, "failures", failures)
		if err := x.pause(ctx, failures); err != nil {
			return err
		}
	}
}

// pause waits longer with every failure, with jitter so that several indexers
// do not come back together.
func (x *Indexer) pause(ctx context.Context, failures int) error {
	return backoff.Wait(ctx, backoff.Policy{Min: x.RetryMin, Max: x.RetryMax}.After(failures))
}
