package token

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Told is what transfers up to a block tell of a holder's balance in one token.
type Told struct {
	Held
	Kind transfer.Standard
	Gap  Gap // why they tell nothing; "" when they do
}

// HeldMany is HeldAt for many tokens of one holder, in order, but that a token of which
// nothing moved by the block is no gap: it may have come later. What KindsByClass costs, one
// GetMany, one scan for each balance that changed above the block, and one Get for each
// token where the chain began with contracts.
func HeldMany(ctx context.Context, r store.Reader, known *registry.Chain, tokens []felt.Felt, holder felt.Felt, at uint64) ([]Told, error) {
	kinds, err := KindsByClass(ctx, r, tokens, at)
	if err != nil {
		return nil, err
	}
	origins, err := contract.HasOrigins(ctx, r)
	if err != nil {
		return nil, err
	}
	pairs := make([]Pair, len(tokens))
	for i, t := range tokens {
		pairs[i] = Pair{Token: t, Holder: holder}
	}
	balances, err := BalancesAt(ctx, r, pairs, at)
	if err != nil {
		return nil, err
	}
	out := make([]Told, len(tokens))
	for i, t := range tokens {
		o, b := &out[i], &balances[i]
		o.Kind = kinds[i]
		if _, listed := known.Token(t); listed {
			o.Kind = transfer.ERC20
		}
		began := false
		if origins {
			if began, err = contract.IsOrigin(ctx, r, t); err != nil {
				return nil, err
			}
		}
		o.Amount = b.Of(o.Kind)
		if b.Sent || b.Received {
			o.Changed = &b.Block
		}
		switch {
		case o.Changed == nil && !began && !holder.IsZero():
			// Nothing moved by then, whatever the standard, which a contract that came later
			// did not have yet.
		case o.Kind != transfer.ERC20 && o.Kind != transfer.ERC721:
			o.Gap = GapKind
		case began:
			o.Gap = GapGenesis
		case holder.IsZero() || o.Amount.Sign() < 0:
			o.Gap = GapNegative
		}
	}
	return out, nil
}

// History lists the balances of a holder up to a block, oldest first: the newest limit of
// them, one for each block with a transfer. more says that there are older ones. One scan.
func History(ctx context.Context, r store.Reader, token, holder felt.Felt, through uint64, limit int) (out []Balance, more bool, err error) {
	past, err := transfer.PastBalances(ctx, r, holder, token, through, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("balances of %s in %s: %w", holder, token, err)
	}
	more = len(past) > limit
	for _, p := range slices.Backward(past[:min(len(past), limit)]) {
		if len(p.Balance) == 0 {
			continue // the zero address has none
		}
		b, err := decodePast(p.Balance, p.Block)
		if err != nil {
			return nil, false, fmt.Errorf("balance of %s in %s at block %d: %w", holder, token, p.Block, err)
		}
		out = append(out, b)
	}
	return out, more, nil
}

// NewestSeen lists up to limit tokens that were first seen before a place, newest first,
// looking at no more than spans spans. next is where to go on; nil at the beginning of the
// chain.
func NewestSeen(ctx context.Context, r store.Reader, before First, limit, spans int) (out []First, next *First, err error) {
	var start uint64
	for ; spans > 0; spans-- {
		rng := store.Range{Table: Firsts, Partition: explorer.Span(before.Block), To: firstSort(before.Block, &before.Token), Reverse: true, Limit: limit - len(out)}
		for row, err := range r.Scan(ctx, rng) {
			if err == nil && len(row.Sort) != 8+felt.Size {
				err = fmt.Errorf("%w: first seen token with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
			}
			if err != nil {
				return nil, nil, fmt.Errorf("list new tokens: %w", err)
			}
			f := First{Block: binary.BigEndian.Uint64(row.Sort)}
			copy(f.Token[:], row.Sort[8:])
			out = append(out, f)
		}
		if len(out) == limit {
			return out, &out[limit-1], nil
		}
		if start = explorer.FirstOfSpan(before.Block); start == 0 {
			return out, nil, nil
		}
		before = lastOf(start - 1)
	}
	return out, &First{Block: start}, nil
}

// lastOf is behind all tokens of a block.
func lastOf(block uint64) (f First) {
	f.Block = block
	for i := range f.Token {
		f.Token[i] = 0xff
	}
	return f
}

// MintedAt is the supply that indexed mints and burns leave at the head, where that says
// something. One Get, what KindAt costs, and one Get for the token's origin.
func MintedAt(ctx context.Context, r store.Reader, known *registry.Chain, token felt.Felt, head uint64) (out Amount, gap Gap, err error) {
	totals, _, err := TotalsOf(ctx, r, token)
	if err != nil {
		return out, "", err
	}
	kind, began, err := countable(ctx, r, known, token, head)
	if err != nil {
		return out, "", err
	}
	if kind == transfer.Ambiguous {
		return out, GapKind, nil
	}
	if out = totals.SupplyOf(kind); began {
		gap = GapGenesis
	} else if out.Sign() < 0 {
		gap = GapNegative
	}
	return out, gap, nil
}
