package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"chainexplorer/bench/peer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// stream is a source that makes the chain while it is being read and holds only
// a window of it.
type stream struct {
	cfg     simnode.Config
	observe func(*starknet.Block)
	peer    *peer.Peer // gets every block, too, if there is one

	mu     sync.Mutex
	cond   *sync.Cond
	ready  map[uint64]index.Raw
	hashes []felt.Felt
	next   uint64 // the oldest block that nobody has asked for
	err    error
}

// window is how far the chain is made ahead.
const window = 256

var errStopped = errors.New("nobody reads on")

func newStream(ctx context.Context, cfg simnode.Config, observe func(*starknet.Block), p *peer.Peer) *stream {
	s := &stream{cfg: cfg, observe: observe, peer: p, ready: map[uint64]index.Raw{}}
	s.cond = sync.NewCond(&s.mu)
	context.AfterFunc(ctx, func() { s.fail(errStopped) })
	go func() {
		if err := simnode.Generate(cfg, s.add); err != nil {
			s.fail(err)
		}
	}()
	return s
}

func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.cond.Broadcast()
}

func (s *stream) add(b *starknet.Block, su *starknet.StateUpdate) error {
	b.Status = starknet.AcceptedOnL1 // a chain that is caught up with: no undo records
	if s.peer != nil {
		if err := s.peer.Add(b); err != nil {
			return fmt.Errorf("hand block %d to the peer: %w", b.Number, err)
		}
	}
	raw := index.Raw{
		Block:       starknet.AppendBlock(nil, b, starknet.V010),
		StateUpdate: starknet.AppendStateUpdate(nil, su, starknet.V010),
		Node:        "memory",
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && b.Number >= s.next+window {
		s.cond.Wait()
	}
	if s.err != nil {
		return s.err
	}
	s.observe(b)
	s.ready[b.Number] = raw
	s.hashes = append(s.hashes, b.Hash)
	s.cond.Broadcast()
	return nil
}

func (s *stream) ChainID(context.Context) (felt.Felt, error) { return s.cfg.ChainID, nil }

// Head names the last block before it is made; its hash is asked for by nobody.
func (s *stream) Head(context.Context) (index.BlockRef, error) {
	return index.BlockRef{Number: uint64(s.cfg.Blocks - 1)}, nil
}

func (s *stream) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if raw, ok := s.ready[n]; ok {
			delete(s.ready, n)
			s.next = max(s.next, n+1)
			s.cond.Broadcast()
			return raw, nil
		}
		if s.err != nil {
			return index.Raw{}, s.err
		}
		s.cond.Wait()
	}
}

func (s *stream) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= uint64(len(s.hashes)) {
		return felt.Felt{}, index.ErrNotFound
	}
	return s.hashes[n], nil
}

func (s *stream) L1Accepted(context.Context) (index.BlockRef, error) {
	return index.BlockRef{}, index.ErrNotFound
}

// Class has none: the benchmark turns the fetching of classes off.
func (s *stream) Class(context.Context, uint64, felt.Felt) ([]byte, string, error) {
	return nil, "", index.ErrNotFound
}

func (s *stream) Heads(context.Context) <-chan struct{} { return nil }
