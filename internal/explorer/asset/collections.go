package asset

import (
	"context"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Collection is a contract of NFTs or of several tokens that an address has to do with.
type Collection struct {
	Token felt.Felt
	Kind  transfer.Standard // ERC721 or ERC1155
	// Count is how many of an ERC-721 the address has by its transfers; nil where they do
	// not tell.
	Count *token.Amount
	Seen  uint64 // block of the newest transfer up to the one asked for
	Meta  *token.Metadata
}

// Collections lists the collections among the newest-addressed tokens that an address has
// sent or received, as of a block. It looks at no more than most tokens; more says that
// there are others. A seek for each token, and a few round trips.
func Collections(ctx context.Context, r store.Reader, owner felt.Felt, block uint64, most int) (out []Collection, more bool, err error) {
	held, err := transfer.TokensOf(ctx, r, owner, nil, most+1)
	if err != nil {
		return nil, false, err
	}
	if more = len(held) > most; more {
		held = held[:most]
	}
	tokens := make([]felt.Felt, len(held))
	for i := range held {
		tokens[i] = held[i].Token
	}
	kinds, err := token.Kinds(ctx, r, tokens)
	if err != nil {
		return nil, false, err
	}
	var pairs []token.Pair
	var named []felt.Felt
	for i, h := range held {
		if kinds[i] != transfer.ERC721 && kinds[i] != transfer.ERC1155 {
			continue
		}
		seen, found := h.Block, true
		if seen > block {
			if seen, found, err = transfer.LatestOf(ctx, r, owner, h.Token, block); err != nil {
				return nil, false, err
			}
		}
		if found {
			out = append(out, Collection{Token: h.Token, Kind: kinds[i], Seen: seen})
			pairs, named = append(pairs, token.Pair{Token: h.Token, Holder: owner}), append(named, h.Token)
		}
	}
	balances, err := token.BalancesAt(ctx, r, pairs, block)
	if err != nil {
		return nil, false, err
	}
	names, err := token.MetadataOf(ctx, r, named)
	if err != nil {
		return nil, false, err
	}
	for i := range out {
		out[i].Meta = names[i]
		if n := balances[i].Of(transfer.ERC721); out[i].Kind == transfer.ERC721 && n.Sign() >= 0 && !owner.IsZero() {
			out[i].Count = &n
		}
	}
	return out, more, nil
}
