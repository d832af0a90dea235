package api

import (
	"context"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// tokenKinds tells the standards of tokens and remembers them for one request.
type tokenKinds struct {
	r     store.Reader
	known map[felt.Felt]transfer.Standard
}

func newTokenKinds(r store.Reader) *tokenKinds {
	return &tokenKinds{r: r, known: map[felt.Felt]transfer.Standard{}}
}

// of answers for many tokens at once, in a few round trips however many there are.
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
