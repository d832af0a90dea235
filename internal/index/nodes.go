package index

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
)

// Nodes is a Source on a pool of nodes.
type Nodes struct {
	Pool *node.Pool

	mu sync.Mutex
	l1 uint64 // newest block seen as accepted on L1, for nodes without the tag
}

var _ Peers = (*Nodes)(nil)

// ChainID names the chain that all nodes serve.
func (n *Nodes) ChainID(ctx context.Context) (felt.Felt, error) { return n.Pool.ChainID(ctx) }

// Head is the head of the best node.
func (n *Nodes) Head(ctx context.Context) (BlockRef, error) {
	h, err := n.Pool.Head(ctx)
	return BlockRef{h.Number, h.Hash}, known(err)
}

// LowestHead is the lowest head that a node which is believed ever told of.
func (n *Nodes) LowestHead() (number uint64, ok bool) {
	for _, s := range n.Pool.Statuses() {
		if s.Believed && !s.HeardAt.IsZero() && (!ok || s.Head.Number < number) {
			number, ok = s.Head.Number, true
		}
	}
	return number, ok
}

// Fetch returns a block in one request to one node.
func (n *Nodes) Fetch(ctx context.Context, number uint64) (Raw, error) {
	return n.FetchFrom(ctx, number, From{})
}

// FetchFrom returns a block from particular nodes.
func (n *Nodes) FetchFrom(ctx context.Context, number uint64, from From) (Raw, error) {
	raw, err := n.Pool.BlockWithUpdate(ctx, number, from.options()...)
	return Raw(raw), known(err)
}

func (f From) options() (opts []node.Option) {
	if f.Only != "" {
		opts = append(opts, node.OnNode(f.Only))
	}
	if len(f.Not) > 0 {
		opts = append(opts, node.NotNodes(f.Not...))
	}
	return opts
}

// HashesAt asks every node.
func (n *Nodes) HashesAt(ctx context.Context, number uint64) []NodeHash {
	said := n.Pool.HashesAt(ctx, number)
	out := make([]NodeHash, len(said))
	for i, s := range said {
		out[i] = NodeHash(s)
	}
	return out
}

// Blame puts a node into quarantine.
func (n *Nodes) Blame(node string, err error) { n.Pool.Blame(node, err) }

// HashAt asks for a header.
func (n *Nodes) HashAt(ctx context.Context, number uint64) (felt.Felt, error) {
	h, err := n.header(ctx, node.BlockNumber(number))
	if err != nil {
		return felt.Felt{}, err
	}
	if h.Number != number {
		return felt.Felt{}, fmt.Errorf("asked for block %d, the node answered %d", number, h.Number)
	}
	return h.Hash, nil
}

// L1Accepted asks for the tag of that name, or, when no node is new enough to
// know it, or none of those answers, searches the statuses: blocks are accepted in order.
func (n *Nodes) L1Accepted(ctx context.Context) (BlockRef, error) {
	versions, err := n.Pool.SpecVersions(ctx)
	if err != nil {
		return BlockRef{}, err
	}
	able := 0
	for _, v := range versions {
		if v.Major > 0 || v.Minor >= 9 {
			able++
		}
	}
	if able == 0 {
		return n.searchL1(ctx)
	}
	h, err := n.header(ctx, node.L1Accepted)
	switch {
	case err == nil:
		return BlockRef{h.Number, h.Hash}, nil
	case able == len(versions) || errors.Is(err, ErrNotFound) || ctx.Err() != nil:
		return BlockRef{}, err
	}
	return n.searchL1(ctx)
}

// searchL1 finds the newest accepted block by its status in about
// log2(head - last answer) questions.
func (n *Nodes) searchL1(ctx context.Context) (BlockRef, error) {
	head, err := n.Head(ctx)
	if err != nil {
		return BlockRef{}, err
	}
	n.mu.Lock()
	low := min(n.l1, head.Number)
	n.mu.Unlock()
	at := func(number uint64) (BlockRef, bool, error) {
		h, err := n.header(ctx, node.BlockNumber(number))
		if err != nil {
			return BlockRef{}, false, err
		}
		return BlockRef{h.Number, h.Hash}, h.Status == starknet.AcceptedOnL1, nil
	}
	best, ok, err := at(low)
	if err == nil && !ok && low > 0 { // a fork took it back
		low = 0
		best, ok, err = at(0)
	}
	if err != nil {
		return BlockRef{}, err
	}
	if !ok {
		return BlockRef{}, ErrNotFound
	}
	for high := head.Number + 1; low+1 < high; {
		mid := low + (high-low)/2
		ref, ok, err := at(mid)
		if err != nil {
			return BlockRef{}, err
		}
		if ok {
			low, best = mid, ref
		} else {
			high = mid
		}
	}
	n.mu.Lock()
	n.l1 = low
	n.mu.Unlock()
	return best, nil
}

func (n *Nodes) header(ctx context.Context, id node.BlockID) (*starknet.Header, error) {
	raw, name, err := n.Pool.BlockHeader(ctx, id)
	if err != nil {
		return nil, known(err)
	}
	h, err := starknet.DecodeHeader(raw)
	if err != nil {
		return nil, fmt.Errorf("header from node %s: %w", name, err)
	}
	return h, nil
}

// Class returns a class as it is known at a block.
func (n *Nodes) Class(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
	return n.ClassFrom(ctx, number, hash, From{})
}

// ClassFrom returns a class from particular nodes.
func (n *Nodes) ClassFrom(ctx context.Context, number uint64, hash felt.Felt, from From) ([]byte, string, error) {
	raw, name, err := n.Pool.Class(ctx, node.BlockNumber(number), hash, from.options()...)
	return raw, name, known(err)
}

// Heads signals new heads of the pool.
func (n *Nodes) Heads(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	heads := n.Pool.Heads(ctx)
	go func() {
		for range heads {
			select {
			case out <- struct{}{}:
			default: // the last signal was not taken yet
			}
		}
	}()
	return out
}

// known turns the pool's final answers into this package's.
func known(err error) error {
	switch {
	case node.IsNotFound(err):
		return fmt.Errorf("%w: %v", ErrNotFound, err)
	case errors.Is(err, node.ErrNoOther):
		return fmt.Errorf("%w: %v", ErrNoOther, err)
	case errors.Is(err, node.ErrQuarantine):
		return fmt.Errorf("%w: %w", ErrQuarantine, err)
	}
	return err
}
