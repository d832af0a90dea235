package pebble_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/storetest"
)

// A log is a store whose content follows from the number of batches that were
// applied to it: a head, and the last few entries, in two tables.
var (
	heads   = &store.Table{ID: 1, Name: "heads"}
	entries = &store.Table{ID: 7, Name: "entries", PartitionLen: 8, Ascending: true}
	logs    = []*store.Table{heads, entries}
)

const kept = 20

func logOptions(fs vfs.FS) pebble.Options {
	o := pebble.MemOptions(fs, logs)
	o.MemTableBytes = 256 << 10 // flushes often
	return o
}

// The ways that commits of a log can go: all through Pebble's log, about half of them
// as tables of their own, all as such, and the entries of each by a stream, which is about
// half of the time, or always, one of tables.
var ways = []way{{bulk: 1 << 30}, {bulk: 8_500}, {bulk: 1}, {8_500, true}, {1, true}}

type way struct {
	bulk   int
	stream bool
}

func logOptionsBy(fs vfs.FS, w way) pebble.Options {
	o := logOptions(fs)
	o.BulkBytes = w.bulk
	return o
}

// linksApart keeps links apart from copies as a crash would leave them: Pebble's file
// system in memory waits for itself when one begins within the other.
type linksApart struct {
	vfs.FS
	mu *sync.RWMutex
}

func (f linksApart) Link(oldname, newname string) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.FS.Link(oldname, newname)
}

func payload(n uint64) []byte {
	// Mostly incompressible, so that the files grow.
	rnd := rand.NewPCG(n, 0)
	b := make([]byte, 0, 9000)
	for len(b) < 8000+int(n%1000) {
		b = store.AppendUint64(b, rnd.Uint64())
	}
	return b
}

func entryKey(n uint64) store.Key {
	return store.Key{Table: entries, Partition: store.AppendUint64(nil, n)}
}

var headKey = store.Key{Table: heads, Sort: []byte("head")}

// appendLog commits batch n.
func appendLog(ctx context.Context, e store.Engine, epoch, n uint64) error {
	b := &store.Batch{Epoch: epoch}
	b.Put(headKey, store.AppendUint64(nil, n))
	b.Put(entryKey(n), payload(n))
	if n > kept {
		b.Delete(entryKey(n - kept))
	}
	return e.Commit(ctx, b)
}

// append is appendLog, the way that entries go.
func (w way) append(ctx context.Context, e store.Engine, epoch, n uint64) error {
	if !w.stream {
		return appendLog(ctx, e, epoch, n)
	}
	b := &store.Batch{Epoch: epoch}
	b.Put(headKey, store.AppendUint64(nil, n))
	b.Attach(e.(store.Streamer).Stream())
	for _, at := range []uint64{n - kept, n} {
		c, k := &store.Changes{}, entryKey(at)
		switch {
		case at == n:
			c.Put(k.Table, k.Partition, k.Sort, payload(n))
		case n > kept:
			c.Delete(k.Table, k.Partition, k.Sort)
		}
		if err := b.Stream().Add(ctx, c); err != nil {
			b.Stream().Drop()
			return err
		}
	}
	return e.Commit(ctx, b)
}

// open leaves a stream open with entries that nobody commits.
func (w way) open(ctx context.Context, e store.Engine) (store.Stream, error) {
	s, c := e.(store.Streamer).Stream(), &store.Changes{}
	if w.stream {
		for n := range uint64(20) {
			k := entryKey(1<<40 + n)
			c.Put(k.Table, k.Partition, k.Sort, payload(n))
		}
	}
	return s, s.Add(ctx, c)
}

// checkLog fails unless the store is exactly the log after n batches for one n,
// which it returns.
func checkLog(ctx context.Context, e store.Engine) (uint64, error) {
	lines, err := storetest.Dump(ctx, e, logs)
	if err != nil {
		return 0, err
	}
	if len(lines) == 0 {
		return 0, nil
	}
	if lines[0].Table != heads {
		return 0, fmt.Errorf("no head, but %d rows", len(lines))
	}
	n, _, ok := store.Uint64(lines[0].Value)
	if !ok {
		return 0, fmt.Errorf("head is %x", lines[0].Value)
	}
	lines = lines[1:]
	if want := min(n, kept); uint64(len(lines)) != want {
		return 0, fmt.Errorf("head %d, but %d entries", n, len(lines))
	}
	for i, l := range lines {
		at := n - uint64(len(lines)) + uint64(i) + 1
		if !bytes.Equal(l.Partition, store.AppendUint64(nil, at)) || !bytes.Equal(l.Value, payload(at)) {
			return 0, fmt.Errorf("head %d: entry %d is not the one committed", n, at)
		}
	}
	return n, nil
}

// commitFiles are those of commits under way.
func commitFiles(t *testing.T, disk vfs.FS) (left []string) {
	t.Helper()
	names, err := disk.List("/store")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "COMMIT-") {
			left = append(left, name)
		}
	}
	return left
}

func isLog(path string) bool { return strings.HasSuffix(path, ".log") }

// TestCrash takes the file system as a crash would leave it at many moments,
// before writes of every kind, and opens the store on it.
func TestCrash(t *testing.T) {
	commits, fewest := uint64(160), 30
	if raced { // every kind of write comes within a few commits
		commits, fewest = 24, 8
	}
	type crash struct {
		fs                      *vfs.MemFS
		acknowledged, attempted uint64
		op                      string
	}
	for seed := range uint64(len(ways)) {
		way := ways[seed]
		rnd := rand.New(rand.NewPCG(seed, 2))
		disk := vfs.NewCrashableMem()
		var acknowledged, attempted, ops atomic.Uint64
		var crashes []crash
		var armed atomic.Bool
		var links sync.RWMutex
		hook := make(chan struct{}, 1) // one crash at a time: ops come from many goroutines
		injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if !armed.Load() || op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
				return nil
			}
			hook <- struct{}{}
			defer func() { <-hook }()
			// Log writes are by far the most frequent; take fewer of them.
			if ops.Add(1); rnd.IntN(12) != 0 && (isLog(op.Path) || rnd.IntN(3) != 0) {
				return nil
			}
			c := crash{acknowledged: acknowledged.Load(), op: fmt.Sprint(op.Kind, " ", op.Path)}
			percent := []int{0, 0, 50, 100}[rnd.IntN(4)]
			links.Lock()
			c.fs = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(rnd.Uint64(), 0))})
			links.Unlock()
			c.attempted = attempted.Load()
			crashes = append(crashes, c)
			return nil
		})
		e, err := pebble.Open(logOptionsBy(errorfs.Wrap(linksApart{disk, &links}, injector), way))
		if err != nil {
			t.Fatal(err)
		}
		lease, err := e.Acquire(t.Context(), store.Writer, "writer", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		armed.Store(true)
		loose, err := way.open(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		for n := uint64(1); n <= commits; n++ {
			attempted.Store(n)
			if err := way.append(t.Context(), e, lease.Epoch, n); err != nil {
				t.Fatal(err)
			}
			acknowledged.Store(n)
			if n == commits/2 {
				loose.Drop()
			}
		}
		if err := e.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		hook <- struct{}{} // no hook runs any more
		if len(crashes) < fewest {
			t.Errorf("only %d crashes in %d writes", len(crashes), ops.Load())
		}
		for _, c := range crashes {
			again, err := pebble.Open(logOptionsBy(c.fs, way))
			if err != nil {
				t.Fatalf("seed %d, crash at %s: %v", seed, c.op, err)
			}
			n, err := checkLog(t.Context(), again)
			if err != nil || n < c.acknowledged || n > c.attempted {
				t.Errorf("seed %d, crash at %s: %d batches, %v; acknowledged %d, attempted %d",
					seed, c.op, n, err, c.acknowledged, c.attempted)
			}
			if left := commitFiles(t, c.fs); left != nil {
				t.Errorf("seed %d, crash at %s: %s are left", seed, c.op, left)
			}
			next, err := again.Acquire(t.Context(), store.Writer, "successor", time.Hour)
			if err != nil || next.Epoch <= lease.Epoch {
				t.Errorf("seed %d, crash at %s: lease %+v, %v", seed, c.op, next, err)
			}
			if err := again.Close(); err != nil {
				t.Errorf("seed %d, crash at %s: %v", seed, c.op, err)
			}
		}
	}
}

var errDisk = errors.New("no space left")

// TestFailingWrites lets the writes fail from the Nth on, or the Nth alone, for
// many N. The error must come out of a commit, stay, leave views working on
// the last durable state, and the store must open again in the same process.
func TestFailingWrites(t *testing.T) {
	commits, drawn, kinds := uint64(120), 36, []int64{1, 3}
	if raced {
		commits, drawn, kinds = 40, 6, kinds[:1]
	}
	run := func(t *testing.T, way way, disk vfs.FS, fails func(n int64, op errorfs.Op) bool) (writes int64) {
		var count atomic.Int64
		var armed, injected atomic.Bool
		injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if !armed.Load() || op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
				return nil
			}
			if fails(count.Add(1), op) {
				injected.Store(true)
				return errDisk
			}
			return nil
		})
		e, err := pebble.Open(logOptionsBy(errorfs.Wrap(disk, injector), way))
		if err != nil {
			t.Fatal(err)
		}
		lease, err := e.Acquire(t.Context(), store.Writer, "writer", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		armed.Store(true)
		var acknowledged uint64
		var stopped error
		for n := uint64(1); n <= commits && stopped == nil; n++ {
			if stopped = way.append(t.Context(), e, lease.Epoch, n); stopped == nil {
				acknowledged = n
			}
		}
		attempted := min(acknowledged+1, commits)
		if stopped == nil {
			stopped = e.Compact(t.Context()) // flushes what the commits left
		}
		if stopped != nil {
			if !injected.Load() || !strings.Contains(stopped.Error(), errDisk.Error()) {
				t.Fatalf("stopped by %v", stopped)
			}
			for _, again := range []error{
				way.append(t.Context(), e, lease.Epoch, attempted+1),
				e.Compact(t.Context()),
				e.Release(t.Context(), lease),
				e.Checkpoint(t.Context(), "/copy"),
			} {
				if again == nil || !strings.Contains(again.Error(), errDisk.Error()) {
					t.Errorf("call on a stopped store: %v", again)
				}
			}
			if n, err := checkLog(t.Context(), e); err != nil || n != acknowledged {
				t.Errorf("a stopped store shows %d batches, %v; acknowledged %d", n, err, acknowledged)
			}
		}
		if err := e.Close(); (err == nil) != (stopped == nil) && !injected.Load() {
			t.Errorf("close after %v: %v", stopped, err)
		}
		armed.Store(false)
		again, err := pebble.Open(logOptionsBy(disk, way))
		if err != nil {
			t.Fatalf("open after %v: %v", stopped, err)
		}
		n, err := checkLog(t.Context(), again)
		if err != nil || n < acknowledged || n > attempted {
			t.Errorf("after %v: %d batches, %v; acknowledged %d, attempted %d", stopped, n, err, acknowledged, attempted)
		}
		next, err := again.Acquire(t.Context(), store.Writer, "writer", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := way.append(t.Context(), again, next.Epoch, n+1); err != nil {
			t.Error(err)
		}
		if got, err := checkLog(t.Context(), again); err != nil || got != n+1 {
			t.Errorf("next batch after reopening: %d, %v", got, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		return count.Load()
	}
	var totals []int64
	for _, way := range ways {
		total := run(t, way, vfs.NewMem(), func(int64, errorfs.Op) bool { return false })
		if total < 3*int64(commits)/2 {
			t.Fatalf("only %d writes to fail", total)
		}
		totals = append(totals, total)
	}
	rnd := rand.New(rand.NewPCG(1, 3))
	for i := range drawn {
		way := ways[i%len(ways)]
		n := 1 + rnd.Int64N(totals[i%len(ways)])
		t.Run(fmt.Sprintf("%+v, from write %d on", way, n), func(t *testing.T) {
			run(t, way, vfs.NewMem(), func(i int64, _ errorfs.Op) bool { return i >= n })
		})
		t.Run(fmt.Sprintf("%+v, write %d alone", way, n), func(t *testing.T) {
			run(t, way, vfs.NewMem(), func(i int64, _ errorfs.Op) bool { return i == n })
		})
	}
	// Each kind of file, at its first and its third write.
	for _, file := range []string{".log", ".sst", "MANIFEST", "COMMIT-", "/store"} {
		for i, nth := range append(kinds, kinds...) {
			way := way{8_500, i >= len(kinds)}
			t.Run(fmt.Sprintf("%+v, write %d of %s", way, nth, file), func(t *testing.T) {
				var seen atomic.Int64
				run(t, way, vfs.NewMem(), func(_ int64, op errorfs.Op) bool {
					return strings.Contains(op.Path+"|", file) && (file != "/store" || op.Path == file) && seen.Add(1) == nth
				})
			})
		}
	}
}
