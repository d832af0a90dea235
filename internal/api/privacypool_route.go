package api

import (
	"context"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// privacyRoute is what the routes of privacy pools have in common.
func privacyRoute(id, path, summary, description string) kernel.Route {
	return kernel.Route{ID: id, Method: http.MethodGet, Path: "/v1/{chain}/privacy-pool/" + path, Family: "Privacy pool", Summary: summary, Description: description,
		Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External,
		Depends: kernel.OnChain | kernel.OnEnrichment, Headers: map[string]string{kernel.HeaderStability: "beta"}, Statuses: []int{http.StatusNotFound}}
}

// PrivacyToken is a token that moved through a pool.
type PrivacyToken struct {
	Address  felt.Felt `json:"address" doc:"The identity of the token."`
	Symbol   *string   `json:"symbol" doc:"For display; null when it is not known."`
	Name     *string   `json:"name" doc:"For display; null when it is not known."`
	Decimals *int      `json:"decimals" doc:"Null when they are not known."`
}

// privacyTokens is what tokens are called: by the registry, or else by themselves. At
// most one GetMany.
func privacyTokens(ctx context.Context, c *Chain, r explorer.Reader, list []felt.Felt) (map[felt.Felt]PrivacyToken, error) {
	out := make(map[felt.Felt]PrivacyToken, len(list))
	var open []felt.Felt
	for _, address := range list {
		if _, seen := out[address]; seen {
			continue
		}
		t := PrivacyToken{Address: address}
		if known, ok := c.Registry.Token(address); ok {
			decimals := int(known.Decimals)
			t.Symbol, t.Name, t.Decimals = some(known.Symbol), some(known.Name), &decimals
		} else {
			open = append(open, address)
		}
		out[address] = t
	}
	if len(open) == 0 {
		return out, nil
	}
	found, err := token.MetadataOf(ctx, r, open)
	if err != nil {
		return nil, err
	}
	for i, m := range found {
		if m == nil || !m.Known {
			continue
		}
		t := PrivacyToken{Address: open[i], Symbol: m.Symbol, Name: m.Name}
		if m.Decimals != nil {
			decimals := int(*m.Decimals)
			t.Decimals = &decimals
		}
		out[open[i]] = t
	}
	return out, nil
}
