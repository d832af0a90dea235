package api

import (
	"context"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// Status is what the index knows of a chain and of itself.
type Status struct {
	ChainID                        string           `json:"chainId"`
	HeadBlockNumber                *uint64          `json:"headBlockNumber" doc:"Newest block that a node told of and could show, or the newest indexed one if that is higher."`
	HeadBlockHash                  *felt.Felt       `json:"headBlockHash" doc:"Null while that block is not indexed."`
	HeadObservedAt                 *string          `json:"headObservedAt" format:"date-time" doc:"When a node last told a head that is not more than 10 blocks below the indexed one; null when none is known to have."`
	FinalizedBlockNumber           *uint64          `json:"finalizedBlockNumber" doc:"Newest block that is deep enough below the indexed head."`
	LatestL1AcceptedBlockNumber    *uint64          `json:"latestL1AcceptedBlockNumber"`
	L1AcceptedProof                *struct{}        `json:"l1AcceptedProof" doc:"Null: acceptance is the node's word, not evidence from L1."`
	L1Finality                     L1Finality       `json:"l1Finality"`
	LatestIndexedBlockNumber       *uint64          `json:"latestIndexedBlockNumber"`
	LatestIndexedBlockTimestampISO *string          `json:"latestIndexedBlockTimestampIso" format:"date-time" doc:"Time of that block, by its own header."`
	LatestIndexedBlockAgeSeconds   *int64           `json:"latestIndexedBlockAgeSeconds" doc:"How long ago that was. On a chain that makes blocks all the time a high age means that the node stands still."`
	EarliestIndexedBlockNumber     *uint64          `json:"earliestIndexedBlockNumber"`
	IndexedBlockSpan               *uint64          `json:"indexedBlockSpan"`
	LagBlocks                      *uint64          `json:"lagBlocks" doc:"Blocks behind the node; null when no node told its head lately, or only ones far below the indexed head."`
	L1SettlementLatencySeconds     *uint64          `json:"l1SettlementLatencySeconds"`
	TotalTransactions              *uint64          `json:"totalTransactions"`
	TotalEvents                    *uint64          `json:"totalEvents"`
	IndexDigest                    *string          `json:"indexDigest" doc:"Digest of all rows up to the indexed head: equal on all indexes of the chain."`
	Indexing                       Indexing         `json:"indexing"`
	Nodes                          StatusNodes      `json:"nodes" doc:"The nodes that this process asks, or else those of the indexer as it last reported them."`
	Agreement                      *StatusAgreement `json:"agreement" doc:"How far nodes agree with the index; null unless a quorum is wanted."`
	LastFork                       *LastFork        `json:"lastFork"`
	Verification                   Checked          `json:"verification"`
}

// Checked adds up what is recorded of the verification of blocks.
type Checked struct {
	VerifiedBlocks             uint64  `json:"verifiedBlocks" doc:"Blocks whose hash followed from their data when they were indexed."`
	NotCheckedBlocks           uint64  `json:"notCheckedBlocks" doc:"Blocks that were not recomputed."`
	UnverifiedBlocks           uint64  `json:"unverifiedBlocks" doc:"Blocks that could not be held against their hash and were stored all the same."`
	UnknownBlocks              uint64  `json:"unknownBlocks" doc:"Blocks of which nothing is recorded."`
	FirstUnverifiedBlockNumber *uint64 `json:"firstUnverifiedBlockNumber" doc:"Neither it nor any later block is called finalized."`
	Audit                      *Audit  `json:"audit" doc:"What the auditor recomputed since; null where none ran."`
}

func checkedOf(state *chain.State) Checked {
	sum := state.Checked
	out := Checked{VerifiedBlocks: sum.Verified, NotCheckedBlocks: sum.NotChecked, UnverifiedBlocks: sum.Unverified}
	if sum.Unverified > 0 {
		out.FirstUnverifiedBlockNumber = &sum.FirstUnverified
	}
	if state.HasHead {
		blocks := state.Head.Number + 1
		out.UnknownBlocks = blocks - min(blocks, sum.Verified+sum.NotChecked+sum.Unverified)
	}
	return out
}

// L1Finality tells how far acceptance on L1 has come.
type L1Finality struct {
	WatermarkBlockNumber *uint64 `json:"watermarkBlockNumber"`
	WatermarkAgeSeconds  *int64  `json:"watermarkAgeSeconds" doc:"Age of that block."`
	Quorum               Quorum  `json:"quorum"`
	LastDivergenceAt     *string `json:"lastDivergenceAt"`
}

// Quorum is about L1 endpoints, of which this service asks none.
type Quorum struct {
	EndpointsConfigured *int    `json:"endpointsConfigured"`
	EndpointsHealthy    *int    `json:"endpointsHealthy"`
	Status              string  `json:"status" enum:"not_reported"`
	ObservedAt          *string `json:"observedAt"`
}

// Indexing is the state of the write path.
type Indexing struct {
	Status     string  `json:"status" enum:"starting,current,catching_up,stalled,degraded" doc:"stalled: nobody vouches for the index any more, so that it may be old. degraded: something stopped it, or holds it up, that a person must look at."`
	ReasonCode *string `json:"reasonCode" enum:"fault,storage,node_silent,node_behind,indexer_silent,node_faulty,behind,audit" doc:"Why it is not current, for programs."`
	Reason     *string `json:"reason" doc:"The same for people; null when current."`
}

// LastFork tells of the last reorganisation that the index went through.
type LastFork struct {
	Count         uint64 `json:"count" doc:"Forks so far."`
	AncestorBlock uint64 `json:"ancestorBlock"`
	DepthBlocks   uint64 `json:"depthBlocks"`
	BelowL1       bool   `json:"belowL1" doc:"It undid blocks that had been reported as accepted on L1."`
}

// lastFork is nil where there was none.
func lastFork(state *chain.State) *LastFork {
	if f := state.Fork; f.Count > 0 {
		return &LastFork{f.Count, f.Ancestor, f.Depth, f.BelowL1}
	}
	return nil
}

func (s *Routes) statusRoutes() {
	kernel.Register(s.Server, kernel.Route{ID: "getStatus", Method: http.MethodGet, Path: "/v1/{chain}/status", Family: "Status",
		Summary: "Get the chain's status", Description: "The indexed head, the finality tiers, the lag behind the node, and whether the index is sound.",
		Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Certified, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnClock | kernel.OnNode,
		Statuses: []int{http.StatusNotFound}}, s.getStatus)
	kernel.Register(s.Server, kernel.Route{ID: "search", Method: http.MethodGet, Path: "/v1/{chain}/search", Family: "Search",
		Summary: "Find what an identifier or a name stands for", Description: "A transaction hash, an address, a class hash, a block hash, a block number, or the beginning of a token's symbol or name. Known tokens come first; what others call themselves proves nothing. Parts of identifiers are not searched.",
		Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Statuses: []int{http.StatusNotFound}}, s.search)
}

func (s *Routes) getStatus(ctx context.Context, in *ChainInput) (*body[Status], error) {
	c, e := s.served(in.Chain)
	if e != nil {
		return nil, e
	}
	out := &body[Status]{Status{ChainID: c.ID, L1Finality: L1Finality{Quorum: Quorum{Status: "not_reported"}}}}
	if p, ok := ctx.Value(pinKey{}).(*held); ok && p.chain == c {
		return out, s.FillStatus(ctx, p.reader, c, p.state, &out.Body)
	}
	err := chain.View(ctx, c.Store, func(r explorer.Reader, state *chain.State) error {
		return s.FillStatus(ctx, r, c, state, &out.Body)
	})
	return out, err
}

func (s *Routes) FillStatus(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, out *Status) error {
	out.Agreement = agreementOf(state)
	f := c.freshness(state)
	out.Indexing, out.Nodes = f.indexing(state), c.renderNodes(&f.nodes)
	if !f.head.Heard.IsZero() {
		out.HeadBlockNumber = &f.head.Number
	}
	if !f.vouched.IsZero() {
		out.HeadObservedAt = some(instantISO(f.vouched))
	}
	out.Verification = checkedOf(state)
	if err := auditOf(ctx, r, s.Now(), out); err != nil {
		return err
	}
	out.LastFork = lastFork(state)
	if !state.HasHead {
		return nil
	}
	head := state.Head.Number
	if out.HeadBlockNumber == nil || *out.HeadBlockNumber < head {
		out.HeadBlockNumber = &head
	}
	first, span := uint64(0), head+1
	out.LatestIndexedBlockNumber, out.EarliestIndexedBlockNumber, out.IndexedBlockSpan, out.LagBlocks = &head, &first, &span, f.lag
	iso, age := kernel.TimestampISO(state.Head.Timestamp), max(s.Now().Unix()-int64(state.Head.Timestamp), 0)
	out.LatestIndexedBlockTimestampISO, out.LatestIndexedBlockAgeSeconds = &iso, &age
	if *out.HeadBlockNumber == head {
		out.HeadBlockHash = &state.Head.Hash
	}
	digest := felt.Felt(state.Head.Digest).Padded()[2:]
	out.IndexDigest = &digest
	if finalized, ok := state.FinalizedBlock(c.Depth); ok {
		out.FinalizedBlockNumber = &finalized
	}
	b, err := block.Get(ctx, r, head)
	if err != nil {
		return err
	}
	out.TotalTransactions, out.TotalEvents = &b.TotalTransactions, &b.TotalEvents
	if state.HasL1 {
		out.LatestL1AcceptedBlockNumber, out.L1Finality.WatermarkBlockNumber = &state.L1.Number, &state.L1.Number
		l1, err := block.Get(ctx, r, state.L1.Number)
		if err != nil {
			return err
		}
		age := max(s.Now().Unix()-int64(l1.Timestamp), 0)
		out.L1Finality.WatermarkAgeSeconds = &age
	}
	return nil
}
