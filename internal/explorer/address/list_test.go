package address_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// truth is what a chain says of every address, oldest first, from its blocks alone.
type truth struct {
	txs   map[felt.Felt][]address.Tx
	items map[felt.Felt][]address.Item
	types map[explorer.Position]starknet.TxType
	order []felt.Felt
}

func truthOf(c *simnode.Chain) *truth {
	t := &truth{map[felt.Felt][]address.Tx{}, map[felt.Felt][]address.Item{}, map[explorer.Position]starknet.TxType{}, nil}
	head, _ := c.Head()
	for n := range head + 1 {
		b := c.BlockAt(n)
		deployed := map[felt.Felt]bool{}
		for _, d := range c.StateUpdateAt(n).Diff.Deployed {
			deployed[d.Address] = true
		}
		for i := range b.Transactions {
			t.add(b, i, deployed)
		}
	}
	return t
}

func (t *truth) add(b *starknet.Block, i int, deployed map[felt.Felt]bool) {
	p := explorer.Position{Block: b.Number, Index: uint32(i)}
	tx, receipt := &b.Transactions[i], &b.Receipts[i]
	t.types[p] = tx.Type
	parts, names := map[felt.Felt]address.Part{}, []felt.Felt{}
	part := func(a felt.Felt, is address.Part) {
		if parts[a] == 0 {
			names = append(names, a)
		}
		parts[a] |= is
	}
	switch tx.Type {
	case starknet.Invoke:
		if tx.Version.IsZero() {
			part(tx.ContractAddress, address.Called)
			break
		}
		part(tx.Sender, address.Sender)
		calls, _ := starknet.AccountCalls(tx.Calldata)
		for _, c := range calls {
			part(c.To, address.Called)
		}
	case starknet.Declare:
		part(tx.Sender, address.Sender)
	case starknet.DeployAccount:
		part(receipt.ContractAddress, address.Sender|address.Deployed)
	case starknet.Deploy:
		part(receipt.ContractAddress, address.Deployed)
	case starknet.L1Handler:
		part(tx.ContractAddress, address.Handler)
	}
	for _, e := range receipt.Events { // whoever emits it: on this chain only deployers do
		if len(e.Keys) == 1 && e.Keys[0] == felt.Selector("ContractDeployed") && deployed[e.Data[0]] {
			part(e.Data[0], address.Deployed)
		}
	}
	for _, a := range names {
		t.items[a] = append(t.items[a], address.Item{At: address.Place{Place: transfer.Place{Place: explorer.Place{Block: p.Block, Tx: p.Index}}, Whole: true}, Part: parts[a]})
	}
	for _, x := range transfer.Of(receipt.Events) {
		moved := func(a felt.Felt, is address.Part) {
			part(a, is)
			t.items[a] = append(t.items[a], address.Item{At: address.Place{Place: transfer.Place{Place: explorer.Place{Block: p.Block, Tx: p.Index, Log: x.Log}, Index: x.Index}}, Part: is})
		}
		if x.From == x.To {
			moved(x.From, address.KeptTokens)
			continue
		}
		moved(x.From, address.SentTokens)
		moved(x.To, address.ReceivedTokens)
	}
	for _, a := range names {
		if t.txs[a] == nil {
			t.order = append(t.order, a)
		}
		t.txs[a] = append(t.txs[a], address.Tx{Position: p, Part: parts[a]})
	}
}

// inOrder keeps what matches, in an order.
func inOrder[T any](list []T, o event.Order, match func(T) bool) []T {
	out := []T{}
	for _, x := range list {
		if match(x) {
			out = append(out, x)
		}
	}
	if o == event.Desc {
		slices.Reverse(out)
	}
	return out
}

func walkTransactions(t *testing.T, r store.Reader, q address.TxQuery) (out []address.Tx, early int) {
	t.Helper()
	out = []address.Tx{}
	for {
		page, err := address.ListTransactions(t.Context(), r, q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page.Transactions...)
		switch {
		case len(page.Transactions) > q.Limit:
			t.Fatalf("a page of %d has %d", q.Limit, len(page.Transactions))
		case page.Next == nil:
			return out, early
		case q.After != nil && (*page.Next == *q.After || q.After.Before(*page.Next) != (q.Order == event.Asc)):
			t.Fatalf("page after %+v goes on at %+v", q.After, page.Next)
		case len(page.Transactions) < q.Limit:
			early++
		}
		q.After = page.Next
	}
}

func walkActivity(t *testing.T, r store.Reader, q address.ActivityQuery) []address.Item {
	t.Helper()
	out := []address.Item{}
	for {
		page, err := address.ListActivity(t.Context(), r, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			i.Transfer = nil
			out = append(out, i)
		}
		switch {
		case len(page.Items) > q.Limit:
			t.Fatalf("a page of %d has %d", q.Limit, len(page.Items))
		case page.Next == nil:
			return out
		case q.After != nil && (*page.Next == *q.After || q.After.Before(*page.Next) != (q.Order == event.Asc)):
			t.Fatalf("page after %+v goes on at %+v", q.After, page.Next)
		}
		q.After = page.Next
	}
}

// check compares totals and lists of addresses with the truth.
func check(t *testing.T, e store.Engine, c *simnode.Chain, rng *rand.Rand, addresses int) (early int) {
	t.Helper()
	want := truthOf(c)
	head, _ := c.Head()
	types := []starknet.TxType{starknet.Invoke, starknet.Declare, starknet.Deploy, starknet.DeployAccount, starknet.L1Handler}
	busiest := want.order[0]
	for _, a := range want.order {
		if len(want.txs[a]) > len(want.txs[busiest]) {
			busiest = a
		}
	}
	some := []felt.Felt{busiest, felt.Zero, f(31337)}
	for range addresses {
		some = append(some, want.order[rng.IntN(len(want.order))])
	}
	err := e.View(t.Context(), func(r store.Reader) error {
		totals, err := address.TotalsOf(t.Context(), r, want.order)
		if err != nil {
			return err
		}
		for i, a := range want.order {
			if n := uint64(len(want.txs[a])); totals[i].Transactions != n || totals[i].Activity() != uint64(len(want.items[a])) {
				t.Fatalf("%s has %+v, want %d transactions and %d items", a, totals[i], n, len(want.items[a]))
			}
		}
		for _, a := range some {
			q := address.TxQuery{Address: a, Order: event.Order(rng.IntN(2)), Limit: 1 + rng.IntN(60)}
			if rng.IntN(2) == 0 || a == busiest {
				q.Types = []starknet.TxType{types[rng.IntN(len(types))]}
			}
			got, n := walkTransactions(t, r, q)
			early += n
			expected := inOrder(want.txs[a], q.Order, func(x address.Tx) bool { return len(q.Types) == 0 || want.types[x.Position] == q.Types[0] })
			if !reflect.DeepEqual(got, expected) {
				t.Fatalf("%+v:\n%+v, want\n%+v", q, got, expected)
			}
			deeds := address.ActivityQuery{Address: a, Head: head, Order: q.Order, Limit: q.Limit}
			if rng.IntN(2) == 0 {
				deeds.Only = address.Parts[rng.IntN(len(address.Parts))]
			}
			items := inOrder(want.items[a], q.Order, func(i address.Item) bool { return deeds.Only == 0 || i.Part.First() == deeds.Only })
			if got := walkActivity(t, r, deeds); !reflect.DeepEqual(got, items) {
				t.Fatalf("%+v:\n%+v, want\n%+v", deeds, got, items)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return early
}

func follow(t *testing.T, e store.Engine, c *simnode.Chain) {
	t.Helper()
	head, _ := c.Head()
	if err := simsource.Follow(t.Context(), e, c, head); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	return e
}

// TestListsAreExact compares transactions, activity and totals of random addresses,
// in both orders and by type, with a look at every block, while forks replace some.
func TestListsAreExact(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 21, Blocks: 40})
	e := open(t)
	follow(t, e, c)
	rng := rand.New(rand.NewPCG(8, 8))
	for range 8 {
		check(t, e, c, rng, 25)
		if rng.IntN(2) == 0 {
			c.Fork(1 + rng.IntN(8))
		}
		c.Extend(1 + rng.IntN(3))
		follow(t, e, c)
	}
}

// TestRareType: a page looks at a bounded number of transactions, tells where to go
// on, and loses nothing.
func TestRareType(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 3, Blocks: 60, TxPerBlock: 40})
	e := open(t)
	follow(t, e, c)
	if check(t, e, c, rand.New(rand.NewPCG(1, 1)), 3) == 0 {
		t.Error("no page ended early: the busiest address has too few transactions to tell")
	}
}

func TestBadLimits(t *testing.T) {
	e := open(t)
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, n := range []int{0, -1, address.MaxLimit + 1} {
			_, one := address.ListTransactions(context.Background(), r, address.TxQuery{Limit: n})
			_, two := address.ListActivity(context.Background(), r, address.ActivityQuery{Limit: n})
			if !errors.Is(one, address.ErrLimit) || !errors.Is(two, address.ErrLimit) {
				t.Errorf("limit %d: %v, %v", n, one, two)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
