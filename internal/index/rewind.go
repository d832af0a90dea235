package index

import (
	"context"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// rollback undoes all blocks above ancestor.
func (x *Indexer) rollback(ctx context.Context, ancestor uint64) error {
	if ancestor+1 < x.undo.Floor {
		return &DeepForkError{Head: x.state.Head.Number, Floor: x.undo.Floor}
	}
	old := x.state
	x.Logger.Warn("fork: going back", "head", old.Head.Number, "ancestor", ancestor, "depth", old.Head.Number-ancestor)
	return x.rewind(ctx, chain.Rewind{
		Ancestor: ancestor, From: old.Head.Number, OldHead: old.Head.Hash,
		BelowL1: old.HasL1 && old.L1.Number > ancestor,
	})
}

// rewind undoes a fork step by step. Each step is a commit that leaves a sound
// index at a lower head, with a note of where it is to end: a process that is
// killed in between goes on from there. The fork counts with the last one: until
// then the index is as it was at that block before, and what was built on the
// blocks that are gone learns of it when no more of them go.
func (x *Indexer) rewind(ctx context.Context, r chain.Rewind) error {
	b := &store.Batch{}
	for x.state.Head.Number > r.Ancestor {
		start := time.Now()
		b.Reset() // the memory of the step before serves this one
		b.Epoch = x.lease.Epoch
		reached, err := x.undoBlocks(ctx, r.Ancestor, b)
		if err != nil {
			return err
		}
		fork := chain.Fork{
			Count: x.state.Fork.Count + 1, Ancestor: reached.Number, Depth: r.From - reached.Number,
			OldHead: r.OldHead, BelowL1: r.BelowL1,
		}
		if reached.Number > r.Ancestor {
			r.At, r.AtHash = reached.Number, reached.Hash
			b.Put(chain.RewindKey, r.Encode())
		} else {
			b.Put(chain.ForkKey, fork.Encode())
			b.Delete(chain.RewindKey)
		}
		if x.state.HasL1 && x.state.L1.Number > reached.Number {
			b.Put(chain.L1Key, chain.L1{Number: reached.Number, Hash: reached.Hash}.Encode())
		}
		err = x.Store.View(ctx, func(r store.Reader) error { return chain.CutFindings(ctx, r, reached.Number, b) })
		if err != nil {
			return err
		}
		if err := x.Store.Commit(ctx, b); err != nil {
			return &commitError{fmt.Sprintf("rollback to block %d", reached.Number), err}
		}
		if err := x.load(ctx); err != nil {
			return err
		}
		x.Metrics.stage("undo", start)
		x.Metrics.head(x.state.Head)
		x.Metrics.checked(&x.checked, x.state.Head)
		x.Announce(Announcement{Head: x.state.Head, Fork: &fork})
	}
	x.Metrics.fork(r.From - r.Ancestor)
	return nil
}
