package event_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// some is how many random cases a test tries. A search has one goroutine: the
// race detector, which is twenty times as slow here, sees fewer.
func some(n int) int {
	if raced {
		return n / 20
	}
	return n
}

// truth is a list of blocks that answers queries by looking at every event.
type truth []*starknet.Block

func matches(q *event.Query, e *starknet.Event) bool {
	if len(q.Emitters) > 0 && !slices.Contains(q.Emitters, e.From) {
		return false
	}
	for i, values := range q.Keys {
		if len(values) > 0 && (i >= len(e.Keys) || !slices.Contains(values, e.Keys[i])) {
			return false
		}
	}
	return true
}

func (c truth) search(q *event.Query) (out []event.Hit) {
	for n := q.From; n <= q.To && n < uint64(len(c)); n++ {
		b := c[n]
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				if e := &b.Receipts[i].Events[j]; matches(q, e) {
					out = append(out, event.Hit{
						Place:     explorer.Place{Block: n, Tx: uint32(i), Log: uint32(j)},
						BlockHash: b.Hash, Timestamp: b.Timestamp, TxHash: b.Transactions[i].Hash, TxType: b.Transactions[i].Type, Event: *e,
					})
				}
			}
		}
	}
	if q.Order == event.Desc {
		slices.Reverse(out)
	}
	return out
}

// handmade is a chain of small blocks whose events have few different emitters
// and values, so that conditions meet in every way: from none to more keys than
// can be searched, values in every block and values in one.
func handmade(seed uint64, blocks int) truth {
	rng := rand.New(rand.NewPCG(seed, 5))
	c := make(truth, blocks)
	for n := range c {
		b := &starknet.Block{}
		b.Number, b.Timestamp, b.Hash = uint64(n), 1000+uint64(n), felt.FromUint64(uint64(n)+1<<40)
		if n > 0 {
			b.ParentHash = c[n-1].Hash
		}
		for i := range rng.IntN(4) {
			t := starknet.Transaction{Type: starknet.Invoke, Hash: felt.FromUint64(uint64(n)<<20 + uint64(i) + 1<<50)}
			r := starknet.Receipt{Execution: starknet.Succeeded, FeeUnit: starknet.Fri}
			for range rng.IntN(5) {
				r.Events = append(r.Events, randomEvent(rng, n))
			}
			r.TransactionHash, r.Type = t.Hash, t.Type
			b.Transactions, b.Receipts = append(b.Transactions, t), append(b.Receipts, r)
		}
		c[n] = b
	}
	return c
}

func randomEvent(rng *rand.Rand, block int) starknet.Event {
	e := starknet.Event{From: emitter(skewed(rng, 6))}
	keys := rng.IntN(5)
	if rng.IntN(20) == 0 {
		keys = rng.IntN(20)
	}
	for k := range keys {
		v := value(k, skewed(rng, 9))
		if rng.IntN(200) == 0 {
			v = value(k, 100+block) // occurs once or twice
		}
		e.Keys = append(e.Keys, v)
	}
	for range rng.IntN(3) {
		e.Data = append(e.Data, felt.FromUint64(rng.Uint64()))
	}
	return e
}

// skewed is below n and mostly small.
func skewed(rng *rand.Rand, n int) int { return min(rng.IntN(n), rng.IntN(n)) }

func emitter(n int) felt.Felt { return felt.FromUint64(0xe000 + uint64(n)) }

// value n is the same felt at every position: lists must not mix them up. Zero
// is a value like any other.
func value(_, n int) felt.Felt { return felt.FromUint64(uint64(n)) }

// load projects blocks into a store.
func load(t testing.TB, c truth) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	var parent []byte
	for _, b := range c {
		rows := &explorer.Rows{}
		blk := explorer.NewBlock(b, &starknet.StateUpdate{})
		for _, s := range []explorer.Subject{block.Subject{}, transaction.Subject{}, event.Subject{}} {
			if err := s.Project(blk, rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := (block.Subject{}).Plan(blk).Follow([][]byte{parent}, rows); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
		parent = rows.Ops()[len(rows.Ops())-1].Value
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e
}

func view(t testing.TB, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	ctx := t.Context()
	if err := e.View(ctx, func(r store.Reader) error { fn(ctx, r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// walk pages through a query as a client would and returns everything. It
// checks what must hold for every page.
func walk(ctx context.Context, r store.Reader, q event.Query) (all []event.Hit, pages int, err error) {
	for {
		page, err := event.Search(ctx, r, q)
		if err != nil {
			return nil, pages, err
		}
		pages++
		all = append(all, page.Events...)
		switch {
		case len(page.Events) > q.Limit:
			return nil, pages, fmt.Errorf("a page of %d has %d events", q.Limit, len(page.Events))
		case page.Done && page.Next != nil, !page.Done && page.Next == nil:
			return nil, pages, fmt.Errorf("page is done: %v, but next is %v", page.Done, page.Next)
		case page.Done:
			return all, pages, nil
		}
		if q.After != nil && !forward(q.Order, *q.After, *page.Next) {
			return nil, pages, fmt.Errorf("page after %+v goes on at %+v", *q.After, *page.Next)
		}
		if n := len(page.Events); n > 0 && forward(q.Order, *page.Next, page.Events[n-1].Place) {
			return nil, pages, fmt.Errorf("page goes on at %+v, in front of its last event %+v", *page.Next, page.Events[n-1].Place)
		}
		if _, err := (block.Ref{Number: page.Next.Block, Hash: page.NextHash}).Get(ctx, r); err != nil {
			return nil, pages, err
		}
		q.After = page.Next
	}
}

func forward(o event.Order, a, b explorer.Place) bool {
	if o == event.Asc {
		return a.Before(b)
	}
	return b.Before(a)
}

// compare tells the first difference.
func compare(got, want []event.Hit) error {
	for i := range min(len(got), len(want)) {
		if !same(&got[i], &want[i]) {
			return fmt.Errorf("event %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d events, want %d", len(got), len(want))
	}
	return nil
}

func same(a, b *event.Hit) bool {
	x, y := *a, *b
	for _, h := range []*event.Hit{&x, &y} {
		if len(h.Event.Keys) == 0 {
			h.Event.Keys = nil
		}
		if len(h.Event.Data) == 0 {
			h.Event.Data = nil
		}
	}
	return reflect.DeepEqual(x, y)
}
