package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// some is how many random cases a test tries. A list has one goroutine: the race
// detector, which is many times as slow here, sees fewer.
func some(n int) int {
	if raced {
		return max(2, n/20)
	}
	return n
}

// truth lists transfers by looking at every event.
type truth []*starknet.Block

func truthOf(c *simnode.Chain) (out truth) {
	head, _ := c.Head()
	for n := range head + 1 {
		out = append(out, c.BlockAt(n))
	}
	return out
}

func (c truth) all() (out []transfer.Listed) {
	for n, b := range c {
		for i := range b.Receipts {
			for _, x := range transfer.Of(b.Receipts[i].Events) {
				out = append(out, transfer.Listed{
					Place:     transfer.Place{Place: explorer.Place{Block: uint64(n), Tx: uint32(i), Log: x.Log}, Index: x.Index},
					BlockHash: b.Hash, Timestamp: b.Timestamp, TxHash: b.Transactions[i].Hash, TxType: b.Transactions[i].Type,
					Transfer: x.Transfer,
				})
			}
		}
	}
	slices.Reverse(out)
	return out
}

// odd tokens are ERC-721, those divisible by four ERC-20, of others nothing is known.
func kindOf(token felt.Felt) transfer.Standard {
	switch token[31] % 4 {
	case 0:
		return transfer.ERC20
	case 2:
		return transfer.Ambiguous
	}
	return transfer.ERC721
}

func kinds(_ context.Context, tokens []contract.At) (out []transfer.Standard, _ error) {
	for _, token := range tokens {
		out = append(out, kindOf(token.Address))
	}
	return out, nil
}

func matching(all []transfer.Listed, q *transfer.Query) (out []transfer.Listed) {
	side := q.Side
	if side == 0 {
		side = transfer.Both
	}
	for _, x := range all {
		if q.Kinds != nil {
			x.Transfer = x.As(kindOf(x.Token))
		}
		sent, in := slices.Contains(q.Addresses, x.From), slices.Contains(q.Addresses, x.To)
		party := len(q.Addresses) == 0 || side&transfer.Out != 0 && sent || side&transfer.In != 0 && in
		if q.Exactly && len(q.Addresses) > 0 {
			party = sent == (side&transfer.Out != 0) && in == (side&transfer.In != 0)
		}
		if party && x.Block >= q.From && x.Block <= q.To &&
			(len(q.Tokens) == 0 || slices.Contains(q.Tokens, x.Token)) &&
			(len(q.Standards) == 0 || slices.Contains(q.Standards, x.Standard)) &&
			(len(q.TxTypes) == 0 || slices.Contains(q.TxTypes, x.TxType)) {
			out = append(out, x)
		}
	}
	if q.Order == event.Asc {
		slices.Reverse(out)
	}
	return out
}

func randomQuery(rng *rand.Rand, all []transfer.Listed, head uint64) transfer.Query {
	pick := func() *transfer.Listed { return &all[rng.IntN(len(all))] }
	q := transfer.Query{To: head, Limit: 1 + rng.IntN(60), Order: event.Order(rng.IntN(2)), Exactly: rng.IntN(4) == 0}
	switch rng.IntN(3) {
	case 0:
		q.To = math.MaxUint64
	case 1:
		q.From = rng.Uint64N(head + 1)
		q.To = q.From + rng.Uint64N(40)
	}
	if rng.IntN(4) > 0 {
		q.Side = transfer.Side(rng.IntN(4))
		for range 1 + rng.IntN(4) {
			x := pick()
			q.Addresses = append(q.Addresses, x.From)
			if rng.IntN(2) == 0 {
				q.Addresses = append(q.Addresses, x.To)
			}
		}
		if rng.IntN(30) == 0 { // more pairs than have lists
			for range 60 {
				q.Addresses = append(q.Addresses, pick().To)
				q.Tokens = append(q.Tokens, pick().Token)
			}
		}
	}
	if rng.IntN(2) == 0 {
		for range 1 + rng.IntN(5) {
			q.Tokens = append(q.Tokens, pick().Token)
		}
	}
	if rng.IntN(2) == 0 {
		q.Kinds = kinds
	}
	if rng.IntN(3) == 0 {
		q.Standards = []transfer.Standard{pick().Standard}
	}
	if rng.IntN(5) == 0 {
		q.TxTypes = []starknet.TxType{pick().TxType, starknet.L1Handler}
	}
	if rng.IntN(2) == 0 {
		q.Budget = event.Budget{Seeks: 1 + rng.IntN(40), Rows: 1 + rng.IntN(300), Events: 1 + rng.IntN(40)}
	}
	return q
}

// walk pages through a query.
func walk(ctx context.Context, r store.Reader, q transfer.Query) (all []transfer.Listed, early int, err error) {
	for {
		page, err := transfer.List(ctx, r, q)
		if err != nil {
			return nil, early, err
		}
		all = append(all, page.Transfers...)
		switch {
		case len(page.Transfers) > q.Limit:
			return nil, early, fmt.Errorf("a page of %d has %d transfers", q.Limit, len(page.Transfers))
		case page.Done != (page.Next == nil):
			return nil, early, fmt.Errorf("done is %v and next %v", page.Done, page.Next)
		case page.Done:
			return all, early, nil
		case q.After != nil && q.Order == event.Desc && !page.Next.Before(*q.After),
			q.After != nil && q.Order == event.Asc && !q.After.Before(*page.Next):
			return nil, early, fmt.Errorf("page after %+v goes on at %+v", *q.After, *page.Next)
		}
		if len(page.Transfers) < q.Limit {
			early++
		}
		if _, err := (block.Ref{Number: page.Next.Block, Hash: page.NextHash}).Get(ctx, r); err != nil {
			return nil, early, err
		}
		q.After = page.Next
	}
}

func same(got, want []transfer.Listed) error {
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			return fmt.Errorf("transfer %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d transfers, want %d", len(got), len(want))
	}
	return nil
}

func open(t *testing.T) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	return e
}

func follow(t *testing.T, e store.Engine, c *simnode.Chain) {
	t.Helper()
	head, _ := c.Head()
	if err := simsource.Follow(t.Context(), e, c, head); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	ctx := t.Context()
	if err := e.View(ctx, func(r store.Reader) error { fn(ctx, r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestListIsExact pages through random queries and compares with a look at every
// event of the chain.
func TestListIsExact(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 12, Blocks: 150})
	e := open(t)
	follow(t, e, c)
	all := truthOf(c).all()
	rng := rand.New(rand.NewPCG(4, 4))
	found, early := 0, 0
	view(t, e, func(ctx context.Context, r store.Reader) {
		for range some(150) {
			q := randomQuery(rng, all, 149)
			got, n, err := walk(ctx, r, q)
			if err == nil {
				err = same(got, matching(all, &q))
			}
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			found, early = found+len(got), early+n
		}
	})
	t.Logf("%d transfers of %d, %d pages ended early", found, len(all), early)
	if !raced && (found < 2000 || early < 50) {
		t.Errorf("the queries prove little: %d transfers, %d pages ended early", found, early)
	}
}

// TestEveryPageSize cuts batches in the middle.
func TestEveryPageSize(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 2, Blocks: 40, EventsPerTx: 8})
	e := open(t)
	follow(t, e, c)
	all := truthOf(c).all()
	multi := transfer.Query{To: math.MaxUint64, Standards: []transfer.Standard{transfer.ERC1155}}
	of := transfer.Query{To: math.MaxUint64}
	for _, x := range all {
		if x.Standard == transfer.ERC1155 {
			of.Addresses = append(of.Addresses, x.To)
		}
		if len(of.Addresses) == 3 {
			break
		}
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		up, upOf := multi, of
		up.Order, upOf.Order = event.Asc, event.Asc
		for _, q := range []transfer.Query{multi, of, up, upOf} {
			want := matching(all, &q)
			for q.Limit = 1; q.Limit <= 20; q.Limit++ {
				got, _, err := walk(ctx, r, q)
				if err == nil {
					err = same(got, want)
				}
				if err != nil {
					t.Fatalf("%+v: %v", q, err)
				}
			}
		}
	})
}

// TestAcrossForks: a continuation is refused exactly when its block is gone,
// and the rows of replaced blocks are gone with them.
func TestAcrossForks(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 5, Blocks: 40})
	e := open(t)
	follow(t, e, c)
	rng := rand.New(rand.NewPCG(6, 6))
	refused, resumed := 0, 0
	for range some(25) {
		all := truthOf(c).all()
		q := randomQuery(rng, all, uint64(len(truthOf(c))-1))
		q.Limit, q.From, q.To = 1+rng.IntN(6), 0, math.MaxUint64
		var page transfer.Page
		view(t, e, func(ctx context.Context, r store.Reader) {
			var err error
			if page, err = transfer.List(ctx, r, q); err != nil {
				t.Fatal(err)
			}
		})
		if rng.IntN(2) == 0 {
			c.Fork(1 + rng.IntN(10))
		}
		c.Extend(1)
		follow(t, e, c)
		now := truthOf(c)
		view(t, e, func(ctx context.Context, r store.Reader) {
			if page.Next != nil {
				_, err := block.Ref{Number: page.Next.Block, Hash: page.NextHash}.Get(ctx, r)
				if gone := now[page.Next.Block].Hash != page.NextHash; gone != errors.Is(err, block.ErrGone) {
					t.Fatalf("resume in block %d: %v; gone: %v", page.Next.Block, err, gone)
				}
				if err != nil {
					refused++
				} else {
					resumed++
				}
			}
			got, _, err := walk(ctx, r, q)
			if err == nil {
				err = same(got, matching(now.all(), &q))
			}
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
		})
	}
	if !raced && (refused == 0 || resumed == 0) {
		t.Errorf("%d continuations were refused and %d resumed", refused, resumed)
	}
}

// TestTokensOf finds the tokens of every party, with the newest block of each.
func TestTokensOf(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 7, Blocks: 60})
	e := open(t)
	follow(t, e, c)
	want := map[felt.Felt]map[felt.Felt]uint64{}
	for _, x := range truthOf(c).all() {
		for _, a := range []felt.Felt{x.From, x.To} {
			if want[a] == nil {
				want[a] = map[felt.Felt]uint64{}
			}
			want[a][x.Token] = max(want[a][x.Token], x.Block)
		}
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for a, tokens := range want {
			var all []transfer.Held
			for {
				var before *felt.Felt
				if n := len(all); n > 0 {
					before = &all[n-1].Token
				}
				page, err := transfer.TokensOf(ctx, r, a, before, 3)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, page...)
				if len(page) < 3 {
					break
				}
			}
			if len(all) != len(tokens) {
				t.Fatalf("%s has %d tokens, want %d", a, len(all), len(tokens))
			}
			for i, h := range all {
				if tokens[h.Token] != h.Block || i > 0 && h.Token.Cmp(all[i-1].Token) >= 0 {
					t.Fatalf("token %d of %s is %+v, want block %d", i, a, h, tokens[h.Token])
				}
			}
		}
	})
}

func TestBadQueries(t *testing.T) {
	e := open(t)
	many := make([]felt.Felt, 200)
	for i := range many {
		many[i] = felt.FromUint64(uint64(i))
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, c := range []struct {
			q    transfer.Query
			want error
		}{
			{transfer.Query{}, transfer.ErrLimit},
			{transfer.Query{Limit: 1001}, transfer.ErrLimit},
			{transfer.Query{Limit: 1, From: 2, To: 1}, transfer.ErrRange},
			{transfer.Query{Limit: 1, Side: transfer.In}, transfer.ErrSide},
			{transfer.Query{Limit: 1, Addresses: many}, transfer.ErrTooMany},
			{transfer.Query{Limit: 1, Tokens: many}, transfer.ErrTooMany},
			{transfer.Query{Limit: 1}, nil}, // nothing is indexed
			{transfer.Query{Limit: 1, Addresses: many[:3]}, nil},
		} {
			page, err := transfer.List(ctx, r, c.q)
			if !errors.Is(err, c.want) || err == nil && (!page.Done || len(page.Transfers) > 0) {
				t.Errorf("%+v: %+v, %v; want %v", c.q, page, err, c.want)
			}
		}
	})
}
