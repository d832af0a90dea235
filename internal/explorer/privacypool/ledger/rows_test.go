package ledger

import (
	"bytes"
	"math/big"
	"reflect"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// fullGeneration has every field set, so that one that a record forgets is noticed.
func fullGeneration() *Generation {
	place := func(n uint64) *explorer.Place { return &explorer.Place{Block: n, Tx: 2, Log: 3} }
	setting := func(n uint64) *Setting { return &Setting{felt.FromUint64(n), *place(n)} }
	g := &Generation{
		Number: 7, Some: true, Hash: felt.FromUint64(9), First: place(1), Latest: place(2), LatestDecoded: place(3), LatestFlow: place(4),
		Pools: []registry.PrivacyPool{
			{Address: felt.FromUint64(1), Name: "a", From: 5, FeeToken: felt.FromUint64(8), Classes: []registry.PoolClass{{Hash: felt.FromUint64(6), Generation: registry.PoolV2}}},
			{Address: felt.FromUint64(2)},
		},
		Counts:   []Count{{"deposit", 4}, {"note_used", 5}},
		Gaps:     []Gap{{UnknownSelector, 2, *place(9), 77}},
		Settings: []Settings{{Seen: true, FeeAmount: setting(1), FeeCollector: setting(2), Paused: setting(3), AuditorKey: setting(4), ScreenerKey: setting(5), ProofValidityBlocks: setting(6)}, {}},
		Changed:  true, Pending: true,
	}
	for i, n := range g.numbers() {
		*n = uint64(100 + i)
	}
	return g
}

func TestStateRecord(t *testing.T) {
	for _, s := range []State{{}, {Last: 9, Serving: fullGeneration(), Dead: []uint32{1, 2}}, {Last: 9, Serving: fullGeneration(), Building: New(9, 3, fullGeneration().Pools)}} {
		back, err := DecodeState(s.Encode())
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%+v became %+v: %v", s, back, err)
		}
	}
	v := reflect.ValueOf(*fullGeneration())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves %s at zero", v.Type().Field(i).Name)
		}
	}
}

func fullAsset(token uint64) *Asset {
	return &Asset{Token: felt.FromUint64(token), Deposits: 1, OpenDeposits: 2, Withdrawals: 3, Deposited: big.NewInt(400), Withdrawn: big.NewInt(5), MissingAmounts: 6, Unreconciled: 7,
		NegativeSince: &explorer.Place{Block: 8}, First: explorer.Place{Block: 9}, Latest: explorer.Place{Block: 10}, Pools: []felt.Felt{felt.FromUint64(11)}, FeeTransfers: 12, Fees: big.NewInt(13)}
}

func TestRowRecords(t *testing.T) {
	a := fullAsset(5)
	if back, err := decodeToken(a.Token[:], a.encode()); err != nil || !reflect.DeepEqual(back, a) {
		t.Errorf("%+v: %v", back, err)
	}
	a.Reason = NegativeProtectedAmount
	if back, err := decodeSnapshot(3600, encodeSnapshot([]*Asset{a})); err != nil || len(back) != 1 || !reflect.DeepEqual(&back[0], a) {
		t.Errorf("%+v: %v", back, err)
	}
	p := Point{Hour: 3600, AsOf: 1, Hash: felt.FromUint64(2), Timestamp: 3, Reason: IncompleteFinalizedFlow, Gap: UnknownSelector, LatestFlow: &explorer.Place{Block: 4}, MaterializedAt: 5, PoolCount: 6, TokenCount: 7, MissingAmounts: 8, snapshot: 9}
	if back, err := decodePoint(hourSort(3600), p.encode()); err != nil || !reflect.DeepEqual(back, p) {
		t.Errorf("%+v: %v", back, err)
	}
	k := Bucket{Start: 3600, Wallets: 5, LatestBlock: 6}
	for i, n := range k.sums() {
		*n = uint64(i + 10)
	}
	if back, err := decodeBucket(3600, k.encode()); err != nil || back != k {
		t.Errorf("%+v: %v", back, err)
	}
	f := &Flow{Start: 3600, In: big.NewInt(1), Out: big.NewInt(2), InCount: 3, OutCount: 4, TotalIn: big.NewInt(5), TotalOut: big.NewInt(6), LatestBlock: 7}
	if back, err := decodeFlow(3600, f.encode()); err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("%+v: %v", back, err)
	}
}

// TestStarts: hours, days and weeks begin in UTC, weeks on Mondays.
func TestStarts(t *testing.T) {
	const moment = 1_767_225_599 // Wednesday, 2025-12-31 23:59:59
	for l, want := range map[Length]uint64{Hour: 1_767_222_000, Day: 1_767_139_200, Week: 1_766_966_400} {
		if got := l.Start(moment); got != want {
			t.Errorf("length %d begins at %d, want %d", l, got, want)
		}
		if l.Start(want) != want || l.Start(want-1) != want-l.Seconds() {
			t.Errorf("length %d does not begin where it begins", l)
		}
	}
}

func FuzzState(f *testing.F) {
	s := State{Last: 9, Serving: fullGeneration(), Building: New(9, 3, nil), Dead: []uint32{4}}
	f.Add(s.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeState(b)
		if err != nil {
			return
		}
		again, err := DecodeState(s.Encode())
		if err != nil || !bytes.Equal(again.Encode(), s.Encode()) {
			t.Fatalf("%+v became %+v: %v", s, again, err)
		}
	})
}
