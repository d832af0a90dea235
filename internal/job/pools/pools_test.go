package pools_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	rows "chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/pools"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

const depth = 7

type world struct {
	t      *testing.T
	chain  *simnode.Chain
	engine pebble.Engine
	source index.Source
	known  *registry.Chain
}

func newWorld(t *testing.T, blocks int) *world {
	t.Helper()
	w := &world{t: t, chain: simnode.New(simnode.Config{Seed: 3, Blocks: blocks, L1Lag: -1})}
	srv := httptest.NewServer(simnode.NewNode(w.chain, simnode.NodeConfig{}))
	t.Cleanup(srv.Close)
	pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, PollInterval: time.Millisecond, HealthInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.source = &index.Nodes{Pool: pool}
	if w.known, err = registry.New(w.chain.Network().Registry()); err != nil {
		t.Fatal(err)
	}
	w.engine = pebbletest.Open(t, catalog.Tables())
	w.catchUp()
	return w
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

// run steps until nothing is left; disturb sees every commit first, and the
// job begins anew after an error.
func (w *world) run(j *pools.Job, disturb func() error) {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), store.Writer, "jobs", time.Hour)
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
		b.Epoch = lease.Epoch
		return w.engine.Commit(ctx, b)
	}
	for more := true; more; {
		if more, err = j.Step(w.t.Context(), commit); err != nil {
			if !errors.Is(err, errKilled) {
				w.t.Fatal(err)
			}
			more = true
		}
	}
}

var errKilled = errors.New("killed")

// dump is all rows.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	err := w.engine.View(w.t.Context(), func(r store.Reader) error {
		for _, table := range rows.Enrichment() {
			for e, err := range r.Walk(w.t.Context(), table, nil) {
				if err != nil {
					return err
				}
				fmt.Fprintln(&b, table.Name, hex.EncodeToString(e.Partition), hex.EncodeToString(e.Sort), hex.EncodeToString(e.Value)) //nolint:errcheck // a builder never fails
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// TestSameRows: whatever the size of the steps, kills and forks on the way, the
// rows are those of one undisturbed reading of the chain.
func TestSameRows(t *testing.T) {
	w := newWorld(t, 90)
	clean := func() string {
		fresh := &world{t: t, chain: w.chain, source: w.source, known: w.known}
		fresh.engine = pebbletest.Open(t, catalog.Tables())
		fresh.catchUp()
		fresh.run(&pools.Job{Store: fresh.engine, Dexes: w.known.Dexes(), Depth: depth}, nil)
		return fresh.dump()
	}
	rng := rand.New(rand.NewPCG(1, 1))
	killed := func() error {
		if rng.IntN(3) == 0 {
			return errKilled
		}
		return nil
	}
	for _, step := range []int{1, 1000} {
		j := &pools.Job{Store: w.engine, Dexes: w.known.Dexes(), Depth: depth, StepEvents: step}
		w.run(j, killed)
		want := clean()
		if got := w.dump(); got != want || strings.Count(got, "market_pool") < 6 {
			t.Fatalf("steps of %d:\n%s\nwant\n%s", step, got, want)
		}
		w.chain.Fork(20 + step%17) // below what was read
		w.chain.Extend(5)
		w.catchUp()
		w.run(j, killed)
		if got, want := w.dump(), clean(); got != want {
			t.Fatalf("after a fork, steps of %d:\n%s\nwant\n%s", step, got, want)
		}
	}
}
