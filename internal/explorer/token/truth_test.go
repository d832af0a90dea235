package token_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

func open(t testing.TB) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	return e
}

func view(t testing.TB, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	ctx := t.Context()
	if err := e.View(ctx, func(r store.Reader) error { fn(ctx, r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// account is what a reader of all events knows of a holder.
type account struct {
	amount, units  *big.Int
	sent, received bool
	block          uint64
}

// book is what a reader of all events knows of a token.
type book struct {
	token.Totals
	supply   *big.Int
	accounts map[felt.Felt]*account
}

func (b *book) of(holder felt.Felt, block uint64) *account {
	a := b.accounts[holder]
	if a == nil {
		a = &account{amount: new(big.Int), units: new(big.Int)}
		b.accounts[holder] = a
	}
	a.block = block
	return a
}

// read adds up the events of blocks, one by one, in the plainest way.
func read(c *simnode.Chain, last uint64) map[felt.Felt]*book {
	books := map[felt.Felt]*book{}
	for n := range last + 1 {
		b := c.BlockAt(n)
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				e := &b.Receipts[i].Events[j]
				list, malformed := transfer.Decode(e)
				if !malformed && len(list) == 0 {
					continue
				}
				k := books[e.From]
				if k == nil {
					k = &book{supply: new(big.Int), accounts: map[felt.Felt]*account{}}
					books[e.From] = k
				}
				if malformed {
					k.Malformed++
				}
				for _, x := range list {
					k.add(&x, n)
				}
			}
		}
	}
	for _, k := range books {
		k.count()
	}
	return books
}

func (b *book) add(x *transfer.Transfer, n uint64) {
	one := big.NewInt(1)
	v := new(big.Int).SetBytes(x.Value[:])
	if b.Transfers == 0 {
		b.First = n
	}
	b.Transfers, b.Latest = b.Transfers+1, n
	if x.From.IsZero() {
		b.supply.Add(b.supply, v)
		b.SupplyUnits++
		b.Mints++
	} else {
		a := b.of(x.From, n)
		a.amount.Sub(a.amount, v)
		a.units.Sub(a.units, one)
		a.sent = true
	}
	if x.To.IsZero() {
		b.supply.Sub(b.supply, v)
		b.SupplyUnits--
		b.Burns++
	} else {
		a := b.of(x.To, n)
		a.amount.Add(a.amount, v)
		a.units.Add(a.units, one)
		a.received = true
	}
	if x.From == x.To && !x.From.IsZero() {
		b.SelfTransfers++
	}
}

func (b *book) count() {
	b.Senders, b.Receivers, b.Holders, b.UnitHolders, b.Negative, b.NegativeUnits = 0, 0, 0, 0, 0, 0
	for _, a := range b.accounts {
		for _, c := range []struct {
			n    *uint64
			tell bool
		}{
			{&b.Senders, a.sent}, {&b.Receivers, a.received}, {&b.Holders, a.amount.Sign() != 0}, {&b.UnitHolders, a.units.Sign() != 0},
			{&b.Negative, a.amount.Sign() < 0}, {&b.NegativeUnits, a.units.Sign() < 0},
		} {
			if c.tell {
				*c.n++
			}
		}
	}
}

// compare holds the rows of an index at its head against the events.
func compare(ctx context.Context, r store.Reader, books map[felt.Felt]*book, head uint64) error {
	for address, want := range books {
		got, found, err := token.TotalsOf(ctx, r, address)
		if err != nil || !found {
			return fmt.Errorf("totals of %s: found %v, %w", address, found, err)
		}
		if got.Supply.Big().Cmp(want.supply) != 0 {
			return fmt.Errorf("supply of %s is %s, want %s", address, got.Supply, want.supply)
		}
		seen := got
		seen.Supply, seen.Layouts = token.Amount{}, 0
		if seen != want.Totals {
			return fmt.Errorf("totals of %s are %+v, want %+v", address, seen, want.Totals)
		}
		if got.Saw(transfer.Malformed) != (want.Malformed > 0) {
			return fmt.Errorf("layouts of %s are %b", address, got.Layouts)
		}
		n := 0
		for h, err := range token.Holders(ctx, r, address, head, nil) {
			if err != nil {
				return err
			}
			n++
			a := want.accounts[h.Holder]
			if a == nil || h.Amount.Big().Cmp(a.amount) != 0 || big.NewInt(h.Units).Cmp(a.units) != 0 || h.Block != a.block ||
				h.Sent != a.sent || h.Received != a.received {
				return fmt.Errorf("%s of %s is %+v, want %+v", h.Holder, address, h.Balance, a)
			}
		}
		if n != len(want.accounts) {
			return fmt.Errorf("%s has %d accounts, want %d", address, n, len(want.accounts))
		}
	}
	return nil
}

// chainSays holds the rows against what the chain's contracts know.
func chainSays(ctx context.Context, r store.Reader, c *simnode.Chain, n uint64) error {
	for _, k := range c.Tokens(n) {
		if k.Standard != simnode.ERC20 || k.Lie != simnode.Honest {
			continue
		}
		totals, _, err := token.TotalsOf(ctx, r, k.Address)
		if err != nil {
			return err
		}
		if want := c.SupplyAt(k.Address, n); totals.Supply.Big().Cmp(want) != 0 {
			return fmt.Errorf("supply of %s is %s, the contract says %s", k.Symbol, totals.Supply, want)
		}
		holders := c.Holders(k.Address, n)
		if totals.Holders != uint64(len(holders)) || totals.Negative != 0 {
			return fmt.Errorf("%s has %d holders, %d negative, the contract has %d", k.Symbol, totals.Holders, totals.Negative, len(holders))
		}
		pairs := make([]token.Pair, len(holders))
		for i, h := range holders {
			pairs[i] = token.Pair{Token: k.Address, Holder: h.Address}
		}
		balances, err := token.BalancesNow(ctx, r, pairs)
		if err != nil {
			return err
		}
		for i, h := range holders {
			if balances[i].Amount.Big().Cmp(h.Balance) != 0 {
				return fmt.Errorf("%s of %s is %s, the contract says %s", h.Address, k.Symbol, balances[i].Amount, h.Balance)
			}
		}
	}
	return nil
}

func follow(t testing.TB, e store.Engine, c *simnode.Chain, n uint64) {
	t.Helper()
	if err := simsource.Follow(t.Context(), e, c, n); err != nil {
		t.Fatal(err)
	}
}

// TestEveryBlock compares after every block, and across forks.
func TestEveryBlock(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 21, Blocks: 70, EventsPerTx: 6})
	e := open(t)
	check := func(n uint64) {
		t.Helper()
		follow(t, e, c, n)
		view(t, e, func(ctx context.Context, r store.Reader) {
			if err := compare(ctx, r, read(c, n), n); err != nil {
				t.Fatalf("block %d: %v", n, err)
			}
			if err := chainSays(ctx, r, c, n); err != nil {
				t.Fatalf("block %d: %v", n, err)
			}
		})
	}
	for n := range uint64(70) {
		check(n)
	}
	rng := rand.New(rand.NewPCG(1, 8))
	for range 12 {
		c.Fork(1 + rng.IntN(25))
		c.Extend(1)
		head, _ := c.Head()
		check(head)
	}
}

// TestPast asks for the balance of everybody at every block, by seeks and as
// the stream of holders.
func TestPast(t *testing.T) {
	const last = 60
	c := simnode.New(simnode.Config{Seed: 22, Blocks: last + 1})
	e := open(t)
	follow(t, e, c, last)
	view(t, e, func(ctx context.Context, r store.Reader) {
		everybody := read(c, last)
		for n := range uint64(last + 3) {
			books := read(c, min(n, last))
			for address, all := range everybody {
				pairs := []token.Pair{}
				for holder := range all.accounts {
					pairs = append(pairs, token.Pair{Token: address, Holder: holder})
				}
				if n%20 != 0 { // all of them take long
					pairs = pairs[:min(len(pairs), 12)]
				}
				balances, err := token.BalancesAt(ctx, r, pairs, n)
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range pairs {
					one, err := token.BalanceAt(ctx, r, p.Token, p.Holder, n)
					if err != nil || one != balances[i] {
						t.Fatalf("%+v at block %d: %+v, %+v, %v", p, n, one, balances[i], err)
					}
					want := new(big.Int)
					if k := books[address]; k != nil && k.accounts[p.Holder] != nil {
						want = k.accounts[p.Holder].amount
					}
					if one.Amount.Big().Cmp(want) != 0 {
						t.Fatalf("%+v at block %d: %s, want %s", p, n, one.Amount, want)
					}
				}
				held := 0
				var after felt.Felt
				for h, err := range token.Holders(ctx, r, address, n, nil) {
					if err != nil {
						t.Fatal(err)
					}
					if a := books[address].accounts[h.Holder]; a == nil || a.amount.Cmp(h.Amount.Big()) != 0 || a.block != h.Block {
						t.Fatalf("holder %s of %s at block %d: %+v", h.Holder, address, n, h)
					}
					if held++; held == 2 {
						after = h.Holder
					}
				}
				if books[address] != nil && held != len(books[address].accounts) {
					t.Fatalf("block %d: %d holders of %s, want %d", n, held, address, len(books[address].accounts))
				}
				if held > 2 {
					rest := 2
					for range token.Holders(ctx, r, address, n, &after) {
						rest++
					}
					if rest != held {
						t.Fatalf("block %d: %d holders of %s from the third on, want %d", n, rest, address, held)
					}
				}
			}
		}
	})
}

// TestUnits: the balance of an NFT collection is a count, whatever its layout.
func TestUnits(t *testing.T) {
	const last = 120
	c := simnode.New(simnode.Config{Seed: 3, Blocks: last + 1, EventsPerTx: 6})
	e := open(t)
	follow(t, e, c, last)
	layouts := map[transfer.Layout]int{}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, k := range c.Tokens(last) {
			if k.Standard != simnode.ERC721 {
				continue
			}
			totals, found, err := token.TotalsOf(ctx, r, k.Address)
			if err != nil || !found {
				continue // nothing moved yet
			}
			for _, l := range []transfer.Layout{transfer.AllInData, transfer.AllKeyed} {
				if totals.Saw(l) {
					layouts[l]++
				}
			}
			owned, all := map[felt.Felt]int64{}, int64(0)
			for n := range uint64(totals.Mints) {
				if owner := c.OwnerAt(k.Address, n, last); !owner.IsZero() {
					owned[owner]++
					all++
				}
			}
			if got := totals.SupplyOf(transfer.ERC721).Big().Int64(); got != all {
				t.Errorf("%s has %d NFTs, want %d", k.Address, got, all)
			}
			if totals.HoldersOf(transfer.ERC721) != uint64(len(owned)) || totals.NegativeOf(transfer.ERC721) != 0 {
				t.Errorf("%s has %d owners, %d negative, want %d", k.Address, totals.UnitHolders, totals.NegativeUnits, len(owned))
			}
			for h, err := range token.Holders(ctx, r, k.Address, last, nil) {
				if amount := h.Of(transfer.ERC721); err != nil || amount.Big().Int64() != owned[h.Holder] {
					t.Errorf("%s owns %s of %s, want %d", h.Holder, amount, k.Address, owned[h.Holder])
				}
			}
		}
	})
	if layouts[transfer.AllInData] == 0 || layouts[transfer.AllKeyed] == 0 {
		t.Errorf("layouts of collections: %v", layouts)
	}
}

// TestFirstSeen pages through the tokens in the order of their first events.
func TestFirstSeen(t *testing.T) {
	const last = 80
	c := simnode.New(simnode.Config{Seed: 23, Blocks: last + 1})
	e := open(t)
	follow(t, e, c, last)
	want := map[felt.Felt]uint64{}
	for n := range uint64(last + 1) {
		b := c.BlockAt(n)
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				ev := &b.Receipts[i].Events[j]
				list, malformed := transfer.Decode(ev)
				if _, there := want[ev.From]; !there && (malformed || len(list) > 0) {
					want[ev.From] = n
				}
			}
		}
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, until := range []uint64{0, 40, last, last + 10_000} {
			got := map[felt.Felt]uint64{}
			var from token.First
			for done := false; !done; {
				var page []token.First
				var err error
				if page, from, done, err = token.FirstSeen(ctx, r, from, until, 3, 2); err != nil {
					t.Fatal(err)
				}
				for _, f := range page {
					if _, twice := got[f.Token]; twice || f.Block > until {
						t.Fatalf("%+v came twice, or too late", f)
					}
					got[f.Token] = f.Block
				}
			}
			if from.Block != until+1 {
				t.Errorf("ends at %+v, want behind block %d", from, until)
			}
			for a, n := range want {
				if b, there := got[a]; there != (n <= until) || there && b != n {
					t.Errorf("%s was first seen in block %d, found %v %d", a, n, there, b)
				}
			}
		}
	})
}
