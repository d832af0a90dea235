package token

import (
	"context"
	"errors"
	"math/big"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// ErrUnknown says that nobody can call an address a token.
var ErrUnknown = errors.New("no token is known at the address")

// Summary is what the index and the contract itself say of a token.
type Summary struct {
	Kind transfer.Standard
	// Meta is what the contract answered; nil when it did not, or was not asked yet.
	Meta *Metadata
	// Supply is what it reported; nil when it did not, or at a block that is no more.
	Supply *big.Int
	// Outdated says that the contract was asked at a block that is no more, or that
	// events tell of mints or burns since.
	Outdated bool
	// Moved are the totals of its transfers, nil when there were none, and Changed is
	// the time of the newest.
	Moved   *Totals
	Changed uint64
}

// SummaryOf reads a summary as of the head, or fails with ErrUnknown. A few reads of
// one row, what Kinds costs, and one scan of one row each for the supply and for a
// token that never moved.
func SummaryOf(ctx context.Context, r store.Reader, address felt.Felt, head uint64) (out Summary, err error) {
	totals, _, err := TotalsOf(ctx, r, address)
	if err != nil {
		return out, err
	}
	list, err := MetadataOf(ctx, r, []felt.Felt{address})
	if err != nil {
		return out, err
	}
	kinds, err := Kinds(ctx, r, []felt.Felt{address})
	if err != nil {
		return out, err
	}
	out.Kind = kinds[0]
	canonical := false
	if m := list[0]; m != nil && m.Known {
		if canonical, err = (block.Ref{Number: m.Block, Hash: m.BlockHash}).Holds(ctx, r); err != nil {
			return out, err
		}
		out.Meta, out.Outdated = m, !canonical
	}
	if totals.Transfers == 0 {
		if err := neverMoved(ctx, r, address, head, out.Meta, canonical); err != nil {
			return out, err
		}
	}
	if canonical && out.Meta.Supply != nil {
		out.Supply = new(big.Int).SetBytes(out.Meta.Supply[:])
		minted, moved, err := transfer.LatestOf(ctx, r, felt.Felt{}, address, head)
		if err != nil {
			return out, err
		}
		out.Outdated = moved && minted > out.Meta.Block
	}
	if totals.Transfers > 0 {
		b, err := block.Get(ctx, r, totals.Latest)
		if err != nil {
			return out, err
		}
		out.Moved, out.Changed = &totals, b.Timestamp
	}
	return out, nil
}

// neverMoved refuses an address without a transfer that is no token by what its
// contract has answered, nor by the entry points of its class. An answer at a block
// that is no more counts for nothing: the contract may be gone with it.
func neverMoved(ctx context.Context, r store.Reader, address felt.Felt, head uint64, m *Metadata, canonical bool) error {
	if canonical && (m.Name != nil || m.Symbol != nil || m.Decimals != nil || m.Supply != nil) {
		return nil
	}
	kinds, err := KindsByClass(ctx, r, []felt.Felt{address}, head)
	if err == nil && kinds[0] == transfer.Ambiguous {
		return ErrUnknown
	}
	return err
}
