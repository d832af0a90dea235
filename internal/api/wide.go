package api

import (
	"context"
	"slices"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Searches by later keys over more than 10,000 blocks are for wallet
// workspaces, and only for selectors and positions that are declared here. The
// lists are exact for every selector; declaring some keeps the promise, and the
// cost of a page, to what wallets need.
//
// A certificate covers the finalized tier from block 0. A request may reach up
// to rawExtension blocks beyond it, into blocks that can still be forked away;
// what lies further is not completed, and the answer says so.

const rawExtension = 5_000

// wideSelector declares a selector with the positions that may be searched.
type wideSelector struct {
	name      string
	positions []int
}

var wideSelectors = []wideSelector{
	{"Transfer", []int{1, 2, 3, 4}},
	{"Approval", []int{1, 2}},
	{"ApprovalForAll", []int{1, 2}},
	{"TransferSingle", []int{1, 2, 3}},
	{"TransferBatch", []int{1, 2, 3}},
	{"OwnershipTransferred", []int{1, 2}},
	{"DepositHandled", []int{1, 2}},
	{"WithdrawInitiated", []int{1, 2, 3}},
	{"Deposit", []int{1, 2}},
	{"Withdrawal", []int{1, 2}},
}

var widePositions = func() map[felt.Felt][]int {
	m := map[felt.Felt][]int{}
	for _, w := range wideSelectors {
		m[felt.Selector(w.name)] = w.positions
	}
	return m
}()

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
	LiveMaintenance                bool    `json:"liveMaintenance"`
}

// RangeCoverage says how much of a wide range an answer stands for.
type RangeCoverage struct {
	Requested Interval  `json:"requested"`
	Completed *Interval `json:"completed" doc:"What was searched; null when nothing of the range is indexed."`
	Complete  bool      `json:"complete" doc:"Completed is all of requested."`
	Certified *Interval `json:"certified" doc:"The part of completed that the certificate covers."`
	CoverageDiagnostics
}

// SelectorCoverage is one declared selector and position.
type SelectorCoverage struct {
	Selector     felt.Felt `json:"selector"`
	Position     int       `json:"position"`
	SourceTier   string    `json:"sourceTier" enum:"finalized"`
	FromBlock    uint64    `json:"fromBlock"`
	ThroughBlock *uint64   `json:"throughBlock"`
	Status       string    `json:"status" enum:"building,ready,failed"`
	VerifiedAt   *string   `json:"verifiedAt"`
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
	if head < c.Depth {
		return nil, d
	}
	finalized := head - c.Depth
	d.LagBlocks = &c.Depth
	d.FreshnessStatus = "current"
	behind := false
	if c.NodeHead != nil {
		n, ok := c.NodeHead()
		behind = ok && n > head+currentLag
	}
	if state.HasFault || behind {
		d.FreshnessStatus, d.LiveMaintenance = "stale", !state.HasFault
	}
	return &finalized, d
}

// wideRange decides whether a wide search may run, and over what.
func (s *Server) wideRange(ctx context.Context, c *Chain, state *chain.State, q *eventSearch) (*RangeCoverage, error) {
	if requestOf(ctx).caller.Plan != account.Wallet {
		return nil, fail(CodeInvalidRequest, "from_block to to_block is %d blocks; at most %d at a time. Wider ranges are for wallet workspaces.", q.To-q.From+1, maxRangeBlocks)
	}
	for _, selector := range q.Keys[0] {
		for p := 1; p < event.Positions; p++ {
			if len(q.Keys[p]) > 0 && !slices.Contains(widePositions[selector], p) {
				return nil, fail(CodeFullRangeUnsupported, "Selector %s is not declared for wide ranges at position %d; see eventSearch.fullRange.selectorCoverage in /v1/meta/capabilities.", selector, p)
			}
		}
	}
	through, d := c.diagnose(state)
	if through == nil || d.FreshnessStatus != "current" {
		e := fail(CodeEventCoverageUnavailable, "The coverage of this range is %s.", d.FreshnessStatus)
		e.RetryAfter = 5
		e.MaxServableToBlock = through
		return nil, e
	}
	cov := &RangeCoverage{Requested: Interval{q.From, q.To}, CoverageDiagnostics: d}
	end := min(q.To, *through+rawExtension, state.Head.Number)
	if q.From <= end {
		cov.Completed = &Interval{q.From, end}
		cov.Complete = end == q.To
	}
	if q.From <= *through {
		cov.Certified = &Interval{q.From, min(q.To, *through)}
	}
	return cov, nil
}

// eventSearchFacts is the eventSearch part of capabilities, for the default chain.
func (s *Server) eventSearchFacts(ctx context.Context, plan account.Plan) (EventSearchFacts, error) {
	c := s.chains[s.order[0]]
	out := EventSearchFacts{Chain: c.ID, Positions: EventPositions{0, event.Positions - 1}, Bounded: EventBounded{true, maxRangeBlocks},
		Limits: EventSearchLimit{maxEventPage, maxPerPosition, maxPerRequest, rawExtension},
		FullRange: EventFullRange{Entitled: plan == account.Wallet, RequiredWorkspacePlan: string(account.Wallet), CoverageContract: "certified_per_selector_position",
			UnsupportedResponse: "422_full_range_selector_not_supported", UnavailableResponse: "503_event_key_index_coverage_unavailable",
			CoverageAvailability: "available", SelectorCoverage: []SelectorCoverage{}}}
	var state chain.State
	err := c.Store.View(ctx, func(r store.Reader) (err error) {
		state, err = chain.Read(ctx, r)
		return err
	})
	if err != nil {
		return out, err
	}
	through, d := c.diagnose(&state)
	status := "ready"
	if through == nil {
		status, out.FullRange.CoverageAvailability = "building", "unavailable"
	} else if d.FreshnessStatus != "current" {
		out.FullRange.CoverageAvailability = "unavailable"
	}
	for _, w := range wideSelectors {
		for _, p := range w.positions {
			out.FullRange.SelectorCoverage = append(out.FullRange.SelectorCoverage, SelectorCoverage{
				Selector: felt.Selector(w.name), Position: p, SourceTier: "finalized", ThroughBlock: through, Status: status, CoverageDiagnostics: d})
		}
	}
	return out, nil
}
