package metadata_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// check holds everything that is known against the chain.
func (w *world) check() {
	w.t.Helper()
	head, _ := w.chain.Head()
	if w.head().Number != head {
		w.t.Fatalf("the index is at %d, the chain at %d", w.head().Number, head)
	}
	forms := map[bool]int{}
	for _, k := range w.chain.Tokens(head) {
		var totals token.Totals
		var found bool
		w.view(func(ctx context.Context, r store.Reader) (err error) {
			totals, found, err = token.TotalsOf(ctx, r, k.Address)
			return err
		})
		m := w.of(k.Address)
		if !found && m == nil {
			continue // it is asked when the classes are looked through
		}
		if m == nil || !m.Known {
			w.t.Errorf("%s (%q) is not known: %+v, %d transfers", k.Address, k.Symbol, m, totals.Transfers)
			continue
		}
		want := map[simnode.Standard]transfer.Standard{simnode.ERC20: transfer.ERC20, simnode.ERC721: transfer.ERC721, simnode.ERC1155: transfer.ERC1155}[k.Standard]
		if m.Standard != want {
			w.t.Errorf("%q is %s, want %s", k.Symbol, m.Standard, want)
		}
		if b := w.chain.BlockAt(m.Block); b == nil || b.Hash != m.BlockHash {
			w.t.Errorf("%q was read at block %d, which is no more", k.Symbol, m.Block)
		}
		if k.Standard == simnode.ERC1155 {
			if m.Name != nil || m.Decimals != nil {
				w.t.Errorf("a multi token has a name or decimals: %+v", m)
			}
			continue
		}
		if m.Name == nil || m.Symbol == nil || !utf8.ValidString(*m.Name) || utf8.RuneCountInString(*m.Name) > 128 || strings.ContainsAny(*m.Name+*m.Symbol, "\x00\x1b\r\n\u202e\u200b") {
			w.t.Errorf("name and symbol of %q are %v and %v", k.Symbol, m.Name, m.Symbol)
			continue
		}
		plain := k.Symbol != "" && !strings.ContainsFunc(k.Symbol, func(r rune) bool { return r < 0x20 || r > 0x7e })
		if plain && *m.Symbol != k.Symbol {
			w.t.Errorf("symbol of %q is %q", k.Symbol, *m.Symbol)
		}
		if plain && !strings.HasPrefix(k.Name, *m.Name) {
			w.t.Errorf("name of %q is %q, want %q", k.Symbol, *m.Name, k.Name)
		}
		if plain {
			forms[len(*m.Name) > 31]++
		}
		if k.Standard == simnode.ERC20 {
			if m.Decimals == nil || *m.Decimals != k.Decimals {
				w.t.Errorf("decimals of %q are %v, want %d", k.Symbol, m.Decimals, k.Decimals)
			}
			if m.Supply == nil || new(big.Int).SetBytes(m.Supply[:]).Cmp(w.chain.SupplyAt(k.Address, m.Block)) != 0 {
				w.t.Errorf("supply of %q at block %d is %v, want %s", k.Symbol, m.Block, m.Supply, w.chain.SupplyAt(k.Address, m.Block))
			}
		} else if m.Decimals != nil {
			w.t.Errorf("an NFT has %d decimals", *m.Decimals)
		}
		w.view(func(ctx context.Context, r store.Reader) error {
			list, err := token.WithSymbol(ctx, r, strings.ToUpper(*m.Symbol), 1000)
			for _, a := range list {
				if a == k.Address {
					return err
				}
			}
			w.t.Errorf("%q is not found by its symbol", *m.Symbol)
			return err
		})
	}
	if forms[true] == 0 || forms[false] == 0 {
		w.t.Errorf("names of both forms: %v", forms)
	}
}

// TestTruth compares with the chain, across growth and forks.
func TestTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 90, 2*time.Second)
		time.Sleep(time.Minute)
		w.check()
		for i := range 6 {
			if i%2 == 0 {
				w.chain.Fork(10 + 5*i)
			}
			w.chain.Extend(15)
			time.Sleep(time.Minute)
			w.check()
		}
		if w.source.most > 3 {
			t.Errorf("%d calls at a time", w.source.most)
		}
	})
}

// TestAwayNode: nothing is lost while nobody answers, and nobody is hammered.
func TestAwayNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 0, time.Minute)
		w.source.set(true)
		w.chain.Extend(60)
		time.Sleep(time.Hour)
		tokens := len(w.chain.Tokens(59))
		first := w.source.set(true)
		if first == 0 || first > 12*tokens {
			t.Errorf("%d calls in an hour for %d tokens", first, tokens)
		}
		time.Sleep(24 * time.Hour)
		if more := w.source.set(true) - first; more == 0 || more > 12*tokens {
			t.Errorf("%d calls in a day for %d tokens", more, tokens)
		}
		strk := w.of(w.chain.Tokens(59)[0].Address)
		if strk == nil || strk.Known || strk.Failures < 5 {
			t.Errorf("STRK is %+v", strk)
		}
		w.stop() // the queue survives
		w.source.set(false)
		w.run()
		time.Sleep(7 * time.Hour)
		w.check()
	})
}

// TestRefresh: an answer is asked for again when the token was used, and
// seldom when it was not; when nobody answers, the old one stays.
func TestRefresh(t *testing.T) {
	skipRaced(t)
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 40, 10*time.Minute)
		time.Sleep(time.Hour)
		strk := w.chain.Tokens(39)[0].Address
		before := w.of(strk)
		calls := w.source.set(false)
		time.Sleep(3 * 24 * time.Hour)
		if got := w.source.set(false) - calls; got != 0 {
			t.Errorf("%d calls for tokens that nobody used", got)
		}
		w.chain.Extend(30)
		time.Sleep(30 * time.Hour)
		after := w.of(strk)
		if after.Block <= before.Block || after.Time <= before.Time || after.BlockHash != w.chain.BlockAt(after.Block).Hash {
			t.Errorf("STRK was read at block %d and then at %d", before.Block, after.Block)
		}
		w.check()
		w.chain.Extend(5)
		w.source.set(true)
		time.Sleep(30 * time.Hour)
		last := w.of(strk)
		if !last.Known || last.Failures == 0 || last.Block != after.Block || *last.Symbol != "STRK" {
			t.Errorf("while nobody answers STRK is %+v", last)
		}
	})
}

// TestCatchingUp: what was answered while the index was catching up is asked for
// again soon, and not after hours.
func TestCatchingUp(t *testing.T) {
	w := newIdle(t, 20)
	due := func(ahead uint64) time.Duration {
		t.Helper()
		w.commit(func(b *store.Batch) {
			b.Put(chain.SeenKey, chain.Seen{Head: chain.SeenHead{Number: w.head().Number + ahead}}.Encode())
		})
		w.catchUp(time.Unix(int64(1e9*(ahead+1)), 0))
		m := w.of(w.chain.Tokens(19)[0].Address)
		return time.Duration(m.Due-m.Time) * time.Second
	}
	if got := due(21); got != 10*time.Minute {
		t.Errorf("asked while catching up, and again after %s", got)
	}
	w = newIdle(t, 20)
	if got := due(20); got != 6*time.Hour {
		t.Errorf("asked near the head, and again after %s", got)
	}
}

// TestFsck: what the job wrote is sound, across forks and failures, and a row
// that is taken away is noticed.
func TestFsck(t *testing.T) {
	skipRaced(t)
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 60, time.Minute)
		time.Sleep(time.Hour)
		w.chain.Fork(20)
		w.chain.Extend(10)
		w.source.set(true)
		time.Sleep(7 * time.Hour)
		w.source.set(false)
		time.Sleep(7 * time.Hour)
		w.stop()
		check := func() []string {
			scratch := pebbletest.Open(t, catalog.Tables())
			r, err := fsck.Check(t.Context(), fsck.Options{Store: w.engine, Scratch: scratch})
			if err != nil {
				t.Fatal(err)
			}
			return r.Problems
		}
		if p := check(); len(p) > 0 {
			t.Fatalf("problems: %v", p)
		}
		strk := w.chain.Tokens(0)[0].Address
		m := w.of(strk)
		for _, k := range []store.Key{token.MetadataKey(strk), token.QueueKey(m.Due, strk), token.ReadKey(m.Block, strk), token.SymbolKey("STRK", strk)} {
			change := func(fn func(b *store.Batch)) {
				lease, err := w.engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				b := &store.Batch{Epoch: lease.Epoch}
				fn(b)
				if err := errors.Join(w.engine.Commit(t.Context(), b), w.engine.Release(t.Context(), lease)); err != nil {
					t.Fatal(err)
				}
			}
			var was []byte
			w.view(func(ctx context.Context, r store.Reader) (err error) {
				was, err = r.Get(ctx, k)
				return err
			})
			change(func(b *store.Batch) { b.Delete(k) })
			if p := check(); len(p) == 0 {
				t.Errorf("a row of %s is gone and nobody noticed", k.Table.Name)
			}
			change(func(b *store.Batch) { b.Put(k, was) })
		}
	})
}
