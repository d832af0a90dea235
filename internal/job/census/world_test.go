package census_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/catalog"
	rows "chainexplorer/internal/explorer/census"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

const depth = 9

var errKilled = errors.New("killed")

// world is a simulated chain, its index, and a census that trusts every token.
type world struct {
	t      *testing.T
	chain  *simnode.Chain
	engine pebble.Engine
	pool   *node.Pool
	now    time.Time
	job    *census.Job
	known  *registry.Chain
	lie    func(c contractcall.Call, r *contractcall.Result) // changes what the node answers
	away   bool
	asked  []contractcall.Block
	// commits counts; the one with the number kill fails.
	commits, kill int
	mu            sync.Mutex
}

func newWorld(t *testing.T, blocks int, change func(*census.Job)) *world {
	t.Helper()
	w := &world{t: t, chain: simnode.New(simnode.Config{Seed: 8, Blocks: blocks, L1Lag: -1}), now: time.Unix(1_800_000_000, 0)}
	srv := httptest.NewServer(simnode.NewNode(w.chain, simnode.NodeConfig{}))
	t.Cleanup(srv.Close)
	var err error
	if w.pool, err = node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, PollInterval: time.Millisecond, HealthInterval: time.Hour}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pool.Close)
	var e registry.Entries
	for _, token := range w.chain.Tokens(uint64(blocks - 1)) {
		if token.Standard == simnode.ERC20 {
			e.Tokens = append(e.Tokens, registry.Token{Address: token.Address, Symbol: "T", Name: "T", Census: registry.Census{Qualified: true, Reason: "test"}})
		}
	}
	if w.known, err = registry.New(e); err != nil {
		t.Fatal(err)
	}
	w.engine = pebbletest.Open(t, catalog.Tables())
	w.catchUp()
	w.restart(change)
	return w
}

// restart is another process: what the job remembers is gone.
func (w *world) restart(change func(*census.Job)) {
	j := census.Job{Store: w.engine, Node: w, Registry: w.known, Depth: depth, Chunk: 3, Now: func() time.Time { return w.now }}
	if change != nil {
		change(&j)
	}
	w.job = census.New(j)
}

func (w *world) catchUp() {
	w.t.Helper()
	head, _ := w.chain.Head()
	x, err := index.New(index.Options{Store: w.engine, Source: &index.Nodes{Pool: w.pool}, Verify: index.VerifyOff, PollInterval: time.Millisecond, NoClasses: true, ForkPatience: time.Nanosecond})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := x.RunTo(w.t.Context(), head); err != nil {
		w.t.Fatal(err)
	}
}

// CallAt is the node, when it is there and honest.
func (w *world) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
		return nil, fmt.Errorf("test: %w", contractcall.ErrUnavailable)
	}
	w.asked = append(w.asked, at)
	out, err := w.pool.CallAt(ctx, at, calls)
	for i := range out {
		if w.lie != nil {
			w.lie(calls[i], &out[i])
		}
	}
	return out, err
}

// run steps until nothing is left, or until the commit that is to fail.
func (w *world) run() error {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), store.Writer, "jobs", time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	defer w.engine.Release(w.t.Context(), lease) //nolint:errcheck // in memory
	commit := func(ctx context.Context, b *store.Batch) error {
		if w.commits++; w.commits == w.kill {
			return errKilled
		}
		b.Epoch = lease.Epoch
		return w.engine.Commit(ctx, b)
	}
	for more := true; more; {
		if more, err = w.job.Step(w.t.Context(), commit); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) mustRun() {
	w.t.Helper()
	if err := w.run(); err != nil {
		w.t.Fatal(err)
	}
}

// generations lists the records, and counts the rows of each, and those of none.
func (w *world) generations() (all []*rows.Generation, counts map[uint64]uint64) {
	w.t.Helper()
	counts = map[uint64]uint64{}
	err := w.engine.View(w.t.Context(), func(r store.Reader) (err error) {
		if all, err = rows.All(w.t.Context(), r); err != nil {
			return err
		}
		for e, err := range r.Walk(w.t.Context(), rows.Holders, nil) {
			if err != nil {
				return err
			}
			id, _, _ := store.Uint64(e.Partition[felt.Size:])
			counts[id]++
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all, counts
}

// newest is the newest generation that readers see.
func (w *world) newest(token felt.Felt) *rows.Generation {
	w.t.Helper()
	var g *rows.Generation
	err := w.engine.View(w.t.Context(), func(r store.Reader) (err error) {
		g, err = rows.Newest(w.t.Context(), r, token)
		return err
	})
	if err != nil && !errors.Is(err, rows.ErrNotFound) {
		w.t.Fatal(err)
	}
	return g
}
