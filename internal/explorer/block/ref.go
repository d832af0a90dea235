package block

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Ref names a block for good: a number alone names whatever block the chain has
// there.
type Ref struct {
	Number uint64
	Hash   felt.Felt
}

// Ref names the block of a summary.
func (s *Summary) Ref() Ref { return Ref{s.Number, s.Hash} }

// ErrGone says that a block is not part of the chain any more, or that it is not
// indexed any more.
var ErrGone = errors.New("the block is no longer part of the chain")

// Get returns the block while it is part of the chain, and ErrGone otherwise. One
// Get.
//
// While a block is part of the chain, so are all blocks below it: whatever was
// made of blocks up to this one holds, however many came or went above. So a list
// whose page ended in this block can be gone on with exactly, in both orders:
// ascending pages ended below, and descending ones have yet to see only what is
// below. When the block is gone it cannot, without the risk to repeat transactions
// that moved to another block, or to skip those that took their place. What checks
// a reference and what is then read must see the same view.
func (f Ref) Get(ctx context.Context, r store.Reader) (*Summary, error) {
	b, err := Get(ctx, r, f.Number)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, fmt.Errorf("block %d %s: %w", f.Number, f.Hash, ErrGone)
	case err != nil:
		return nil, err
	case b.Hash != f.Hash:
		return nil, fmt.Errorf("block %d is %s and was %s: %w", f.Number, b.Hash, f.Hash, ErrGone)
	}
	return b, nil
}

// Holds says whether the block is part of the chain. One Get.
func (f Ref) Holds(ctx context.Context, r store.Reader) (bool, error) {
	_, err := f.Get(ctx, r)
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	return err == nil, err
}
