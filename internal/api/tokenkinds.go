package api

import (
	"context"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// tokenKinds tells the standards of tokens and remembers them for one request,
// whose answer is not kept: what a token is may come from calls.
type tokenKinds struct {
	r     store.Reader
	known map[felt.Felt]transfer.Standard
}

func newTokenKinds(ctx context.Context, r store.Reader) *tokenKinds {
	requestOf(ctx).indexed = false
	return &tokenKinds{r, map[felt.Felt]transfer.Standard{}}
}

// kindsOfTransfers asks for the standards of all tokens that transactions moved.
func kindsOfTransfers(ctx context.Context, r store.Reader, records []*transaction.Record) (*tokenKinds, error) {
	var tokens []felt.Felt
	for _, t := range records {
		if t == nil {
			continue
		}
		for _, x := range transfer.Of(t.Receipt.Events) {
			tokens = append(tokens, x.Token)
		}
	}
	k := newTokenKinds(ctx, r)
	_, err := k.of(ctx, tokens)
	return k, err
}

// of answers for many tokens at once, in a constant number of round trips.
func (k *tokenKinds) of(ctx context.Context, tokens []felt.Felt) ([]transfer.Standard, error) {
	var ask []felt.Felt
	for _, t := range tokens {
		if _, known := k.known[t]; !known {
			k.known[t] = transfer.Ambiguous
			ask = append(ask, t)
		}
	}
	if len(ask) > 0 {
		kinds, err := token.Kinds(ctx, k.r, ask)
		if err != nil {
			return nil, err
		}
		for i, t := range ask {
			k.known[t] = kinds[i]
		}
	}
	out := make([]transfer.Standard, len(tokens))
	for i, t := range tokens {
		out[i] = k.known[t]
	}
	return out, nil
}
