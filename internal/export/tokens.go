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

// feedTokens writes what is known of all tokens that were seen up to the last block.
func (x *run) feedTokens(ctx context.Context, j *job, p *pin, f *file) error {
	t := newTable[tokenRow](f, x.metadata(Tokens, j, p))
	from := token.First{Block: j.first}
	for done := false; !done; {
		var rows []tokenRow
		err := x.view(ctx, p, func(r explorer.Reader) error {
			list, next, all, err := token.FirstSeen(ctx, r, from, j.last, tokenRows, tokenSpans)
			if err != nil {
				return err
			}
			from, done = next, all
			rows, err = x.describe(ctx, r, list)
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

// describe tells what is known of tokens at the newest block.
func (x *run) describe(ctx context.Context, r explorer.Reader, list []token.First) ([]tokenRow, error) {
	addresses := make([]felt.Felt, len(list))
	for i := range list {
		addresses[i] = list[i].Token
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
	rows := make([]tokenRow, len(list))
	for i := range list {
		row := tokenRow{Token: addresses[i].String(), FirstBlock: int64(list[i].Block), Standard: kinds[i].String()}
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
