package event_test

import (
	"context"
	"math"
	"testing"

	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// planned is a chain in which it is known how often everything occurs: twenty
// events with key 0 = 1 in every block, in every second one an event (2, 7), in
// every tenth one an event (1, 8), and in two blocks an event (1, 9).
func planned(blocks int) truth {
	c := make(truth, blocks)
	for n := range c {
		b := &starknet.Block{}
		b.Number, b.Hash = uint64(n), felt.FromUint64(uint64(n)+1<<40)
		add := func(keys ...uint64) {
			e := starknet.Event{From: emitter(0)}
			for _, k := range keys {
				e.Keys = append(e.Keys, felt.FromUint64(k))
			}
			tx := starknet.Transaction{Type: starknet.Invoke, Hash: felt.FromUint64(uint64(n)<<20 + uint64(len(b.Transactions)) + 1<<50)}
			b.Transactions = append(b.Transactions, tx)
			b.Receipts = append(b.Receipts, starknet.Receipt{
				TransactionHash: tx.Hash, Type: tx.Type, Execution: starknet.Succeeded, FeeUnit: starknet.Fri, Events: []starknet.Event{e},
			})
		}
		for range 20 {
			add(1)
		}
		if n%2 == 0 {
			add(2, 7)
		}
		if n%10 == 0 {
			add(1, 8)
		}
		if n == 20 || n == 90 {
			add(1, 9)
		}
		c[n] = b
	}
	return c
}

// TestCosts counts what the kinds of queries read.
func TestCosts(t *testing.T) {
	short, long := load(t, planned(100)), load(t, planned(1000))
	f := func(v uint64) []felt.Felt { return []felt.Felt{felt.FromUint64(v)} }
	for _, tt := range []struct {
		name string
		keys [event.Positions][]felt.Felt
		// most is what a page may read of the long chain.
		most event.Work
		hits int
		same bool // the cost is that of the short chain
	}{
		{"rare value", [event.Positions][]felt.Felt{f(1), f(9)}, event.Work{Seeks: 1, Rows: 2, Events: 2}, 2, true},
		{"value that never occurs", [event.Positions][]felt.Felt{f(1), f(5)}, event.Work{Seeks: 1}, 0, true},
		{"selector", [event.Positions][]felt.Felt{f(1)}, event.Work{Seeks: 1, Rows: 16, Events: 101}, 100, true},
		{"frequent with a hundred times as frequent", [event.Positions][]felt.Felt{f(1), f(8)}, event.Work{Seeks: 5, Rows: 170, Events: 100}, 100, false},
		{"frequent, and never together", [event.Positions][]felt.Felt{f(1), f(7)}, event.Work{Seeks: 40, Rows: 1600, Events: 101}, 0, false},
	} {
		var work [2]event.Work
		for i, e := range []store.Engine{short, long} {
			view(t, e, func(ctx context.Context, r store.Reader) {
				page, err := event.Search(ctx, r, event.Query{Keys: tt.keys, To: math.MaxUint64, Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				if i == 1 && len(page.Events) != tt.hits {
					t.Errorf("%s: %d events, want %d", tt.name, len(page.Events), tt.hits)
				}
				work[i] = page.Work
			})
		}
		if w := work[1]; w.Seeks > tt.most.Seeks || w.Rows > tt.most.Rows || w.Events > tt.most.Events {
			t.Errorf("%s: work is %+v, want at most %+v", tt.name, w, tt.most)
		}
		if tt.same && work[0] != work[1] {
			t.Errorf("%s: work is %+v in a short chain and %+v in a long one", tt.name, work[0], work[1])
		}
	}
}
