package ledger

import (
	"math/big"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var (
	thePool  = felt.FromUint64(100)
	theToken = felt.FromUint64(200)
	somebody = felt.FromUint64(300)
)

// applied is a ledger of one transaction, with its only assets.
func applied(t *testing.T, events []starknet.Event, own ...ownEvent) (*Generation, map[felt.Felt]*Asset) {
	t.Helper()
	e := pebbletest.Open(t, Enrichment())
	g := New(1, 0, []registry.PrivacyPool{{Address: thePool, FeeToken: theToken}, {Address: felt.FromUint64(101), FeeToken: theToken}})
	var tokens map[felt.Felt]*Asset
	err := e.View(t.Context(), func(r store.Reader) error {
		b, err := openBook(t.Context(), r, g, 0)
		if err != nil {
			return err
		}
		tokens = b.tokens
		err = b.apply(&transaction{Position: explorer.Position{Block: 5}, time: 7200, events: events, own: own})
		b.shown() // judges them
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return g, tokens
}

func moves(token, from, to felt.Felt, n uint64) starknet.Event {
	return starknet.Event{From: token, Keys: []felt.Felt{transfer.SelectorTransfer}, Data: []felt.Felt{from, to, felt.FromUint64(n), felt.Zero}}
}

func deposits(log uint32, n int64) ownEvent {
	return ownEvent{log: log, known: true, status: privacypool.Decoded, fact: privacypool.Fact{Kind: privacypool.Deposit, Group: privacypool.ValueIn, Name: "deposit", Token: &theToken, Actor: &somebody, Amount: big.NewInt(n)}}
}

// TestReconcile: a movement is explained by one Transfer in front of it, of its token,
// its amount and its parties, and a Transfer explains one movement.
func TestReconcile(t *testing.T) {
	own := starknet.Event{From: thePool}
	fits := moves(theToken, somebody, thePool, 7)
	for name, x := range map[string]struct {
		events []starknet.Event
		own    []ownEvent
		want   uint64
	}{
		"one for each":          {[]starknet.Event{fits, own, fits, own}, []ownEvent{deposits(1, 7), deposits(3, 7)}, 0},
		"one for both":          {[]starknet.Event{fits, own, own}, []ownEvent{deposits(1, 7), deposits(2, 7)}, 1},
		"behind it":             {[]starknet.Event{own, fits}, []ownEvent{deposits(0, 7)}, 1},
		"of another amount":     {[]starknet.Event{moves(theToken, somebody, thePool, 8), own}, []ownEvent{deposits(1, 7)}, 1},
		"of another token":      {[]starknet.Event{moves(somebody, somebody, thePool, 7), own}, []ownEvent{deposits(1, 7)}, 1},
		"from somebody else":    {[]starknet.Event{moves(theToken, thePool, thePool, 7), own}, []ownEvent{deposits(1, 7)}, 1},
		"to somebody else":      {[]starknet.Event{moves(theToken, somebody, somebody, 7), own}, []ownEvent{deposits(1, 7)}, 1},
		"with another between":  {[]starknet.Event{fits, moves(theToken, somebody, thePool, 1), own}, []ownEvent{deposits(2, 7)}, 0},
		"none":                  {[]starknet.Event{own}, []ownEvent{deposits(0, 7)}, 1},
		"no number of anything": {[]starknet.Event{{From: theToken, Keys: []felt.Felt{transfer.SelectorTransfer}}, own}, []ownEvent{deposits(1, 7)}, 1},
	} {
		g, tokens := applied(t, x.events, x.own...)
		if a := tokens[theToken]; g.Unreconciled != x.want || a.Unreconciled != x.want || g.Degraded() != nil || a.Deposited.Cmp(big.NewInt(7*int64(len(x.own)))) != 0 {
			t.Errorf("%s: %d movements are not explained, want %d", name, g.Unreconciled, x.want)
		}
	}
}

// TestScopeOfGaps: an amount that is missing is the token's where the event tells the
// token, and otherwise that of all.
func TestScopeOfGaps(t *testing.T) {
	other := felt.FromUint64(201)
	beside := deposits(1, 7)
	beside.fact.Token = &other
	silent := deposits(2, 7)
	silent.status, silent.fact.Amount = privacypool.NameOnly, nil
	g, tokens := applied(t, nil, beside, silent)
	if g.MissingAmounts != 1 || g.Unscoped != 0 || tokens[theToken].Reason != AmountDecodeIncomplete || !tokens[other].Complete() {
		t.Errorf("a token's: %+v", g.Gaps)
	}
	silent.fact.Token = nil
	g, tokens = applied(t, nil, beside, silent)
	if g.MissingAmounts != 1 || g.Unscoped != 1 || tokens[theToken] != nil || tokens[other].Reason != AmountDecodeIncomplete || g.Degraded().Reason != AmountDecodeIncomplete {
		t.Errorf("anybody's: %+v", g.Gaps)
	}
	// One that is known to move nothing leaves amounts as they are.
	role := ownEvent{log: 3, known: true, status: privacypool.NameOnly, fact: privacypool.Fact{Kind: privacypool.RoleGranted, Group: privacypool.Governance, Name: "role_granted"}}
	g, tokens = applied(t, nil, beside, role)
	if gap := g.Degraded(); gap == nil || gap.Reason != EventDecodeIncomplete || !tokens[other].Complete() {
		t.Errorf("of a role: %+v", g.Gaps)
	}
}

// TestOpenNotes: notes and what funds them go together one by one, with their tokens.
func TestOpenNotes(t *testing.T) {
	note, other := felt.FromUint64(1), felt.FromUint64(2)
	made := func(log uint32, id felt.Felt) ownEvent {
		return ownEvent{log: log, known: true, status: privacypool.Decoded, fact: privacypool.Fact{Kind: privacypool.OpenNoteCreated, Group: privacypool.Commitment, Name: "open_note_created", Token: &theToken, NoteID: &id}}
	}
	funded := func(log uint32, id, token felt.Felt) ownEvent {
		e := deposits(log, 3)
		e.fact.Kind, e.fact.NoteID, e.fact.Token = privacypool.OpenNoteDeposited, &id, &token
		return e
	}
	for name, x := range map[string]struct {
		own    []ownEvent
		paired bool
	}{
		"both":            {[]ownEvent{made(0, note), made(1, other), funded(2, other, theToken), funded(3, note, theToken)}, true},
		"one":             {[]ownEvent{made(0, note), made(1, other), funded(2, other, theToken)}, false},
		"twice":           {[]ownEvent{made(0, note), funded(1, note, theToken), funded(2, note, theToken)}, false},
		"never made":      {[]ownEvent{funded(2, note, theToken)}, false},
		"of another kind": {[]ownEvent{made(0, note), funded(1, note, somebody)}, false},
	} {
		g, _ := applied(t, nil, x.own...)
		if gap := g.Degraded(); (gap == nil) != x.paired || gap != nil && gap.Reason != OpenNoteUnpaired {
			t.Errorf("%s: %+v", name, g.Gaps)
		}
	}
}

// TestPoolsApart: pools share tokens and wallets, and nothing else: not their notes, their
// nullifiers, their settings or their fees.
func TestPoolsApart(t *testing.T) {
	id, collector := felt.FromUint64(7), felt.FromUint64(8)
	in := func(pool int, e ownEvent) ownEvent {
		e.pool = pool
		return e
	}
	event := func(log uint32, f privacypool.Fact) ownEvent {
		return ownEvent{log: log, known: true, status: privacypool.Decoded, fact: f}
	}
	registered := func(log uint32) ownEvent {
		return event(log, privacypool.Fact{Kind: privacypool.ViewingKeySet, Group: privacypool.Registration, Name: "viewing_key_set", Actor: &somebody})
	}
	note := func(log uint32) ownEvent {
		return event(log, privacypool.Fact{Kind: privacypool.EncNoteCreated, Group: privacypool.Commitment, Name: "enc_note_created", NoteID: &id})
	}
	used := func(log uint32) ownEvent {
		return event(log, privacypool.Fact{Kind: privacypool.NoteUsed, Group: privacypool.Nullifier, Name: "note_used", Nullifier: &id})
	}
	settings := []ownEvent{
		in(1, event(0, privacypool.Fact{Kind: privacypool.FeeCollectorSet, Group: privacypool.Config, Name: "fee_collector_set", Value: &collector})),
		in(1, event(1, privacypool.Fact{Kind: privacypool.FeeAmountSet, Group: privacypool.Config, Name: "fee_amount_set", Amount: big.NewInt(4)})),
	}
	events := []starknet.Event{{From: thePool}, {From: thePool}, moves(theToken, somebody, collector, 4), moves(theToken, somebody, collector, 4)}
	g, tokens := applied(t, events, append(settings, in(0, registered(4)), in(1, registered(5)), in(0, note(6)), in(1, note(7)), in(0, used(8)), in(1, used(9)), in(0, deposits(10, 1)), in(1, deposits(11, 2)))...)
	a := tokens[theToken]
	if g.Degraded() != nil || g.Wallets != 1 || g.PoolCount() != 2 || len(a.Pools) != 2 || a.Deposited.Cmp(big.NewInt(3)) != 0 || g.FeeTransfers != 1 || a.Fees.Cmp(big.NewInt(4)) != 0 {
		t.Errorf("%+v: %+v", *g, a)
	}
	if g, _ := applied(t, nil, note(1), note(2)); g.Degraded() == nil || g.Degraded().Reason != DuplicateCommitment {
		t.Errorf("a note twice in one pool: %+v", g.Gaps)
	}
	if g, _ := applied(t, nil, used(1), used(2)); g.Degraded() == nil || g.Degraded().Reason != DuplicateNullifier {
		t.Errorf("a nullifier twice in one pool: %+v", g.Gaps)
	}
}
