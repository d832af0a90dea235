package address_test

import (
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var f = felt.FromUint64

func moved(from, to uint64) starknet.Event {
	return starknet.Event{From: f(900), Keys: []felt.Felt{felt.Selector("Transfer"), f(from), f(to)}, Data: []felt.Felt{f(5), f(0)}}
}

// calls is calldata of calls without arguments.
func calls(targets ...uint64) []felt.Felt {
	out := []felt.Felt{f(uint64(len(targets)))}
	for _, t := range targets {
		out = append(out, f(t), f(1), f(0))
	}
	return out
}

// TestTotals: parts of a transaction are one item, whatever their number; a
// transfer to oneself is one; counts go on over blocks.
func TestTotals(t *testing.T) {
	e := pebbletest.Open(t, address.Subject{}.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	three := f(3)
	first, second := &explorer.Block{}, &explorer.Block{}
	first.Number, second.Number = 4, 7
	first.Transactions = []starknet.Transaction{
		{Type: starknet.Invoke, Version: three, Sender: f(1), Calldata: calls(2, 1, 2)}, // calls itself, and another twice
		{Type: starknet.DeployAccount, Version: three},
		{Type: starknet.L1Handler, ContractAddress: f(2), Calldata: []felt.Felt{f(77)}},
	}
	first.Receipts = []starknet.Receipt{{Events: []starknet.Event{moved(1, 1), moved(1, 3), moved(0, 1)}}, {ContractAddress: f(3)}, {}}
	second.Transactions = []starknet.Transaction{
		{Type: starknet.Invoke, ContractAddress: f(2)}, // version 0 names nobody who calls
		{Type: starknet.Declare, Version: three, Sender: f(3)},
		{Type: starknet.Deploy},
		{Type: starknet.Invoke, Version: three, Sender: f(1), Calldata: []felt.Felt{f(9)}}, // no list of calls
	}
	second.Receipts = []starknet.Receipt{{}, {}, {ContractAddress: f(4)}, {Events: []starknet.Event{moved(3, 2)}}}
	for _, b := range []*explorer.Block{first, second} {
		rows := &explorer.Rows{}
		err := e.View(t.Context(), func(r store.Reader) error {
			if err := (address.Subject{}).Project(b, rows); err != nil {
				return err
			}
			return explorer.Follow(t.Context(), []explorer.Plan{address.Subject{}.Plan(b)}, r.GetMany, rows)
		})
		if err != nil {
			t.Fatal(err)
		}
		batch := &store.Batch{Epoch: lease.Epoch}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
		if err := e.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		got, err := address.TotalsOf(t.Context(), r, []felt.Felt{f(0), f(1), f(2), f(3), f(4), f(77), f(900)})
		if err != nil {
			return err
		}
		want := []*address.Totals{
			{Transactions: 1, Transfers: 1, First: 4, Latest: 4},
			{Transactions: 2, Parts: 2, Transfers: 3, First: 4, Latest: 7, Sends: true, Received: true},
			{Transactions: 4, Parts: 3, Transfers: 1, First: 4, Latest: 7, Received: true},
			{Transactions: 4, Parts: 2, Transfers: 2, First: 4, Latest: 7, Sends: true, Received: true},
			{Transactions: 1, Parts: 1, First: 7, Latest: 7},
			nil, nil,
		}
		for i := range want {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("address %d: %+v, want %+v", i, got[i], want[i])
			}
		}
		one, two := f(1), f(2)
		for a, parts := range map[*felt.Felt][]address.Part{&one: {address.Sender, address.Sender | address.Called}, &two: {address.Called, address.Handler, address.Called}} {
			hits, more, err := places.Page(t.Context(), r, places.Query{Lists: []places.List{address.List(a)}, Before: explorer.EndOf(100), Limit: 10})
			if err != nil || more || len(hits) != len(parts) {
				t.Fatalf("%s: %v, %v", a, hits, err)
			}
			for i, p := range parts {
				if address.Part(hits[i].Log) != p {
					t.Errorf("%s: %+v is %d, want %d", a, hits[i], hits[i].Log, p)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
