// Command cluster measures the store on Citus: catching up and the tail beside plain
// PostgreSQL on the same cores, and how commits and reads grow with the workers,
// each of which is held to a share of a core, so that they play machines of equal
// power.
//
//	scripts/citus.sh build SOURCE
//	go run ./bench/cluster
//
// Nothing is synced to disk, and nothing vacuumed meanwhile, on either side. Holding processes to a share takes the
// rights to make a control group (cgroup v1 or v2); without them the curve is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"chainexplorer/bench/memory"
	"chainexplorer/bench/spent"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

const benchSchema = "bench_cluster"

func main() {
	blocks := flag.Int("blocks", 600, "blocks to catch up with")
	tail := flag.Int("tail", 60, "blocks with a commit each")
	tx := flag.Int("tx", 30, "transactions a block")
	share := flag.Float64("share", 0.05, "cores that each worker has while the curve is measured")
	clients := flag.Int("clients", 24, "clients that read at once")
	seconds := flag.Int("seconds", 10, "how long they read")
	shards := flag.Int("shards", 32, "shards while the curve is measured: an index keeps its own when workers are added")
	runs := flag.Int("runs", 1, "how often two and four workers are measured, in turns")
	part := flag.String("only", "", "measure only the index beside PostgreSQL (index), or 2 and 4 workers (curve)")
	flag.Parse()
	ctx := context.Background()
	m, err := memory.Generate(*blocks, *tx, 5.78, false, nil)
	if err == nil {
		b := &bench{source: m, tail: *tail, share: *share, clients: *clients, length: time.Duration(*seconds) * time.Second, shards: *shards, runs: *runs}
		fmt.Printf("%d blocks of %d transactions, %.0f events a block; %d cores\n\n", m.Length, *tx, float64(m.Events)/float64(m.Length), runtime.NumCPU())
		err = b.run(ctx, func(name string) bool { return *part == name })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

type bench struct {
	source  *memory.Source
	tail    int
	share   float64
	clients int
	length  time.Duration
	shards  int
	runs    int
	made    []*store.Batch // for the curve
}

func (b *bench) run(ctx context.Context, only func(string) bool) error {
	if !only("curve") {
		plain, err := b.plain(ctx)
		if err != nil {
			return fmt.Errorf("plain PostgreSQL: %w", err)
		}
		spread, err := b.onCluster(ctx, 2, 0)
		if err != nil {
			return fmt.Errorf("two workers: %w", err)
		}
		fmt.Printf("%-26s %.2f of plain PostgreSQL's rate, %.2f of it by CPU\n\n", "Citus, catching up", spread.catchUp/plain.catchUp, plain.cpu/spread.cpu)
	}
	if only("index") {
		return nil
	}
	if err := groupsWork(); err != nil {
		fmt.Println("no curve: processes cannot be held to a share of a core here:", err)
		return nil
	}
	dir, err := os.MkdirTemp("", "bench-cluster-")
	if err != nil {
		return err
	}
	b.made, err = b.batches(ctx, filepath.Join(dir, "store"))
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	fmt.Printf("each worker held to %.2f of a core, %d shards\n", b.share, b.shards)
	var commits, cpu, pages []float64
	for range b.runs {
		two, err := b.onCluster(ctx, 2, b.share)
		if err != nil {
			return fmt.Errorf("two workers, held: %w", err)
		}
		four, err := b.onCluster(ctx, 4, b.share)
		if err != nil {
			return fmt.Errorf("four workers, held: %w", err)
		}
		commits, cpu, pages = append(commits, four.commits/two.commits), append(cpu, two.busiest/four.busiest), append(pages, four.pages/two.pages)
		fmt.Printf("%-26s commits %.2f times as fast (%.2f times by the busiest worker's CPU), reads %.2f times\n", "four workers against two",
			four.commits/two.commits, two.busiest/four.busiest, four.pages/two.pages)
	}
	if b.runs > 1 {
		for _, list := range [][]float64{commits, cpu, pages} {
			slices.Sort(list)
		}
		fmt.Printf("%-26s commits %.2f times as fast (%.2f times by the busiest worker's CPU), reads %.2f times\n", fmt.Sprintf("median of %d runs", b.runs),
			commits[b.runs/2], cpu[b.runs/2], pages[b.runs/2])
	}
	return nil
}

// figures are what one server or cluster did.
type figures struct {
	catchUp float64 // blocks a second
	cpu     float64 // seconds of all processes a block
	commits float64 // a second, of those that were made before
	busiest float64 // seconds of CPU that the busiest worker takes for one of them
	pages   float64 // a second
}

func (b *bench) plain(ctx context.Context) (figures, error) {
	server, err := pgtest.Start(ctx, pgtest.Options{Settings: map[string]string{"shared_buffers": "128MB", "max_wal_size": "4GB", "full_page_writes": "off", "autovacuum": "off"}})
	if err != nil {
		return figures{}, err
	}
	defer server.Stop() //nolint:errcheck // temporary
	used := func() map[string]time.Duration { return map[string]time.Duration{"server": server.CPU()} }
	return b.index(ctx, "PostgreSQL", server.URL(), used)
}

// onCluster measures a cluster of so many workers. Without a share to hold them to
// it indexes; with one it replays commits and reads.
func (b *bench) onCluster(ctx context.Context, workers int, share float64) (f figures, err error) {
	c, err := startCluster(ctx, workers)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	name := fmt.Sprintf("Citus, %d workers", workers)
	if share == 0 {
		return b.index(ctx, name, c.url, c.used)
	}
	return b.held(ctx, name, c, share)
}

func (b *bench) open(ctx context.Context, url string, shards int) (*postgres.Engine, func(), error) {
	o := postgres.Options{URL: url, Schema: benchSchema, Tables: catalog.Tables(), ShardCount: shards, PoolSize: max(b.clients, 16)}
	if err := postgres.Drop(ctx, o); err != nil {
		return nil, nil, err
	}
	e, err := postgres.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return e, func() {
		if err := errors.Join(e.Close(), postgres.Drop(ctx, o)); err != nil {
			fmt.Println(err)
		}
	}, nil
}

// timedEngine notes how long commits take, and keeps them when asked to.
type timedEngine struct {
	store.Engine
	took []time.Duration
	keep bool
	kept []*store.Batch
}

// Look serves store.Looker, as the engine does.
func (e *timedEngine) Look(ctx context.Context, ks []store.Key) ([][]byte, error) {
	return store.Look(ctx, e.Engine, ks)
}

// Commit serves store.Engine.
func (e *timedEngine) Commit(ctx context.Context, b *store.Batch) error {
	if e.keep {
		c := &store.Batch{}
		for _, op := range b.Ops() {
			if op.Delete {
				c.Delete(op.Key)
			} else {
				c.Put(op.Key, op.Value)
			}
		}
		e.kept = append(e.kept, c)
	}
	start := time.Now()
	err := e.Engine.Commit(ctx, b)
	e.took = append(e.took, time.Since(start))
	return err
}

// index catches up, and then goes on with a commit for every block.
func (b *bench) index(ctx context.Context, name, url string, used func() map[string]time.Duration) (f figures, err error) {
	engine, done, err := b.open(ctx, url, 0)
	if err != nil {
		return f, err
	}
	defer done()
	last := b.source.Length - 1 - b.tail
	timed := &timedEngine{Engine: engine}
	o := index.Options{Store: timed, Source: b.source, Verify: index.VerifyOff, UndoBlocks: 1, TailBlocks: 1}
	x, err := index.New(o)
	if err != nil {
		return f, err
	}
	before, trips, own, start := used(), engine.RoundTrips(), spent.CPU(), time.Now()
	if err := x.RunTo(ctx, uint64(last)); err != nil {
		return f, err
	}
	blocks := float64(last + 1)
	f.catchUp = blocks / time.Since(start).Seconds()
	program := (spent.CPU() - own).Seconds()
	f.cpu = program
	for node, d := range used() {
		f.cpu += (d - before[node]).Seconds()
	}
	f.cpu /= blocks
	fmt.Printf("%-26s %.0f blocks/s catching up, %d commits, %.1f round trips a block; CPU a block: program %.2f ms%s\n", name, f.catchUp, len(timed.took),
		float64(engine.RoundTrips()-trips)/blocks, program/blocks*1e3, perBlock(before, used(), blocks))

	timed.took = nil
	o.BatchBytes, o.TailBlocks = 1, 1<<40
	if x, err = index.New(o); err != nil {
		return f, err
	}
	trips = engine.RoundTrips()
	before = used()
	if err := x.RunTo(ctx, uint64(b.source.Length-1)); err != nil {
		return f, err
	}
	slices.Sort(timed.took)
	n := len(timed.took)
	fmt.Printf("%-26s %v median, %v at most of %d commits of one block, %.1f round trips a block with its reads; CPU a block:%s\n", "  the tail", timed.took[n/2].Round(100*time.Microsecond),
		timed.took[n-1].Round(100*time.Microsecond), n, float64(engine.RoundTrips()-trips)/float64(n), perBlock(before, used(), float64(n)))
	return f, nil
}

func perBlock(before, after map[string]time.Duration, blocks float64) (text string) {
	for node, d := range sorted(after) {
		text += fmt.Sprintf(", %s %.2f ms", node, (d-before[node]).Seconds()/blocks*1e3)
	}
	return text
}
