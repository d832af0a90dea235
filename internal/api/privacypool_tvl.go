package api

import (
	"context"
	"encoding/binary"
	"math/big"
	"strings"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

const privacyCaveat = "Sums of the public movements of the pool contracts up to a finalized block. They are no balance of a wallet or of the contracts, tell nothing of who owns what, and are not valued."

// PrivacySnapshot is what the pools hold in public as of a finalized block.
type PrivacySnapshot struct {
	SchemaVersion    string           `json:"schemaVersion" enum:"1"`
	ChainID          string           `json:"chainId"`
	Scope            string           `json:"scope" enum:"strk20_privacy_pool"`
	Status           string           `json:"status" enum:"complete,degraded,unavailable" doc:"Only complete can be published."`
	AccountingMethod string           `json:"accountingMethod" enum:"finalized_public_flow_ledger_v1"`
	AsOf             PrivacyAsOf      `json:"asOf"`
	Coverage         PrivacyCoverage  `json:"coverage"`
	Assets           []PrivacyAsset   `json:"assets" doc:"One entry for each token that moved, by address. A token that all came out of stays with an amount of 0."`
	Valuation        PrivacyValuation `json:"valuation" deprecated:"true" doc:"Kept for compatibility; there is no price source."`
	Caveat           string           `json:"caveat"`
}

// PrivacyFlows are the public movements of a token.
type PrivacyFlows struct {
	Token                   PrivacyToken `json:"token"`
	Status                  string       `json:"status" enum:"complete,degraded" doc:"Consume only complete ones."`
	ReasonCode              string       `json:"reasonCode" enum:"finalized_public_flow_ledger,amount_decode_incomplete,negative_protected_amount"`
	PoolContractCount       int          `json:"poolContractCount" doc:"Pools that it moved through."`
	DepositEventCount       uint64       `json:"depositEventCount" doc:"Deposits and funded open notes."`
	WithdrawalEventCount    uint64       `json:"withdrawalEventCount"`
	DepositAmountRaw        string       `json:"depositAmountRaw"`
	WithdrawalAmountRaw     string       `json:"withdrawalAmountRaw"`
	ProtectedAmountRaw      string       `json:"protectedAmountRaw" doc:"depositAmountRaw minus withdrawalAmountRaw, exactly."`
	ProtectedAmount         *string      `json:"protectedAmount" doc:"The same in units of the token, for display. Null when its decimals are not known, or the amount is incomplete or negative."`
	MissingAmountEventCount uint64       `json:"missingAmountEventCount" doc:"Movements whose amount could not be read."`
	ValueUSD                *string      `json:"valueUsd" deprecated:"true" doc:"Always null: there is no price source."`
}

// PrivacyAsset is a token of the current snapshot.
type PrivacyAsset struct {
	PrivacyFlows
	UnreconciledEventCount uint64       `json:"unreconciledEventCount" doc:"Movements in front of which the token had no Transfer of the same amount between the same parties: those of tokens that charge for transfers, say."`
	Price                  PrivacyPrice `json:"price" deprecated:"true"`
}

// PrivacyPrice is kept for compatibility.
type PrivacyPrice struct {
	Status         string  `json:"status" enum:"priced,unavailable" doc:"Always unavailable."`
	ReasonCode     string  `json:"reasonCode" enum:"fresh_exact_cached_price,amount_decode_incomplete,negative_protected_amount,token_metadata_missing,token_unmapped,price_not_exact,price_missing,price_stale"`
	PriceUSD       *string `json:"priceUsd"`
	Source         *string `json:"source"`
	Provider       *string `json:"provider"`
	Confidence     *string `json:"confidence"`
	PriceTimestamp *string `json:"priceTimestamp" format:"date-time"`
	ObservedAt     *string `json:"observedAt" format:"date-time"`
	MaxAgeSeconds  *int    `json:"maxAgeSeconds"`
}

// PrivacyValuation is kept for compatibility.
type PrivacyValuation struct {
	Status        string  `json:"status" enum:"complete,unavailable" doc:"Always unavailable."`
	ReasonCode    string  `json:"reasonCode" enum:"all_assets_fresh_exact_cached_price,one_or_more_assets_unpriced,no_finalized_flow_snapshot,coverage_incomplete,consumer_price_at_timestamp_required"`
	QuoteCurrency string  `json:"quoteCurrency" enum:"USD"`
	TotalUSD      *string `json:"totalUsd"`
}

// PrivacyHours is a page of hourly points.
type PrivacyHours struct {
	SchemaVersion string        `json:"schemaVersion" enum:"1"`
	ChainID       string        `json:"chainId"`
	Scope         string        `json:"scope" enum:"strk20_privacy_pool"`
	Granularity   string        `json:"granularity" enum:"hour"`
	Order         string        `json:"order" enum:"ascending"`
	From          string        `json:"from" format:"date-time" doc:"The first hour that was asked for."`
	To            string        `json:"to" format:"date-time" doc:"The last hour that was asked for."`
	Limit         int           `json:"limit"`
	Items         []PrivacyHour `json:"items" doc:"Oldest first. An hour that is missing is not known: it is not zero."`
	NextCursor    *string       `json:"nextCursor"`
	Caveat        string        `json:"caveat"`
}

// PrivacyHour is what the pools held at the end of an hour. It never changes, unless a
// fork takes its block away.
type PrivacyHour struct {
	Timestamp               string           `json:"timestamp" format:"date-time" doc:"When the hour began, in UTC."`
	Status                  string           `json:"status" enum:"complete,degraded" doc:"Consume only complete ones."`
	ReasonCode              string           `json:"reasonCode" enum:"finalized_public_flow_ledger,incomplete_finalized_flow_ledger"`
	AccountingMethod        string           `json:"accountingMethod" enum:"finalized_public_flow_ledger_v1"`
	AsOf                    PrivacyHourAsOf  `json:"asOf"`
	PoolContractCount       uint64           `json:"poolContractCount"`
	TokenCount              uint64           `json:"tokenCount" doc:"Tokens with a public movement up to there."`
	MissingAmountEventCount uint64           `json:"missingAmountEventCount" doc:"Movements up to there whose amount could not be read. Consume only when it is 0."`
	Assets                  []PrivacyFlows   `json:"assets" doc:"Tokens whose amount is not zero, and those whose amount is incomplete, by address. Known zeros are left out."`
	Valuation               PrivacyValuation `json:"valuation" deprecated:"true"`
}

// PrivacyHourAsOf names the last block of an hour.
type PrivacyHourAsOf struct {
	BlockNumber       uint64    `json:"blockNumber" doc:"The last block up to the end of the hour."`
	BlockHash         felt.Felt `json:"blockHash"`
	BlockTimestamp    string    `json:"blockTimestamp" format:"date-time"`
	LatestEventCursor *string   `json:"latestEventCursor" doc:"The last public movement up to there, as block:tx:log."`
	MaterializedAt    string    `json:"materializedAt" format:"date-time"`
}

func (s *Routes) privacyAmountRoutes() {
	now := ledgerRoute("getPrivacyPoolTvl", "tvl", "Read what the privacy pools hold",
		"Per token what went into the pools in public minus what came out, as of a finalized block. Publish a snapshot only when `status` and `coverage.status` are `complete`, "+
			"`coverage.missingAmountEventCount` is 0, `coverage.decodedMaterializationFresh` is true and every asset that is used is `complete`; ask for `coverage.asOfL1Accepted` where settlement on L1 matters. "+
			"It is no balance of anybody and no claim about value. Answers have a weak ETag over their bytes, and the Last-Modified of when this process first made them.")
	now.Dated = true
	kernel.Register(s.Server, now, s.getPrivacyPoolTvl)
	series := ledgerRoute("listPrivacyPoolTvl", "tvl/series", "List what the privacy pools held by the hour",
		"Points of the hours of a range, both ends included, oldest first. `limit` is {page}; pass `nextCursor` on with the same range. "+
			"A point is made once when its hour is finalized, and does not change. An hour without a point is unavailable, and not zero: nothing may be put in its place. "+
			"Answers have a weak ETag over their bytes, and as Last-Modified when their newest point was made. Neither proves that a range is complete.")
	series.Dated, series.Page = true, kernel.Page{Usual: ledger.MaxHours, Most: ledger.MaxHours}
	kernel.Register(s.Server, series, s.listPrivacyPoolTvl)
}

func (s *Routes) getPrivacyPoolTvl(ctx context.Context, in *ChainInput) (*body[PrivacySnapshot], error) {
	out := &body[PrivacySnapshot]{}
	err := s.privacyView(ctx, in.Chain, func(v *privacyView) (err error) {
		kernel.RequestOf(ctx).ModifiedWhenMade("pp_tvl_cache", v.written())
		out.Body, err = v.snapshot(ctx)
		return err
	})
	return out, err
}

// snapshot is what the pools hold now.
func (v *privacyView) snapshot(ctx context.Context) (PrivacySnapshot, error) {
	out := PrivacySnapshot{SchemaVersion: "1", ChainID: v.chain.ID, Scope: privacyScope, AccountingMethod: privacyAccounting, AsOf: v.asOf(), Coverage: v.coverage(),
		Assets: []PrivacyAsset{}, Caveat: privacyCaveat}
	out.Status = out.Coverage.Status
	switch out.Status {
	case privacyComplete:
		out.Valuation = unvalued("one_or_more_assets_unpriced")
	case privacyNone:
		out.Valuation = unvalued(noSnapshot)
	default:
		out.Valuation = unvalued("coverage_incomplete")
	}
	if v.ledger == nil {
		return out, nil
	}
	assets, _, err := v.ledger.Assets(ctx, v.r) // more than it can show is a gap of the ledger
	if err != nil {
		return out, err
	}
	tokens, err := v.tokensOf(ctx, assets)
	if err != nil {
		return out, err
	}
	for i := range assets {
		a := &assets[i]
		item := PrivacyAsset{PrivacyFlows: renderFlows(a, tokens[a.Token]), UnreconciledEventCount: a.Unreconciled, Price: PrivacyPrice{Status: "unavailable", ReasonCode: "price_missing"}}
		if !a.Complete() {
			item.Price.ReasonCode = item.ReasonCode
		} else if item.Token.Decimals == nil {
			item.Price.ReasonCode = "token_metadata_missing"
		}
		out.Assets = append(out.Assets, item)
	}
	return out, nil
}

func (v *privacyView) tokensOf(ctx context.Context, assets []ledger.Asset) (map[felt.Felt]PrivacyToken, error) {
	list := make([]felt.Felt, len(assets))
	for i := range assets {
		list[i] = assets[i].Token
	}
	return privacyTokens(ctx, v.chain, v.r, list)
}

func unvalued(reason string) PrivacyValuation {
	return PrivacyValuation{Status: "unavailable", ReasonCode: reason, QuoteCurrency: "USD"}
}

func renderFlows(a *ledger.Asset, t PrivacyToken) PrivacyFlows {
	protected := a.Protected()
	out := PrivacyFlows{Token: t, Status: privacyDegraded, ReasonCode: string(a.Reason), PoolContractCount: len(a.Pools), DepositEventCount: a.Deposits + a.OpenDeposits,
		WithdrawalEventCount: a.Withdrawals, DepositAmountRaw: a.Deposited.String(), WithdrawalAmountRaw: a.Withdrawn.String(), ProtectedAmountRaw: protected.String(),
		MissingAmountEventCount: a.MissingAmounts}
	if a.Complete() {
		out.Status = privacyComplete
		out.ProtectedAmount = unitsOf(protected, t)
	}
	return out
}

// unitsOf is an amount in units of a token; nil when it has no known decimals.
func unitsOf(raw *big.Int, t PrivacyToken) *string {
	if t.Decimals == nil {
		return nil
	}
	return some(inUnits(raw, *t.Decimals))
}

func (s *Routes) listPrivacyPoolTvl(ctx context.Context, in *struct {
	ChainInput
	From        string       `query:"from" required:"true" maxLength:"40" doc:"The first hour: an exact hour of UTC in RFC 3339, such as 2026-01-31T12:00:00Z."`
	To          string       `query:"to" required:"true" maxLength:"40" doc:"The last hour, likewise."`
	Granularity string       `query:"granularity" enum:"hour" default:"hour" doc:"There are points of hours alone."`
	Limit       kernel.Limit `query:"limit"`
	Cursor      string       `query:"cursor" doc:"nextCursor of the page before, with the same range."`
}) (*body[PrivacyHours], error) {
	from, err := hourOf("query.from", in.From)
	if err != nil {
		return nil, err
	}
	to, err := hourOf("query.to", in.To)
	if err != nil {
		return nil, err
	}
	if from > to {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.to: it is before from.")
	}
	out := &body[PrivacyHours]{PrivacyHours{SchemaVersion: "1", ChainID: in.Chain, Scope: privacyScope, Granularity: "hour", Order: "ascending",
		From: kernel.TimestampISO(from), To: kernel.TimestampISO(to), Limit: in.Limit.Size(), Items: []PrivacyHour{}, Caveat: privacyCaveat}}
	scope := "listPrivacyPoolTvl\x00" + in.Chain + "\x00" + out.Body.From + "\x00" + out.Body.To
	var at *hourCursor
	if in.Cursor != "" {
		if at, err = s.openHourCursor(ctx, scope, in.Cursor); err != nil {
			return nil, err
		}
	}
	err = s.privacyView(ctx, in.Chain, func(v *privacyView) error {
		if at != nil && (v.ledger == nil || v.ledger.Number != at.generation) {
			return kernel.Fail(kernel.CodeInvalidCursor, "The points were made anew since the page before: what it held may not hold any more. Start again without a cursor.")
		}
		first := from
		if at != nil {
			first = at.hour
		}
		return s.hours(ctx, v, scope, first, to, &out.Body)
	})
	return out, err
}

// hourOf reads an exact hour of UTC.
func hourOf(name, text string) (uint64, error) {
	at, err := kernel.TimestampOf(name, text)
	if !strings.ContainsAny(text, "Tt") || err != nil {
		return 0, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is not RFC 3339 in UTC, such as 2026-01-31T12:00:00Z.", name, kernel.Clip(text, 40))
	}
	if _, offset := at.Zone(); offset != 0 || at.Unix() < 0 || !at.Equal(at.Truncate(time.Hour)) {
		return 0, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is not an exact hour of UTC since 1970, such as 2026-01-31T12:00:00Z.", name, kernel.Clip(text, 40))
	}
	return uint64(at.Unix()), nil
}

// hourCursor is where a page of hours begins, in the generation that the walk began in.
type hourCursor struct {
	generation uint32
	hour       uint64
}

func (s *Routes) openHourCursor(ctx context.Context, scope, text string) (*hourCursor, error) {
	b, e := s.OpenCursor(ctx, scope, text)
	if e != nil {
		return nil, e
	}
	if len(b) != 12 {
		return nil, otherVersion()
	}
	return &hourCursor{binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:])}, nil
}

// hours fills a page.
func (s *Routes) hours(ctx context.Context, v *privacyView, scope string, from, to uint64, out *PrivacyHours) error {
	req := kernel.RequestOf(ctx)
	if v.ledger == nil {
		req.ModifiedAt(time.Time{})
		return nil
	}
	points, next, err := v.ledger.Hours(ctx, v.r, from, to, out.Limit)
	if err != nil {
		return err
	}
	var moved []ledger.Asset
	var newest time.Time
	for i := range points {
		moved = append(moved, points[i].Assets...)
		if at := time.UnixMilli(int64(points[i].MaterializedAt)); at.After(newest) {
			newest = at
		}
	}
	req.ModifiedAt(newest)
	tokens, err := v.tokensOf(ctx, moved)
	if err != nil {
		return err
	}
	for i := range points {
		out.Items = append(out.Items, renderHour(&points[i], tokens))
	}
	if next > 0 {
		out.NextCursor = some(s.Seal(scope, binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, v.ledger.Number), next)))
	}
	return nil
}

func renderHour(p *ledger.Point, tokens map[felt.Felt]PrivacyToken) PrivacyHour {
	out := PrivacyHour{Timestamp: kernel.TimestampISO(p.Hour), Status: privacyDegraded, ReasonCode: string(p.Reason), AccountingMethod: privacyAccounting,
		AsOf:              PrivacyHourAsOf{p.AsOf, p.Hash, kernel.TimestampISO(p.Timestamp), watermark(p.LatestFlow), instantISO(time.UnixMilli(int64(p.MaterializedAt)))},
		PoolContractCount: p.PoolCount, TokenCount: p.TokenCount, MissingAmountEventCount: p.MissingAmounts, Assets: []PrivacyFlows{},
		Valuation: unvalued("consumer_price_at_timestamp_required")}
	if p.Complete() {
		out.Status = privacyComplete
	}
	for i := range p.Assets {
		out.Assets = append(out.Assets, renderFlows(&p.Assets[i], tokens[p.Assets[i].Token]))
	}
	return out
}
