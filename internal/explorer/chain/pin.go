package chain

import (
	"context"
	"errors"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Pin says which block something is asked about: the newest unless it says otherwise.
// Not more than one of the fields is set.
type Pin struct {
	L1     bool       // the newest that L1 is known to have accepted
	Hash   *felt.Felt // the block with this hash
	Number *uint64    // the block with this number
}

// ErrNoL1 says that no indexed block is known to be accepted on L1 yet.
var ErrNoL1 = errors.New("no indexed block is known to be accepted on L1")

// Find returns the block that is meant, of the view that the state was read from;
// block.ErrNotFound where it is not indexed. At most one Get.
func (s *State) Find(ctx context.Context, r store.Reader, p Pin) (block.Ref, error) {
	switch {
	case p.L1 && !s.HasL1:
		return block.Ref{}, ErrNoL1
	case p.L1:
		return block.Ref{Number: s.L1.Number, Hash: s.L1.Hash}, nil
	case p.Hash != nil:
		n, err := block.NumberOf(ctx, r, *p.Hash)
		return block.Ref{Number: n, Hash: *p.Hash}, err
	case p.Number != nil:
		b, err := block.Get(ctx, r, *p.Number)
		if err != nil {
			return block.Ref{}, err
		}
		return b.Ref(), nil
	}
	return block.Ref{Number: s.Head.Number, Hash: s.Head.Hash}, nil
}

// Finalized returns the newest finalized block, of the view that the state was read
// from; nil while there is none. One Get.
func (s *State) Finalized(ctx context.Context, r store.Reader, depth uint64) (*block.Summary, error) {
	number, ok := s.FinalizedBlock(depth)
	if !ok {
		return nil, nil
	}
	return block.Get(ctx, r, number)
}
