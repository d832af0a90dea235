package voyager

import (
	"context"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
)

// maxHeld is how many tokens an address may have sent or received, to be asked for all at once.
const maxHeld = 500

// heldToken is a token that an address holds, by its transfers.
type heldToken struct {
	Address          padded  `json:"address"`
	Name             *string `json:"name"`
	Symbol           *string `json:"symbol"`
	Decimals         *uint8  `json:"decimals"`
	Balance          *string `json:"balance"`
	LastTransferTime uint64  `json:"lastTransferTime"`
	IsVerified       *bool   `json:"isVerified"`
}

// heldBalance is the same where balances are asked for. No prices are indexed.
type heldBalance struct {
	heldToken
	FormattedBalance    *string  `json:"formattedBalance"`
	USDBalance          *string  `json:"usdBalance"`
	USDFormattedBalance *string  `json:"usdFormattedBalance"`
	Price               *string  `json:"price"`
	IconLogo            *string  `json:"iconLogo"`
	Tags                []string `json:"tags"`
}

type heldBalances struct {
	Tokens []heldBalance `json:"erc20TokenBalances"`
	// The name is misspelt in the interface that this follows.
	Verified      int     `json:"verfiedTokensCount"`
	Total         int     `json:"totalTokensCount"`
	TotalUSDValue *string `json:"totalUsdValue"`
}

func (f *Feed) tokensHeld(c *call) (any, error) {
	of, err := c.pathFelt("address")
	if err != nil {
		return nil, err
	}
	out := []heldToken{}
	err = f.on(c, func(ctx context.Context, v *view) error {
		out, err = v.held(ctx, of)
		return err
	})
	return out, err
}

func (f *Feed) tokenBalances(c *call) (any, error) {
	of, err := c.pathFelt("address")
	if err != nil {
		return nil, err
	}
	out := &heldBalances{Tokens: []heldBalance{}}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		list, err := v.held(ctx, of)
		for _, t := range list {
			out.Tokens = append(out.Tokens, heldBalance{heldToken: t})
			if out.Total++; t.IsVerified != nil {
				out.Verified++
			}
		}
		return err
	})
}

// held lists the ERC-20 tokens of which an address has something, or may have. Anybody can write a
// token that moves balances without an event: what transfers add up to is told as a balance only of
// tokens that somebody has looked at, and of others it is null.
func (v *view) held(ctx context.Context, of felt.Felt) ([]heldToken, error) {
	moved, err := transfer.TokensOf(ctx, v.r, of, nil, maxHeld+1)
	if err != nil {
		return nil, err
	}
	if len(moved) > maxHeld {
		return nil, invalid("The address has moved more than %d tokens. GET /v1/{chain}/address/{address}/assets/discovery lists them page by page.", maxHeld)
	}
	tokens, numbers := make([]felt.Felt, len(moved)), make([]uint64, len(moved))
	for i := range moved {
		tokens[i], numbers[i] = moved[i].Token, moved[i].Block
	}
	told, err := token.HeldMany(ctx, v.r, v.chain.Registry, tokens, of, v.top.Number)
	if err != nil {
		return nil, err
	}
	kinds, err := token.Kinds(ctx, v.r, tokens) // also of those whose class does not tell
	if err != nil {
		return nil, err
	}
	names, err := token.MetadataOf(ctx, v.r, tokens)
	if err != nil {
		return nil, err
	}
	stamps, err := block.Stamps(ctx, v.r, numbers)
	if err != nil {
		return nil, err
	}
	out := []heldToken{}
	for i := range told {
		known, listed := v.chain.Registry.Token(tokens[i])
		counted := listed && known.Census.Qualified && told[i].Gap == ""
		if !listed && kinds[i] != transfer.ERC20 || counted && told[i].Amount.Sign() == 0 {
			continue
		}
		t := heldToken{Address: padded(tokens[i]), LastTransferTime: stamps[i].Timestamp}
		if counted {
			balance := told[i].Amount.String()
			t.Balance = &balance
		}
		if m := names[i]; m != nil {
			t.Name, t.Symbol, t.Decimals = m.Name, m.Symbol, m.Decimals
		}
		if listed {
			t.IsVerified = &listed
		}
		out = append(out, t)
	}
	return out, nil
}
