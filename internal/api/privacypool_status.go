package api

import (
	"context"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
)

// PrivacyStatus is whether the pools can be read, and how far they were.
type PrivacyStatus struct {
	ChainID              string          `json:"chainId"`
	Status               string          `json:"status" enum:"complete,degraded,unavailable" doc:"unavailable while there is no ledger: not yet, or not any more since a fork. All counts are null then."`
	ReasonCode           string          `json:"reasonCode" enum:"finalized_public_flow_ledger,incomplete_finalized_flow_ledger,no_finalized_flow_snapshot,decoded_materialization_lag,materialization_freshness_unavailable"`
	Reasons              []PrivacyReason `json:"reasons" doc:"Why the ledger is incomplete, in the order in which it became so. It stays so until the operator has it made anew, for instance with a class that the registry lacked."`
	HeadBlockNumber      uint64          `json:"headBlockNumber"`
	FinalizedBlockNumber *uint64         `json:"finalizedBlockNumber"`
	AsOf                 PrivacyAsOf     `json:"asOf"`
	BackfillInProgress   bool            `json:"backfillInProgress" doc:"The ledger has not caught up with the chain since it was begun."`
	RebuildInProgress    bool            `json:"rebuildInProgress" doc:"The registry has other classes than the ledger was made with; another one is being made beside it."`

	TotalEvents             *uint64           `json:"totalEvents" doc:"Of the pools, whether they could be read or not."`
	DepositCount            *uint64           `json:"depositCount"`
	WithdrawalCount         *uint64           `json:"withdrawalCount"`
	OpenNoteCreatedCount    *uint64           `json:"openNoteCreatedCount"`
	OpenNoteDepositedCount  *uint64           `json:"openNoteDepositedCount"`
	EncNoteCreatedCount     *uint64           `json:"encNoteCreatedCount"`
	NoteUsedCount           *uint64           `json:"noteUsedCount"`
	AuditorPublicKeyCount   *uint64           `json:"auditorPublicKeySetCount"`
	ViewingKeySetCount      *uint64           `json:"viewingKeySetCount"`
	RegisteredUserCount     *uint64           `json:"registeredUserCount" doc:"Accounts that set a viewing key."`
	MissingAmountEventCount *uint64           `json:"missingAmountEventCount" doc:"Movements whose amount could not be read."`
	UnknownSelectorCount    *uint64           `json:"unknownSelectorEventCount" doc:"Events that the class in force is not known to have."`
	UnknownClassCount       *uint64           `json:"unknownClassEventCount" doc:"Events of a class that the registry does not know."`
	NoteState               *PrivacyNoteState `json:"noteState"`
	EventBreakdown          []PrivacyCount    `json:"eventBreakdown" doc:"By name."`

	LatestEventBlock    *uint64 `json:"latestEventBlock" doc:"The same as latestDecodedEventBlock, as are the next three."`
	LatestEventTxIndex  *uint32 `json:"latestEventTxIndex"`
	LatestEventLogIndex *uint32 `json:"latestEventLogIndex"`
	LatestEventCursor   *string `json:"latestEventCursor" doc:"block:tx:log."`

	LatestDecodedEventBlock    *uint64 `json:"latestDecodedEventBlock" doc:"Of the last event in the ledger that could be read."`
	LatestDecodedEventTxIndex  *uint32 `json:"latestDecodedEventTxIndex"`
	LatestDecodedEventLogIndex *uint32 `json:"latestDecodedEventLogIndex"`
	LatestDecodedEventCursor   *string `json:"latestDecodedEventCursor" doc:"block:tx:log."`

	LatestRawEventBlock    *uint64 `json:"latestRawEventBlock" doc:"Of the last event in finalized blocks, whether it is in the ledger or not."`
	LatestRawEventTxIndex  *uint32 `json:"latestRawEventTxIndex"`
	LatestRawEventLogIndex *uint32 `json:"latestRawEventLogIndex"`
	LatestRawEventCursor   *string `json:"latestRawEventCursor" doc:"block:tx:log."`

	EventLagBlocks          *uint64 `json:"eventLagBlocks" doc:"latestRawEventBlock minus latestDecodedEventBlock."`
	RawEventFilterTruncated bool    `json:"rawEventFilterTruncated" doc:"Always false: events are found by their contracts, all of them."`
	MaterializationFresh    *bool   `json:"materializationFresh" doc:"As coverage.decodedMaterializationFresh of the current snapshot."`

	Pools []PrivacyPool `json:"pools" doc:"The contracts of the registry."`
}

// PrivacyReason is why a ledger is incomplete.
type PrivacyReason struct {
	Code        string `json:"code" enum:"unknown_pool_class,unknown_selector,amount_decode_incomplete,event_decode_incomplete,negative_protected_amount,duplicate_commitment,duplicate_nullifier,open_note_unpaired,asset_limit_exceeded"`
	EventCount  uint64 `json:"eventCount"`
	FirstCursor string `json:"firstCursor" doc:"The first such event, as block:tx:log."`
}

// PrivacyNoteState counts notes as far as events tell of them.
type PrivacyNoteState struct {
	CommitmentCount        uint64 `json:"commitmentCount" doc:"Notes that were created."`
	NullifierCount         uint64 `json:"nullifierCount"`
	OpenNoteCreatedCount   uint64 `json:"openNoteCreatedCount"`
	OpenNoteDepositedCount uint64 `json:"openNoteDepositedCount"`
	EncNoteCreatedCount    uint64 `json:"encNoteCreatedCount"`
	NoteUsedCount          uint64 `json:"noteUsedCount"`
	SpentNoteProxyCount    uint64 `json:"spentNoteProxyCount" doc:"The same as nullifierCount."`
	UnspentNoteProxyCount  uint64 `json:"unspentNoteProxyCount" doc:"commitmentCount minus nullifierCount, at least 0. Notes can be empty: it is no count of notes with a value, and no anonymity set."`
	Source                 string `json:"source" enum:"public_decoded_event_rows"`
	Caveat                 string `json:"caveat"`
}

const noteCaveat = "Counts of public events. A note may be worth nothing and several may be one person's: no number here is a size of an anonymity set, a count of users or an amount."

// PrivacyCount is how often something was.
type PrivacyCount struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}

// PrivacyPool is a contract, with what its events set last.
type PrivacyPool struct {
	Address             felt.Felt       `json:"address"`
	Name                *string         `json:"name" doc:"What the registry calls it."`
	DeployedAtBlock     uint64          `json:"deployedAtBlock" doc:"As the registry has it."`
	ClassHash           *felt.Felt      `json:"classHash" doc:"Of the class in force at the head; null when the contract is not there."`
	ClassKnown          *bool           `json:"classKnown" doc:"Whether events of that class can be read."`
	PoolVersion         *string         `json:"poolVersion" doc:"The generation of that class; null when it is not known."`
	Paused              *bool           `json:"paused" doc:"As last announced up to asOf; null when nothing was."`
	ProofValidityBlocks *uint64         `json:"proofValidityBlocks" doc:"Likewise, as are the next two and the fee."`
	AuditorPublicKey    *felt.Felt      `json:"auditorPublicKey"`
	ScreenerPublicKey   *felt.Felt      `json:"screenerPublicKey"`
	Fee                 *PrivacyPoolFee `json:"fee" doc:"Null while no event set the amount or the collector."`
}

// PrivacyPoolFee is what a call of a pool costs.
type PrivacyPoolFee struct {
	TokenAddress               felt.Felt  `json:"tokenAddress"`
	AmountRaw                  *string    `json:"amountRaw"`
	CollectorAddress           *felt.Felt `json:"collectorAddress"`
	AmountConfigBlockNumber    *uint64    `json:"amountConfigBlockNumber" doc:"Where the amount was set."`
	CollectorConfigBlockNumber *uint64    `json:"collectorConfigBlockNumber" doc:"Where the collector was set."`
}

func (s *Routes) privacyStatusRoutes() {
	kernel.Register(s.Server, ledgerRoute("getPrivacyPoolStatus", "status", "Read how far the privacy pools were read",
		"Whether the ledger of the pools is complete and fresh, why not, and what it has counted, as of a finalized block."), s.getPrivacyPoolStatus)
	kernel.Register(s.Server, ledgerRoute("getPrivacyPoolAnalytics", "analytics", "Read what the privacy pools did",
		"Totals by event and token, as of a finalized block. It is not the ledger that amounts are published from: that is `tvl`. What cannot be told from public events is listed in `unavailableMetrics`."), s.getPrivacyPoolAnalytics)
	page := ledgerRoute("getPrivacyPoolDashboard", "dashboard", "Read what the page of the privacy pools shows",
		"Several answers in one, for a page of this service. It is not for integrations: it changes with the page. Use the routes that its parts come from.")
	page.Certification = kernel.Unsupported
	kernel.Register(s.Server, page, s.getPrivacyPoolDashboard)
}

func (s *Routes) getPrivacyPoolStatus(ctx context.Context, in *ChainInput) (*body[PrivacyStatus], error) {
	out := &body[PrivacyStatus]{}
	err := s.privacyView(ctx, in.Chain, func(v *privacyView) (err error) {
		out.Body, err = v.statusOf(ctx)
		return err
	})
	return out, err
}

// statusOf is the status.
func (v *privacyView) statusOf(ctx context.Context) (PrivacyStatus, error) {
	out := PrivacyStatus{ChainID: v.chain.ID, Reasons: []PrivacyReason{}, HeadBlockNumber: v.state.Head.Number, AsOf: v.asOf(), EventBreakdown: []PrivacyCount{}}
	out.Status, out.ReasonCode = v.status()
	out.MaterializationFresh, _ = v.fresh()
	finalized, ok := v.state.FinalizedBlock(v.chain.Depth)
	if ok {
		out.FinalizedBlockNumber = &finalized
		raw, err := v.latestRaw(ctx, finalized)
		if err != nil {
			return out, err
		}
		if raw != nil {
			out.LatestRawEventBlock, out.LatestRawEventTxIndex, out.LatestRawEventLogIndex, out.LatestRawEventCursor = &raw.Block, &raw.Tx, &raw.Log, watermark(raw)
		}
	}
	if v.ledger != nil {
		v.counted(&out)
	}
	var err error
	out.Pools, err = v.pools(ctx)
	return out, err
}

// latestRaw is the place of the newest event of the pools up to a block; nil when there
// is none. One search.
func (v *privacyView) latestRaw(ctx context.Context, through uint64) (*explorer.Place, error) {
	q := event.Query{To: through, Order: event.Desc, Limit: 1}
	for _, p := range v.chain.Registry.PrivacyPools() {
		q.Emitters = append(q.Emitters, p.Address)
	}
	if len(q.Emitters) == 0 {
		return nil, nil
	}
	page, err := event.Search(ctx, v.r, q)
	if err != nil || len(page.Events) == 0 {
		return nil, err
	}
	return &page.Events[0].Place, nil
}

// counted fills in what the ledger counted.
func (v *privacyView) counted(out *PrivacyStatus) {
	l := v.ledger
	out.BackfillInProgress, out.RebuildInProgress = l.Backfilling, l.Outdated
	for _, g := range l.Gaps {
		out.Reasons = append(out.Reasons, PrivacyReason{string(g.Reason), g.Count, *watermark(&g.First)})
	}
	out.TotalEvents, out.RegisteredUserCount = &l.Events, &l.Wallets
	out.MissingAmountEventCount, out.UnknownSelectorCount, out.UnknownClassCount = &l.MissingAmounts, &l.UnknownSelectors, &l.UnknownClassEvents
	for name, to := range map[string]**uint64{"deposit": &out.DepositCount, "withdrawal": &out.WithdrawalCount, "open_note_created": &out.OpenNoteCreatedCount,
		"open_note_deposited": &out.OpenNoteDepositedCount, "enc_note_created": &out.EncNoteCreatedCount, "note_used": &out.NoteUsedCount,
		"auditor_public_key_set": &out.AuditorPublicKeyCount, "viewing_key_set": &out.ViewingKeySetCount} {
		n := l.CountOf(name)
		*to = &n
	}
	notes := *out.OpenNoteCreatedCount + *out.EncNoteCreatedCount
	used := *out.NoteUsedCount
	out.NoteState = &PrivacyNoteState{CommitmentCount: notes, NullifierCount: used, OpenNoteCreatedCount: *out.OpenNoteCreatedCount, OpenNoteDepositedCount: *out.OpenNoteDepositedCount,
		EncNoteCreatedCount: *out.EncNoteCreatedCount, NoteUsedCount: used, SpentNoteProxyCount: used, UnspentNoteProxyCount: notes - min(notes, used),
		Source: "public_decoded_event_rows", Caveat: noteCaveat}
	out.EventBreakdown = breakdown(l)
	if at := l.LatestDecoded; at != nil {
		out.LatestDecodedEventBlock, out.LatestDecodedEventTxIndex, out.LatestDecodedEventLogIndex, out.LatestDecodedEventCursor = &at.Block, &at.Tx, &at.Log, watermark(at)
		out.LatestEventBlock, out.LatestEventTxIndex, out.LatestEventLogIndex, out.LatestEventCursor = &at.Block, &at.Tx, &at.Log, watermark(at)
		if out.LatestRawEventBlock != nil {
			lag := *out.LatestRawEventBlock - min(*out.LatestRawEventBlock, at.Block)
			out.EventLagBlocks = &lag
		}
	}
}

func breakdown(l *ledger.Ledger) []PrivacyCount {
	out := []PrivacyCount{}
	for _, c := range l.Counts {
		out = append(out, PrivacyCount{c.Name, c.Events})
	}
	return out
}

// pools are the contracts of the registry.
func (v *privacyView) pools(ctx context.Context) ([]PrivacyPool, error) {
	known := v.chain.Registry.PrivacyPools()
	at := make([]contract.At, len(known))
	for i := range known {
		at[i] = contract.At{Address: known[i].Address, Block: v.state.Head.Number}
	}
	classes, err := contract.ClassesAtMany(ctx, v.r, at)
	if err != nil {
		return nil, err
	}
	out := []PrivacyPool{}
	for i := range known {
		out = append(out, v.pool(&known[i], classes[i]))
	}
	return out, nil
}

func (v *privacyView) pool(p *registry.PrivacyPool, now *contract.Classes) PrivacyPool {
	out := PrivacyPool{Address: p.Address, Name: some(p.Name), DeployedAtBlock: p.From}
	if now != nil {
		hash := now.After
		i := slices.IndexFunc(p.Classes, func(c registry.PoolClass) bool { return c.Hash == hash })
		known := i >= 0
		if out.ClassHash, out.ClassKnown = &hash, &known; known {
			out.PoolVersion = some(string(p.Classes[i].Generation))
		}
	}
	if v.ledger == nil {
		return out
	}
	i := slices.IndexFunc(v.ledger.Pools, func(o registry.PrivacyPool) bool { return o.Address == p.Address })
	if i < 0 {
		return out
	}
	set := &v.ledger.Settings[i]
	if set.Paused != nil {
		paused := !set.Paused.Value.IsZero()
		out.Paused = &paused
	}
	if set.ProofValidityBlocks != nil {
		if n, ok := set.ProofValidityBlocks.Value.Uint64(); ok {
			out.ProofValidityBlocks = &n
		}
	}
	out.AuditorPublicKey, out.ScreenerPublicKey = valueOf(set.AuditorKey), valueOf(set.ScreenerKey)
	if set.FeeAmount == nil && set.FeeCollector == nil {
		return out
	}
	out.Fee = &PrivacyPoolFee{TokenAddress: p.FeeToken, CollectorAddress: valueOf(set.FeeCollector)}
	if a := set.FeeAmount; a != nil {
		out.Fee.AmountRaw, out.Fee.AmountConfigBlockNumber = some(a.Value.Decimal()), &a.At.Block
	}
	if c := set.FeeCollector; c != nil {
		out.Fee.CollectorConfigBlockNumber = &c.At.Block
	}
	return out
}

func valueOf(s *ledger.Setting) *felt.Felt {
	if s == nil {
		return nil
	}
	return &s.Value
}

// visibilities are how much the events of each name tell; one that nobody knows tells
// something.
var visibilities = func() map[string]privacypool.Visibility {
	out := map[string]privacypool.Visibility{privacypool.ProtocolEvent: privacypool.Partial}
	for _, name := range privacypool.Names() {
		k, _ := privacypool.KindNamed(name)
		f, _ := privacypool.Decode(privacypool.UnknownClass, []felt.Felt{k.Selector()}, nil)
		out[name] = f.Visibility
	}
	return out
}()
