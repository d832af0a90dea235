package event_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// someEvent picks an event of the chain.
func someEvent(rng *rand.Rand, c truth) *starknet.Event {
	for {
		b := c[rng.IntN(len(c))]
		if len(b.Receipts) == 0 {
			continue
		}
		if events := b.Receipts[rng.IntN(len(b.Receipts))].Events; len(events) > 0 {
			return &events[rng.IntN(len(events))]
		}
	}
}

// randomQuery asks for something that an event of the chain has, mostly, with
// values of other events beside it.
func randomQuery(rng *rand.Rand, c truth) event.Query {
	head := uint64(len(c) - 1)
	q := event.Query{To: head, Order: event.Order(rng.IntN(2)), Limit: 1 + rng.IntN(100)}
	switch rng.IntN(8) {
	case 0: // everything, and what is not there yet
		q.To = math.MaxUint64
	case 1:
		q.From = rng.Uint64N(head + 1)
		q.To = q.From + rng.Uint64N(head+10-q.From)
	case 2, 3: // few blocks
		q.From = rng.Uint64N(head + 1)
		q.To = q.From + rng.Uint64N(90)
	default: // and small pages
		q.From = rng.Uint64N(head + 1)
		q.To = q.From + rng.Uint64N(40)
		q.Limit = 1 + rng.IntN(4)
	}
	if rng.IntN(2) == 0 {
		q.Budget = event.Budget{Seeks: 1 + rng.IntN(40), Rows: 1 + rng.IntN(600), Events: 1 + rng.IntN(60)}
	}
	e := someEvent(rng, c)
	filtered := false
	if rng.IntN(2) == 0 {
		filtered = true
		q.Emitters = append(q.Emitters, e.From)
		for range rng.IntN(4) {
			q.Emitters = append(q.Emitters, someEvent(rng, c).From)
		}
	}
	for k := range min(len(e.Keys), event.Positions) {
		if rng.IntN(3) == 0 {
			continue
		}
		filtered = true
		q.Keys[k] = append(q.Keys[k], e.Keys[k])
		for range rng.IntN(4) {
			if other := someEvent(rng, c); k < len(other.Keys) {
				q.Keys[k] = append(q.Keys[k], other.Keys[k])
			}
		}
	}
	if rng.IntN(10) == 0 { // nobody has this, probably
		filtered = true
		q.Keys[rng.IntN(event.Positions)] = []felt.Felt{felt.FromUint64(rng.Uint64N(1 << 40))}
	}
	if !filtered {
		q.Emitters = []felt.Felt{e.From}
	}
	return q
}

// TestSearchIsExact compares thousands of random queries, page by page, with a
// look at every event.
func TestSearchIsExact(t *testing.T) {
	c, queries := handmade(1, 800), some(3000)
	e := load(t, c)
	rng := rand.New(rand.NewPCG(2, 2))
	hits, pages, early := 0, 0, 0
	view(t, e, func(ctx context.Context, r store.Reader) {
		for i := range queries {
			q := randomQuery(rng, c)
			got, n, err := walk(ctx, r, q)
			want := c.search(&q)
			if err == nil {
				err = compare(got, want)
			}
			if err != nil {
				t.Fatalf("query %d %+v: %v", i, q, err)
			}
			hits, pages, early = hits+len(got), pages+n, early+max(0, n-1-len(got)/q.Limit)
		}
	})
	t.Logf("%d queries, %d pages, %d ended early, %d events", queries, pages, early, hits)
	if hits < 10*queries || early < queries/2 {
		t.Errorf("the queries prove little: %d events, %d pages ended early", hits, early)
	}
}

// TestEveryLimit pages through the same queries with every page size.
func TestEveryLimit(t *testing.T) {
	c := handmade(3, 120)
	e := load(t, c)
	queries := []event.Query{
		{Emitters: []felt.Felt{emitter(0)}},
		{Keys: keys(0, 0, 1)},
		{Keys: keys(0, 1), Emitters: []felt.Felt{emitter(1), emitter(2)}},
		{Keys: [event.Positions][]felt.Felt{0: {value(0, 0), value(0, 1), value(0, 2)}, 1: {value(1, 0), value(1, 3)}}},
		{Keys: keys(3, 777_777)},
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, q := range queries {
			q.To = math.MaxUint64
			for _, q.Order = range []event.Order{event.Asc, event.Desc} {
				want := c.search(&q)
				for q.Limit = 1; q.Limit <= some(100); q.Limit++ {
					got, pages, err := walk(ctx, r, q)
					if err == nil {
						err = compare(got, want)
					}
					if err != nil {
						t.Fatalf("%+v: %v", q, err)
					}
					if want := max(1, (len(want)+q.Limit-1)/q.Limit); pages != want {
						t.Errorf("%d events in pages of %d took %d pages, want %d", len(got), q.Limit, pages, want)
					}
				}
			}
		}
	})
}

func keys(position int, values ...int) (out [event.Positions][]felt.Felt) {
	for _, v := range values {
		out[position] = append(out[position], value(position, v))
	}
	return out
}

// TestHostileQueries asks for as much as can be asked for.
func TestHostileQueries(t *testing.T) {
	c := handmade(4, 250)
	// A block that floods one list, with transactions as large as they can be.
	flood := c[200]
	for n := range uint64(some(100) / 20) {
		tx := starknet.Transaction{Type: starknet.Invoke, Hash: felt.FromUint64(99 + n)}
		r := starknet.Receipt{Execution: starknet.Succeeded, FeeUnit: starknet.Fri, TransactionHash: tx.Hash, Type: tx.Type}
		for range 1000 {
			e := starknet.Event{From: emitter(0)}
			for k := range event.Positions + 3 {
				e.Keys = append(e.Keys, value(k, 1))
			}
			r.Events = append(r.Events, e)
		}
		flood.Transactions, flood.Receipts = append(flood.Transactions, tx), append(flood.Receipts, r)
	}
	e := load(t, c)

	everywhere := event.Query{To: math.MaxUint64, Limit: 100}
	for k := range event.Positions {
		for v := range 31 {
			everywhere.Keys[k] = append(everywhere.Keys[k], value(k, v))
		}
	}
	wide := event.Query{To: math.MaxUint64, Limit: 100}
	for v := range 128 {
		wide.Emitters = append(wide.Emitters, emitter(v))
		wide.Keys[0] = append(wide.Keys[0], value(0, v))
		wide.Keys[1] = append(wide.Keys[1], value(1, v))
	}
	repeated := event.Query{To: math.MaxUint64, Limit: 100}
	for range 5000 {
		repeated.Keys[2] = append(repeated.Keys[2], value(2, 3))
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for name, q := range map[string]event.Query{"16 positions": everywhere, "all pairs": wide, "repeated": repeated} {
			for _, q.Order = range []event.Order{event.Asc, event.Desc} {
				for _, q.Budget = range []event.Budget{{}, {Seeks: 1, Rows: 1, Events: 7}} {
					if want := c.search(&q); len(want) > 1000 {
						q.Limit = event.MaxLimit
					}
					got, _, err := walk(ctx, r, q)
					if err == nil {
						err = compare(got, c.search(&q))
					}
					if err != nil {
						t.Errorf("%s, order %d, budget %v: %v", name, q.Order, q.Budget, err)
					}
				}
			}
		}
	})
}

// TestBudgetIsKept counts the work of pages that would take far more.
func TestBudgetIsKept(t *testing.T) {
	c := handmade(5, 3000)
	e := load(t, c)
	view(t, e, func(ctx context.Context, r store.Reader) {
		q := event.Query{To: math.MaxUint64, Limit: 100, Budget: event.Budget{Seeks: 10, Rows: 200, Events: 20}}
		q.Keys[0], q.Keys[1], q.Keys[2] = []felt.Felt{value(0, 3)}, []felt.Felt{value(1, 4)}, []felt.Felt{value(2, 2)}
		for early := 0; ; early++ {
			page, err := event.Search(ctx, r, q)
			if err != nil {
				t.Fatal(err)
			}
			// A chunk that was begun is read to its end.
			if w := page.Work; w.Seeks > 10 || w.Rows > 200+256 || w.Events > 20 {
				t.Errorf("work is %+v", w)
			}
			if page.Done {
				if early == 0 {
					t.Error("the budget was never spent: the test proves nothing")
				}
				break
			}
			q.After = page.Next
		}
	})
}

func TestRefusals(t *testing.T) {
	e := load(t, handmade(6, 20))
	many := make([]felt.Felt, event.MaxValues)
	for i := range many {
		many[i] = value(0, i)
	}
	ok := event.Query{Emitters: []felt.Felt{emitter(0)}, To: 10, Limit: 10}
	for name, tt := range map[string]struct {
		change func(*event.Query)
		want   error
	}{
		"nothing wrong":    {func(*event.Query) {}, nil},
		"unfiltered":       {func(q *event.Query) { q.Emitters = nil }, event.ErrUnfiltered},
		"empty lists":      {func(q *event.Query) { q.Emitters, q.Keys[3] = []felt.Felt{}, []felt.Felt{} }, event.ErrUnfiltered},
		"no limit":         {func(q *event.Query) { q.Limit = 0 }, event.ErrLimit},
		"large limit":      {func(q *event.Query) { q.Limit = event.MaxLimit + 1 }, event.ErrLimit},
		"turned range":     {func(q *event.Query) { q.From = 11 }, event.ErrRange},
		"too many values":  {func(q *event.Query) { q.Keys[5] = many }, event.ErrTooMany},
		"just enough":      {func(q *event.Query) { q.Emitters, q.Keys[5] = nil, many }, nil},
		"behind the range": {func(q *event.Query) { q.Order, q.After = event.Asc, &explorer.Place{Block: 11} }, nil},
		"last place": {func(q *event.Query) {
			q.Order, q.After = event.Asc, &explorer.Place{Block: math.MaxUint64, Tx: math.MaxUint32}
		}, nil},
		"first place": {func(q *event.Query) { q.After = &explorer.Place{} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := ok
			tt.change(&q)
			view(t, e, func(ctx context.Context, r store.Reader) {
				page, err := event.Search(ctx, r, q)
				if !errors.Is(err, tt.want) {
					t.Fatalf("error is %v, want %v", err, tt.want)
				}
				if q.After != nil && (len(page.Events) > 0 || !page.Done) {
					t.Errorf("page is %+v, want an empty one that is done", page)
				}
			})
		})
	}
}

// TestCanceled ends a search by its context.
func TestCanceled(t *testing.T) {
	e := load(t, handmade(6, 200))
	view(t, e, func(ctx context.Context, r store.Reader) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := event.Search(ctx, r, event.Query{Keys: keys(0, 0), To: 100, Limit: 10}); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}

// TestWrongListIsNoticed moves a list's row to where it does not belong.
func TestWrongListIsNoticed(t *testing.T) {
	c := handmade(7, 50)
	e := load(t, c)
	ctx := t.Context()
	absent := felt.FromUint64(0xabcdef)
	partition := append([]byte{0}, absent[:]...)
	for name, row := range map[string][]byte{
		"foreign event":  {1, 0, 0},
		"no such event":  {1, 0, 0x7f},
		"not a row":      {9, 9},
		"no transaction": {1, 0x7e, 0},
	} {
		lease, err := e.Acquire(ctx, store.Writer, "test", 1)
		if err != nil {
			t.Fatal(err)
		}
		var number uint64
		for b := c[number]; len(b.Receipts) == 0 || len(b.Receipts[0].Events) == 0; b = c[number] {
			number++
		}
		b := &store.Batch{Epoch: lease.Epoch}
		b.Put(store.Key{Table: event.Lists, Partition: partition, Sort: store.AppendUint64(nil, number)}, row)
		if err := e.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
		view(t, e, func(ctx context.Context, r store.Reader) {
			q := event.Query{To: 100, Limit: 10}
			q.Keys[0] = []felt.Felt{absent}
			page, err := event.Search(ctx, r, q)
			if err == nil {
				t.Errorf("%s: page is %+v", name, page)
			}
			if !errors.Is(err, record.ErrCorrupt) && !errors.Is(err, transaction.ErrNotFound) {
				t.Errorf("%s: error is %v", name, err)
			}
		})
	}
}
