// Package simsource makes a simulated chain of this process a source of blocks,
// without a node in between: for tests and benchmarks of what is indexed. Paths
// that go through a node have the node's own tests.
package simsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Source reads a simulated chain.
type Source struct{ *simnode.Chain }

var _ index.Source = Source{}

// ChainID names the chain.
func (s Source) ChainID(context.Context) (felt.Felt, error) { return s.Config().ChainID, nil }

func (s Source) ref(number uint64, ok bool) (index.BlockRef, error) {
	if !ok {
		return index.BlockRef{}, index.ErrNotFound
	}
	return index.BlockRef{Number: number, Hash: s.BlockAt(number).Hash}, nil
}

// Head is the newest block.
func (s Source) Head(context.Context) (index.BlockRef, error) { return s.ref(s.Chain.Head()) }

// L1Accepted is the newest block accepted on L1.
func (s Source) L1Accepted(context.Context) (index.BlockRef, error) { return s.ref(s.L1Head()) }

// Fetch returns a block.
func (s Source) Fetch(_ context.Context, number uint64) (index.Raw, error) {
	b := s.BlockAt(number)
	if b == nil {
		return index.Raw{}, index.ErrNotFound
	}
	return index.Raw{
		Block:       starknet.AppendBlock(nil, b, starknet.V010),
		StateUpdate: starknet.AppendStateUpdate(nil, s.StateUpdateAt(number), starknet.V010),
		Node:        "simulated",
	}, nil
}

// Class returns a class.
func (s Source) Class(_ context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
	class, ok := s.ClassByHash(hash, number)
	if !ok {
		return nil, "", index.ErrNotFound
	}
	return starknet.AppendClass(nil, &class.Class), "simulated", nil
}

// Call runs a view function at a block of the canonical branch.
func (s Source) Call(_ context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error) {
	b, canonical := s.BlockByHash(block)
	if !canonical {
		return nil, index.ErrNotFound
	}
	out, err := s.Chain.Call(b.Number, contract, selector, calldata)
	switch {
	case errors.Is(err, simnode.ErrNoContract):
		return nil, fmt.Errorf("%w: %v", index.ErrNotFound, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %v", index.ErrReverted, err)
	}
	return out, nil
}

// HashAt returns the hash of a block.
func (s Source) HashAt(_ context.Context, number uint64) (felt.Felt, error) {
	if b := s.BlockAt(number); b != nil {
		return b.Hash, nil
	}
	return felt.Felt{}, index.ErrNotFound
}

// Heads announces nothing: Follow runs to a block and ends.
func (s Source) Heads(context.Context) <-chan struct{} { return nil }

// Follow brings an index to a block of the chain, undoing what the chain
// replaced, at once and below the L1 mark as well. Blocks are not verified: those
// of a cheap chain cannot be.
func Follow(ctx context.Context, e store.Engine, c *simnode.Chain, block uint64, change ...func(*index.Options)) error {
	o := index.Options{Store: e, Source: Source{c}, Verify: index.VerifyOff,
		ForkPatience: time.Nanosecond, AllowForkBelowL1: new(uint64)}
	for _, f := range change {
		f(&o)
	}
	x, err := index.New(o)
	if err != nil {
		return err
	}
	return x.RunTo(ctx, block)
}
