package pebble_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// eventually polls a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// TestMinFree: commits wait while the disk has too little room, views, leases and
// the end do not.
func TestMinFree(t *testing.T) {
	disk := vfs.NewMem()
	room := func(bytes uint64) { disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: bytes, TotalBytes: 1 << 40}) }
	room(100 << 20)
	o := logOptions(disk)
	o.MinFree = 100 << 20
	e := openLog(t, o)
	l := lease(t, e, "writer")
	if err := appendLog(t.Context(), e, l.Epoch, 1); err != nil {
		t.Fatal(err)
	}
	if _, paused := e.Paused(); paused {
		t.Error("paused although there is room")
	}
	room(99 << 20)
	committed := make(chan error, 1)
	go func() { committed <- appendLog(t.Context(), e, l.Epoch, 2) }()
	eventually(t, "the pause", func() bool { _, paused := e.Paused(); return paused })
	if s, _ := e.Paused(); s.Free != 99<<20 || s.MinFree != 100<<20 {
		t.Errorf("paused for %s", s)
	}
	if n, err := checkLog(t.Context(), e); err != nil || n != 1 {
		t.Errorf("a view shows %d batches, %v", n, err)
	}
	if _, err := e.Renew(t.Context(), l, time.Hour); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := appendLog(ctx, e, l.Epoch, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("a commit that was called off: %v", err)
	}
	room(200 << 20)
	if err := <-committed; err != nil {
		t.Error(err)
	}
	if _, paused := e.Paused(); paused {
		t.Error("still paused")
	}
	room(0)
	go func() { committed <- appendLog(t.Context(), e, l.Epoch, 3) }()
	eventually(t, "the pause", func() bool { _, paused := e.Paused(); return paused })
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-committed; !errors.Is(err, store.ErrClosed) {
		t.Errorf("a commit that waited when the store was closed: %v", err)
	}
}

// TestOpenOnAFullDisk: opening ends with an error and leaves the directory free.
// What is in it can be read, and opened again once there is room.
func TestOpenOnAFullDisk(t *testing.T) {
	disk := vfs.NewCrashableMem()
	e := openLog(t, logOptions(disk))
	l := lease(t, e, "writer")
	for n := uint64(1); n <= 20; n++ {
		if err := appendLog(t.Context(), e, l.Epoch, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"", ".sst", ".log", "MANIFEST", "marker"} {
		t.Run("no room for "+file, func(t *testing.T) {
			left := disk.CrashClone(vfs.CrashCloneCfg{})
			var failed atomic.Bool
			full := errorfs.Wrap(left, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpRemove && strings.Contains(op.Path, file) && !strings.HasSuffix(op.Path, "LOCK") {
					failed.Store(true)
					return syscall.ENOSPC
				}
				return nil
			}))
			if _, err := pebble.Open(logOptions(full)); failed.Load() && !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("opened on a full disk: %v", err)
			}
			if !failed.Load() {
				t.Skip("nothing of that kind is written")
			}
			o := logOptions(full)
			o.ReadOnly = true
			reader := openLog(t, o)
			if n, err := checkLog(t.Context(), reader); err != nil || n != 20 {
				t.Errorf("read-only, it holds %d batches, %v", n, err)
			}
			if err := reader.Close(); err != nil {
				t.Error(err)
			}
			again := openLog(t, logOptions(left))
			if n, err := checkLog(t.Context(), again); err != nil || n != 20 {
				t.Errorf("with room, it holds %d batches, %v", n, err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
