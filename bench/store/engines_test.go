package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

// pair is the same store in both engines. Work is done in turn, so that a busy
// machine slows both, and timed apart.
type pair struct {
	engines [2]store.Engine
	epochs  [2]uint64
	spent   [2]time.Duration
}

const loadedRows = 500_000

// openPair opens both, PostgreSQL on a server of its own that syncs its files.
func openPair(b *testing.B) *pair {
	b.Helper()
	server, err := pgtest.Start(b.Context(), pgtest.Options{Durable: true, Settings: map[string]string{"shared_buffers": "512MB"}})
	if errors.Is(err, pgtest.ErrNotInstalled) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	p := &pair{}
	embedded, epoch := open(b, pebble.Options{CacheBytes: 512 << 20})
	p.engines[0], p.epochs[0] = embedded, epoch
	other, err := postgres.Open(b.Context(), postgres.Options{URL: server.URL(), Schema: "bench", Tables: []*store.Table{rows},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { other.Close() }) //nolint:errcheck // never fails
	l, err := other.Acquire(b.Context(), store.Writer, "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	p.engines[1], p.epochs[1] = other, l.Epoch
	return p
}

// both does the same on both engines and keeps the times.
func (p *pair) both(b *testing.B, work func(e store.Engine, epoch uint64) error) {
	for i, e := range p.engines {
		start := time.Now()
		if err := work(e, p.epochs[i]); err != nil {
			b.Fatal(err)
		}
		p.spent[i] += time.Since(start)
	}
}

// report prints the time of each engine, and PostgreSQL's speed as a share of Pebble's.
func (p *pair) report(b *testing.B) {
	n := float64(b.N)
	b.ReportMetric(float64(p.spent[0].Microseconds())/n, "pebble-µs")
	b.ReportMetric(float64(p.spent[1].Microseconds())/n, "postgres-µs")
	b.ReportMetric(float64(p.spent[0])/float64(p.spent[1]), "of-pebble")
	b.ReportMetric(0, "ns/op") // the sum of both says nothing
	p.spent = [2]time.Duration{}
}

func commitBatch(ctx context.Context, e store.Engine, epoch uint64, batch *store.Batch) error {
	batch.Epoch = epoch
	return e.Commit(ctx, batch)
}

// BenchmarkEngines does the same work on both engines.
func BenchmarkEngines(b *testing.B) {
	p := openPair(b)
	g := newGenerator(1)
	ctx := context.Background()
	var keys []store.Key
	for _, size := range []int{50, 300, 1000, 10_000, 50_000} {
		b.Run(fmt.Sprintf("CommitNew/%drows", size), func(b *testing.B) {
			p.spent = [2]time.Duration{}
			for b.Loop() {
				batch := g.batch(0, size)
				for i := 0; i < size; i += 50 {
					keys = append(keys, batch.Ops()[i].Key)
				}
				p.both(b, func(e store.Engine, epoch uint64) error { return commitBatch(ctx, e, epoch, batch) })
			}
			p.report(b)
		})
	}
	for len(keys)*50 < loadedRows { // enough to read from, however short the runs were
		batch := g.batch(0, 50_000)
		for i := 0; i < batch.Len(); i += 50 {
			keys = append(keys, batch.Ops()[i].Key)
		}
		p.both(b, func(e store.Engine, epoch uint64) error { return commitBatch(ctx, e, epoch, batch) })
	}
	for _, size := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("CommitOver/%drows", size), func(b *testing.B) {
			p.spent = [2]time.Duration{}
			rnd := rand.New(rand.NewPCG(3, 3))
			for b.Loop() {
				batch := &store.Batch{}
				for range size {
					_, v := g.row()
					batch.Put(keys[rnd.IntN(len(keys))], v)
				}
				p.both(b, func(e store.Engine, epoch uint64) error { return commitBatch(ctx, e, epoch, batch) })
			}
			p.report(b)
		})
	}
	p.both(b, func(e store.Engine, _ uint64) error { return e.Compact(ctx) })
	p.reads(b, keys)
}

func (p *pair) reads(b *testing.B, keys []store.Key) {
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(2, 2))
	some := func() store.Key { return keys[rnd.IntN(len(keys))] }
	inView := func(name string, prepare func() func(r store.Reader) error) {
		b.Run(name, func(b *testing.B) {
			p.spent = [2]time.Duration{}
			work := prepare()
			for _, e := range p.engines { // statements are prepared
				if err := e.View(ctx, work); err != nil {
					b.Fatal(err)
				}
			}
			err := p.engines[0].View(ctx, func(first store.Reader) error {
				return p.engines[1].View(ctx, func(second store.Reader) error {
					for b.Loop() {
						work := prepare()
						for i, r := range []store.Reader{first, second} {
							start := time.Now()
							if err := work(r); err != nil {
								return err
							}
							p.spent[i] += time.Since(start)
						}
					}
					return nil
				})
			})
			if err != nil {
				b.Fatal(err)
			}
			p.report(b)
		})
	}
	inView("Get", func() func(store.Reader) error {
		k := some()
		return func(r store.Reader) error { _, err := r.Get(ctx, k); return err }
	})
	inView("GetMany100", func() func(store.Reader) error {
		ks := make([]store.Key, 100)
		for i := range ks {
			ks[i] = some()
		}
		return func(r store.Reader) error { _, err := r.GetMany(ctx, ks); return err }
	})
	inView("Scan100", func() func(store.Reader) error {
		k := some()
		return func(r store.Reader) error {
			for _, err := range r.Scan(ctx, store.Range{Table: rows, Partition: k.Partition, From: k.Sort, Limit: 100}) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	})
	b.Run("ViewGet", func(b *testing.B) { // a view of its own, as a request has
		p.spent = [2]time.Duration{}
		for b.Loop() {
			k := some()
			p.both(b, func(e store.Engine, _ uint64) error {
				return e.View(ctx, func(r store.Reader) error { _, err := r.Get(ctx, k); return err })
			})
		}
		p.report(b)
	})
}
