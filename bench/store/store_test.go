// Package store measures the embedded store against a limit that it cannot
// pass, in the same run: commits against writing and syncing the same bytes to
// a plain file, reads against a Go map or a sorted slice in memory. Every
// benchmark reports its share of the limit as "of-limit".
package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// A row is like one of a transfer list: 44 bytes of address, block and place,
// and a value of about 150 bytes with felts that come back and felts that do
// not.
var rows = &store.Table{ID: 1, Name: "rows", PartitionLen: 32}

const addresses = 4096

type generator struct {
	rnd   *rand.Rand
	felts [addresses][32]byte
	n     uint64
}

func newGenerator(seed uint64) *generator {
	g := &generator{rnd: rand.New(rand.NewPCG(seed, seed))}
	for i := range g.felts {
		g.felts[i] = g.felt()
	}
	return g
}

func (g *generator) felt() (f [32]byte) {
	for i := 0; i < 32; i += 8 {
		binary.BigEndian.PutUint64(f[i:], g.rnd.Uint64())
	}
	f[0] &= 0x07
	return f
}

// known is one of the felts that come back, some far more often than others.
func (g *generator) known() []byte {
	x := g.rnd.Float64()
	return g.felts[int(x*x*x*addresses)][:]
}

func (g *generator) row() (store.Key, []byte) {
	g.n++
	place := store.AppendUint32(store.AppendUint64(make([]byte, 0, 12), g.n/50), uint32(g.n%50))
	v := append(make([]byte, 0, 160), 1)
	v = append(v, g.known()...)
	v = append(v, g.known()...)
	hash := g.felt()
	v = append(v, hash[:]...)
	v = append(v, make([]byte, 24)...) // the high bytes of an amount
	v = store.AppendUint64(v, g.rnd.Uint64()>>20)
	v = store.AppendUint64(v, 1_700_000_000+g.n/50)
	return store.Key{Table: rows, Partition: g.known(), Sort: place}, v
}

func (g *generator) batch(epoch uint64, n int) *store.Batch {
	b := &store.Batch{Epoch: epoch}
	for range n {
		b.Put(g.row())
	}
	return b
}

func open(b *testing.B, o pebble.Options) (pebble.Engine, uint64) {
	b.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(b.TempDir(), "store")
	}
	o.Tables = []*store.Table{rows}
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := pebble.Open(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	l, err := e.Acquire(context.Background(), store.Writer, "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	return e, l.Epoch
}

// plainFile is a file whose blocks exist already, as those of a recycled log
// do: the least that a durable write can cost.
type plainFile struct {
	f    *os.File
	size int
}

func newPlainFile(b *testing.B, size int) *plainFile {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(make([]byte, size)); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	return &plainFile{f, size}
}

// write is how long it takes to write and sync the batch's bytes.
func (p *plainFile) write(b *testing.B, batch *store.Batch) time.Duration {
	b.Helper()
	data := make([]byte, 0, batch.Bytes())
	for _, op := range batch.Ops() {
		data = append(append(append(data, op.Partition...), op.Sort...), op.Value...)
	}
	start := time.Now()
	if _, err := p.f.WriteAt(data, 0); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Fdatasync(int(p.f.Fd())); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func BenchmarkCommit(b *testing.B) {
	for _, size := range []struct {
		name string
		rows int
	}{{"1000rows", 1000}, {"50000rows", 50_000}} {
		b.Run(size.name, func(b *testing.B) {
			e, epoch := open(b, pebble.Options{})
			plain := newPlainFile(b, 200*size.rows)
			g := newGenerator(1)
			var bytes int64
			var commits, limit time.Duration
			for b.Loop() {
				// In turn, so that a busy machine slows both.
				batch := g.batch(epoch, size.rows)
				bytes += int64(batch.Bytes())
				limit += plain.write(b, batch)
				start := time.Now()
				if err := e.Commit(context.Background(), batch); err != nil {
					b.Fatal(err)
				}
				commits += time.Since(start)
			}
			b.ReportMetric(float64(commits.Nanoseconds())/float64(b.N), "ns/commit")
			b.ReportMetric(float64(bytes)/1e6/commits.Seconds(), "MB/s")
			b.ReportMetric(float64(b.N*size.rows)/commits.Seconds(), "rows/s")
			b.ReportMetric(float64(limit)/float64(commits), "of-limit")
		})
	}
}

// BenchmarkLoad is catching up: two million rows, compacted at the end. It
// shows what the packing of the bottom level costs and saves, and how the size
// of a commit matters.
func BenchmarkLoad(b *testing.B) {
	const total = 2_000_000
	for _, run := range []struct {
		name        string
		compression pebble.Compression
		perBatch    int
	}{
		{"balanced/5000rows", pebble.Balanced, 5000},
		{"balanced/50000rows", pebble.Balanced, 50_000},
		{"balanced/500000rows", pebble.Balanced, 500_000},
		{"fast/50000rows", pebble.Fast, 50_000},
	} {
		b.Run(run.name, func(b *testing.B) {
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "store")
				e, epoch := open(b, pebble.Options{Dir: dir, Compression: run.compression})
				g := newGenerator(1)
				var commits, compact time.Duration
				var bytes int64
				for range total / run.perBatch {
					batch := g.batch(epoch, run.perBatch)
					bytes += int64(batch.Bytes())
					start := time.Now()
					if err := e.Commit(context.Background(), batch); err != nil {
						b.Fatal(err)
					}
					commits += time.Since(start)
				}
				start := time.Now()
				if err := e.Compact(context.Background()); err != nil {
					b.Fatal(err)
				}
				compact = time.Since(start)
				if err := e.Close(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(bytes)/1e6/commits.Seconds(), "MB/s")
				b.ReportMetric(compact.Seconds(), "compact-s")
				b.ReportMetric(float64(bytes)/total, "given-B/row")
				b.ReportMetric(float64(tableBytes(b, dir))/total, "disk-B/row")
			}
		})
	}
}

// tableBytes is the size of the store without its logs, which stay the same
// however large it grows.
func tableBytes(b *testing.B, dir string) (n int64) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// loaded is a store of one million rows on disk, and the same rows in memory.
type loaded struct {
	engine pebble.Engine
	keys   []store.Key
	values map[string][]byte
	sorted []string
	// inOrder are the values of sorted.
	inOrder [][]byte
}

func load(b *testing.B, o pebble.Options) *loaded {
	b.Helper()
	e, epoch := open(b, o)
	l := &loaded{engine: e, values: map[string][]byte{}}
	g := newGenerator(1)
	for range 20 {
		batch := g.batch(epoch, 50_000)
		for _, op := range batch.Ops() {
			l.keys = append(l.keys, op.Key)
			l.values[flat(op.Key)] = op.Value
		}
		if err := e.Commit(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Compact(context.Background()); err != nil {
		b.Fatal(err)
	}
	for k := range l.values {
		l.sorted = append(l.sorted, k)
	}
	slices.Sort(l.sorted)
	for _, k := range l.sorted {
		l.inOrder = append(l.inOrder, l.values[k])
	}
	// Read all once, so that what fits the cache is in it.
	err := e.View(context.Background(), func(r store.Reader) error {
		for _, err := range r.Walk(context.Background(), rows, nil) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func flat(k store.Key) string { return string(k.Partition) + string(k.Sort) }

// limit runs the same work in memory and reports the share of it reached.
func limit(b *testing.B, per time.Duration, fn func(i int)) {
	const n = 20_000
	start := time.Now()
	for i := range n {
		fn(i)
	}
	b.ReportMetric(float64(time.Since(start))/n/float64(per), "of-limit")
}

// BenchmarkRead reads from a cache that holds all rows (warm), and from one
// that holds a twentieth of them, with the rest in the system's cache (cold),
// where unpacking the blocks counts.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	for _, run := range []struct {
		name string
		o    pebble.Options
	}{
		{"warm", pebble.Options{CacheBytes: 512 << 20}},
		{"cold/balanced", pebble.Options{CacheBytes: 8 << 20, MemTableBytes: 1 << 20}},
		{"cold/fast", pebble.Options{CacheBytes: 8 << 20, MemTableBytes: 1 << 20, Compression: pebble.Fast}},
	} {
		b.Run(run.name, func(b *testing.B) {
			l := load(b, run.o)
			err := l.engine.View(ctx, func(r store.Reader) error {
				read(ctx, b, l, r)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

var sink []byte

func read(ctx context.Context, b *testing.B, l *loaded, r store.Reader) {
	rnd := rand.New(rand.NewPCG(2, 2))
	some := func() store.Key { return l.keys[rnd.IntN(len(l.keys))] }
	per := func(b *testing.B) time.Duration { return max(b.Elapsed()/time.Duration(b.N), 1) }

	b.Run("Get", func(b *testing.B) {
		for b.Loop() {
			v, err := r.Get(ctx, some())
			if err != nil {
				b.Fatal(err)
			}
			sink = v
		}
		limit(b, per(b), func(int) { sink = bytes.Clone(l.values[flat(some())]) })
	})
	b.Run("GetMissing", func(b *testing.B) {
		for b.Loop() {
			k := some()
			k.Sort = append(bytes.Clone(k.Sort), 0)
			if _, err := r.Get(ctx, k); err == nil {
				b.Fatal("found")
			}
		}
		limit(b, per(b), func(int) { sink = l.values[flat(some())+"\x00"] })
	})
	many := func(b *testing.B, missing bool) {
		keys := make([]store.Key, 100)
		for b.Loop() {
			for i := range keys {
				keys[i] = some()
				if missing {
					keys[i].Sort = append(bytes.Clone(keys[i].Sort), 0)
				}
			}
			vs, err := r.GetMany(ctx, keys)
			if err != nil {
				b.Fatal(err)
			}
			sink = vs[99]
		}
		limit(b, per(b), func(int) {
			for range keys {
				if missing {
					sink = l.values[flat(some())+"\x00"]
				} else {
					sink = bytes.Clone(l.values[flat(some())])
				}
			}
		})
	}
	b.Run("GetMany100", func(b *testing.B) { many(b, false) })
	b.Run("GetMany100Missing", func(b *testing.B) { many(b, true) })
	for _, reverse := range []bool{false, true} {
		name := "Scan100"
		if reverse {
			name += "Reverse"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				k := some()
				rg := store.Range{Table: rows, Partition: k.Partition, Reverse: reverse, Limit: 100}
				if rg.From = k.Sort; reverse {
					rg.From, rg.To = nil, k.Sort
				}
				for row, err := range r.Scan(ctx, rg) {
					if err != nil {
						b.Fatal(err)
					}
					sink = row.Value
				}
			}
			limit(b, per(b), func(int) {
				k := some()
				i := sort.SearchStrings(l.sorted, flat(k))
				for j := i; j < len(l.sorted) && j < i+100 && l.sorted[j][:32] == string(k.Partition); j++ {
					sink = l.inOrder[j]
				}
			})
		})
	}
}
