package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

// postgresSeeds is how many histories an ordinary test run goes through on
// PostgreSQL, where time is real.
const postgresSeeds = 6

// TestSimulationOnPostgres runs histories of the simulation on a real server: a
// process that is killed around its commits, connections that break after any
// number of bytes, a server that is killed. The index must end like one built in
// one quiet run on Pebble.
func TestSimulationOnPostgres(t *testing.T) {
	seeds := append([]uint64(nil), kept...)
	n := postgresSeeds
	if raced { // the engine's own tests are watched, and so is the indexer with the other one
		n, seeds = 1, nil
	}
	if s := os.Getenv("SIM_POSTGRES_SEEDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("SIM_POSTGRES_SEEDS: %v", err)
		}
	}
	for i := range n {
		seeds = append(seeds, uint64(i))
	}
	server := pgtest.New(t, pgtest.Options{})
	proxy := pgtest.NewProxy(t, server)
	var total serverTally
	for _, seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			p := planFor(seed, true)
			h := &serverHistory{plan: p, server: server, proxy: proxy, total: &total}
			h.options = postgres.Options{URL: proxy.URL("postgres"), Schema: fmt.Sprintf("seed_%d", seed), Tables: Tables(), PoolSize: 6}
			h.simulate(t)
		})
	}
	t.Logf("%d histories: %+v, connections cut %d times", len(seeds), total, proxy.Cuts())
	if n >= postgresSeeds && (total.Kills == 0 || total.Cuts == 0 || total.ServerKills == 0) {
		t.Errorf("the histories were too quiet to prove anything: %+v", total)
	}
}

type serverTally struct{ Runs, Kills, Cuts, ServerKills int }

// serverHistory is one history on the server.
type serverHistory struct {
	*plan
	options postgres.Options
	server  *pgtest.Server
	proxy   *pgtest.Proxy
	total   *serverTally
	lives   uint64
}

func (h *serverHistory) simulate(t *testing.T) {
	world := NewWorld(NewChain(h.seed, h.blocks, h.l1Lag, UnknownVersion), h.seed, h.faults, h.changes, h.maxFork)
	world.keepL1 = h.keepL1
	h.plan.options.Source = world
	for life := 0; !world.Done() && life < 200; life++ {
		h.total.Runs++
		h.live(t)
	}
	last := world.Settle()
	engine := h.open(t)
	defer engine.Close() //nolint:errcheck // never fails
	runTo(t, engine, h.plan.options, last)
	compareWithQuietRun(t, h.plan, world, engine, last)
}

func (h *serverHistory) open(t *testing.T) *postgres.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), h.options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// live runs the indexer once, until something ends it.
func (h *serverHistory) live(t *testing.T) {
	usual := time.Duration(20+h.rng.IntN(400)) * time.Millisecond
	// What ends it comes with a commit, or after so many bytes: later on a busy machine.
	// Every kind has its turn, and another begins each history.
	kind := (h.seed + h.lives) % 5
	life := usual * [...]time.Duration{1, 20, 20, 2, 20}[kind]
	h.lives++
	engine := h.open(t)
	defer engine.Close() //nolint:errcheck // never fails
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	doomed := &doomedEngine{Engine: engine, at: -1}
	o := h.plan.options
	o.Store = doomed
	end := func() { // the process is gone: what it tries from now on has no effect
		doomed.gone.Store(true)
		cancel()
	}
	broken := false
	switch kind {
	case 0: // a quiet stop when the time is up
	case 1, 2: // killed before or after a commit
		doomed.at, doomed.after, doomed.kill = 1+h.rng.IntN(4), kind == 1, end
	case 3:
		h.total.Cuts++
		h.proxy.CutAfter(int64(h.rng.IntN(200 << 10)))
		defer h.proxy.CutAfter(-1)
		broken = true
	case 4: // the server is killed between commits and comes back
		doomed.at, doomed.kill = 1+h.rng.IntN(3), func() {
			h.total.ServerKills++
			h.server.Kill()
			if err := h.server.Restart(t.Context()); err != nil {
				t.Error(err)
			}
			time.AfterFunc(usual, cancel)
		}
		broken = true
	}
	err := newIndexer(t, o).Run(ctx)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case doomed.gone.Load():
	case broken && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, store.ErrFenced):
	default:
		t.Errorf("the run ended with %v", err)
	}
	if doomed.gone.Load() {
		h.total.Kills++
	}
}

// doomedEngine is the store of a process that ends around one of its commits:
// nothing that it calls afterwards reaches the server.
type doomedEngine struct {
	store.Engine
	at    int
	after bool
	kill  func()
	gone  atomic.Bool
}

var errGone = errors.New("the process is gone")

func (d *doomedEngine) Commit(ctx context.Context, b *store.Batch) error {
	if d.gone.Load() {
		return errGone
	}
	d.at--
	if d.at == 0 && !d.after {
		d.kill()
		if d.gone.Load() {
			return errGone
		}
	}
	err := d.Engine.Commit(ctx, b)
	if d.at == 0 && d.after {
		d.kill()
	}
	return err
}

func (d *doomedEngine) Release(ctx context.Context, l store.Lease) error {
	if d.gone.Load() {
		return errGone
	}
	return d.Engine.Release(ctx, l)
}
