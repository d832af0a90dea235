package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// branch is a list of blocks that may take the place of ours. Of a block that was
// fetched and verified only the hash is kept: a branch can be long. When it is
// indexed each block is fetched again, and must have the same hash.
type branch struct {
	ancestor uint64      // the newest block that it shares with the index
	base     felt.Felt   // and its hash
	first    felt.Felt   // hash of the block after it
	hashes   []felt.Felt // of the blocks after the ancestor that were verified
	since    time.Time   // when it was first seen
}

// head is the newest block of the branch that was verified.
func (b *branch) head() uint64 { return b.ancestor + uint64(len(b.hashes)) }

// old says whether the branch has been there for a while.
func (b *branch) old(age time.Duration) bool { return time.Since(b.since) >= age }

// at is the hash of a verified block.
func (b *branch) at(number uint64) (hash felt.Felt, known bool) {
	if b == nil || number <= b.ancestor || number > b.head() {
		return hash, false
	}
	return b.hashes[number-b.ancestor-1], true
}

// BranchError says that a node has another block than the index and does not
// have enough other nodes on its side.
type BranchError struct {
	Block       uint64 // the first one that differs
	Node        string
	Ours, Rival int // nodes that have the block of the index, and that have the other
}

func (e *BranchError) Error() string {
	return fmt.Sprintf("node %s has another block %d than the index: %d of the nodes have that block, %d have the one of the index",
		e.Node, e.Block, e.Rival, e.Ours)
}

// examine fetches and verifies a branch from the node that shows it, up to the
// block after our head, or as far as the node has come. A branch that grew since
// is read on from where it was.
func (x *Indexer) examine(ctx context.Context, node string, b *branch) error {
	base, err := x.hashAt(ctx, b.ancestor)
	if err != nil {
		return err
	}
	b.base = base
	for target := x.state.Head.Number + 1; b.head() < target; {
		got, err := x.readBranch(ctx, node, b.head()+1, min(target, b.head()+uint64(x.Window)))
		for i := range got {
			if err := b.append(&got[i], node); err != nil {
				return err
			}
		}
		if errors.Is(err, ErrNotFound) {
			return x.unchanged(ctx, node, b)
		}
		if err != nil {
			return err
		}
	}
	return x.unchanged(ctx, node, b)
}

// append adds a block that was verified, if it builds on the last one.
func (b *branch) append(h *starknet.Header, node string) error {
	parent := b.base
	if n := len(b.hashes); n > 0 {
		parent = b.hashes[n-1]
	} else if h.Hash != b.first {
		return &checkError{Block: h.Number, Node: node, Reason: fmt.Sprintf("it is %s and was %s a moment ago", h.Hash, b.first)}
	}
	if h.ParentHash != parent {
		return &checkError{Block: h.Number, Node: node, Reason: fmt.Sprintf("its parent is %s, the block before it is %s", h.ParentHash, parent)}
	}
	b.hashes = append(b.hashes, h.Hash)
	return nil
}

// readBranch verifies a few blocks at once and returns the headers of those in
// front of the first that could not be had.
func (x *Indexer) readBranch(ctx context.Context, node string, from, to uint64) ([]starknet.Header, error) {
	heads := make([]starknet.Header, to-from+1)
	errs := make([]error, len(heads))
	var g errgroup.Group
	g.SetLimit(x.Workers)
	for i := range heads {
		g.Go(func() error {
			heads[i], errs[i] = x.readBranchBlock(ctx, node, from+uint64(i))
			return nil
		})
	}
	g.Wait() //nolint:errcheck // each block has its own
	for i, err := range errs {
		if err != nil {
			return heads[:i], err
		}
	}
	return heads, nil
}

// readBranchBlock fetches a block and verifies it, whatever the node says about
// L1: it is to replace a block of ours, and what was verified is not replaced by
// what cannot be.
func (x *Indexer) readBranchBlock(ctx context.Context, node string, number uint64) (h starknet.Header, err error) {
	raw, err := x.fetch(ctx, number, From{Only: node})
	if err != nil {
		return h, fmt.Errorf("fetch block %d of a branch: %w", number, err)
	}
	bad := func(err error) error { return &checkError{Block: number, Node: raw.Node, Reason: err.Error()} }
	b, err := starknet.DecodeBlock(raw.Block)
	if err != nil {
		return h, bad(err)
	}
	su, err := starknet.DecodeStateUpdate(raw.StateUpdate)
	if err != nil {
		return h, bad(err)
	}
	if err := check(b, su, number); err != nil {
		return h, bad(err)
	}
	var ours chain.Finding
	err = x.Store.View(ctx, func(r store.Reader) (err error) {
		ours, err = chain.FindingAt(ctx, r, min(number, x.state.Head.Number))
		return err
	})
	if err != nil {
		return h, err
	}
	if x.Verify == VerifyOff && ours.Outcome != chain.Verified {
		if err := checkCounts(b); err != nil {
			return h, bad(err)
		}
		return b.Header, nil
	}
	theirs, err := x.verify(b, su, raw.Node)
	if err == nil && ours.Outcome == chain.Verified && theirs.Outcome != chain.Verified {
		err = &VerifyError{Block: number, Node: raw.Node, Cause: fmt.Errorf("it cannot be verified (%s), and it would replace a block that was", theirs.Reason)}
	}
	return b.Header, err
}

// unchanged checks that the node still has the branch: reading it took a while.
func (x *Indexer) unchanged(ctx context.Context, node string, b *branch) error {
	if len(b.hashes) == 0 {
		return fmt.Errorf("node %s has no block %d any more: %w", node, b.ancestor+1, ErrNotFound)
	}
	claims, err := x.claims(ctx, b.head())
	if err != nil {
		return err
	}
	for _, c := range claims {
		if c.Node != node {
			continue
		}
		if last, _ := b.at(b.head()); c.Err == nil && (!c.Found || c.Hash != last) {
			b.hashes = nil // it is read again
			return fmt.Errorf("the branch of node %s changed while it was read", node)
		}
		return c.Err
	}
	return fmt.Errorf("node %s is gone", node)
}

// afterStray deals with a block that is not the one that was verified. While any
// node has that one, the other node is wrong; otherwise the chain changed again.
func (x *Indexer) afterStray(ctx context.Context, stray *strayError) (worked bool, err error) {
	if err := x.load(ctx); err != nil {
		return false, err
	}
	claims, err := x.claims(ctx, stray.Block)
	if err != nil {
		return false, err
	}
	for _, c := range claims {
		if c.Err == nil && c.Found && c.Hash == stray.Want && c.Node != stray.Node && c.Node != "" {
			x.blame(stray.Node, stray)
			return true, nil
		}
	}
	x.Logger.Warn("fork: the branch changed after it was verified", "err", stray)
	x.expected = nil
	return true, nil
}
