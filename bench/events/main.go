// Command events measures event search: a chain of the simulated node is
// indexed into a store on disk, and pages of 100 events are read by every kind
// of query. The same run answers the same queries by a scan of the
// transactions, and prints the ratio.
//
//	go run ./bench/events
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"chainexplorer/bench/peer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

func main() {
	b := &bench{census: newCensus(), rng: rand.New(rand.NewPCG(1, 2))}
	flag.IntVar(&b.blocks, "blocks", 20_000, "blocks of the chain")
	flag.IntVar(&b.tx, "tx", 50, "transactions a block")
	flag.Float64Var(&b.perTx, "events", 5.78, "events a transaction")
	flag.IntVar(&b.queries, "queries", 400, "queries of each kind")
	flag.IntVar(&b.scans, "scans", 3, "scans to compare each kind with")
	flag.StringVar(&b.dir, "dir", "", "where to put the store; default: the system's temporary directory")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the first kind of query to this file")
	flag.StringVar(&b.program, "peer", "", "the program of a peer that answers the same queries, built in bench/events/juno")
	flag.IntVar(&b.peerQueries, "peer-queries", 60, "queries of each kind to ask the peer")
	only := flag.String("only", "", "measure only this kind of query, by the beginning of its name")
	flag.Parse()
	b.profile, b.only = *profile, *only
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}

type bench struct {
	blocks, tx     int
	perTx          float64
	queries, scans int
	dir            string
	profile, only  string
	program        string
	peerQueries    int

	census   *census
	rng      *rand.Rand
	options  pebble.Options
	engine   pebble.Engine
	source   *stream
	peer     *peer.Peer // nil when there is none
	indexing time.Duration
	early    []lookup
}

func (b *bench) run(ctx context.Context) error {
	tmp, err := os.MkdirTemp(b.dir, "bench-events-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // temporary
	b.options = pebble.Options{Dir: filepath.Join(tmp, "store"), Tables: catalog.Tables()}
	if b.engine, err = pebble.Open(b.options); err != nil {
		return err
	}
	defer func() { b.engine.Close() }() //nolint:errcheck // measured already

	cfg := simnode.Config{Seed: 1, Blocks: b.blocks, TxPerBlock: b.tx, EventsPerTx: b.perTx, ChainID: contracts.ChainSepolia}
	if b.program != "" {
		if b.peer, err = peer.Start(ctx, b.program, filepath.Join(tmp, "peer")); err != nil {
			return err
		}
		defer b.peer.Stop()
	}
	b.source = newStream(ctx, cfg, b.census.observe, b.peer)
	if err := b.index(ctx, b.blocks/4); err != nil {
		return err
	}
	if err := b.measureEarly(ctx); err != nil {
		return err
	}
	if err := b.index(ctx, b.blocks); err != nil {
		return err
	}
	if err := b.describe(ctx); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.growth(ctx)
}

func (b *bench) index(ctx context.Context, blocks int) error {
	x, err := index.New(index.Options{Store: b.engine, Source: b.source, Verify: index.VerifyOff, UndoBlocks: 1, NoClasses: true})
	if err != nil {
		return err
	}
	start := time.Now()
	err = x.RunTo(ctx, uint64(blocks-1))
	b.indexing += time.Since(start)
	return err
}

// describe prints what the store holds and weighs.
func (b *bench) describe(ctx context.Context) error {
	if err := b.engine.Compact(ctx); err != nil {
		return err
	}
	// Opening again drops the files that the compaction replaced.
	if err := b.engine.Close(); err != nil {
		return err
	}
	engine, err := pebble.Open(b.options)
	if err != nil {
		return err
	}
	b.engine = engine
	c := b.census
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	fmt.Printf("%d blocks, %d transactions, %d events; made and indexed in %.0f s (%.0f events/s, both on %d cores); %.1f GiB of memory\n",
		c.blocks, c.transactions, c.events, b.indexing.Seconds(), float64(c.events)/b.indexing.Seconds(), runtime.GOMAXPROCS(0), float64(mem.Sys)/(1<<30))
	size, err := tablesOnDisk(b.options.Dir)
	if err != nil {
		return err
	}
	for _, t := range (event.Subject{}).Tables() {
		var rows, bytes uint64
		err := b.engine.View(ctx, func(r store.Reader) error {
			for e, err := range r.Walk(ctx, t, nil) {
				if err != nil {
					return err
				}
				rows++
				bytes += uint64(1 + len(e.Partition) + len(e.Sort) + len(e.Value))
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Printf("table %-10s %9d rows, %.2f an event, %.0f bytes each before packing\n", t.Name, rows,
			float64(rows)/float64(c.events), float64(bytes)/float64(rows))
	}
	fmt.Printf("everything together takes %.1f bytes an event on disk\n\n", float64(size)/float64(c.events))
	return nil
}

func tablesOnDisk(dir string) (size int64, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}

// kind is one kind of query.
type kind struct {
	name string
	make func() event.Query
}

func (b *bench) measure(ctx context.Context) error {
	head := uint64(b.blocks - 1)
	c := b.census
	rare := c.valuesAt(2, func(s *seen) bool { return 3 <= s.count && s.count <= 20 })
	if len(rare) == 0 {
		return fmt.Errorf("the chain has no rare values")
	}
	one := c.selectorNear(b.blocks)
	within := func(q event.Query, blocks uint64) event.Query {
		blocks = min(blocks, head+1)
		q.From = b.rng.Uint64N(head + 2 - blocks)
		q.To = q.From + blocks - 1
		return q
	}
	below := func(q event.Query) event.Query { // a page somewhere in history
		q.To = head/2 + b.rng.Uint64N(head/2)
		return q
	}
	pick := func(fs []felt.Felt) felt.Felt { return fs[b.rng.IntN(len(fs))] }
	both, common, err := b.frequentPair(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d rare receivers, of 3 to 20 Transfers; the selector of the third kind has %d events; the two keys of the fifth have %d, %d and %d in common\n\n",
		len(rare), c.selectors[one].count, c.keys[1][both.Keys[1][0]].count, c.keys[2][both.Keys[2][0]].count, common)
	kinds := []kind{
		{"rare receiver in 10,000 blocks", func() event.Query { return within(transfers(c.transfer, 2, pick(rare)), 10_000) }},
		{"rare receiver, whole chain", func() event.Query {
			q := transfers(c.transfer, 2, pick(rare))
			q.To = math.MaxUint64
			return q
		}},
		{"selector with one event a block", func() event.Query {
			var q event.Query
			q.Keys[0] = []felt.Felt{one}
			return below(q)
		}},
		{"busy token and Transfer", func() event.Query {
			q := event.Query{Emitters: []felt.Felt{contracts.STRK}}
			q.Keys[0] = []felt.Felt{c.transfer}
			return below(q)
		}},
		{"two frequent keys, few in common", func() event.Query { return within(both, 10_000) }},
		{"the same, whole chain", func() event.Query {
			q := both
			q.To = math.MaxUint64
			return q
		}},
		{"a value that never occurs", func() event.Query {
			var f felt.Felt
			binary.BigEndian.PutUint64(f[8:], b.rng.Uint64())
			binary.BigEndian.PutUint64(f[16:], b.rng.Uint64())
			q := transfers(c.transfer, 2, f)
			q.To = math.MaxUint64
			return q
		}},
	}
	for _, k := range kinds {
		if !strings.HasPrefix(k.name, b.only) {
			continue
		}
		if err := b.measureKind(ctx, k, head); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

func (b *bench) measureKind(ctx context.Context, k kind, head uint64) error {
	queries := make([]event.Query, b.queries)
	for i := range queries {
		queries[i] = k.make()
	}
	if _, err := search(ctx, b.engine, queries[:min(20, len(queries))]); err != nil { // warm
		return err
	}
	stop, err := b.startProfile()
	if err != nil {
		return err
	}
	s, err := search(ctx, b.engine, queries)
	stop()
	if err != nil {
		return err
	}
	fmt.Printf("%-34s %s\n", k.name, s)
	if b.peer != nil {
		if err := b.measurePeer(ctx, queries[:min(b.peerQueries, len(queries))], head); err != nil {
			return err
		}
	}
	scans := &sample{}
	for _, q := range queries[:min(b.scans, len(queries))] {
		took, hits, err := scan(ctx, b.engine, q, head)
		if err != nil {
			return err
		}
		scans.times = append(scans.times, took)
		scans.hits += hits
	}
	if len(scans.times) > 0 {
		fmt.Printf("%-34s p50 %7.0f ms: %.0f times as long\n", "   a scan", ms(scans.at(0.5)), float64(scans.at(0.5))/float64(s.at(0.5)))
	}
	return nil
}

// startProfile profiles the first kind of query that is measured.
func (b *bench) startProfile() (stop func(), err error) {
	if b.profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(b.profile)
	b.profile = ""
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close() //nolint:errcheck // a profile for a person
	}, nil
}

// frequentPair finds two frequent keys that few events have both of.
func (b *bench) frequentPair(ctx context.Context) (best event.Query, common int, err error) {
	common = -1
	for _, from := range b.census.frequent(1, 12) {
		for _, to := range b.census.frequent(2, 12) {
			q := transfers(b.census.transfer, 1, from)
			q.Keys[2] = []felt.Felt{to}
			q.To, q.Limit = math.MaxUint64, event.MaxLimit
			n := 0
			for q.After = nil; ; {
				var page event.Page
				err := b.engine.View(ctx, func(r store.Reader) (err error) {
					page, err = event.Search(ctx, r, q)
					return err
				})
				if err != nil {
					return best, 0, err
				}
				n += len(page.Events)
				if q.After = page.Next; page.Done {
					break
				}
			}
			if n > 0 && (common < 0 || n < common) {
				best, common = q, n
				best.Limit = 0
			}
		}
	}
	if common < 0 {
		return best, 0, fmt.Errorf("no two frequent keys meet")
	}
	return best, common, nil
}
