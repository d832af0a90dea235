package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// holdingsSunset is since when token holdings are not served.
const holdingsSunset = "Thu, 01 Jan 2026 00:00:00 GMT"

// Retirement says that a route is gone, and what took its place.
type Retirement struct {
	SchemaVersion  string      `json:"schemaVersion" enum:"service.retirement.v1"`
	Code           kernel.Code `json:"code" enum:"token_holdings_retired" doc:"Names what is gone; branch on this."`
	Message        string      `json:"message" doc:"For people; may change."`
	MigrationGuide string      `json:"migrationGuide" doc:"Page that says how to go on."`
	Successors     []Successor `json:"successors" doc:"What took its place, ready to be asked."`
	ChainID        string      `json:"chainId"`
	OwnerAddress   felt.Felt   `json:"ownerAddress"`
	RequestID      string      `json:"requestId"`
}

// Successor is an operation that does a part of what a retired one did.
type Successor struct {
	Rel    string `json:"rel" enum:"asset_discovery,wallet_state" doc:"asset_discovery: which tokens the address may hold. wallet_state: its balances at one block."`
	Method string `json:"method" enum:"GET,POST"`
	Path   string `json:"path" doc:"Below the host. For asset_discovery it has the address in it; wallet_state takes it as ownerAddress of the body."`
}

// retired is an answer with 410.
type retired struct {
	Link string `header:"Link" doc:"The successors, and the page that says how to go on."`
	Body Retirement
}

func (s *Routes) retiredRoutes() {
	r := kernel.Route{Method: http.MethodGet, Family: "Addresses", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnSetup,
		Statuses: []int{http.StatusNotFound}, ExampleStatus: http.StatusGone, Retired: true, Headers: map[string]string{"Deprecation": "true", "Sunset": holdingsSunset},
		ID: "getTokenHoldings", Path: "/v1/{chain}/address/{address}/token-holdings", Summary: "Token holdings of an address (retired)"}
	r.Description = "Retired: always answered 410, whatever the query, with the operations that took its place. Which tokens an address may hold is told by asset discovery, and its balances at one block by wallet state."
	kernel.Register(s.Server, r, s.getTokenHoldings)
}

func (s *Routes) getTokenHoldings(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Address."`
}) (*retired, error) {
	owner, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	if _, e := s.served(in.Chain); e != nil {
		return nil, e
	}
	code := kernel.CodeTokenHoldingsRetired
	out := &retired{Body: Retirement{SchemaVersion: "service.retirement.v1", Code: code,
		Message:        "Token holdings are not served any more. Find the tokens with asset discovery, and read balances with wallet state.",
		MigrationGuide: s.BaseURL + "/docs/" + kernel.Codes[code].Slug,
		Successors: []Successor{
			{"asset_discovery", http.MethodGet, fmt.Sprintf("/v1/%s/address/%s/assets/discovery", in.Chain, owner)},
			{"wallet_state", http.MethodPost, fmt.Sprintf("/v1/%s/query/wallet-state", in.Chain)},
		},
		ChainID: in.Chain, OwnerAddress: owner, RequestID: kernel.RequestOf(ctx).ID}}
	var links []string
	for _, next := range out.Body.Successors {
		links = append(links, fmt.Sprintf(`<%s%s>; rel="successor-version"`, s.BaseURL, next.Path))
	}
	out.Link = strings.Join(append(links, fmt.Sprintf(`<%s>; rel="deprecation"`, out.Body.MigrationGuide)), ", ")
	return out, nil
}
