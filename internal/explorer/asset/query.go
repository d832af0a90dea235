// Package asset walks over the tokens that an address may hold. It has no rows of its
// own: it reads transfers by holder and token, the kinds of tokens and their names.
//
// A walk has two legs: the known tokens first, so that no number of unknown ones can
// push them away, then all others that the address has sent or received; each by
// falling address. NFT collections are passed over and take no room of a page. A page
// costs a seek for each token that it looks at, and a few round trips.
package asset

import (
	"context"
	"slices"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// maxLookedAt bounds the tokens that are looked at for one page. Only where so many
// are passed over a page has fewer than it could.
const maxLookedAt = 2_000

// Query is whose tokens are looked for.
type Query struct {
	Owner felt.Felt
	Known *registry.Chain // the known tokens
	// Listed makes the known tokens candidates without a transfer.
	Listed bool
	Block  uint64 // transfers above it do not count
}

// Place is where a walk has got to; its zero value is the beginning.
type Place struct {
	Others bool       // the known tokens are done
	Last   *felt.Felt // the last token of this leg that was looked at
}

// Candidate is a token that an address may hold.
type Candidate struct {
	Token felt.Felt
	Seen  *uint64 // block of the newest transfer
	Known *registry.Token
	Meta  *token.Metadata // what it calls itself
}

// Named are the candidates that somebody names, with what is known of them. One
// GetMany.
func Named(ctx context.Context, r store.Reader, known *registry.Chain, tokens []felt.Felt) ([]Candidate, error) {
	out := make([]Candidate, len(tokens))
	for i, t := range tokens {
		out[i].Token = t
		if listed, ok := known.Token(t); ok {
			out[i].Known = &listed
		}
	}
	return out, addNames(ctx, r, out)
}

// Candidates lists up to limit tokens as of a block and moves on behind them. With listed the known tokens are candidates without a transfer. It
// costs a seek for each token that it looks at, and a few round trips.
func (p *Place) Candidates(ctx context.Context, r store.Reader, q Query, limit int) (out []Candidate, more bool, err error) {
	w := walk{Place: *p, Query: q, r: r, kinds: token.NewKindMemo(r)}
	for budget := maxLookedAt; !w.ended && len(out) <= limit; {
		if budget <= 0 {
			more = true // they may all be passed over, but somebody has to look
			break
		}
		found, looked, err := w.step(ctx, limit+1-len(out))
		if err != nil {
			return nil, false, err
		}
		budget -= looked
		out = append(out, found...)
	}
	p.Others, p.Last = w.Others, w.Last
	if len(out) > limit {
		more, out = true, out[:limit]
		last := &out[limit-1]
		p.Others, p.Last = last.Known == nil, &last.Token
	}
	return out, more, addNames(ctx, r, out)
}

// walk is a walk under way.
type walk struct {
	Place
	Query
	r     store.Reader
	kinds *token.KindMemo
	ended bool
}

// step looks at some tokens and returns those that are candidates, at most limit.
func (w *walk) step(ctx context.Context, limit int) (out []Candidate, looked int, err error) {
	if !w.Others {
		return w.stepKnown(ctx, limit)
	}
	held, err := transfer.TokensOf(ctx, w.r, w.Owner, w.Last, limit)
	if err != nil {
		return nil, 0, err
	}
	w.ended = len(held) < limit
	tokens := make([]felt.Felt, len(held))
	for i := range held {
		tokens[i] = held[i].Token
		w.Last = &tokens[i]
	}
	kinds, err := w.kinds.Of(ctx, tokens)
	if err != nil {
		return nil, 0, err
	}
	for i, h := range held {
		if _, known := w.Known.Token(h.Token); known || kinds[i] == transfer.ERC721 || kinds[i] == transfer.ERC1155 {
			continue
		}
		seen, found := h.Block, true
		if seen > w.Block {
			if seen, found, err = transfer.LatestOf(ctx, w.r, w.Owner, h.Token, w.Block); err != nil {
				return nil, 0, err
			}
		}
		if found {
			out = append(out, Candidate{Token: h.Token, Seen: &seen})
		}
	}
	return out, len(held), nil
}

// stepKnown does the same for known tokens.
func (w *walk) stepKnown(ctx context.Context, limit int) (out []Candidate, looked int, err error) {
	for _, t := range slices.Backward(w.Known.Tokens()) {
		if w.Last != nil && t.Address.Cmp(*w.Last) >= 0 {
			continue
		}
		if len(out) == limit {
			return out, looked, nil
		}
		looked++
		w.Last = &t.Address
		x := Candidate{Token: t.Address, Known: &t}
		block, found, err := transfer.LatestOf(ctx, w.r, w.Owner, t.Address, w.Block)
		if err != nil {
			return nil, 0, err
		}
		if found {
			x.Seen = &block
		}
		if found || w.Listed {
			out = append(out, x)
		}
	}
	w.Others, w.Last = true, nil
	return out, looked, nil
}

func addNames(ctx context.Context, r store.Reader, list []Candidate) error {
	tokens := make([]felt.Felt, len(list))
	for i := range list {
		tokens[i] = list[i].Token
	}
	names, err := token.MetadataOf(ctx, r, tokens)
	for i := range names {
		list[i].Meta = names[i]
	}
	return err
}
