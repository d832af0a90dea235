package class_test

import (
	"errors"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/record"
)

// TestFactsOf: of a class that is yet to be had nothing is said, and a row that
// cannot be read is an error.
func TestFactsOf(t *testing.T) {
	e := pebbletest.Open(t, append(class.Subject{}.Tables(), class.Enrichment()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f := felt.FromUint64
	batch := &store.Batch{Epoch: lease.Epoch}
	for hash, a := range map[uint64]*class.ABI{
		1: {Status: class.NoABI, Kind: class.Cairo0, Account: true, Token: abi.EmitterERC721},
		2: {Status: class.Absent, Block: 9},
		3: {Status: class.Unverified, Block: 9},
	} {
		batch.Put(class.ABIKey(f(hash)), a.Encode())
	}
	batch.Put(class.ABIKey(f(4)), []byte{1, 99})
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		got, err := class.FactsOf(t.Context(), r, []felt.Felt{f(3), f(1), f(2), f(5)})
		want := []class.Facts{{Status: class.Unverified}, {Status: class.NoABI, Settled: true, Kind: class.Cairo0, Account: true, Token: abi.EmitterERC721},
			{Status: class.Absent}, {Status: class.Absent}}
		for i := range want {
			if err != nil || len(got) != len(want) || got[i] != want[i] {
				t.Fatalf("%+v, want %+v: %v", got, want, err)
			}
		}
		if _, err := class.FactsOf(t.Context(), r, []felt.Felt{f(1), f(4)}); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("a damaged row: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
