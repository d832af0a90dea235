package api

import (
	"context"
	"encoding/binary"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
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

	verified time.Time // what freshness rests on; zero unless current
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

// diagnose describes the certificate of a chain at this moment. through is nil
// while no block is finalized.
func (c *Chain) diagnose(state *chain.State) (through *uint64, d CoverageDiagnostics) {
	d = CoverageDiagnostics{FreshnessStatus: "unavailable", OpenEnded: true, LiveMaintenance: true}
	if !state.HasHead {
		return nil, d
	}
	head, low := state.Head.Number, uint64(0)
	d.SourceLowWaterBlock, d.SourceContiguousLowWaterBlock = &low, &low
	d.SourceHighWaterBlock, d.SourceContiguousHighWaterBlock = &head, &head
	finalized, ok := state.FinalizedBlock(c.Depth)
	if !ok {
		return nil, d
	}
	lag := head - finalized
	d.LagBlocks = &lag
	d.FreshnessStatus = "current"
	if f := c.freshness(state); !f.current() {
		d.FreshnessStatus, d.LiveMaintenance = "stale", f.code == reasonBehind
	} else {
		d.verified = f.vouched
	}
	return &finalized, d
}

// wideSearch is a search over more blocks than an ordinary key may ask for.
type wideSearch struct {
	event.Wide
	topHash felt.Felt // of the block Top
	CoverageDiagnostics
}

// wideRange decides whether a wide search may run, and how far.
func (s *Routes) wideRange(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, q *eventSearch) (*wideSearch, error) {
	if kernel.RequestOf(ctx).Caller.Plan != account.Wallet {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.to_block: from_block to to_block is %d blocks; at most %d at a time. Wider ranges are for wallet workspaces.", q.To-q.From+1, MaxRangeBlocks)
	}
	if selector, p, found := q.Undeclared(); found {
		return nil, kernel.Fail(kernel.CodeFullRangeUnsupported, "Selector %s is not declared for wide ranges at position %d; see eventSearch.fullRange.selectorCoverage in /v1/meta/capabilities.", selector, p)
	}
	through, d := c.diagnose(state)
	if through == nil || d.FreshnessStatus != "current" {
		e := coverageUnavailable("The coverage of this range is %s.", d.FreshnessStatus)
		if through != nil && q.From <= *through { // what an ordinary search would answer
			most := min(*through, q.From+MaxRangeBlocks-1)
			e.MaxServableToBlock = &most
		}
		return nil, e
	}
	w := &wideSearch{Wide: event.NewWide(event.Interval{FromBlock: q.From, ToBlock: q.To}, *through, state.Head.Number), CoverageDiagnostics: d}
	if q.From > w.Top {
		return nil, coverageUnavailable("Nothing is covered from block %d on; the coverage ends with block %d.", q.From, w.Top)
	}
	var err error
	w.topHash, err = block.HashOf(ctx, r, w.Top)
	return w, err
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

// wideSize is that of the rest of a wide search's cursor: a place in a block, and
// the block where the search began.
const wideSize = 8 + 8 + felt.Size

// sealEvents makes the cursor of a search; w is nil when it is not wide.
func (s *Routes) sealEvents(scope string, p explorer.Place, hash felt.Felt, w *wideSearch) *string {
	rest := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, p.Tx), p.Log)
	if w != nil {
		rest = append(binary.BigEndian.AppendUint64(rest, w.Top), w.topHash[:]...)
	}
	return s.sealAt(scope, block.Ref{Number: p.Block, Hash: hash}, rest)
}

// openEvents reads a cursor of sealEvents, and sets where a wide search began.
func (s *Routes) openEvents(ctx context.Context, r explorer.Reader, scope, cursor string, order event.Order, w *wideSearch) (*explorer.Place, error) {
	size := 8
	if w != nil {
		size = wideSize
	}
	at, rest, err := s.openAt(ctx, r, scope, cursor, size)
	if err != nil {
		return nil, err
	}
	p := &explorer.Place{Block: at.Number, Tx: binary.BigEndian.Uint32(rest), Log: binary.BigEndian.Uint32(rest[4:])}
	if w == nil || order == event.Asc {
		return p, nil
	}
	w.Top, w.topHash = binary.BigEndian.Uint64(rest[8:]), felt.Felt(rest[16:])
	same, err := holds(ctx, r, block.Ref{Number: w.Top, Hash: w.topHash})
	if !same { // a fork above the cursor: pages before it told of blocks that are gone
		w.Top, w.topHash = at.Number, at.Hash
	}
	return p, err
}

// eventSearchFacts is what capabilities say of event search on a chain.
func (s *Routes) eventSearchFacts(ctx context.Context, c *Chain, plan account.Plan) (EventSearchFacts, error) {
	out := EventSearchFacts{Chain: c.ID, Positions: EventPositions{0, event.Positions - 1}, Bounded: EventBounded{true, MaxRangeBlocks},
		Limits: EventSearchLimit{EventPages.Most, MaxPerPosition, MaxPerRequest, event.RawExtension},
		FullRange: EventFullRange{Entitled: plan == account.Wallet, RequiredWorkspacePlan: string(account.Wallet), CoverageContract: "certified_per_selector_position",
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
	through, d := c.diagnose(&state)
	status := "ready"
	switch {
	case state.HasFault:
		status, out.FullRange.CoverageAvailability = "failed", "unavailable"
	case through == nil:
		status, out.FullRange.CoverageAvailability = "building", "unavailable"
	case d.FreshnessStatus != "current":
		out.FullRange.CoverageAvailability = "unavailable"
	}
	var verified *string
	if out.FullRange.CoverageAvailability == "available" {
		verified = some(instantISO(d.verified))
	}
	for _, w := range event.Declared {
		for _, p := range w.Positions {
			out.FullRange.SelectorCoverage = append(out.FullRange.SelectorCoverage, SelectorCoverage{
				Selector: felt.Selector(w.Name), Position: p, SourceTier: "finalized", ThroughBlock: through, Status: status, VerifiedAt: verified, CoverageDiagnostics: d})
		}
	}
	return out, nil
}
