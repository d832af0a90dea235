package api

import (
	"context"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// tokenKinds tells the standards of tokens from the registry and from the ABIs
// of their classes, and remembers them for one request.
type tokenKinds struct {
	c     *Chain
	r     store.Reader
	known map[felt.Felt]transfer.Standard
	// uncertain says that a class was missing, which may still come.
	uncertain bool
}

func newTokenKinds(c *Chain, r store.Reader) *tokenKinds {
	return &tokenKinds{c: c, r: r, known: map[felt.Felt]transfer.Standard{}}
}

// of answers for many tokens at once, in two round trips.
func (k *tokenKinds) of(ctx context.Context, tokens []felt.Felt) ([]transfer.Standard, error) {
	var ask []felt.Felt
	for _, t := range tokens {
		if _, known := k.known[t]; known {
			continue
		}
		k.known[t] = transfer.Ambiguous
		if _, listed := k.c.Registry.Token(t); listed {
			k.known[t] = transfer.ERC20
			continue
		}
		ask = append(ask, t)
	}
	if len(ask) > 0 {
		if err := k.read(ctx, ask); err != nil {
			return nil, err
		}
	}
	out := make([]transfer.Standard, len(tokens))
	for i, t := range tokens {
		out[i] = k.known[t]
	}
	return out, nil
}

func (k *tokenKinds) read(ctx context.Context, ask []felt.Felt) error {
	identities, err := contract.Identities(ctx, k.r, ask)
	if err != nil {
		return err
	}
	var hashes []felt.Felt
	for i := range identities {
		if identities[i].Current != nil {
			hashes = append(hashes, identities[i].Current.Class)
		}
	}
	abis, err := abisOf(ctx, k.r, hashes)
	if err != nil {
		return err
	}
	for i, t := range ask {
		if identities[i].Current == nil {
			continue
		}
		a := abis[identities[i].Current.Class]
		if a == nil || a.Status == class.Absent {
			k.uncertain = true
			continue
		}
		k.known[t] = map[abi.Emitter]transfer.Standard{abi.EmitterERC20: transfer.ERC20, abi.EmitterERC721: transfer.ERC721, abi.EmitterERC1155: transfer.ERC1155}[a.Token]
	}
	return nil
}
