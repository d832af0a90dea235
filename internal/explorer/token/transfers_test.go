package token_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

// placesOf lists the transfers of blocks that match, oldest first, from the blocks alone.
func placesOf(c *simnode.Chain, match func(n uint64, t felt.Felt) bool) (out []transfer.Place) {
	head, _ := c.Head()
	for n := range head + 1 {
		for i, r := range c.BlockAt(n).Receipts {
			for _, x := range transfer.Of(r.Events) {
				if match(n, x.Token) {
					out = append(out, transfer.Place{Place: explorer.Place{Block: n, Tx: uint32(i), Log: x.Log}, Index: x.Index})
				}
			}
		}
	}
	return out
}

// TestTransfersByTimeAndSymbol: a time is a block, a symbol is the tokens that have it.
func TestTransfersByTimeAndSymbol(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 31, Blocks: 40, EventsPerTx: 6})
	head, _ := c.Head()
	e := open(t)
	follow(t, e, c, head)
	tokens := c.Tokens(head)
	first, second, name := tokens[0].Address, tokens[1].Address, "First"
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	b.Put(token.SymbolKey("Twin", first), nil)
	b.Put(token.SymbolKey("TWIN", second), nil)
	b.Put(token.MetadataKey(first), (&token.Metadata{Known: true, Name: &name, Standard: transfer.ERC20}).Encode())
	for i := range uint64(transfer.MaxTokens + 1) {
		b.Put(token.SymbolKey("common", felt.FromUint64(i)), nil)
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	at := func(n uint64) uint64 { return c.BlockAt(n).Timestamp }
	until := func(s uint64) *int64 { n := int64(s); return &n }
	never := int64(-1)
	all := transfer.Query{To: 1 << 60, Limit: 100, Order: event.Asc}
	one := all
	one.Tokens = []felt.Felt{second}
	late := all
	late.From = 30
	for name, x := range map[string]struct {
		q     token.TransferQuery
		match func(n uint64, t felt.Felt) bool
	}{
		"everything":             {token.TransferQuery{Query: all}, func(uint64, felt.Felt) bool { return true }},
		"from a time on":         {token.TransferQuery{Query: all, Since: at(10)}, func(n uint64, _ felt.Felt) bool { return n >= 10 }},
		"from between two":       {token.TransferQuery{Query: all, Since: at(10) + 1}, func(n uint64, _ felt.Felt) bool { return n > 10 }},
		"up to a time":           {token.TransferQuery{Query: all, Until: until(at(20))}, func(n uint64, _ felt.Felt) bool { return n <= 20 }},
		"up to between two":      {token.TransferQuery{Query: all, Until: until(at(20) - 1)}, func(n uint64, _ felt.Felt) bool { return n < 20 }},
		"both":                   {token.TransferQuery{Query: all, Since: at(10), Until: until(at(20))}, func(n uint64, _ felt.Felt) bool { return n >= 10 && n <= 20 }},
		"after the head":         {token.TransferQuery{Query: all, Since: at(head) + 1}, func(uint64, felt.Felt) bool { return false }},
		"before the first block": {token.TransferQuery{Query: all, Until: until(at(0) - 1)}, func(uint64, felt.Felt) bool { return false }},
		"before 1970":            {token.TransferQuery{Query: all, Until: &never}, func(uint64, felt.Felt) bool { return false }},
		"before its blocks":      {token.TransferQuery{Query: late, Until: until(at(20))}, func(uint64, felt.Felt) bool { return false }},
		"of a symbol":            {token.TransferQuery{Query: all, Symbol: "twin"}, func(_ uint64, t felt.Felt) bool { return t == first || t == second }},
		"of a symbol, one named": {token.TransferQuery{Query: one, Symbol: "twin"}, func(_ uint64, t felt.Felt) bool { return t == second }},
		"of nobody's symbol":     {token.TransferQuery{Query: all, Symbol: "nobody"}, func(uint64, felt.Felt) bool { return false }},
	} {
		view(t, e, func(ctx context.Context, r store.Reader) {
			var got []transfer.Place
			for {
				page, err := token.ListTransfers(ctx, r, x.q)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Transfers {
					got = append(got, page.Transfers[i].Place)
					if m, there := page.Metadata[page.Transfers[i].Token]; !there || (m != nil) != (page.Transfers[i].Token == first) || m != nil && *m.Name != "First" {
						t.Fatalf("%s: metadata of %s: %v", name, page.Transfers[i].Token, m)
					}
				}
				if page.Done {
					break
				}
				x.q.After = page.Next
			}
			if want := placesOf(c, x.match); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d transfers, want %d", name, len(got), len(want))
			}
		})
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		if _, err := token.ListTransfers(ctx, r, token.TransferQuery{Query: all, Symbol: "common"}); !errors.Is(err, token.ErrManyNamed) {
			t.Errorf("a symbol of too many: %v", err)
		}
	})
}

// TestTransferIdentity: what finds the same is the same, and nothing else is.
func TestTransferIdentity(t *testing.T) {
	a, b, at := felt.FromUint64(1), felt.FromUint64(2), int64(5)
	base := token.TransferQuery{Query: transfer.Query{Addresses: []felt.Felt{a, b}, Tokens: []felt.Felt{b}, To: 9, Limit: 5}}
	same := base
	same.Addresses, same.Limit, same.After = []felt.Felt{b, a}, 7, &transfer.Place{}
	if base.Identity() != same.Identity() {
		t.Error("order, limit or place make another query")
	}
	seen := []string{base.Identity()}
	for i, change := range []func(q *token.TransferQuery){
		func(q *token.TransferQuery) { q.Addresses = []felt.Felt{a} },
		func(q *token.TransferQuery) { q.Addresses, q.Tokens = []felt.Felt{a}, []felt.Felt{b, b} },
		func(q *token.TransferQuery) { q.From = 1 },
		func(q *token.TransferQuery) { q.To = 8 },
		func(q *token.TransferQuery) { q.Side = transfer.In },
		func(q *token.TransferQuery) { q.Standards = []transfer.Standard{transfer.ERC20} },
		func(q *token.TransferQuery) { q.Order = event.Asc },
		func(q *token.TransferQuery) { q.Symbol = "x" },
		func(q *token.TransferQuery) { q.Since = 5 },
		func(q *token.TransferQuery) { q.Until = &at },
	} {
		q := base
		change(&q)
		if slices.Contains(seen, q.Identity()) {
			t.Errorf("change %d makes no other query", i)
		}
		seen = append(seen, q.Identity())
	}
}

// TestTransfersOfTransaction: every transfer has the standard of its token at the
// block, and a bound keeps the first ones. What only a call can tell is not certain.
func TestTransfersOfTransaction(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 32, Blocks: 30, EventsPerTx: 8})
	head, _ := c.Head()
	e := open(t)
	follow(t, e, c, head)
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	kinds, called := map[felt.Felt]transfer.Standard{}, map[felt.Felt]bool{}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, k := range c.Tokens(head) {
			want := map[simnode.Standard]transfer.Standard{simnode.ERC20: transfer.ERC20, simnode.ERC721: transfer.ERC721, simnode.ERC1155: transfer.ERC1155}[k.Standard]
			kinds[k.Address] = want
			told, err := token.KindsByClass(ctx, r, []felt.Felt{k.Address}, head)
			if err != nil {
				t.Fatal(err)
			}
			if told[0] == transfer.Ambiguous { // behind a proxy
				called[k.Address] = true
				b.Put(token.MetadataKey(k.Address), (&token.Metadata{Known: true, Standard: want}).Encode())
			}
		}
	})
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	sure, unsure := 0, 0
	view(t, e, func(ctx context.Context, r store.Reader) {
		for n := range head + 1 {
			records, err := transaction.OfBlock(ctx, r, n, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range records {
				plain := transfer.Of(x.Receipt.Events)
				list, total, certain, err := token.TransfersOf(ctx, r, x, 2)
				if err != nil || total != len(plain) || len(list) != min(2, total) {
					t.Fatalf("block %d: %d of %d transfers, want those of %d: %v", n, len(list), total, len(plain), err)
				}
				known := true
				for i := range list {
					if want := kinds[list[i].Token]; list[i].Standard != want || list[i].Log != plain[i].Log {
						t.Errorf("block %d: %+v, want %s", n, list[i], want)
					}
					known = known && !called[list[i].Token]
				}
				if certain != known {
					t.Errorf("block %d: certain %t of %+v", n, certain, list)
				}
				if certain {
					sure += len(list)
				} else {
					unsure += len(list)
				}
			}
		}
	})
	if sure < 20 || unsure == 0 {
		t.Errorf("%d certain transfers and %d others", sure, unsure)
	}
}
