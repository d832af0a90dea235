package recheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

const (
	// stepBlocks are recomputed from one view and recorded with one commit.
	stepBlocks = 256
	// parallel is how many blocks are worked on at a time.
	parallel = 8
	// leaseTime is how long the record is held for a commit.
	leaseTime = 30 * time.Second
)

// Options are what Range needs.
type Options struct {
	Store store.Engine
	Node  Fetcher // nil: from the index alone
	From  uint64
	To    uint64 // the head is the last in any case
	// Owner holds the writer's lease while findings are recorded. Nothing is
	// recorded while another process holds it.
	Owner string
	// Report is called for runs of blocks with one result, in order.
	Report func(Run)
}

// Run is a run of blocks of which the same is to be said.
type Run struct {
	First, Last uint64
	Method      Method
	Finding     chain.Finding
	Mismatch    string // runs of mismatches have one block
}

// Outcome adds up a range.
type Outcome struct {
	Blocks     uint64
	Verified   uint64
	Unverified uint64
	NotChecked uint64 // a node is needed
	Mismatches uint64
	Recorded   uint64 // blocks of which the index now says that they are verified, and did not
	// Held says that another process holds the record, which stayed as it was.
	Held bool
}

// Range recomputes blocks, and records those that it proves. The error is about
// the machine or the node; what is wrong with the index is counted and reported.
func Range(ctx context.Context, o Options) (out Outcome, err error) {
	if o.Report == nil {
		o.Report = func(Run) {}
	}
	var run *Run
	flush := func() {
		if run != nil {
			o.Report(*run)
			run = nil
		}
	}
	defer flush()
	for first, done := o.From, false; !done; {
		var step []Result
		step, done, err = recompute(ctx, &o, first)
		if err != nil {
			return out, err
		}
		for _, res := range step {
			out.add(&res)
			if run != nil && res.Mismatch == "" && run.Mismatch == "" && run.Method == res.Method && run.Finding == res.Finding {
				run.Last = res.Number
				continue
			}
			flush()
			run = &Run{First: res.Number, Last: res.Number, Method: res.Method, Finding: res.Finding, Mismatch: res.Mismatch}
		}
		n, err := recordVerified(ctx, &o, first, step)
		if errors.Is(err, store.ErrLeaseHeld) {
			out.Held = true
		} else if err != nil {
			return out, err
		}
		out.Recorded += n
		first += uint64(len(step))
	}
	return out, nil
}

func (o *Outcome) add(r *Result) {
	o.Blocks++
	switch {
	case r.Mismatch != "":
		o.Mismatches++
	case r.Finding.Outcome == chain.Verified:
		o.Verified++
	case r.Finding.Outcome == chain.Unverified:
		o.Unverified++
	default:
		o.NotChecked++
	}
}

// recompute is the next step; done says that it is the last.
func recompute(ctx context.Context, o *Options, first uint64) (step []Result, done bool, err error) {
	err = o.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil {
			return err
		}
		if !state.HasHead {
			return errors.New("the index has no block")
		}
		if first > state.Head.Number {
			return fmt.Errorf("block %d is not indexed: the head is %d", first, state.Head.Number)
		}
		last := min(o.To, state.Head.Number)
		if last < first {
			return fmt.Errorf("there are no blocks from %d to %d", first, last)
		}
		n := min(last-first+1, stepBlocks)
		done = first+n-1 == last
		step = make([]Result, n)
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(parallel)
		for i := range step {
			g.Go(func() (err error) {
				step[i], err = Block(ctx, r, first+uint64(i), state.Format.ChainID, o.Node)
				return err
			})
		}
		return g.Wait()
	})
	return step, done, err
}

// recordVerified notes the blocks that were proved, if nobody else writes the index.
func recordVerified(ctx context.Context, o *Options, first uint64, step []Result) (recorded uint64, err error) {
	lease, err := o.Store.Acquire(ctx, store.Writer, o.Owner, leaseTime)
	if err != nil {
		return 0, err
	}
	defer func() {
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if rerr := o.Store.Release(release, lease); err == nil {
			err = rerr
		}
	}()
	b := &store.Batch{}
	b.Under(lease)
	err = o.Store.View(ctx, func(r store.Reader) error {
		list := make([]chain.Finding, len(step))
		for i := range step {
			if list[i], err = chain.FindingAt(ctx, r, step[i].Number); err != nil {
				return err
			}
			if f := step[i].Finding; step[i].Mismatch == "" && f.Outcome == chain.Verified && list[i] != f {
				list[i] = f
				recorded++
			}
		}
		if recorded == 0 {
			return nil
		}
		return chain.AmendFindings(ctx, r, first, list, b)
	})
	if err != nil || recorded == 0 {
		return 0, err
	}
	if err := o.Store.Commit(ctx, b); err != nil {
		return 0, fmt.Errorf("record blocks %d to %d as verified: %w", first, step[len(step)-1].Number, err)
	}
	return recorded, nil
}
