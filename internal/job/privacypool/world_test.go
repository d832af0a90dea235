package privacypool_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

const depth = 7

var errKilled = errors.New("killed")

// world is a simulated chain with a privacy pool, its index, and the job's settings.
type world struct {
	t      *testing.T
	chain  *simnode.Chain
	engine store.Engine
	source index.Source
	pools  []registry.PrivacyPool
	now    time.Time

	events, hours, rows int // of a step; the defaults when zero
}

func newWorld(t *testing.T, c simnode.Config) *world {
	t.Helper()
	c.L1Lag = -1
	w := &world{t: t, chain: simnode.New(c), now: time.Unix(1_900_000_000, 0)}
	srv := httptest.NewServer(simnode.NewNode(w.chain, simnode.NodeConfig{}))
	t.Cleanup(srv.Close)
	pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, PollInterval: time.Millisecond, HealthInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.source = &index.Nodes{Pool: pool}
	known, err := registry.New(w.chain.Network().Registry())
	if err != nil {
		t.Fatal(err)
	}
	w.pools = known.PrivacyPools()
	w.engine = memory(t)
	w.catchUp()
	return w
}

func memory(t *testing.T) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	return e
}

// fresh is another index of the same chain.
func (w *world) fresh(e store.Engine) *world {
	w.t.Helper()
	other := *w
	other.engine, other.events, other.hours, other.rows = e, 0, 0, 0
	other.catchUp()
	return &other
}

func (w *world) catchUp() {
	w.t.Helper()
	head, _ := w.chain.Head()
	x, err := index.New(index.Options{Store: w.engine, Source: w.source, Verify: index.VerifyOff, PollInterval: time.Millisecond, NoClasses: true, ForkPatience: time.Nanosecond})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := x.RunTo(w.t.Context(), head); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) job() *privacypool.Job {
	return &privacypool.Job{Store: w.engine, Pools: w.pools, Depth: depth, StepEvents: w.events, StepHours: w.hours, StepRows: w.rows, Now: func() time.Time { return w.now }}
}

// run steps until nothing is left; disturb sees every commit first, and the job begins
// anew after an error of it. It is told of every commit that was made.
func (w *world) run(disturb func() error, committed func()) {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), "job/privacy-pool", "jobs", time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	defer w.engine.Release(w.t.Context(), lease) //nolint:errcheck // in memory
	commit := func(ctx context.Context, b *store.Batch) error {
		if disturb != nil {
			if err := disturb(); err != nil {
				return err
			}
		}
		b.Under(lease)
		return w.engine.Commit(ctx, b)
	}
	for more := true; more; {
		if more, err = w.job().Step(w.t.Context(), commit); err != nil {
			if !errors.Is(err, errKilled) {
				w.t.Fatal(err)
			}
			more = true
		} else if committed != nil {
			committed()
		}
	}
}

func (w *world) view(fn func(r store.Reader)) {
	w.t.Helper()
	err := w.engine.View(w.t.Context(), func(r store.Reader) error {
		fn(r)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// read is the ledger that readers see; nil when there is none.
func (w *world) read() (l *ledger.Ledger) {
	w.t.Helper()
	w.view(func(r store.Reader) {
		var err error
		if l, err = ledger.Read(w.t.Context(), r, w.pools); err != nil && !errors.Is(err, ledger.ErrMissing) {
			w.t.Fatal(err)
		}
	})
	return l
}

// dump is all rows of generations, without their numbers.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	w.view(func(r store.Reader) {
		s, err := ledger.ReadState(w.t.Context(), r)
		if err != nil {
			w.t.Fatal(err)
		}
		if g := s.Serving; g != nil {
			g.Number, g.Request = 0, 0
		}
		s.Last = 0
		fmt.Fprintln(&b, hex.EncodeToString(s.Encode())) //nolint:errcheck // a builder never fails
		for _, table := range ledger.Kept() {
			for e, err := range r.Walk(w.t.Context(), table, nil) {
				if err != nil {
					w.t.Fatal(err)
				}
				fmt.Fprintln(&b, table.Name, hex.EncodeToString(e.Sort), hex.EncodeToString(e.Value)) //nolint:errcheck // as above
			}
		}
	})
	return b.String()
}

// tokens is what the chain knows of each token that its pool moved up to a block.
func (w *world) tokens(through uint64) map[felt.Felt]simnode.PoolTotals {
	out := map[felt.Felt]simnode.PoolTotals{}
	for _, f := range w.chain.PoolFacts(0, through) {
		switch f.Kind {
		case simnode.PoolDeposit, simnode.PoolOpenNoteDeposited, simnode.PoolWithdrawal:
			out[f.Token] = w.chain.PoolAt(f.Token, through)
		}
	}
	return out
}

// sameAssets holds assets against the chain's own books.
func (w *world) sameAssets(assets []ledger.Asset, through uint64, zeros bool) {
	w.t.Helper()
	want := w.tokens(through)
	if !zeros {
		for token, totals := range want {
			if totals.Protected.Sign() == 0 {
				delete(want, token)
			}
		}
	}
	if len(assets) != len(want) {
		w.t.Fatalf("block %d: %d assets, want %d", through, len(assets), len(want))
	}
	for i := range assets {
		a := &assets[i]
		totals, ok := want[a.Token]
		if !ok || a.Deposited.Cmp(totals.Deposited) != 0 || a.Withdrawn.Cmp(totals.Withdrawn) != 0 || a.Protected().Cmp(totals.Protected) != 0 ||
			a.Deposits != uint64(totals.Deposits) || a.OpenDeposits != uint64(totals.OpenDeposits) || a.Withdrawals != uint64(totals.Withdrawals) || !a.Complete() {
			w.t.Fatalf("block %d: %+v, want %+v", through, a, totals)
		}
	}
}

func sum(list []ledger.Flow) (in, out *big.Int) {
	in, out = new(big.Int), new(big.Int)
	for i := range list {
		in.Add(in, list[i].In)
		out.Add(out, list[i].Out)
	}
	return in, out
}
