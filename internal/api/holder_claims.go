package api

import (
	"context"
	"encoding/hex"
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// renderSnapshot names a generation.
func renderSnapshot(g *census.Generation, state *chain.State, screening bool) HolderSnapshot {
	out := HolderSnapshot{GenerationID: g.ID, AsOfBlock: g.AsOf, AsOfBlockHash: g.Hash, RowDigest: hex.EncodeToString(g.Digest[:]),
		ExpiresAt: instant(g.Expires), UpdatedAt: instant(g.Published), LagBlocks: state.Head.Number - min(g.AsOf, state.Head.Number),
		Source: "sealed_finalized_holder_generation", Freshness: "finalized_generation"}
	if screening {
		out.Source, out.Freshness = "sealed_finalized_holder_screening_projection", "finalized_screening_generation"
	}
	return out
}

// renderClaims says what is claimed of a generation, and on what grounds.
func renderClaims(g *census.Generation, revoked bool) (HolderCompleteness, HolderCertification) {
	cert := HolderCertification{SampledBalances: g.Sampled}
	if g.Supply != nil {
		supply := g.Supply.String()
		cert.TotalSupplyRaw = &supply
	}
	if g.Checked > 0 {
		at := instant(g.Checked)
		cert.CheckedAt = &at
		if g.Supply != nil { // the contract was asked
			against := censusBalanceCheck
			cert.ValidatedAgainst = &against
		}
	}
	complete := HolderCompleteness{PopulationReasonCode: "population_coverage_unproven"}
	switch {
	case revoked:
		cert.Status, cert.ReasonCode = "revoked", "revoked"
	case g.Verdict == census.AuditFailed:
		cert.Status, cert.ReasonCode = "audit_failed", "audit_failed"
	case g.Verdict == census.Unavailable:
		cert.Status, cert.ReasonCode = "unavailable", "unavailable"
	case g.Verdict == census.Certified:
		cert.Status, cert.ReasonCode = "certified", "materialized_snapshot"
		complete = HolderCompleteness{PopulationComplete: true, PopulationReasonCode: "complete_canonical_transfer_coverage", Exact: true, ReasonCode: "materialized_snapshot"}
		return complete, cert
	default:
		cert.Status, cert.ReasonCode = "uncertified", "certification_not_run"
	}
	complete.ReasonCode = cert.ReasonCode
	return complete, cert
}

// HolderAnalytics is how a token is spread over its holders.
type HolderAnalytics struct {
	ChainID          string              `json:"chainId"`
	TokenAddress     felt.Felt           `json:"tokenAddress"`
	Snapshot         HolderSnapshot      `json:"snapshot"`
	HolderCount      uint64              `json:"holderCount" doc:"0 with null metrics is a withheld list, not an empty one: see certification."`
	ComputedAt       *string             `json:"computedAt" format:"date-time"`
	Metrics          *HolderMetrics      `json:"metrics" doc:"Null when the generation is withheld, or nobody holds anything."`
	Growth           *HolderGrowth       `json:"growth" doc:"Since the generation before; null when there is none."`
	Completeness     HolderCompleteness  `json:"completeness"`
	Certification    HolderCertification `json:"certification"`
	ValidatedAgainst *string             `json:"validatedAgainst" enum:"starknet_rpc_balanceOf"`
}

// HolderMetrics are computed from all rows of the generation. Shares are in
// ten-thousandths, rounded down.
type HolderMetrics struct {
	HolderBalanceTotalRaw string            `json:"holderBalanceTotalRaw"`
	Top5BalanceRaw        string            `json:"top5BalanceRaw"`
	Top10BalanceRaw       string            `json:"top10BalanceRaw"`
	Top100BalanceRaw      string            `json:"top100BalanceRaw"`
	Top5ShareBps          uint64            `json:"top5ShareBps"`
	Top10ShareBps         uint64            `json:"top10ShareBps"`
	Top100ShareBps        uint64            `json:"top100ShareBps"`
	WhaleCount            uint64            `json:"whaleCount" doc:"Holders of one percent or more."`
	WhaleShareBps         uint64            `json:"whaleShareBps"`
	GiniScorePPM          uint64            `json:"giniScorePpm" doc:"Gini coefficient of the balances in millionths, rounded down: 0 is all the same."`
	Nakamoto50Count       *uint64           `json:"nakamoto50Count" doc:"The fewest holders who together have more than half."`
	HoldersAbove1Percent  uint64            `json:"holdersAbove1Percent" doc:"Holders of more than one percent."`
	TierDistribution      []HolderTier      `json:"tierDistribution" minItems:"4" maxItems:"4"`
	ThresholdCounts       []HolderThreshold `json:"thresholdCounts" minItems:"3" maxItems:"3"`
}

// HolderTier is the holders whose share is at least minShareBps and below that of
// the tier before.
type HolderTier struct {
	Tier        string `json:"tier" enum:"whale,large,medium,small"`
	MinShareBps uint64 `json:"minShareBps"`
	HolderCount uint64 `json:"holderCount"`
	ShareBps    uint64 `json:"shareBps" doc:"What they have together."`
}

// HolderThreshold counts the holders of a share or more.
type HolderThreshold struct {
	Label        string `json:"label"`
	ThresholdBps uint64 `json:"thresholdBps"`
	HolderCount  uint64 `json:"holderCount"`
}

// HolderGrowth compares with the generation before.
type HolderGrowth struct {
	PreviousGenerationID        uint64 `json:"previousGenerationId"`
	PreviousAsOfBlock           uint64 `json:"previousAsOfBlock"`
	PreviousHolderCount         uint64 `json:"previousHolderCount"`
	HolderCountChange           int64  `json:"holderCountChange"`
	HolderCountChangeBps        *int64 `json:"holderCountChangeBps" doc:"Of the count before, rounded towards zero; null when that was zero."`
	HolderBalanceTotalChangeRaw string `json:"holderBalanceTotalChangeRaw" doc:"Decimal with a sign."`
}

func (s *Routes) getTokenHolderAnalytics(ctx context.Context, in *struct {
	ChainInput
	TokenPath
}) (*body[HolderAnalytics], error) {
	token, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	out := &body[HolderAnalytics]{HolderAnalytics{ChainID: in.Chain, TokenAddress: token}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		g, revoked, err := s.generationFor(ctx, c, r, state, token, nil)
		if err != nil {
			return err
		}
		out.Body.Snapshot = renderSnapshot(g, state, false)
		out.Body.Completeness, out.Body.Certification = renderClaims(g, revoked)
		out.Body.ValidatedAgainst = out.Body.Certification.ValidatedAgainst
		if g.Withheld(revoked) {
			return nil
		}
		at := instant(g.Published)
		out.Body.HolderCount, out.Body.ComputedAt = g.Holders, &at
		out.Body.Metrics, out.Body.Growth = renderMetrics(g), renderGrowth(g)
		return nil
	})
	return out, err
}

func renderMetrics(g *census.Generation) *HolderMetrics {
	m := g.Metrics
	if m == nil {
		return nil
	}
	out := &HolderMetrics{HolderBalanceTotalRaw: g.Total.String(),
		Top5BalanceRaw: m.Top5.String(), Top10BalanceRaw: m.Top10.String(), Top100BalanceRaw: m.Top100.String(),
		Top5ShareBps: m.Top5Bps, Top10ShareBps: m.Top10Bps, Top100ShareBps: m.Top100Bps, WhaleCount: m.Whales, WhaleShareBps: m.WhaleBps,
		GiniScorePPM: m.GiniPPM, HoldersAbove1Percent: m.Above1Percent,
		ThresholdCounts: []HolderThreshold{{"1%", 100, m.AtLeast1}, {"0.1%", 10, m.AtLeast01}, {"0.01%", 1, m.AtLeast001}}}
	if m.Nakamoto50 > 0 {
		out.Nakamoto50Count = &m.Nakamoto50
	}
	for _, t := range m.Tiers {
		out.TierDistribution = append(out.TierDistribution, HolderTier{t.Name, t.MinBps, t.Holders, t.Bps})
	}
	return out
}

func renderGrowth(g *census.Generation) *HolderGrowth {
	p := g.Previous
	if p == nil {
		return nil
	}
	out := &HolderGrowth{PreviousGenerationID: p.ID, PreviousAsOfBlock: p.AsOf, PreviousHolderCount: p.Holders,
		HolderCountChange: int64(g.Holders) - int64(p.Holders), HolderBalanceTotalChangeRaw: new(big.Int).Sub(g.Total, p.Total).String()}
	if p.Holders > 0 {
		bps := out.HolderCountChange * 10_000 / int64(p.Holders)
		out.HolderCountChangeBps = &bps
	}
	return out
}
