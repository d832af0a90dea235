package pebble_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

func openLog(t *testing.T, o pebble.Options) pebble.Engine {
	t.Helper()
	e, err := pebble.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func lease(t *testing.T, e pebble.Engine, owner string) store.Lease {
	t.Helper()
	l, err := e.Acquire(t.Context(), store.Writer, owner, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOpenRefusals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		set  func(*pebble.Options)
		want string
	}{
		{"no directory", func(o *pebble.Options) { o.Dir = "" }, "directory is not set"},
		{"bad tables", func(o *pebble.Options) { o.Tables = []*store.Table{{ID: 0, Name: "a"}} }, "reserved"},
		{"negative cache", func(o *pebble.Options) { o.CacheBytes = -1 }, "negative"},
		{"unknown compression", func(o *pebble.Options) { o.Compression = 99 }, "compression"},
		{"a file", func(o *pebble.Options) { o.Dir = file }, file},
		{"nothing to read", func(o *pebble.Options) { o.ReadOnly = true }, "no store in this directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := pebble.MemOptions(nil, logs)
			o.Dir = dir
			tt.set(&o)
			e, err := pebble.Open(o)
			if err == nil {
				_ = e.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
		})
	}
}

const holdEnv = "STORE_TEST_OPEN"

// TestSecondProcess opens the directory from another process, which is this
// test once more.
func TestSecondProcess(t *testing.T) {
	o := pebble.MemOptions(nil, logs)
	if dir := os.Getenv(holdEnv); dir != "" {
		o.Dir = dir
		_, err := pebble.Open(o)
		if err == nil {
			t.Fatal("opened a store that another process has open")
		}
		t.Log(err)
		return
	}
	o.Dir = filepath.Join(t.TempDir(), "store")
	openLog(t, o)
	for name, run := range map[string]func() string{
		"other process": func() string {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecondProcess$", "-test.v")
			cmd.Env = append(os.Environ(), holdEnv+"="+o.Dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			return string(out)
		},
		"same process": func() string {
			_, err := pebble.Open(o)
			if err == nil {
				t.Fatal("opened twice")
			}
			return err.Error()
		},
	} {
		if got := run(); !strings.Contains(got, o.Dir) || !strings.Contains(got, "in use by another process") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestLeaseOfDeadProcess: the lock of the directory proves that the holder of
// a lease found in it is gone.
func TestLeaseOfDeadProcess(t *testing.T) {
	disk := vfs.NewCrashableMem()
	e := openLog(t, logOptions(disk))
	old := lease(t, e, "first")
	if _, err := e.Acquire(t.Context(), store.Writer, "second", time.Hour); !errors.Is(err, store.ErrLeaseHeld) {
		t.Fatalf("two owners in one process: %v", err)
	}
	again := openLog(t, logOptions(disk.CrashClone(vfs.CrashCloneCfg{})))
	if err := appendLog(t.Context(), again, old.Epoch, 1); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit under the dead process's lease: %v", err)
	}
	if next := lease(t, again, "second"); next.Epoch <= old.Epoch {
		t.Errorf("lease %+v after %+v", next, old)
	}
}

func TestReadOnly(t *testing.T) {
	disk := vfs.NewMem()
	e := openLog(t, logOptions(disk))
	l := lease(t, e, "writer")
	for n := uint64(1); n <= 3; n++ {
		if err := appendLog(t.Context(), e, l.Epoch, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o := logOptions(disk)
	o.ReadOnly = true
	e = openLog(t, o)
	if n, err := checkLog(t.Context(), e); n != 3 || err != nil {
		t.Errorf("read %d batches, %v", n, err)
	}
	_, acquire := e.Acquire(t.Context(), store.Writer, "writer", time.Hour)
	_, renew := e.Renew(t.Context(), l, time.Hour)
	for call, err := range map[string]error{
		"Commit": appendLog(t.Context(), e, l.Epoch, 4), "Acquire": acquire, "Renew": renew,
		"Release": e.Release(t.Context(), l), "Compact": e.Compact(t.Context()),
		"Checkpoint": e.Checkpoint(t.Context(), "/copy"),
	} {
		if !errors.Is(err, pebble.ErrReadOnly) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// heldSync is a disk whose log waits in its next sync once it is told to.
type heldSync struct {
	vfs.FS
	wanted        atomic.Bool
	held, release chan struct{}
}

func newHeldSync() *heldSync {
	h := &heldSync{held: make(chan struct{}), release: make(chan struct{})}
	h.FS = errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if isLog(op.Path) && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && h.wanted.CompareAndSwap(true, false) {
			close(h.held)
			<-h.release
		}
		return nil
	}))
	return h
}

// TestViewsShowDurableStateOnly holds a commit in its sync and looks.
func TestViewsShowDurableStateOnly(t *testing.T) {
	disk := newHeldSync()
	e := openLog(t, logOptions(disk))
	l := lease(t, e, "writer")
	if err := appendLog(t.Context(), e, l.Epoch, 1); err != nil {
		t.Fatal(err)
	}
	disk.wanted.Store(true)
	done := make(chan error, 1)
	go func() { done <- appendLog(context.WithoutCancel(t.Context()), e, l.Epoch, 2) }()
	<-disk.held
	if n, err := checkLog(t.Context(), e); n != 1 || err != nil {
		t.Errorf("during the sync of batch 2 a view shows %d batches, %v", n, err)
	}
	// A commit that waits for its turn can be given up.
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- appendLog(ctx, e, l.Epoch, 3) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("commit canceled while it waits: %v", err)
	}
	close(disk.release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n, err := checkLog(t.Context(), e); n != 2 || err != nil {
		t.Errorf("after the commit a view shows %d batches, %v", n, err)
	}
}

// TestRenewalWaitsForNoCommit: nobody else can have the store, so that a disk that takes
// long over a commit takes no lease away.
func TestRenewalWaitsForNoCommit(t *testing.T) {
	disk := newHeldSync()
	e := openLog(t, logOptions(disk))
	l := lease(t, e, "writer")
	disk.wanted.Store(true)
	done := make(chan error, 1)
	go func() { done <- appendLog(context.WithoutCancel(t.Context()), e, l.Epoch, 1) }()
	<-disk.held
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	renewed, err := e.Renew(ctx, l, 2*time.Hour)
	if err != nil || renewed.Epoch != l.Epoch || !renewed.Expires.After(l.Expires) {
		t.Errorf("during a commit %+v is renewed as %+v, %v", l, renewed, err)
	}
	close(disk.release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := e.Release(t.Context(), renewed); err != nil {
		t.Error(err)
	}
	if _, err := e.Renew(ctx, renewed, time.Hour); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a lease that was released is renewed: %v", err)
	}
}

// TestCheckpointFailure: a full backup disk is no fault of the store.
func TestCheckpointFailure(t *testing.T) {
	injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasPrefix(op.Path, "/backup") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errDisk
		}
		return nil
	})
	e := openLog(t, logOptions(errorfs.Wrap(vfs.NewMem(), injector)))
	l := lease(t, e, "writer")
	if err := e.Checkpoint(t.Context(), "/backup/one"); err == nil || !strings.Contains(err.Error(), "/backup/one") {
		t.Errorf("checkpoint to a full disk: %v", err)
	}
	if err := appendLog(t.Context(), e, l.Epoch, 1); err != nil {
		t.Errorf("commit after a failed checkpoint: %v", err)
	}
}

// TestCorruptTable: a damaged file gives an error to the view that reads it
// and stops the engine, not the process.
func TestCorruptTable(t *testing.T) {
	disk := vfs.NewMem()
	e := openLog(t, logOptions(disk))
	l := lease(t, e, "writer")
	for n := uint64(1); n <= 30; n++ {
		if err := appendLog(t.Context(), e, l.Epoch, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := disk.List("/store")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			data, err := disk.UnsafeGetFileDataBuffer("/store/" + name)
			if err != nil {
				t.Fatal(err)
			}
			for i := len(data) / 4; i < len(data)/2; i++ { // behind the lease
				data[i] ^= 0x55
			}
		}
	}
	e = openLog(t, logOptions(disk))
	if _, err := checkLog(t.Context(), e); err == nil {
		t.Error("damaged rows were read without an error")
	}
	if _, err := e.Acquire(t.Context(), store.Writer, "writer", time.Hour); err == nil {
		t.Error("a damaged store takes a lease")
	}
}

func TestLargeBatch(t *testing.T) {
	e := openLog(t, logOptions(vfs.NewMem()))
	l := lease(t, e, "writer")
	value := bytes.Repeat([]byte("x"), 1<<20)
	b := &store.Batch{Epoch: l.Epoch}
	rows := 256
	if raced {
		rows = 32
	}
	for n := range uint64(rows) {
		b.Put(entryKey(n), value)
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	err := e.View(t.Context(), func(r store.Reader) error {
		n := 0
		for row, err := range r.Walk(t.Context(), entries, nil) {
			if err != nil {
				return err
			}
			if !bytes.Equal(row.Value, value) {
				t.Errorf("row %d differs", n)
			}
			n++
		}
		if n != rows {
			t.Errorf("%d rows", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	o := logOptions(vfs.NewMem())
	o.Metrics = registry
	e := openLog(t, o)
	l := lease(t, e, "writer")
	if err := appendLog(t.Context(), e, l.Epoch, 1); err != nil {
		t.Fatal(err)
	}
	value := func(name string) float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "chainexplorer_store_"+name {
				m := f.GetMetric()[0]
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		return -1
	}
	if got := value("commits_total"); got != 1 {
		t.Errorf("commits_total = %v", got)
	}
	if got := value("commit_bytes_total"); got < 8000 {
		t.Errorf("commit_bytes_total = %v", got)
	}
	if got := value("stopped"); got != 0 {
		t.Errorf("stopped = %v", got)
	}
	// Two stores in one registry would mix their figures.
	other := logOptions(vfs.NewMem())
	other.Metrics = registry
	if e, err := pebble.Open(other); err == nil {
		_ = e.Close()
		t.Error("two stores registered in one place")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := value("commits_total"); got != -1 {
		t.Errorf("a closed store still shows %v commits", got)
	}
	openLog(t, o) // registers again
}

func TestOpenMem(t *testing.T) {
	e, err := pebble.OpenMem(logs)
	if err != nil {
		t.Fatal(err)
	}
	l := lease(t, e, "writer")
	if err := appendLog(t.Context(), e, l.Epoch, 1); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
