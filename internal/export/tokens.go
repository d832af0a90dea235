package export

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
)

const (
	// tokenRows is how many tokens are read in one view, and tokenSpans how far it looks for
	// them, in spans of blocks.
	tokenRows  = 500
	tokenSpans = 64
)

// feedTokens writes what is known of all tokens that moved up to the last block.
func (x *run) feedTokens(ctx context.Context, j *job, p *pin, f *file) error {
	t := newTable(f, x.metadata(Tokens, j, p), "tokenRow", &tokenRow{})
	from := token.First{Block: j.first}
	for done := false; !done; {
		var rows []tokenRow
		err := x.view(ctx, p, func(r explorer.Reader) error {
			list, next, all, err := token.FirstSeen(ctx, r, from, j.last, tokenRows, tokenSpans)
			if err != nil {
				return err
			}
			from, done = next, all
			rows, err = x.describe(ctx, r, list, j.last)
			return err
		})
		if err != nil {
			return err
		}
		for i := range rows {
			if err := t.add(&rows[i], rowBytes); err != nil {
				return err
			}
		}
	}
	return t.end()
}

// describe tells what is known at the newest block of the tokens that moved up to the last one.
// A contract is seen, too, when it only emits what looks like a transfer and is none.
func (x *run) describe(ctx context.Context, r explorer.Reader, list []token.First, last uint64) ([]tokenRow, error) {
	seen := make([]felt.Felt, len(list))
	for i := range list {
		seen[i] = list[i].Token
	}
	totals, err := token.TotalsOfMany(ctx, r, seen)
	if err != nil {
		return nil, err
	}
	var addresses []felt.Felt
	var first []uint64
	for i, t := range totals {
		if t != nil && t.Transfers > 0 && t.First <= last {
			addresses, first = append(addresses, seen[i]), append(first, t.First)
		}
	}
	kinds, err := token.Kinds(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	metadata, err := token.MetadataOf(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	origins, err := contract.HasOrigins(ctx, r)
	if err != nil {
		return nil, err
	}
	rows := make([]tokenRow, len(addresses))
	for i := range addresses {
		row := tokenRow{Token: addresses[i], FirstBlock: int64(first[i]), Standard: kinds[i].String()}
		if m := metadata[i]; m != nil && m.Known {
			row.Name, row.Symbol = m.Name, m.Symbol
			if m.Decimals != nil {
				n := int32(*m.Decimals)
				row.Decimals = &n
			}
		}
		if known, listed := x.Registry.Token(addresses[i]); listed {
			n := int32(known.Decimals)
			row.Standard, row.Name, row.Symbol, row.Decimals = transfer.ERC20.String(), &known.Name, &known.Symbol, &n
		}
		if origins {
			if row.FromGenesis, err = contract.IsOrigin(ctx, r, addresses[i]); err != nil {
				return nil, err
			}
		}
		rows[i] = row
	}
	return rows, nil
}
