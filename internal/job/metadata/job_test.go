package metadata_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/job"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// source counts calls, and can be away.
type source struct {
	simsource.Source

	mu    sync.Mutex
	away  bool
	calls int
	asked map[felt.Felt]int
	now   int // calls at this moment
	most  int
}

func (s *source) Call(ctx context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error) {
	s.mu.Lock()
	s.calls++
	s.asked[contract]++
	s.now++
	s.most = max(s.most, s.now)
	away := s.away
	s.mu.Unlock()
	time.Sleep(time.Millisecond) // virtual
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	if away {
		return nil, errors.New("connection refused")
	}
	return s.Source.Call(ctx, block, contract, selector, calldata)
}

func (s *source) set(away bool) (calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
	return s.calls
}

// world runs an indexer with the job, in virtual time.
type world struct {
	t      *testing.T
	chain  *simnode.Chain
	engine *pebble.Engine
	source *source
	stop   func()
	poll   time.Duration
}

func start(t *testing.T, blocks int, poll time.Duration) *world {
	t.Helper()
	w := &world{t: t, poll: poll, chain: simnode.New(simnode.Config{Seed: 31, Blocks: blocks})}
	w.source = &source{Source: simsource.Source{Chain: w.chain}, asked: map[felt.Felt]int{}}
	var err error
	if w.engine, err = pebble.OpenMem(catalog.Tables()); err != nil {
		t.Fatal(err)
	}
	w.run()
	t.Cleanup(func() {
		w.stop()
		w.engine.Close() //nolint:errcheck // in memory
	})
	return w
}

func (w *world) run() {
	j := metadata.New(metadata.Job{Store: w.engine, Source: w.source, Parallel: 3, Poll: w.poll})
	x, err := index.New(index.Options{Store: w.engine, Source: w.source, Verify: index.VerifyOff, PollInterval: w.poll, L1Interval: time.Hour, TTL: 1000 * time.Hour,
		ForkPatience: time.Nanosecond, AllowForkBelowL1: new(uint64)})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := job.New(job.Options{Store: w.engine, Chain: w.chain.Network().ChainID, Jobs: []job.Job{j}, TTL: 5 * w.poll})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 2)
	go func() { done <- x.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	var once sync.Once
	w.stop = func() {
		once.Do(func() {
			cancel()
			for range cap(done) {
				if err := <-done; err != nil {
					w.t.Error(err)
				}
			}
		})
	}
}

func (w *world) view(fn func(ctx context.Context, r store.Reader) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.engine.View(ctx, func(r store.Reader) error { return fn(ctx, r) }); err != nil {
		w.t.Fatal(err)
	}
}

// of reads what is known of a token.
func (w *world) of(address felt.Felt) (m *token.Metadata) {
	w.t.Helper()
	w.view(func(ctx context.Context, r store.Reader) error {
		list, err := token.MetadataOf(ctx, r, []felt.Felt{address})
		m = list[0]
		return err
	})
	return m
}

func (w *world) head() (h chain.Head) {
	w.view(func(ctx context.Context, r store.Reader) error {
		s, err := chain.Read(ctx, r)
		h = s.Head
		return err
	})
	return h
}

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
		lease, err := w.engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b := &store.Batch{Epoch: lease.Epoch}
		b.Put(chain.SeenKey, chain.Seen{Head: chain.SeenHead{Number: w.head().Number + ahead}}.Encode())
		if err := w.engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		j := metadata.New(metadata.Job{Store: w.engine, Source: w.source, Now: func() time.Time { return time.Unix(int64(1e9*(ahead+1)), 0) }})
		err = j.CatchUp(t.Context(), func(ctx context.Context, b *store.Batch) error {
			b.Epoch = lease.Epoch
			return w.engine.Commit(ctx, b)
		})
		if err != nil {
			t.Fatal(err)
		}
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

// newIdle is a world that is indexed, and in which nothing runs.
func newIdle(t *testing.T, blocks int) *world {
	t.Helper()
	w := &world{t: t, chain: simnode.New(simnode.Config{Seed: 31, Blocks: blocks})}
	w.source = &source{Source: simsource.Source{Chain: w.chain}, asked: map[felt.Felt]int{}}
	var err error
	w.engine = pebbletest.Open(t, catalog.Tables())
	x, err := index.New(index.Options{Store: w.engine, Source: w.source, Verify: index.VerifyOff})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.RunTo(t.Context(), uint64(blocks-1)); err != nil {
		t.Fatal(err)
	}
	return w
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

// skipRaced leaves out days of virtual time, which the race detector makes long.
// 'make test' runs these tests without it.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("days of virtual time: run without the race detector")
	}
}
