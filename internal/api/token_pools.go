package api

import (
	"context"
	"errors"
	"math/big"
	"net/http"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// TokenPools is a page of the pools that a token is in, newest first.
type TokenPools struct {
	ChainID               string       `json:"chainId"`
	TokenAddress          felt.Felt    `json:"tokenAddress"`
	TotalPairs            *uint64      `json:"totalPairs" doc:"Pools of the exchanges of the registry up to snapshotBlock."`
	TotalTvlUSD           *string      `json:"totalTvlUsd" doc:"Always null: there is no price source."`
	TotalVolume24hUSD     *string      `json:"totalVolume24hUsd" doc:"Always null: there is no price source."`
	SnapshotBlock         *uint64      `json:"snapshotBlock" doc:"A finalized block: creation events up to it were read."`
	SnapshotBlockHash     *felt.Felt   `json:"snapshotBlockHash"`
	UpdatedAtISO          *string      `json:"updatedAtIso" format:"date-time" doc:"Time of snapshotBlock."`
	VolumeWindowStartUnix *uint64      `json:"volumeWindowStartUnix"`
	VolumeWindowEndUnix   *uint64      `json:"volumeWindowEndUnix"`
	Items                 []MarketItem `json:"items"`
	NextCursor            *string      `json:"nextCursor"`
	Coverage              PoolCoverage `json:"coverage"`
	Limits                PartnerPage  `json:"limits"`
}

// PoolCoverage says whether all pools are there.
type PoolCoverage struct {
	Exact      bool   `json:"exact" doc:"Every pool that the exchanges of the registry announced up to snapshotBlock is counted."`
	ReasonCode string `json:"reasonCode" enum:"materialized_pool_snapshot,pool_snapshot_missing,pool_rollup_missing"`
}

// PartnerPage is the bound of a page on a partner route.
type PartnerPage struct {
	MaxPageSize int    `json:"maxPageSize"`
	Tier        string `json:"tier" enum:"partner"`
}

// MarketItem is a pool.
type MarketItem struct {
	MarketID              string    `json:"marketId" doc:"Exchange and pool: unique on the chain."`
	MarketKind            string    `json:"marketKind" enum:"pool_contract,singleton_pool,orderbook"`
	PoolKey               string    `json:"poolKey" doc:"The pool's contract, or what tells pools of one contract apart, joined by colons."`
	DisplayName           *string   `json:"displayName" doc:"Null unless the symbols of both tokens are known."`
	ProtocolSlug          string    `json:"protocolSlug"`
	ProtocolName          string    `json:"protocolName"`
	PoolType              *string   `json:"poolType" enum:"cl,cpmm,stable,orderbook,unknown"`
	Dex                   string    `json:"dex"`
	PoolAddress           felt.Felt `json:"poolAddress" doc:"The pool's own contract, or the one that it lives in."`
	PairedTokenAddress    felt.Felt `json:"pairedTokenAddress"`
	PairedTokenSymbol     *string   `json:"pairedTokenSymbol"`
	FeeBps                *float64  `json:"feeBps" doc:"Rounded to four decimals; null when the event does not tell it."`
	PriceUSD              *string   `json:"priceUsd"`
	TvlUSD                *string   `json:"tvlUsd"`
	Volume24hUSD          *string   `json:"volume24hUsd"`
	Volume24hPrevUSD      *string   `json:"volume24hPrevUsd"`
	Volume24hChangeBps    *int64    `json:"volume24hChangeBps"`
	VolumeWindowStartUnix *uint64   `json:"volumeWindowStartUnix"`
	VolumeWindowEndUnix   *uint64   `json:"volumeWindowEndUnix"`
	Trades24h             *uint64   `json:"trades24h"`
	Traders24h            *uint64   `json:"traders24h"`
	LastTradeBlock        *uint64   `json:"lastTradeBlock"`
	SnapshotBlock         uint64    `json:"snapshotBlock"`
	Source                string    `json:"source" enum:"indexed_creation_event"`
	UpdatedAtISO          string    `json:"updatedAtIso" format:"date-time"`
	CreatedAtBlock        uint64    `json:"createdAtBlock"`
	CreatedAtTx           felt.Felt `json:"createdAtTx"`
	CreatedAtLogIndex     uint32    `json:"createdAtLogIndex"`
}

func (s *Routes) tokenPoolRoutes() {
	kernel.Register(s.Server, kernel.Route{ID: "listTokenPools", Method: http.MethodGet, Path: "/v1/{chain}/token/{token}/markets/pools", Family: "Tokens",
		Summary: "List the pools of a token",
		Description: "Pools that known exchanges announced for the token, newest first, as of a finalized block. `limit` is {page}. " +
			"There is no price source: prices, volumes and values are null, and null is not zero.",
		Class: kernel.Heavy, Scope: account.Partner, Tier: kernel.TierPartner, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment, Page: kernel.Page{Usual: 25, Most: 100}, Shown: true, Statuses: []int{http.StatusNotFound}}, s.listTokenPools)
}

func (s *Routes) listTokenPools(ctx context.Context, in *struct {
	ChainInput
	TokenPath
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[TokenPools], error) {
	address, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	out := &body[TokenPools]{TokenPools{ChainID: in.Chain, TokenAddress: address, Items: []MarketItem{}, Limits: PartnerPage{in.Limit.Most(), "partner"},
		Coverage: PoolCoverage{ReasonCode: "pool_snapshot_missing"}}}
	scope := "listTokenPools\x00" + in.Chain + "\x00" + address.String()
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		if err := knownToken(ctx, c, r, address, state.Head.Number); err != nil {
			return err
		}
		limit := in.Limit.Size()
		var before *explorer.Place
		if in.Cursor != "" {
			before = &explorer.Place{}
			if before.Block, err = s.openSpot(ctx, r, scope, in.Cursor, &before.Tx, &before.Log); err != nil {
				return err
			}
		}
		page, err := pools.Of(ctx, r, c.Registry.Dexes(), address, before, limit)
		if errors.Is(err, pools.ErrMissing) && before != nil {
			return kernel.RetryLater(5, err, "The pools are being read again; keep the cursor and try later.")
		}
		if errors.Is(err, pools.ErrMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.renderPools(ctx, c, r, scope, &page, &out.Body)
	})
	return out, err
}

func (s *Routes) renderPools(ctx context.Context, c *Chain, r explorer.Reader, scope string, page *pools.Page, out *TokenPools) error {
	at := kernel.TimestampISO(page.Through.Timestamp)
	out.TotalPairs, out.SnapshotBlock, out.SnapshotBlockHash, out.UpdatedAtISO = &page.Total, &page.Through.Number, &page.Through.Hash, &at
	out.Coverage = PoolCoverage{true, "materialized_pool_snapshot"}
	symbols, err := symbolsOf(ctx, c, r, page.Pools)
	if err != nil {
		return err
	}
	for i := range page.Pools {
		out.Items = append(out.Items, renderPool(symbols, out.TokenAddress, &page.Pools[i], page.Through.Number, at))
	}
	if page.Next == nil {
		return nil
	}
	hash, err := block.HashOf(ctx, r, page.Next.Block)
	if err != nil {
		return err
	}
	out.NextCursor = s.sealSpot(scope, block.Ref{Number: page.Next.Block, Hash: hash}, page.Next.Tx, page.Next.Log)
	return nil
}

// symbolsOf is what the tokens of pools are called: by the registry, or else by
// themselves. One GetMany.
func symbolsOf(ctx context.Context, c *Chain, r explorer.Reader, pools []pools.Pool) (map[felt.Felt]string, error) {
	out := map[felt.Felt]string{}
	var open []felt.Felt
	for i := range pools {
		for _, t := range []felt.Felt{pools[i].Token0, pools[i].Token1} {
			if _, seen := out[t]; seen {
				continue
			}
			known, ok := c.Registry.Token(t)
			if out[t] = known.Symbol; !ok {
				open = append(open, t)
			}
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	list, err := token.MetadataOf(ctx, r, open)
	if err != nil {
		return nil, err
	}
	for i, m := range list {
		if m != nil && m.Symbol != nil {
			out[open[i]] = *m.Symbol
		}
	}
	return out, nil
}

func renderPool(symbols map[felt.Felt]string, token felt.Felt, p *pools.Pool, through uint64, at string) MarketItem {
	paired := p.Token0
	if paired == token {
		paired = p.Token1
	}
	item := MarketItem{
		MarketKind: string(p.Dex.Kind), ProtocolSlug: p.Dex.Slug, ProtocolName: p.Dex.Name, PoolType: some(string(p.Dex.Type)), Dex: p.Dex.Slug,
		PoolAddress: p.Dex.Address, PairedTokenAddress: paired, FeeBps: feeBps(p.Fee), SnapshotBlock: through, Source: "indexed_creation_event", UpdatedAtISO: at,
		CreatedAtBlock: p.Block, CreatedAtTx: p.TxHash, CreatedAtLogIndex: p.Log,
	}
	if p.Contract != nil {
		item.PoolAddress, item.PoolKey = *p.Contract, p.Contract.String()
	} else {
		parts := make([]string, len(p.Identity))
		for i, f := range p.Identity {
			parts[i] = f.String()
		}
		item.PoolKey = strings.Join(parts, ":")
	}
	item.MarketID = p.Dex.Slug + ":" + item.PoolKey
	item.PairedTokenSymbol = some(symbols[paired])
	if s0, s1 := symbols[p.Token0], symbols[p.Token1]; s0 != "" && s1 != "" {
		name := s0 + " / " + s1
		item.DisplayName = &name
	}
	return item
}

// feeBps rounds to four decimals, which is more than any exchange charges by.
func feeBps(fee *big.Rat) *float64 {
	if fee == nil {
		return nil
	}
	rounded, ok := new(big.Rat).SetString(fee.FloatString(4))
	if !ok {
		return nil
	}
	f, _ := rounded.Float64() // the nearest
	return &f
}
