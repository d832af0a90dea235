package api

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// What routes of privacy pools say in every answer.
const (
	privacyScope      = "strk20_privacy_pool"
	privacyAccounting = "finalized_public_flow_ledger_v1"
	privacyFinality   = "service_indexed_finalized_tier"
	privacyComplete   = "complete"
	privacyDegraded   = "degraded"
	privacyNone       = "unavailable"

	noSnapshot       = "no_finalized_flow_snapshot"
	incompleteLedger = "incomplete_finalized_flow_ledger"
	laggingLedger    = "decoded_materialization_lag"
	unknownFreshness = "materialization_freshness_unavailable"
)

// ledgerRoute is a route that reads the ledger, and says whether it is fresh now.
func ledgerRoute(id, path, summary, description string) kernel.Route {
	r := privacyRoute(id, path, summary, description)
	r.Depends |= kernel.OnClock
	return r
}

func (s *Routes) privacyPoolRoutes() {
	s.privacyAmountRoutes()
	s.privacyMetricRoutes()
	s.privacyStatusRoutes()
}

// PrivacyAsOf names the block that an answer is as of.
type PrivacyAsOf struct {
	BlockNumber    *uint64    `json:"blockNumber" doc:"The finalized block that the ledger reaches."`
	BlockHash      *felt.Felt `json:"blockHash"`
	BlockTimestamp *string    `json:"blockTimestamp" format:"date-time"`
	MaterializedAt *string    `json:"materializedAt" format:"date-time" doc:"When the ledger was brought up to that block."`
}

// PrivacyCoverage says what an answer covers, and whether it can be published.
type PrivacyCoverage struct {
	Status                      string  `json:"status" enum:"complete,degraded,unavailable"`
	ReasonCode                  string  `json:"reasonCode" enum:"finalized_public_flow_ledger,incomplete_finalized_flow_ledger,no_finalized_flow_snapshot,decoded_materialization_lag,materialization_freshness_unavailable,raw_event_filter_truncated" doc:"Why; the route status tells the reasons of an incomplete ledger one by one."`
	FinalizedOnly               bool    `json:"finalizedOnly" doc:"Always true: the finalized tier of this index, by depth below the head. It is not settlement on L1."`
	FinalityBasis               string  `json:"finalityBasis" enum:"service_indexed_finalized_tier"`
	AsOfL1Accepted              *bool   `json:"asOfL1Accepted" doc:"Whether L1 is known to have accepted the block of asOf; null without evidence."`
	LatestL1AcceptedBlockNumber *uint64 `json:"latestL1AcceptedBlockNumber" doc:"Null without evidence."`
	FromBlockNumber             *uint64 `json:"fromBlockNumber" doc:"Where the first of the pools was deployed."`
	ThroughBlockNumber          *uint64 `json:"throughBlockNumber" doc:"The block of asOf."`
	LatestEventBlockNumber      *uint64 `json:"latestEventBlockNumber" doc:"Of the last public movement."`
	LatestEventCursor           *string `json:"latestEventCursor" doc:"The last public movement, as block:tx:log. It is a watermark, not a cursor of a list."`
	PoolContractCount           *uint64 `json:"poolContractCount" doc:"Pools that had an event."`
	TokenCount                  *uint64 `json:"tokenCount" doc:"Tokens with a public movement."`
	MissingAmountEventCount     *uint64 `json:"missingAmountEventCount" doc:"Movements whose amount could not be read. Publish only when it is 0; null when there is no ledger."`
	DecodedMaterializationFresh *bool   `json:"decodedMaterializationFresh" doc:"Whether the ledger is near the finalized block of an index that is current. Publish only when true; null when that cannot be told."`
	DecodedEventLagBlocks       *uint64 `json:"decodedEventLagBlocks" doc:"How far the ledger is behind the finalized block."`
}

// privacyView is one view of a chain with the ledger of its pools, if there is one.
type privacyView struct {
	chain  *Chain
	r      explorer.Reader
	state  *chain.State
	ledger *ledger.Ledger // nil: there is none
}

// privacyView reads the ledger of the registry's pools, once for all that an answer
// needs of it.
func (s *Routes) privacyView(ctx context.Context, id string, fn func(v *privacyView) error) error {
	return s.view(ctx, id, func(c *Chain, r explorer.Reader, state *chain.State) error {
		v := &privacyView{chain: c, r: r, state: state}
		pools := c.Registry.PrivacyPools()
		if len(pools) == 0 {
			return fn(v)
		}
		l, err := ledger.Read(ctx, r, pools)
		if err != nil && !errors.Is(err, ledger.ErrMissing) {
			return err
		}
		v.ledger = l
		return fn(v)
	})
}

// written is when the rows of the ledger were last written.
func (v *privacyView) written() time.Time {
	if v.ledger == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(v.ledger.MaterializedAt))
}

// fresh says whether the ledger is near the finalized block, and nothing when nobody
// vouches for the index itself.
func (v *privacyView) fresh() (fresh *bool, lag *uint64) {
	finalized, ok := v.state.FinalizedBlock(v.chain.Depth)
	if v.ledger == nil || !ok {
		return nil, nil
	}
	n := v.ledger.Lag(finalized)
	now := v.chain.freshness(v.state)
	if !now.current() && now.code != reasonBehind {
		return nil, &n
	}
	yes := now.current() && v.ledger.Fresh(finalized)
	return &yes, &n
}

// status is whether the ledger can be stood behind, and why not.
func (v *privacyView) status() (status, reason string) {
	if v.ledger == nil {
		return privacyNone, noSnapshot
	}
	fresh, _ := v.fresh()
	switch {
	case v.ledger.Degraded() != nil || v.ledger.MissingAmounts > 0:
		return privacyDegraded, incompleteLedger
	case fresh == nil:
		return privacyDegraded, unknownFreshness
	case !*fresh:
		return privacyDegraded, laggingLedger
	}
	return privacyComplete, string(ledger.FinalizedPublicFlow)
}

func (v *privacyView) asOf() (out PrivacyAsOf) {
	if v.ledger == nil {
		return out
	}
	b := v.ledger.Block
	return PrivacyAsOf{&b.Number, &b.Hash, some(kernel.TimestampISO(b.Timestamp)), some(instantISO(v.written()))}
}

func (v *privacyView) coverage() PrivacyCoverage {
	out := PrivacyCoverage{FinalizedOnly: true, FinalityBasis: privacyFinality}
	out.Status, out.ReasonCode = v.status()
	if v.state.HasL1 {
		out.LatestL1AcceptedBlockNumber = &v.state.L1.Number
	}
	l := v.ledger
	if l == nil {
		return out
	}
	if v.state.HasL1 {
		accepted := l.Through <= v.state.L1.Number
		out.AsOfL1Accepted = &accepted
	}
	from, pools := l.Pools[0].From, l.PoolCount()
	for i := range l.Pools {
		from = min(from, l.Pools[i].From)
	}
	out.FromBlockNumber, out.ThroughBlockNumber = &from, &l.Through
	if at := l.LatestFlow; at != nil {
		out.LatestEventBlockNumber, out.LatestEventCursor = &at.Block, watermark(at)
	}
	out.PoolContractCount, out.TokenCount, out.MissingAmountEventCount = &pools, &l.TokenCount, &l.MissingAmounts
	out.DecodedMaterializationFresh, out.DecodedEventLagBlocks = v.fresh()
	return out
}

// watermark is the place of an event as block:tx:log.
func watermark(p *explorer.Place) *string {
	if p == nil {
		return nil
	}
	return some(fmt.Sprintf("%d:%d:%d", p.Block, p.Tx, p.Log))
}

// inUnits renders an amount in units of a token.
func inUnits(raw *big.Int, decimals int) string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return new(big.Rat).SetFrac(raw, unit).FloatString(decimals)
}
