package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
)

// citusSeeds is how many histories are gone through on a cluster.
const citusSeeds = 4

// TestSimulationOnCitus runs histories of the simulation on a cluster of this
// machine: a process that is killed around its commits and in the middle of them, and
// workers that are killed at any moment. Each history begins with one of either
// between the two phases of a commit, before and after the decision. The index must
// end like one built in one quiet run on Pebble.
func TestSimulationOnCitus(t *testing.T) {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	workers := citusWorkers(t, url)
	var total clusterTally
	for seed := range uint64(citusSeeds) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			h := &clusterHistory{plan: planFor(seed, true), workers: workers, total: &total}
			h.options = postgres.Options{URL: url, Schema: fmt.Sprintf("sim_%d", seed), Tables: Tables(), PoolSize: 6, Citus: postgres.CitusOn}
			h.simulate(t)
		})
	}
	t.Logf("%d histories: %+v", citusSeeds, total)
	if total.Kills == 0 || total.WorkerKills == 0 || total.Between < 3*citusSeeds {
		t.Errorf("the histories were too quiet to prove anything: %+v", total)
	}
}

type clusterTally struct{ Runs, Kills, WorkerKills, Between int }

// citusWorkers are the addresses of the workers.
func citusWorkers(t *testing.T, url string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // a look
	rows, err := conn.Query(t.Context(), `select format('postgres://%s@%s:%s/%s?sslmode=disable', current_user, nodename, nodeport, current_database())
		from pg_dist_node where groupid > 0 order by groupid`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), "workers", err)
	}
	return list
}

// killWorker kills a process of a worker. The server then ends all of them, forgets
// what was in memory, and begins again from its log. It waits until that has begun.
func killWorker(ctx context.Context, url string) error {
	var conns [2]*pgx.Conn
	for i := range conns {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background()) //nolint:errcheck // it is killed
		conns[i] = conn
	}
	if err := syscall.Kill(int(conns[0].PgConn().PID()), syscall.SIGKILL); err != nil {
		return err
	}
	for ctx.Err() == nil && !conns[1].IsClosed() {
		conns[1].WaitForNotification(ctx) //nolint:errcheck // the end is what we wait for
	}
	return ctx.Err()
}

// clusterHistory is one history on the cluster.
type clusterHistory struct {
	*plan
	options postgres.Options
	workers []string
	total   *clusterTally
}

func (h *clusterHistory) simulate(t *testing.T) {
	drop := func() {
		h.patiently(t, func() error { return postgres.Drop(context.Background(), h.options) })
	}
	drop()
	t.Cleanup(drop)
	world := NewWorld(NewChain(h.seed, h.blocks, h.l1Lag, UnknownVersion), h.seed, h.faults, h.changes, h.maxFork)
	world.keepL1 = h.keepL1
	h.plan.options.Source = world
	for life := 0; !world.Done() && life < 200; life++ {
		h.total.Runs++
		h.live(t, life)
	}
	last := world.Settle()
	engine := h.open(t, h.options)
	defer engine.Close() //nolint:errcheck // never fails
	runTo(t, engine, h.plan.options, last)
	compareWithQuietRun(t, h.plan, world, engine, last)
}

// patiently tries until the workers are back.
func (h *clusterHistory) patiently(t *testing.T, do func() error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := do()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (h *clusterHistory) open(t *testing.T, o postgres.Options) (e *postgres.Engine) {
	t.Helper()
	h.patiently(t, func() (err error) {
		if e, err = postgres.Open(t.Context(), o); err != nil {
			return err
		}
		if err = e.View(t.Context(), func(store.Reader) error { return nil }); err != nil { // of all workers
			e.Close() //nolint:errcheck // never fails
		}
		return err
	})
	return e
}

// between ends the process, or kills a worker, between the phases of a commit: the
// first lives of a history before and after the decision, and later ones at times.
func (h *clusterHistory) between(t *testing.T, life int, end, stop func()) func(step string) bool {
	if life >= 4 && h.rng.IntN(4) > 0 {
		return nil
	}
	at, self, worker := postgres.StepPrepared, life < 2, h.workers[h.rng.IntN(len(h.workers))]
	if life%2 == 1 {
		at = postgres.StepDecided
	}
	left := 1 + h.rng.IntN(3)
	return func(step string) bool {
		if step != at {
			return false
		}
		if left--; left != 0 {
			return false
		}
		h.total.Between++
		if self {
			end()
			return true
		}
		if err := killWorker(t.Context(), worker); err != nil {
			t.Log("the worker was away:", err)
		}
		h.total.WorkerKills++
		time.AfterFunc(time.Second, stop)
		return false
	}
}

// live runs the indexer once, until something ends it.
func (h *clusterHistory) live(t *testing.T, n int) {
	life := time.Duration(100+h.rng.IntN(1500)) * time.Millisecond
	if n < 4 {
		life += 8 * time.Second // until it gets to its commits
	}
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	doomed := &doomedEngine{at: -1}
	options := h.options
	options.Dies = h.between(t, n, func() {
		doomed.gone.Store(true)
		cancel()
	}, cancel)
	engine := h.open(t, options)
	defer engine.Close() //nolint:errcheck // never fails
	doomed.Engine = engine
	o := h.plan.options
	o.Store = doomed
	var killing sync.WaitGroup
	defer killing.Wait()
	broken := options.Dies != nil
	switch kind := h.rng.IntN(5); {
	case kind == 0 || n < 4: // a quiet stop when the time is up
	case kind <= 2: // killed before or after a commit
		doomed.at, doomed.after = 1+h.rng.IntN(12), kind == 1
		doomed.kill = func() {
			doomed.gone.Store(true)
			cancel()
		}
	default: // a worker is killed at any moment
		h.total.WorkerKills++
		broken = true
		worker, moment := h.workers[h.rng.IntN(len(h.workers))], time.Duration(h.rng.Int64N(int64(life)))
		killing.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(moment):
				if err := killWorker(t.Context(), worker); err != nil {
					t.Log("the worker was away:", err)
				}
			}
		})
	}
	err := newIndexer(t, o).Run(ctx)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case doomed.gone.Load():
	case errors.Is(err, store.ErrUnavailable): // a worker that was killed before is on its way
	case broken && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, store.ErrFenced):
	default:
		t.Errorf("the run ended with %v", err)
	}
	if doomed.gone.Load() {
		h.total.Kills++
	}
}
