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
// blocks that are gone learns of it when no more of them go. One step is committed
// beside the making of the next.
func (x *Indexer) rewind(ctx context.Context, r chain.Rewind) error {
	var last *rewound // being committed
	settle := func() error {
		if last == nil {
			return nil
		}
		s := last
		last = nil
		if err := <-s.committed; err != nil {
			return fmt.Errorf("commit rollback to block %d: %w", s.head.Number, err)
		}
		return x.adoptRewound(ctx, s)
	}
	for head := x.state.Head; head.Number > r.Ancestor; head = last.head {
		next := &rewound{began: time.Now(), changes: store.Batch{Epoch: x.lease.Epoch}, committed: make(chan error, 1)}
		var err error
		next.head, err = x.undoBlocks(ctx, head, r.Ancestor, &next.changes)
		if settleErr := settle(); err == nil {
			err = settleErr
		}
		if err == nil {
			err = x.completeRewound(ctx, next, &r)
		}
		if err != nil {
			return err
		}
		last = next
		go func() { next.committed <- x.Store.Commit(ctx, &next.changes) }()
	}
	if err := settle(); err != nil {
		return err
	}
	x.Metrics.fork(r.From - r.Ancestor)
	return nil
}

// rewound is a step of a rollback.
type rewound struct {
	began     time.Time
	changes   store.Batch
	head      chain.Head // that it leaves
	fork      chain.Fork
	committed chan error
}

// completeRewound adds what the index says of itself. The step before is committed.
func (x *Indexer) completeRewound(ctx context.Context, s *rewound, r *chain.Rewind) error {
	b, reached := &s.changes, s.head
	s.fork = chain.Fork{
		Count: x.state.Fork.Count + 1, Ancestor: reached.Number, Depth: r.From - reached.Number,
		OldHead: r.OldHead, BelowL1: r.BelowL1,
	}
	if reached.Number > r.Ancestor {
		r.At, r.AtHash = reached.Number, reached.Hash
		b.Put(chain.RewindKey, r.Encode())
	} else {
		b.Put(chain.ForkKey, s.fork.Encode())
		b.Delete(chain.RewindKey)
	}
	if x.state.HasL1 && x.state.L1.Number > reached.Number {
		b.Put(chain.L1Key, chain.L1{Number: reached.Number, Hash: reached.Hash}.Encode())
	}
	return x.Store.View(ctx, func(r store.Reader) error { return chain.CutFindings(ctx, r, reached.Number, b) })
}

// adoptRewound makes a committed step the indexer's state and announces it.
func (x *Indexer) adoptRewound(ctx context.Context, s *rewound) error {
	if err := x.load(ctx); err != nil {
		return err
	}
	x.Metrics.stage("undo", s.began)
	x.Metrics.head(x.state.Head)
	x.Metrics.checked(&x.checked, x.state.Head)
	x.Announce(Announcement{Head: x.state.Head, Fork: &s.fork})
	return nil
}
