package index

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// roundBlocks bounds one pass of the pipeline, so that the head, L1 acceptance
// and pruning are looked at in between while catching up.
const roundBlocks = 10_000

// batchMost bounds what a batch writes beyond what it holds, well below what engines take.
const batchMost = 512 << 20

// result is what a worker hands to the sequencer.
type result struct {
	p   *prepared
	err error
}

// advance indexes blocks up to target. On an error everything that was
// committed stays, and the rest is forgotten.
func (x *Indexer) advance(ctx context.Context, target uint64) error {
	from := x.nextBlock()
	last, tail := min(target, from+roundBlocks-1), x.tailFrom(target)

	// Cancelling stops the workers when the sequencer fails; waiting for them
	// keeps a worker of this round from running into the next.
	ctx, cancel := context.WithCancel(ctx)
	var workers errgroup.Group
	defer func() {
		cancel()
		workers.Wait() //nolint:errcheck // workers report through their channels
		x.classes.forget()
	}()

	// The queue holds the blocks in order; its capacity is the window.
	queue := make(chan chan result, x.Window)
	workers.Go(func() error {
		defer close(queue)
		var pool errgroup.Group
		pool.SetLimit(x.Workers)
		defer pool.Wait() //nolint:errcheck // see above
		for number := from; number <= last; number++ {
			slot := make(chan result, 1)
			select {
			case queue <- slot:
			case <-ctx.Done():
				return nil
			}
			pool.Go(func() error {
				p, err := x.prepare(ctx, number, tail)
				slot <- result{p, err}
				return nil
			})
		}
		return nil
	})
	return x.sequence(ctx, queue, from, last, target)
}

// sequence takes prepared blocks in order and commits them. One commit runs
// beside the building of the next batch.
func (x *Indexer) sequence(ctx context.Context, queue <-chan chan result, from, last, target uint64) error {
	var pending *batch // being committed
	var committing chan error
	settled := func(err error) error {
		b := pending
		pending = nil
		if err == nil {
			x.adopt(b)
		}
		return err
	}
	settle := func() error {
		if pending == nil {
			return nil
		}
		return settled(<-committing)
	}
	flush := func(b *batch) error {
		if err := settle(); err != nil {
			return err
		}
		b.rows.below = nil // committed rows are read from the store
		pending, committing = b, make(chan error, 1)
		done := committing
		go func() {
			start := time.Now()
			err := x.commit(ctx, b)
			x.Metrics.stage("commit", start)
			done <- err
		}()
		return nil
	}

	cur, began := x.newBatch(nil), time.Now()
	flushCur := func() error {
		done := cur
		if err := flush(done); err != nil {
			return err
		}
		cur, began = x.newBatch(done), time.Now()
		return nil
	}
	// Near the head a block waits for no other. Those that come while one is being committed
	// are the next commit together.
	near := false
	err := func() error {
		for number := from; number <= last; number++ {
			var r result
			for slot, waits, ready := (chan result)(nil), queue, false; !ready; {
				select {
				case slot = <-waits:
					waits = nil
				case r = <-slot:
					ready = true
				case err := <-committing:
					// It is told at once, and its memory goes before this batch has as much.
					if err := settled(err); err != nil {
						return err
					}
					if cur.rows.below = nil; near && cur.blocks > 0 {
						if err := flushCur(); err != nil {
							return err
						}
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if r.err != nil {
				// The blocks in front of one that could not be had are good: keep
				// them. A node that was caught lying is believed nothing more.
				if cur.blocks > 0 && ctx.Err() == nil && !permanent(r.err) {
					if err := flush(cur); err != nil {
						return err
					}
				}
				return r.err
			}
			start := time.Now()
			if cur.blocks > 0 && cur.plain == r.p.needUndo {
				// Blocks with and without undo records do not share a batch: it
				// keeps their rows in different places.
				if err := flushCur(); err != nil {
					return err
				}
			}
			if r.p.needUndo && pending != nil && pending.plain {
				// The first undo record of a run of blocks must see every row
				// before it, and blocks without one are not remembered.
				if err := settle(); err != nil {
					return err
				}
				cur = x.newBatch(nil)
			}
			if err := x.add(ctx, cur, r.p); err != nil {
				return err
			}
			x.Metrics.stage("sequence", start)
			full := cur.held() >= x.BatchBytes || cur.size() >= max(x.BatchBytes, batchMost) || time.Since(began) >= x.BatchAge
			near = number+x.TailBlocks > target
			if full || near && pending == nil || number == last {
				if err := flushCur(); err != nil {
					return err
				}
			}
		}
		return nil
	}()
	if settleErr := settle(); err == nil {
		err = settleErr
	}
	cur.drop() // unless it was committed
	return err
}
