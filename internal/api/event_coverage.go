package api

import (
	"context"
	"errors"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// Searches by later keys over more than 10,000 blocks are for wallet workspaces, and
// only for what package event declares for them. Searching newest first, the cursor
// keeps the block where the first page began.

// Interval is a range of blocks, both ends included.
type Interval struct {
	FromBlock uint64 `json:"fromBlock"`
	ToBlock   uint64 `json:"toBlock"`
}

// CoverageDiagnostics tell what a certificate rests on.
type CoverageDiagnostics struct {
	FreshnessStatus                string  `json:"freshnessStatus" enum:"current,stale,unavailable"`
	SourceLowWaterBlock            *uint64 `json:"sourceLowWaterBlock"`
	SourceHighWaterBlock           *uint64 `json:"sourceHighWaterBlock" doc:"Newest indexed block."`
	SourceContiguousLowWaterBlock  *uint64 `json:"sourceContiguousLowWaterBlock"`
	SourceContiguousHighWaterBlock *uint64 `json:"sourceContiguousHighWaterBlock"`
	LagBlocks                      *uint64 `json:"lagBlocks" doc:"How far the certificate is behind the newest indexed block."`
	OpenEnded                      bool    `json:"openEnded" doc:"The certificate moves on with the chain."`
	LiveMaintenance                bool    `json:"liveMaintenance" doc:"An indexer and its node were heard lately."`
}

// RangeCoverage says how much of a wide range an answer stands for.
type RangeCoverage struct {
	Requested Interval  `json:"requested"`
	Completed *Interval `json:"completed" doc:"What this page and those before it have searched; null while that is not one whole block."`
	Complete  bool      `json:"complete" doc:"Completed is all of requested. Never before the last page."`
	Certified *Interval `json:"certified" doc:"The part of completed that the certificate covers; null when there is none."`
	CoverageDiagnostics
}

// SelectorCoverage is one declared selector and position.
type SelectorCoverage struct {
	Selector     felt.Felt `json:"selector"`
	Position     int       `json:"position"`
	SourceTier   string    `json:"sourceTier" enum:"finalized" doc:"By depth: up to finalizedBlockNumber of the status."`
	FromBlock    uint64    `json:"fromBlock"`
	ThroughBlock *uint64   `json:"throughBlock"`
	Status       string    `json:"status" enum:"building,ready,failed"`
	VerifiedAt   *string   `json:"verifiedAt" format:"date-time" doc:"When the coverage was last held against the head of a node. Null unless it is ready and current."`
	CoverageDiagnostics
}

// EventSearchFacts is what capabilities say of event search.
type EventSearchFacts struct {
	Chain     string           `json:"chain"`
	Positions EventPositions   `json:"positions"`
	Bounded   EventBounded     `json:"bounded"`
	FullRange EventFullRange   `json:"fullRange"`
	Limits    EventSearchLimit `json:"limits"`
}

// EventPositions are the key positions that can be searched.
type EventPositions struct {
	Minimum int `json:"minimum"`
	Maximum int `json:"maximum"`
}

// EventBounded describes ordinary searches.
type EventBounded struct {
	Enabled                bool `json:"enabled"`
	MaximumBlocksInclusive int  `json:"maximumBlocksInclusive"`
}

// EventSearchLimit are the limits of one request.
type EventSearchLimit struct {
	PageSize          int `json:"pageSize"`
	ValuesPerPosition int `json:"valuesPerPosition"`
	ValuesPerRequest  int `json:"valuesPerRequest"`
	RawExtension      int `json:"rawExtensionBlocks"`
}

// EventFullRange describes wide searches.
type EventFullRange struct {
	Entitled              bool               `json:"entitled" doc:"The calling key's workspace may search wide ranges."`
	RequiredWorkspacePlan string             `json:"requiredWorkspacePlan"`
	CoverageContract      string             `json:"coverageContract"`
	UnsupportedResponse   string             `json:"unsupportedResponse"`
	UnavailableResponse   string             `json:"unavailableResponse"`
	CoverageAvailability  string             `json:"coverageAvailability" enum:"available,partial,unavailable"`
	SelectorCoverage      []SelectorCoverage `json:"selectorCoverage"`
}

// certificate is that of a chain at this moment.
func (c *Chain) certificate(state *chain.State) event.Certificate {
	f := c.freshness(state)
	return event.CertificateOf(state, c.Depth, event.Vouching{Current: f.current(), Behind: f.code == reasonBehind, At: f.vouched})
}

func diagnostics(c *event.Certificate) CoverageDiagnostics {
	out := CoverageDiagnostics{FreshnessStatus: string(c.Freshness), SourceHighWaterBlock: c.Head, SourceContiguousHighWaterBlock: c.Head, LagBlocks: c.Lag(),
		OpenEnded: true, LiveMaintenance: c.Live}
	if c.Head != nil {
		low := uint64(0)
		out.SourceLowWaterBlock, out.SourceContiguousLowWaterBlock = &low, &low
	}
	return out
}

// wideSearch is a search over more blocks than an ordinary key may ask for.
type wideSearch struct {
	event.Wide
	CoverageDiagnostics
}

// wideRange decides whether a wide search may run, and how far.
func (s *Routes) wideRange(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, q *eventSearch) (*wideSearch, error) {
	if !kernel.RequestOf(ctx).Caller.WideRanges() {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.to_block: from_block to to_block is %d blocks; at most %d at a time. Wider ranges are for wallet workspaces.", q.To-q.From+1, MaxRangeBlocks)
	}
	if selector, p, found := q.Undeclared(); found {
		return nil, kernel.Fail(kernel.CodeFullRangeUnsupported, "Selector %s is not declared for wide ranges at position %d; see eventSearch.fullRange.selectorCoverage in /v1/meta/capabilities.", selector, p)
	}
	certificate := c.certificate(state)
	w, err := certificate.Wide(ctx, r, event.Interval{FromBlock: q.From, ToBlock: q.To})
	switch {
	case errors.Is(err, event.ErrNotCurrent):
		e := coverageUnavailable("The coverage of this range is %s.", certificate.Freshness)
		e.MaxServableToBlock = certificate.Servable(q.From, MaxRangeBlocks) // what an ordinary search would answer
		return nil, e
	case errors.Is(err, event.ErrUncovered):
		return nil, coverageUnavailable("Nothing is covered from block %d on; the coverage ends with block %d.", q.From, w.Top)
	}
	return &wideSearch{w, diagnostics(&certificate)}, err
}

func coverageUnavailable(format string, args ...any) *kernel.Error {
	e := kernel.Fail(kernel.CodeEventCoverageUnavailable, format, args...)
	e.RetryAfter = 5
	return e
}

// covers is what the pages up to one that ended at next stand for.
func (w *wideSearch) covers(order event.Order, next *explorer.Place) *RangeCoverage {
	claim := w.Claims(order, next)
	return &RangeCoverage{Requested: Interval(w.Requested), Completed: (*Interval)(claim.Completed), Complete: claim.Complete, Certified: (*Interval)(claim.Certified),
		CoverageDiagnostics: w.CoverageDiagnostics}
}

// eventSearchFacts is what capabilities say of event search on a chain.
func (s *Routes) eventSearchFacts(ctx context.Context, c *Chain, wide bool) (EventSearchFacts, error) {
	out := EventSearchFacts{Chain: c.ID, Positions: EventPositions{0, event.Positions - 1}, Bounded: EventBounded{true, MaxRangeBlocks},
		Limits: EventSearchLimit{EventPages.Most, MaxPerPosition, MaxPerRequest, event.RawExtension},
		FullRange: EventFullRange{Entitled: wide, RequiredWorkspacePlan: string(account.Wallet), CoverageContract: "certified_per_selector_position",
			UnsupportedResponse: "422_full_range_selector_not_supported", UnavailableResponse: "503_event_key_index_coverage_unavailable",
			CoverageAvailability: "available", SelectorCoverage: []SelectorCoverage{}}}
	var state chain.State
	err := chain.View(ctx, c.Store, func(_ explorer.Reader, now *chain.State) error {
		state = *now
		return nil
	})
	if err != nil {
		return out, err
	}
	certificate := c.certificate(&state)
	status := "ready"
	switch {
	case state.HasFault:
		status = "failed"
	case certificate.Through == nil:
		status = "building"
	}
	var verified *string
	if certificate.Available() {
		verified = some(instantISO(certificate.Verified))
	} else {
		out.FullRange.CoverageAvailability = "unavailable"
	}
	for _, w := range event.Declared {
		for _, p := range w.Positions {
			out.FullRange.SelectorCoverage = append(out.FullRange.SelectorCoverage, SelectorCoverage{
				Selector: felt.Selector(w.Name), Position: p, SourceTier: "finalized", ThroughBlock: certificate.Through, Status: status, VerifiedAt: verified, CoverageDiagnostics: diagnostics(&certificate)})
		}
	}
	return out, nil
}
