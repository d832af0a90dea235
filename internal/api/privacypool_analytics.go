package api

import (
	"cmp"
	"context"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/explorer/privacypool/ledger"
)

// maxTokenFlows is how many tokens analytics show.
const maxTokenFlows = 100

// PrivacyAnalytics are totals of the pools.
type PrivacyAnalytics struct {
	ChainID                        string                  `json:"chainId"`
	Status                         string                  `json:"status" enum:"complete,degraded,unavailable" doc:"As of the current snapshot. When unavailable all counts are null."`
	AsOf                           PrivacyAsOf             `json:"asOf"`
	TotalEvents                    *uint64                 `json:"totalEvents" doc:"Of the pools, whether they could be read or not."`
	UniqueTransactionCount         *uint64                 `json:"uniqueTransactionCount" doc:"With an event of a pool. Calls without any are not among them."`
	ContractCount                  *uint64                 `json:"contractCount" doc:"Pools that had an event."`
	LatestEventBlock               *uint64                 `json:"latestEventBlock"`
	EventBreakdown                 []PrivacyCount          `json:"eventBreakdown" doc:"By name."`
	VisibilityBreakdown            []PrivacyVisibility     `json:"visibilityBreakdown" doc:"How much events tell: most frequent first."`
	TokenFlows                     []PrivacyTokenFlow      `json:"tokenFlows" doc:"Most events first, then by address."`
	TokenFlowsLimit                int                     `json:"tokenFlowsLimit"`
	TokenFlowsTruncated            bool                    `json:"tokenFlowsTruncated" doc:"There are more tokens than that."`
	TokenFlowSourceEventLimit      int                     `json:"tokenFlowSourceEventLimit" doc:"Always 0: the flows are those of all history."`
	TokenFlowSourceEventsTruncated bool                    `json:"tokenFlowSourceEventsTruncated" doc:"Always false."`
	MissingAmountEventCount        *uint64                 `json:"missingAmountEventCount" doc:"Movements whose amount could not be read."`
	StrkbtcObserved                *bool                   `json:"strkbtcObserved" doc:"Whether strkBTC moved; null where the registry does not know it."`
	UnknownTokenCount              *uint64                 `json:"unknownTokenCount" doc:"Tokens that moved and whose symbol is not known."`
	PrivateActivity                PrivacyActivity         `json:"privateActivity"`
	UnavailableMetrics             []PrivacyUnavailability `json:"unavailableMetrics" doc:"What public events do not tell."`
}

// PrivacyVisibility is how often events told so much.
type PrivacyVisibility struct {
	Visibility string `json:"visibility" enum:"public,partial,hidden_by_design"`
	Count      uint64 `json:"count"`
}

// PrivacyTokenFlow sums what is seen of a token.
type PrivacyTokenFlow struct {
	Token                         PrivacyToken `json:"token"`
	EventCount                    uint64       `json:"eventCount"`
	DepositEventCount             uint64       `json:"depositEventCount" doc:"Deposits and funded open notes."`
	WithdrawalEventCount          uint64       `json:"withdrawalEventCount"`
	ObservableDepositAmountRaw    string       `json:"observableDepositAmountRaw"`
	ObservableWithdrawalAmountRaw string       `json:"observableWithdrawalAmountRaw"`
	ObservableNetAmountRaw        string       `json:"observableNetAmountRaw" doc:"The difference."`
	MissingAmountEventCount       uint64       `json:"missingAmountEventCount" doc:"Movements whose amount could not be read."`
}

// PrivacyActivity is not counted here; see coverageReasonCode.
type PrivacyActivity struct {
	Source                          string              `json:"source" enum:"public_decoded_event_rows"`
	CoverageStatus                  string              `json:"coverageStatus" enum:"complete,stale,unavailable" doc:"Always unavailable."`
	CoverageReasonCode              *string             `json:"coverageReasonCode" enum:"historical_materialization_not_reconciled,source_coverage_stale,private_activity_metrics_not_migrated"`
	SourceProvenance                *PrivacyProvenance  `json:"sourceProvenance"`
	Caveat                          string              `json:"caveat"`
	TotalPrivateActionTxCount       *uint64             `json:"totalPrivateActionTxCount"`
	TotalHelperWithdrawalEventCount *uint64             `json:"totalHelperWithdrawalEventCount"`
	TotalNoteUsedEventCount         *uint64             `json:"totalNoteUsedEventCount"`
	TotalOpenNoteDepositedCount     *uint64             `json:"totalOpenNoteDepositedEventCount"`
	MetricsLimit                    int                 `json:"metricsLimit"`
	MetricsTruncated                bool                `json:"metricsTruncated"`
	Metrics                         []PrivacyActivityOf `json:"metrics"`
}

// PrivacyProvenance would name what private activity was counted from.
type PrivacyProvenance struct {
	Generation            uint64 `json:"generation"`
	DefinitionFingerprint string `json:"definitionFingerprint"`
	SourceCommitSeq       uint64 `json:"sourceCommitSeq"`
	SourceRangeDigest     string `json:"sourceRangeDigest"`
	TerminalBlockNumber   uint64 `json:"terminalBlockNumber"`
	TerminalBlockHash     string `json:"terminalBlockHash"`
}

// PrivacyActivityOf would be one kind of private activity.
type PrivacyActivityOf struct {
	Metric string `json:"metric"`
	Count  uint64 `json:"count"`
}

// PrivacyUnavailability is a number that is not given, and why.
type PrivacyUnavailability struct {
	Metric     string `json:"metric" enum:"tvlUsd,privateSwapVolume,exactAnonymitySet,privateActivity"`
	ReasonCode string `json:"reasonCode" enum:"requires_balance_and_price_snapshots,volume_pricing_not_certified,commitment_state_materializer_required,historical_materialization_not_reconciled,source_coverage_stale,private_activity_metrics_not_migrated"`
	Reason     string `json:"reason"`
}

// PrivacyDashboard is what the page of the pools shows, all of one view.
type PrivacyDashboard struct {
	ChainID       string           `json:"chainId"`
	Status        PrivacyStatus    `json:"status"`
	Tvl           PrivacySnapshot  `json:"tvl"`
	MetricBuckets PrivacyBuckets   `json:"metricBuckets"`
	Analytics     PrivacyAnalytics `json:"analytics"`
	RecentEvents  []PrivacyEvent   `json:"recentEvents" doc:"The newest events up to the head, newest first."`
}

const (
	notMigrated    = "private_activity_metrics_not_migrated"
	activityCaveat = "Which transactions were private actions, and of what kind, is not told by the events of the pools alone."
)

// unavailableMetrics are what public events do not tell.
var unavailableMetrics = []PrivacyUnavailability{
	{"tvlUsd", "requires_balance_and_price_snapshots", "There is no price source, and sums of public movements are no balances."},
	{"privateSwapVolume", "volume_pricing_not_certified", "What was swapped for what is not public, and would have to be priced."},
	{"exactAnonymitySet", "commitment_state_materializer_required", "Whose notes are left, and which of them are worth something, is hidden by design."},
	{"privateActivity", notMigrated, activityCaveat},
}

func (s *Routes) getPrivacyPoolAnalytics(ctx context.Context, in *ChainInput) (*body[PrivacyAnalytics], error) {
	out := &body[PrivacyAnalytics]{}
	err := s.privacyView(ctx, in.Chain, func(v *privacyView) (err error) {
		out.Body, err = v.analytics(ctx)
		return err
	})
	return out, err
}

// analytics are the totals.
func (v *privacyView) analytics(ctx context.Context) (PrivacyAnalytics, error) {
	out := PrivacyAnalytics{ChainID: v.chain.ID, AsOf: v.asOf(), EventBreakdown: []PrivacyCount{}, VisibilityBreakdown: []PrivacyVisibility{}, TokenFlows: []PrivacyTokenFlow{},
		TokenFlowsLimit: maxTokenFlows, UnavailableMetrics: unavailableMetrics,
		PrivateActivity: PrivacyActivity{Source: "public_decoded_event_rows", CoverageStatus: privacyNone, CoverageReasonCode: some(notMigrated), Caveat: activityCaveat, Metrics: []PrivacyActivityOf{}}}
	out.Status, _ = v.status()
	l := v.ledger
	if l == nil {
		return out, nil
	}
	pools := l.PoolCount()
	out.TotalEvents, out.UniqueTransactionCount, out.ContractCount, out.MissingAmountEventCount = &l.Events, &l.Transactions, &pools, &l.MissingAmounts
	if l.Latest != nil {
		out.LatestEventBlock = &l.Latest.Block
	}
	out.EventBreakdown = breakdown(l)
	told := map[privacypool.Visibility]uint64{}
	for _, c := range l.Counts {
		told[visibilities[c.Name]] += c.Events
	}
	for visibility, n := range told {
		out.VisibilityBreakdown = append(out.VisibilityBreakdown, PrivacyVisibility{string(visibility), n})
	}
	arrange.By(out.VisibilityBreakdown, func(a, b PrivacyVisibility) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Visibility, b.Visibility))
	})
	return out, v.tokenFlows(ctx, &out)
}

// tokenFlows fills in what is seen of tokens.
func (v *privacyView) tokenFlows(ctx context.Context, out *PrivacyAnalytics) error {
	assets, more, err := v.ledger.Assets(ctx, v.r)
	if err != nil {
		return err
	}
	tokens, err := v.tokensOf(ctx, assets)
	if err != nil {
		return err
	}
	tracked, unknown := v.called(strkBTC), uint64(0)
	if tracked != nil {
		moved := slices.ContainsFunc(assets, func(a ledger.Asset) bool { return a.Token == *tracked })
		out.StrkbtcObserved = &moved
	}
	for i := range assets {
		if tokens[assets[i].Token].Symbol == nil {
			unknown++
		}
	}
	out.UnknownTokenCount = &unknown
	arrange.StablyBy(assets, func(a, b ledger.Asset) int { return cmp.Compare(movements(&b), movements(&a)) })
	if out.TokenFlowsTruncated = more || len(assets) > maxTokenFlows; len(assets) > maxTokenFlows {
		assets = assets[:maxTokenFlows]
	}
	for i := range assets {
		a := &assets[i]
		out.TokenFlows = append(out.TokenFlows, PrivacyTokenFlow{tokens[a.Token], movements(a), a.Deposits + a.OpenDeposits, a.Withdrawals,
			a.Deposited.String(), a.Withdrawn.String(), a.Protected().String(), a.MissingAmounts})
	}
	return nil
}

func movements(a *ledger.Asset) uint64 { return a.Deposits + a.OpenDeposits + a.Withdrawals }

// What the page shows: so many days, and so many of the newest events.
const dashboardDays, dashboardEvents = 30, 10

func (s *Routes) getPrivacyPoolDashboard(ctx context.Context, in *ChainInput) (*body[PrivacyDashboard], error) {
	out := &body[PrivacyDashboard]{PrivacyDashboard{ChainID: in.Chain}}
	err := s.privacyView(ctx, in.Chain, func(v *privacyView) (err error) {
		if out.Body.Status, err = v.statusOf(ctx); err != nil {
			return err
		}
		if out.Body.Tvl, err = v.snapshot(ctx); err != nil {
			return err
		}
		if out.Body.MetricBuckets, err = v.days(ctx, dashboardDays); err != nil {
			return err
		}
		if out.Body.Analytics, err = v.analytics(ctx); err != nil {
			return err
		}
		out.Body.RecentEvents, err = v.recent(ctx, dashboardEvents)
		return err
	})
	return out, err
}

// recent are the newest events, up to the head.
func (v *privacyView) recent(ctx context.Context, limit int) ([]PrivacyEvent, error) {
	rows := &privacyRowsView{chain: v.chain, r: v.r, state: v.state, pools: v.chain.Registry.PrivacyPools()}
	page, err := privacypool.List(ctx, v.r, privacypool.Query{Pools: rows.pools, Head: v.state.Head.Number, Limit: limit})
	if err != nil {
		return nil, err
	}
	rows.rows = page.Rows
	out, _, err := rows.events(ctx)
	return out, err
}
