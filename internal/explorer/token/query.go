package token

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// BalanceAt returns what transfers up to a block left with a holder; the zero
// Balance when there were none. One scan of one row.
func BalanceAt(ctx context.Context, r store.Reader, token, holder felt.Felt, block uint64) (b Balance, err error) {
	if holder.IsZero() {
		return b, nil // nobody
	}
	v, at, err := transfer.LastBalance(ctx, r, holder, token, block)
	if err == nil && v != nil {
		b, err = decodePast(v, at)
	}
	if err != nil {
		return b, fmt.Errorf("balance of %s in %s at block %d: %w", holder, token, block, err)
	}
	return b, nil
}

// BalancesNow returns the balances of pairs at the head, in order. One GetMany.
func BalancesNow(ctx context.Context, r store.Reader, pairs []Pair) ([]Balance, error) {
	keys := make([]store.Key, len(pairs))
	for i := range pairs {
		keys[i] = balanceKey(&pairs[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d balances: %w", len(pairs), err)
	}
	out := make([]Balance, len(pairs))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[i], err = decodeBalance(v); err != nil {
			return nil, fmt.Errorf("balance of %s in %s: %w", pairs[i].Holder, pairs[i].Token, err)
		}
	}
	return out, nil
}

// BalancesAt returns the balances of pairs at a block, in order. One GetMany,
// and one scan for each balance that changed above the block.
func BalancesAt(ctx context.Context, r store.Reader, pairs []Pair, block uint64) ([]Balance, error) {
	out, err := BalancesNow(ctx, r, pairs)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Block <= block {
			continue
		}
		if out[i], err = BalanceAt(ctx, r, pairs[i].Token, pairs[i].Holder, block); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Gap says why transfers do not tell a balance.
type Gap string

// The gaps; "" is none.
const (
	GapKind     Gap = "token_kind_unknown"
	GapGenesis  Gap = "genesis_state_without_events" // the token was there before the first block
	GapNegative Gap = "negative_balance"             // some of it came without an event
)

// Held is a balance that transfers tell.
type Held struct {
	Amount  Amount
	Changed *uint64 // the newest block up to the one asked for with a transfer; nil when there is none
}

// countable is the kind of a token whose transfers add up to balances, Ambiguous for one
// whose do not, and whether it was there before the first block. What KindAt costs, and one
// Get for the origin.
func countable(ctx context.Context, r store.Reader, known *registry.Chain, token felt.Felt, block uint64) (kind transfer.Standard, began bool, err error) {
	kind, err = KindAt(ctx, r, known, token, block)
	if err != nil || kind != transfer.ERC20 && kind != transfer.ERC721 {
		return transfer.Ambiguous, false, err
	}
	began, err = contract.IsOrigin(ctx, r, token)
	return kind, began, err
}

// HeldAt is what transfers up to a block left with a holder, where that says
// something. One scan, and three reads for the kind of the token and its origin.
func HeldAt(ctx context.Context, r store.Reader, known *registry.Chain, token, holder felt.Felt, block uint64) (out Held, gap Gap, err error) {
	kind, began, err := countable(ctx, r, known, token, block)
	switch {
	case err != nil:
		return out, "", err
	case kind == transfer.Ambiguous:
		return out, GapKind, nil
	case began:
		return out, GapGenesis, nil
	}
	if holder.IsZero() {
		return out, GapNegative, nil // nothing is kept of it: it sends all that is made
	}
	b, err := BalanceAt(ctx, r, token, holder, block)
	if err != nil {
		return out, "", err
	}
	if out.Amount = b.Of(kind); out.Amount.Sign() < 0 {
		return out, GapNegative, nil
	}
	if b.Sent || b.Received {
		out.Changed = &b.Block
	}
	return out, "", nil
}

// TotalsOf returns the totals of a token; false when no event of it looked like a
// transfer. One Get.
func TotalsOf(ctx context.Context, r store.Reader, token felt.Felt) (t Totals, found bool, err error) {
	v, err := r.Get(ctx, totalKey(&token))
	if errors.Is(err, store.ErrNotFound) {
		return t, false, nil
	}
	if err == nil {
		t, err = decodeTotals(v)
	}
	if err != nil {
		return t, false, fmt.Errorf("totals of %s: %w", token, err)
	}
	return t, true, nil
}

// TotalsOfMany are the totals of tokens, in order, nil for one of which no event looked
// like a transfer. One GetMany.
func TotalsOfMany(ctx context.Context, r store.Reader, tokens []felt.Felt) ([]*Totals, error) {
	keys := make([]store.Key, len(tokens))
	for i := range tokens {
		keys[i] = totalKey(&tokens[i])
	}
	rows, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the totals of %d tokens: %w", len(tokens), err)
	}
	out := make([]*Totals, len(tokens))
	for i, v := range rows {
		if v == nil {
			continue
		}
		t, err := decodeTotals(v)
		if err != nil {
			return nil, fmt.Errorf("totals of %s: %w", tokens[i], err)
		}
		out[i] = &t
	}
	return out, nil
}

// Holding is a holder and its balance.
type Holding struct {
	Holder felt.Felt
	Balance
}

// holdersChunk is how many rows a scan of holders takes at a time.
const holdersChunk = 1024

// Holders streams everybody who sent or received a token up to a block, with the
// balance after that block, in the order of addresses, behind one if after is
// not nil. Balances may be zero or negative. It takes memory for one chunk, and
// one scan for every holder whose balance changed above the block.
func Holders(ctx context.Context, r store.Reader, token felt.Felt, block uint64, after *felt.Felt) iter.Seq2[Holding, error] {
	return func(yield func(Holding, error) bool) {
		var from []byte
		if after != nil {
			from = store.After(after[:])
		}
		chunk := make([]Holding, 0, holdersChunk)
		for {
			chunk = chunk[:0]
			rng := store.Range{Table: Balances, Partition: token[:], From: from, Limit: holdersChunk}
			for row, err := range r.Scan(ctx, rng) {
				h, err := parseHolding(row, err)
				if err != nil {
					yield(Holding{}, fmt.Errorf("holders of %s: %w", token, err))
					return
				}
				chunk = append(chunk, h)
			}
			for _, h := range chunk {
				if h.Block > block {
					b, err := BalanceAt(ctx, r, token, h.Holder, block)
					if err != nil {
						yield(Holding{}, err)
						return
					}
					if h.Balance = b; !b.Sent && !b.Received {
						continue
					}
				}
				if !yield(h, nil) {
					return
				}
			}
			if len(chunk) < holdersChunk {
				return
			}
			from = store.After(chunk[len(chunk)-1].Holder[:])
		}
	}
}

func parseHolding(row store.Row, err error) (h Holding, _ error) {
	if err != nil {
		return h, err
	}
	if len(row.Sort) != felt.Size {
		return h, fmt.Errorf("%w: balance with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
	}
	copy(h.Holder[:], row.Sort)
	h.Balance, err = decodeBalance(row.Value)
	return h, err
}

// First is a token and the block in which an event of it first looked like a
// transfer.
type First struct {
	Block uint64
	Token felt.Felt
}

// FirstSeen lists up to limit tokens first seen at or behind a place, oldest
// first, looking no further than a block and at no more than spans spans. next
// is where to go on; done says that the last block was reached.
func FirstSeen(ctx context.Context, r store.Reader, from First, last uint64, limit, spans int) (out []First, next First, done bool, err error) {
	for ; spans > 0 && from.Block <= last; spans-- {
		rng := store.Range{Table: Firsts, Partition: explorer.Span(from.Block), From: firstSort(from.Block, &from.Token), Limit: limit - len(out)}
		for row, err := range r.Scan(ctx, rng) {
			if err == nil && len(row.Sort) != 8+felt.Size {
				err = fmt.Errorf("%w: first seen token with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
			}
			if err != nil {
				return nil, from, false, fmt.Errorf("list new tokens: %w", err)
			}
			f := First{Block: binary.BigEndian.Uint64(row.Sort)}
			copy(f.Token[:], row.Sort[8:])
			if f.Block > last {
				return out, First{Block: last + 1}, true, nil
			}
			out = append(out, f)
		}
		if len(out) == limit {
			end := out[limit-1]
			return out, end.behind(), false, nil
		}
		from = First{Block: explorer.FirstOfSpan(from.Block) + explorer.SpanSize}
	}
	if from.Block > last {
		return out, First{Block: last + 1}, true, nil
	}
	return out, from, false, nil
}

// behind is the first place behind a token's.
func (f First) behind() First {
	for i := felt.Size - 1; i >= 0; i-- {
		if f.Token[i]++; f.Token[i] != 0 {
			return f
		}
	}
	return First{Block: f.Block + 1}
}
