package api

import (
	"context"
	"math/big"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
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
	Token string `path:"token" maxLength:"70" doc:"Token contract."`
}) (*body[TokenSummary], error) {
	address, e := kernel.FeltOf("path.token", in.Token)
	if e != nil {
		return nil, e
	}
	out := &body[TokenSummary]{}
	err := s.view(ctx, in.Chain, func(c *Chain, r store.Reader, state *chain.State) (err error) {
		out.Body, err = tokenSummary(ctx, r, c, state, address)
		return err
	})
	return out, err
}

func tokenSummary(ctx context.Context, r store.Reader, c *Chain, state *chain.State, address felt.Felt) (t TokenSummary, err error) {
	totals, _, err := token.TotalsOf(ctx, r, address)
	if err != nil {
		return t, err
	}
	list, err := token.MetadataOf(ctx, r, []felt.Felt{address})
	if err != nil {
		return t, err
	}
	kinds, err := token.Kinds(ctx, r, []felt.Felt{address})
	if err != nil {
		return t, err
	}
	m := list[0]
	known, moved, canonical := m != nil && m.Known, totals.Transfers > 0, false
	if known {
		if canonical, err = (block.Ref{Number: m.Block, Hash: m.BlockHash}).Holds(ctx, r); err != nil {
			return t, err
		}
	}
	if !moved {
		if err := neverMoved(ctx, r, address, state.Head.Number, m, canonical); err != nil {
			return t, err
		}
	}
	t = TokenSummary{ChainID: c.ID, TokenAddress: address, Standard: kinds[0].String()}
	if known {
		t.Name, t.Symbol, t.Decimals = m.Name, m.Symbol, m.Decimals
		at := kernel.TimestampISO(m.Time)
		t.MetadataUpdatedAtISO = &at
		if canonical && m.Supply != nil {
			raw, source := new(big.Int).SetBytes(m.Supply[:]).String(), supplySource
			t.TotalSupplyRaw, t.TotalSupplySource, t.TotalSupplyBlockNumber, t.TotalSupplyUpdatedAtISO = &raw, &source, &m.Block, &at
		}
	}
	fresh, supplied := c.freshness(state), true
	if t.TotalSupplyRaw != nil {
		if supplied, err = supplyHolds(ctx, r, address, m.Block, state.Head.Number); err != nil {
			return t, err
		}
	}
	switch {
	case !moved:
		t.SummaryCacheStatus = summaryMetadataOnly
	case !fresh.current(), known && !canonical, !supplied:
		t.SummaryCacheStatus = summaryStale
	case !known:
		t.SummaryCacheStatus = summaryComputed
	default:
		t.SummaryCacheStatus = summaryCurrent
	}
	if moved {
		b, err := block.Get(ctx, r, totals.Latest)
		if err != nil {
			return t, err
		}
		changed := kernel.TimestampISO(b.Timestamp)
		seen := instantISO(c.sightedAt(&state.Head))
		t.SummaryVersion, t.SummaryVersionUpdatedAtISO, t.SummaryCacheUpdatedAtISO = totals.Latest, &changed, &seen
		t.TransferCount, t.DistinctFromCount, t.DistinctToCount, t.LatestTransferBlock = &totals.Transfers, &totals.Senders, &totals.Receivers, &totals.Latest
	}
	return t, nil
}

// neverMoved refuses an address without a transfer that is no token by what its
// contract has answered, nor by the entry points of its class. An answer at a block
// that is no more counts for nothing: the contract may be gone with it.
func neverMoved(ctx context.Context, r store.Reader, address felt.Felt, head uint64, m *token.Metadata, canonical bool) error {
	if canonical && (m.Name != nil || m.Symbol != nil || m.Decimals != nil || m.Supply != nil) {
		return nil
	}
	kinds, err := token.KindsByClass(ctx, r, []felt.Felt{address}, head)
	if err == nil && kinds[0] == transfer.Ambiguous {
		return kernel.Fail(kernel.CodeNotFound, "No token is known at %s.", address)
	}
	return err
}

// supplyHolds says that nothing was minted or burnt since a block, as far as
// events tell. One seek.
func supplyHolds(ctx context.Context, r store.Reader, address felt.Felt, since, head uint64) (bool, error) {
	last, moved, err := transfer.LatestOf(ctx, r, felt.Felt{}, address, head)
	return !moved || last <= since, err
}
