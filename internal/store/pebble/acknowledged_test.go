package pebble_test

import (
	"io"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// cutLogs halves the newest log of a store, as damage would. Pebble itself finds
// that an older one is cut.
func cutLogs(t *testing.T, disk vfs.FS) {
	t.Helper()
	names, err := disk.List("/store")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	cut := 0
	for _, name := range slices.Backward(names) {
		if !isLog(name) || cut > 0 {
			continue
		}
		f, err := disk.Open("/store/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		f.Close() //nolint:errcheck // read
		out, err := disk.Create("/store/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(b[:len(b)/2]); err != nil {
			t.Fatal(err)
		}
		out.Close() //nolint:errcheck // in memory
		cut += len(b) - len(b)/2
	}
	if cut == 0 {
		t.Fatal("there is no log to cut")
	}
}

// TestLostCommits: a log that damage has cut short is told, also by who only
// reads, until the store has come as far again. A crash is not taken for that.
func TestLostCommits(t *testing.T) {
	disk := vfs.NewCrashableMem()
	options := func(fs vfs.FS) pebble.Options {
		o := logOptions(fs)
		o.MemTableBytes = 8 << 20 // all is in the log
		o.Height = func(c *store.Changes) (uint64, bool) {
			for _, op := range c.AppendOps(nil) {
				if op.Table == heads {
					n, _, ok := store.Uint64(op.Value)
					return n, ok
				}
			}
			return 0, false
		}
		return o
	}
	e := openLog(t, options(disk))
	l := lease(t, e, "writer")
	for n := uint64(1); n <= 20; n++ {
		if err := appendLog(t.Context(), e, l.Epoch, n); err != nil {
			t.Fatal(err)
		}
	}
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	again := openLog(t, options(crashed))
	if loss, lost := again.Lost(); lost {
		t.Errorf("a crash lost %s", loss)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}

	damaged := disk.CrashClone(vfs.CrashCloneCfg{})
	cutLogs(t, damaged)
	reading := options(damaged)
	reading.ReadOnly = true
	for _, o := range []pebble.Options{reading, options(damaged), options(damaged)} { // it is not forgotten
		again := openLog(t, o)
		loss, lost := again.Lost()
		if !lost || loss.Acknowledged != 20 || loss.Found >= 20 {
			t.Errorf("read-only %v: lost %v: %s", o.ReadOnly, lost, loss)
		}
		if n, err := checkLog(t.Context(), again); err != nil || n != loss.Found {
			t.Errorf("the store has %d batches (%v), it was said to end at %d", n, err, loss.Found)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	again = openLog(t, options(damaged))
	l = lease(t, again, "writer")
	loss, _ := again.Lost()
	for n := loss.Found + 1; n <= 20; n++ {
		if _, lost := again.Lost(); !lost {
			t.Errorf("the loss was forgotten before batch %d", n)
		}
		if err := appendLog(t.Context(), again, l.Epoch, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, lost := again.Lost(); lost {
		t.Error("the loss is still told")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	again = openLog(t, options(damaged))
	if _, lost := again.Lost(); lost {
		t.Error("the loss is told again")
	}
}

// BenchmarkCommit is a small commit on the machine's disk, with what it costs to
// note it apart.
func BenchmarkCommit(b *testing.B) {
	e, err := pebble.Open(pebble.Options{Dir: b.TempDir(), Tables: logs})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // a benchmark
	l, err := e.Acquire(b.Context(), store.Writer, "writer", 1<<40)
	if err != nil {
		b.Fatal(err)
	}
	for n := uint64(1); b.Loop(); n++ {
		if err := appendLog(b.Context(), e, l.Epoch, n); err != nil {
			b.Fatal(err)
		}
	}
}
