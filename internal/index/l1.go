package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// pruneBlocks is about how many undo records one commit removes at most.
const pruneBlocks = 2_000

// trackL1 moves the L1 mark forward and drops undo records that are no longer
// needed. It reports whether the source's L1 block contradicts the index, which
// means a fork.
func (x *Indexer) trackL1(ctx context.Context) (contradicts bool, err error) {
	if !x.state.HasHead {
		return false, nil
	}
	b := &store.Batch{Epoch: x.lease.Epoch}
	ref, err := x.acceptedOnL1(ctx)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return false, fmt.Errorf("ask for the block accepted on L1: %w", err)
	case ref.Number > x.known: // no node has shown such a block
		x.Logger.Warn("a block above every head is said to be accepted on L1", "block", ref.Number, "head", x.known)
	default:
		if ref.Number > x.state.Head.Number { // it is not held against a block of ours
			if has, err := x.shown(ctx, ref); err != nil || !has {
				return false, err
			}
		}
		l1, ok, err := x.acceptedByUs(ctx, ref)
		if err != nil || !ok {
			return err == nil, err
		}
		if !x.state.HasL1 || l1.Number > x.state.L1.Number {
			b.Put(chain.L1Key, l1.Encode())
			x.state.L1, x.state.HasL1 = l1, true
		}
	}
	if err := x.prune(ctx, b); err != nil {
		return false, err
	}
	if b.Len() == 0 {
		return false, nil
	}
	if err := x.Store.Commit(ctx, b); err != nil {
		return false, fmt.Errorf("commit L1 acceptance: %w", err)
	}
	x.Metrics.l1(x.state.L1.Number)
	return false, nil
}

// acceptedOnL1 is the newest block that is said to be accepted: by one node, or by
// as many as are wanted. Acceptance of a block is acceptance of all before it, so
// that of the blocks that nodes name the N-th highest is what N of them vouch for.
func (x *Indexer) acceptedOnL1(ctx context.Context) (ref BlockRef, err error) {
	peers, able := x.Source.(interface {
		L1AcceptedBy(ctx context.Context) []BlockRef
	})
	if x.Quorum < 2 || !able {
		return x.Source.L1Accepted(ctx)
	}
	refs := peers.L1AcceptedBy(ctx)
	if len(refs) < x.Quorum {
		return ref, ErrNotFound
	}
	arrange.By(refs, func(a, b BlockRef) int { return cmp.Compare(b.Number, a.Number) })
	return refs[x.Quorum-1], nil
}

// L1AcceptedBy is the newest accepted block of each node that tells it.
func (n *Nodes) L1AcceptedBy(ctx context.Context) (refs []BlockRef) {
	for _, h := range n.Pool.L1AcceptedBy(ctx) {
		refs = append(refs, BlockRef{h.Number, h.Hash})
	}
	return refs
}

// shown says whether the source has a block that it named.
func (x *Indexer) shown(ctx context.Context, ref BlockRef) (bool, error) {
	hash, err := x.Source.HashAt(ctx, ref.Number)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for the hash of block %d: %w", ref.Number, err)
	}
	return hash == ref.Hash, nil
}

// acceptedByUs maps the source's L1 block onto the index: while catching up it
// is ahead of us, and then all that we have is accepted, if it is of the same
// branch. That is asked: our head may be of a branch that is gone, and a mark on
// it could not be taken back without the operator.
func (x *Indexer) acceptedByUs(ctx context.Context, ref BlockRef) (chain.L1, bool, error) {
	if head := x.state.Head; ref.Number > head.Number {
		theirs, err := x.Source.HashAt(ctx, head.Number)
		if err != nil {
			return chain.L1{}, false, fmt.Errorf("ask for the hash of block %d: %w", head.Number, err)
		}
		return chain.L1{Number: head.Number, Hash: head.Hash}, theirs == head.Hash, nil
	}
	ours, err := x.hashAt(ctx, ref.Number)
	return chain.L1(ref), ours == ref.Hash, err
}

// prune removes undo records of blocks that are accepted on L1 and deeper than
// UndoBlocks, a bounded number at a time. One scan per stretch.
func (x *Indexer) prune(ctx context.Context, b *store.Batch) error {
	undo := x.undo
	if head := x.state.Head.Number; x.state.HasL1 && head >= x.UndoBlocks {
		undo.Floor = max(undo.Floor, min(x.state.L1.Number, head-x.UndoBlocks)+1)
	}
	removed := 0
	err := x.Store.View(ctx, func(r store.Reader) error {
		for undo.Oldest < undo.Floor && removed < pruneBlocks {
			end := min(explorer.FirstOfStretch(undo.Oldest)+explorer.StretchSize, undo.Floor)
			stretch := store.Range{
				Table: catalog.Undo, Partition: explorer.Stretch(undo.Oldest), Limit: explorer.StretchSize,
				From: explorer.BlockKey(undo.Oldest), To: explorer.BlockKey(end),
			}
			before := removed
			for row, err := range r.Scan(ctx, stretch) {
				if err != nil {
					return fmt.Errorf("scan undo records: %w", err)
				}
				b.Delete(UndoKey(binary.BigEndian.Uint64(row.Sort)))
				removed++
			}
			undo.Oldest = end
			if removed > before {
				continue
			}
			next, err := nextUndo(ctx, r, end-1)
			if err != nil {
				return err
			}
			undo.Oldest = min(next, undo.Floor)
		}
		return nil
	})
	if err != nil || undo == x.undo {
		return err
	}
	b.Put(chain.UndoKey, encodeUndoSpan(undo))
	x.undo = undo
	return nil
}

// nextUndo is the first block behind one that has an undo record: there may be none for
// as many blocks as were accepted on L1 when they were indexed.
func nextUndo(ctx context.Context, r store.Reader, behind uint64) (uint64, error) {
	after := UndoKey(behind)
	for e, err := range r.Walk(ctx, catalog.Undo, &after) {
		if err != nil {
			return 0, fmt.Errorf("look for undo records: %w", err)
		}
		return binary.BigEndian.Uint64(e.Sort), nil
	}
	return math.MaxUint64, nil
}
