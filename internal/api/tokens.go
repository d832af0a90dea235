package api

import (
	"context"
	"errors"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// TokenSummary is what the index and the token itself say of a token.
type TokenSummary struct {
	ChainID                    string    `json:"chainId"`
	TokenAddress               felt.Felt `json:"tokenAddress"`
	Symbol                     *string   `json:"symbol" doc:"What the contract calls itself; anybody can choose any name."`
	Name                       *string   `json:"name"`
	Decimals                   *uint8    `json:"decimals"`
	Standard                   string    `json:"standard" enum:"erc20,erc721,erc1155,unknown"`
	MetadataUpdatedAtISO       *string   `json:"metadataUpdatedAtIso" format:"date-time" doc:"When the contract was asked."`
	SummaryVersion             uint64    `json:"summaryVersion" doc:"Grows with every block that changes the counters: the number of the newest of them; 0 while there is none."`
	SummaryVersionUpdatedAtISO *string   `json:"summaryVersionUpdatedAtIso" format:"date-time" doc:"Time of that block."`
	SummaryCacheStatus         string    `json:"summaryCacheStatus" enum:"current,computed,stale,metadata_only"`
	SummaryCacheUpdatedAtISO   *string   `json:"summaryCacheUpdatedAtIso" format:"date-time" doc:"When this process first saw the index at its head: the counters, which are those of the head, had been written by then. Null while there are none."`
	TransferCount              *uint64   `json:"transferCount"`
	DistinctFromCount          *uint64   `json:"distinctFromCount" doc:"Addresses that sent; the zero address of mints is nobody."`
	DistinctToCount            *uint64   `json:"distinctToCount" doc:"Addresses that received; the zero address of burns is nobody."`
	LatestTransferBlock        *uint64   `json:"latestTransferBlock"`
	TotalSupplyRaw             *string   `json:"totalSupplyRaw" doc:"Decimal. What the contract reported; this and the three below are all set or all null."`
	TotalSupplySource          *string   `json:"totalSupplySource" enum:"starknet_rpc_totalSupply"`
	TotalSupplyBlockNumber     *uint64   `json:"totalSupplyBlockNumber" doc:"The block at which it did."`
	TotalSupplyUpdatedAtISO    *string   `json:"totalSupplyUpdatedAtIso" format:"date-time"`
}

// The states of a summary; docs/tokens.md tells how one becomes another.
const (
	summaryCurrent      = "current"
	summaryComputed     = "computed"
	summaryStale        = "stale"
	summaryMetadataOnly = "metadata_only"
)

const supplySource = "starknet_rpc_totalSupply"

func (s *Routes) tokenRoutes() {
	one := kernel.Route{Method: http.MethodGet, Family: "Tokens", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnClock, Certification: kernel.Beta}
	one.ID, one.Path, one.Summary = "getToken", "/v1/{chain}/token/{token}", "Get a token"
	one.Description = "Name, symbol, decimals and supply as the contract reports them, and counters from its indexed transfers. " +
		"Null means not known, never zero. An address is not found when it has no transfer, its class has not the entry points of a token, and it told no name."
	one.Statuses = []int{http.StatusNotFound}
	kernel.Register(s.Server, one, s.getToken)
}

func (s *Routes) getToken(ctx context.Context, in *struct {
	ChainInput
	Token string `path:"token" format:"felt" maxLength:"70" doc:"Token contract."`
}) (*body[TokenSummary], error) {
	address, e := kernel.FeltOf("path.token", in.Token)
	if e != nil {
		return nil, e
	}
	out := &body[TokenSummary]{}
	err := s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) (err error) {
		out.Body, err = tokenSummary(ctx, r, c, state, address)
		return err
	})
	return out, err
}

func tokenSummary(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, address felt.Felt) (t TokenSummary, err error) {
	found, err := token.SummaryOf(ctx, r, address, state.Head.Number)
	if errors.Is(err, token.ErrUnknown) {
		return t, kernel.Fail(kernel.CodeNotFound, "No token is known at %s.", address)
	}
	if err != nil {
		return t, err
	}
	t = TokenSummary{ChainID: c.ID, TokenAddress: address, Standard: found.Kind.String()}
	if m := found.Meta; m != nil {
		t.Name, t.Symbol, t.Decimals = m.Name, m.Symbol, m.Decimals
		at := kernel.TimestampISO(m.Time)
		t.MetadataUpdatedAtISO = &at
		if found.Supply != nil {
			t.TotalSupplyRaw, t.TotalSupplySource, t.TotalSupplyBlockNumber, t.TotalSupplyUpdatedAtISO = some(found.Supply.String()), some(supplySource), &m.Block, &at
		}
	}
	fresh := c.freshness(state)
	switch {
	case found.Moved == nil:
		t.SummaryCacheStatus = summaryMetadataOnly
	case !fresh.current(), found.Outdated:
		t.SummaryCacheStatus = summaryStale
	case found.Meta == nil:
		t.SummaryCacheStatus = summaryComputed
	default:
		t.SummaryCacheStatus = summaryCurrent
	}
	if moved := found.Moved; moved != nil {
		changed := kernel.TimestampISO(found.Changed)
		seen := instantISO(c.sightedAt(&state.Head))
		t.SummaryVersion, t.SummaryVersionUpdatedAtISO, t.SummaryCacheUpdatedAtISO = moved.Latest, &changed, &seen
		t.TransferCount, t.DistinctFromCount, t.DistinctToCount, t.LatestTransferBlock = &moved.Transfers, &moved.Senders, &moved.Receivers, &moved.Latest
	}
	return t, nil
}
