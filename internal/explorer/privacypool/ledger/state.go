package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// State is the row of privacy_state.
type State struct {
	// Last is the highest number that a generation ever had: none is used twice.
	Last uint32
	// Serving is what readers see, Building what will take its place. Either may be nil.
	Serving, Building *Generation
	// Dead are the generations whose rows are being deleted.
	Dead []uint32
}

// Reason is why a ledger cannot be stood behind.
type Reason string

// The reasons.
const (
	UnknownPoolClass        Reason = "unknown_pool_class"        // of an event, or of the pool from a block on
	UnknownSelector         Reason = "unknown_selector"          // of an event of a known class
	AmountDecodeIncomplete  Reason = "amount_decode_incomplete"  // a movement whose amount could not be read
	EventDecodeIncomplete   Reason = "event_decode_incomplete"   // another event that its layout does not fit
	NegativeProtectedAmount Reason = "negative_protected_amount" // more came out than went in
	DuplicateCommitment     Reason = "duplicate_commitment"
	DuplicateNullifier      Reason = "duplicate_nullifier"
	OpenNoteUnpaired        Reason = "open_note_unpaired" // created and not funded in one transaction, or the other way round
	AssetLimitExceeded      Reason = "asset_limit_exceeded"
	FinalizedPublicFlow     Reason = "finalized_public_flow_ledger" // of what is complete
	IncompleteFinalizedFlow Reason = "incomplete_finalized_flow_ledger"
)

// Gap is a reason with how often there was one, and where the first was.
type Gap struct {
	Reason Reason
	Count  uint64
	First  explorer.Place
	Time   uint64 // of the first one's block
}

// Count is how many events of a name there were.
type Count struct {
	Name   string
	Events uint64
}

// Setting is a value in force, and the event that set it.
type Setting struct {
	Value felt.Felt
	At    explorer.Place
}

// Settings are what a pool's events last set; nil for what none has.
type Settings struct {
	Seen                    bool // it had an event
	FeeAmount, FeeCollector *Setting
	Paused                  *Setting // 1 or 0
	AuditorKey, ScreenerKey *Setting
	ProofValidityBlocks     *Setting
}

func (s *Settings) all() []**Setting {
	return []**Setting{&s.FeeAmount, &s.FeeCollector, &s.Paused, &s.AuditorKey, &s.ScreenerKey, &s.ProofValidityBlocks}
}

// Generation is all that is known of a ledger as a whole.
type Generation struct {
	Number uint32
	// Request is how often a new generation had been asked for when it began.
	Request uint64
	// Pools are those that it counts, by address, with their classes.
	Pools []registry.PrivacyPool

	// Some says that blocks were counted, up to Through.
	Some           bool
	Through        uint64
	Hash           felt.Felt
	Time           uint64 // of the block
	MaterializedAt uint64 // in milliseconds since 1970

	Events       uint64
	Transactions uint64 // with an event of a pool
	Wallets      uint64 // distinct accounts that set a viewing key
	TokenCount   uint64 // with a movement
	// MissingAmounts are movements whose amount could not be read; Unscoped those of
	// them, and other events, that may have moved any token.
	MissingAmounts, Unscoped uint64
	UnknownSelectors         uint64
	UnknownClassEvents       uint64
	Unreconciled             uint64 // movements without their Transfer
	FeeTransfers             uint64

	// First is the first event, and its time; Latest the last one, LatestDecoded
	// the last that could be read, LatestFlow the last movement that could.
	First                             *explorer.Place
	FirstTime                         uint64
	Latest, LatestDecoded, LatestFlow *explorer.Place

	Counts []Count // by name
	Gaps   []Gap   // by place; the first is since when the ledger is degraded

	Settings []Settings // of each of Pools

	// NextHour is the first hour without a point; zero while there was no event.
	NextHour uint64
	// SnapshotHour is the hour whose snapshot holds, zero for none; Changed says that
	// it does not hold any more.
	SnapshotHour uint64
	Changed      bool
	// Pending says that there are more hours to make points of than a step had room for.
	Pending bool
}

// numbers are the plain numbers of the record, in its order.
func (g *Generation) numbers() []*uint64 {
	return []*uint64{&g.Request, &g.Through, &g.Time, &g.MaterializedAt, &g.Events, &g.Transactions, &g.Wallets, &g.TokenCount, &g.MissingAmounts, &g.Unscoped,
		&g.UnknownSelectors, &g.UnknownClassEvents, &g.Unreconciled, &g.FeeTransfers, &g.FirstTime, &g.NextHour, &g.SnapshotHour}
}

func (g *Generation) places() []**explorer.Place {
	return []**explorer.Place{&g.First, &g.Latest, &g.LatestDecoded, &g.LatestFlow}
}

// Degraded is the first gap; nil while there is none.
func (g *Generation) Degraded() *Gap {
	if len(g.Gaps) == 0 {
		return nil
	}
	return &g.Gaps[0]
}

// CountOf is how many events of a name there were.
func (g *Generation) CountOf(name string) uint64 {
	i, found := slices.BinarySearchFunc(g.Counts, name, func(c Count, n string) int { return cmp.Compare(c.Name, n) })
	if !found {
		return 0
	}
	return g.Counts[i].Events
}

func (g *Generation) count(name string) {
	i, found := slices.BinarySearchFunc(g.Counts, name, func(c Count, n string) int { return cmp.Compare(c.Name, n) })
	if !found {
		g.Counts = slices.Insert(g.Counts, i, Count{Name: name})
	}
	g.Counts[i].Events++
}

// Encode is the row of privacy_state.
func (s *State) Encode() []byte {
	e := encoding()
	e.Uint(uint64(s.Last))
	for _, g := range []*Generation{s.Serving, s.Building} {
		putFlag(e, g != nil)
		if g != nil {
			g.encode(e)
		}
	}
	e.Uint(uint64(len(s.Dead)))
	for _, n := range s.Dead {
		e.Uint(uint64(n))
	}
	return e.Bytes()
}

// DecodeState reads a row of privacy_state.
func DecodeState(b []byte) (s State, err error) {
	d := decoding(b)
	s.Last = uint32(d.Uint())
	for _, g := range []**Generation{&s.Serving, &s.Building} {
		if getFlag(d) {
			*g = decodeGeneration(d)
		}
	}
	for range d.Len(1) {
		s.Dead = append(s.Dead, uint32(d.Uint()))
	}
	if err := d.Finish(); err != nil {
		return s, fmt.Errorf("state of privacy pools: %w", err)
	}
	return s, nil
}

func (g *Generation) encode(e *record.Encoder) {
	e.Uint(uint64(g.Number))
	e.Uint(uint64(len(g.Pools)))
	for i := range g.Pools {
		putPool(e, &g.Pools[i])
	}
	putFlag(e, g.Some)
	putFelt(e, g.Hash)
	for _, n := range g.numbers() {
		e.Uint(*n)
	}
	for _, p := range g.places() {
		putOptional(e, *p, putPlace)
	}
	e.Uint(uint64(len(g.Counts)))
	for _, c := range g.Counts {
		e.Text(c.Name)
		e.Uint(c.Events)
	}
	e.Uint(uint64(len(g.Gaps)))
	for _, gap := range g.Gaps {
		e.Text(string(gap.Reason))
		e.Uint(gap.Count)
		putPlace(e, gap.First)
		e.Uint(gap.Time)
	}
	for i := range g.Settings { // as many as there are pools
		putFlag(e, g.Settings[i].Seen)
		for _, s := range g.Settings[i].all() {
			putOptional(e, *s, putSetting)
		}
	}
	putFlag(e, g.Changed)
	putFlag(e, g.Pending)
}

func decodeGeneration(d *record.Decoder) *Generation {
	g := &Generation{Number: uint32(d.Uint())}
	for range d.Len(4) {
		g.Pools = append(g.Pools, getPool(d))
	}
	g.Some, g.Hash = getFlag(d), getFelt(d)
	for _, n := range g.numbers() {
		*n = d.Uint()
	}
	for _, p := range g.places() {
		*p = getOptional(d, getPlace)
	}
	for range d.Len(2) {
		g.Counts = append(g.Counts, Count{d.Text(), d.Uint()})
	}
	for range d.Len(6) {
		g.Gaps = append(g.Gaps, Gap{Reason(d.Text()), d.Uint(), getPlace(d), d.Uint()})
	}
	g.Settings = make([]Settings, len(g.Pools))
	for i := range g.Settings {
		g.Settings[i].Seen = getFlag(d)
		for _, s := range g.Settings[i].all() {
			*s = getOptional(d, getSetting)
		}
	}
	g.Changed, g.Pending = getFlag(d), getFlag(d)
	return g
}

func putSetting(e *record.Encoder, s Setting) {
	putFelt(e, s.Value)
	putPlace(e, s.At)
}

func getSetting(d *record.Decoder) Setting { return Setting{getFelt(d), getPlace(d)} }

func putPool(e *record.Encoder, p *registry.PrivacyPool) {
	putFelt(e, p.Address)
	e.Text(p.Name)
	e.Uint(p.From)
	putFelt(e, p.FeeToken)
	e.Uint(uint64(len(p.Classes)))
	for i := range p.Classes {
		putFelt(e, p.Classes[i].Hash)
		e.Text(string(p.Classes[i].Generation))
	}
}

func getPool(d *record.Decoder) registry.PrivacyPool {
	p := registry.PrivacyPool{Address: getFelt(d), Name: d.Text(), From: d.Uint(), FeeToken: getFelt(d)}
	for range d.Len(2) {
		p.Classes = append(p.Classes, registry.PoolClass{Hash: getFelt(d), Generation: registry.PoolGeneration(d.Text())})
	}
	return p
}

// Scope says whether a generation counts these pools: the same contracts, paying the
// same fees. Which of their classes it could read may differ.
func (g *Generation) Scope(pools []registry.PrivacyPool) bool {
	return slices.EqualFunc(g.Pools, pools, func(a, b registry.PrivacyPool) bool {
		return a.Address == b.Address && a.FeeToken == b.FeeToken
	})
}

// MadeBy says whether a generation would be the same if it were made by these pools.
func (g *Generation) MadeBy(pools []registry.PrivacyPool) bool {
	return g.Scope(pools) && slices.EqualFunc(g.Pools, pools, func(a, b registry.PrivacyPool) bool {
		return slices.Equal(a.Classes, b.Classes)
	})
}

// New is a generation that has counted nothing.
func New(number uint32, request uint64, pools []registry.PrivacyPool) *Generation {
	return &Generation{Number: number, Request: request, Pools: slices.Clone(pools), Settings: make([]Settings, len(pools))}
}

// ReadState returns the state; the zero one when there is none. One Get.
func ReadState(ctx context.Context, r store.Reader) (s State, err error) {
	b, err := r.Get(ctx, StateKey)
	if errors.Is(err, store.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the state of privacy pools: %w", err)
	}
	return DecodeState(b)
}

// ReadRequest returns how often a new generation was asked for. One Get.
func ReadRequest(ctx context.Context, r store.Reader) (uint64, error) {
	b, err := r.Get(ctx, RequestKey)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read requests for privacy pools: %w", err)
	}
	d := decoding(b)
	n := d.Uint()
	if err := d.Finish(); err != nil {
		return 0, fmt.Errorf("requests for privacy pools: %w", err)
	}
	return n, nil
}

// EncodeRequest is the row of privacy_request.
func EncodeRequest(n uint64) []byte {
	e := encoding()
	e.Uint(n)
	return e.Bytes()
}

func zero() *big.Int { return new(big.Int) }
