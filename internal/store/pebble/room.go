package pebble

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// roomInterval is how often a commit that waits for room on the disk looks again.
const roomInterval = time.Second

// Shortage says that commits wait because the disk has less room than
// Options.MinFree.
type Shortage struct{ Free, MinFree uint64 }

func (s Shortage) String() string {
	return fmt.Sprintf("the disk has %d MiB of free space and %d MiB are to be kept free", s.Free>>20, s.MinFree>>20)
}

// Paused tells whether commits wait for room on the disk.
func (e *engine) Paused() (Shortage, bool) {
	if s := e.shortage.Load(); s != nil {
		return *s, true
	}
	return Shortage{}, false
}

// awaitRoom keeps a commit back while the disk has less room than the operator
// wants to keep: a store that runs into the end of the disk stops, and other
// programs with it. Leases are not kept back, so that the writer stays the writer.
func (e *engine) awaitRoom(ctx context.Context) error {
	for waited := false; e.minFree > 0; waited = true {
		free, known := e.free()
		if !known || free >= e.minFree {
			if e.shortage.Swap(nil) != nil && waited {
				e.log.Info("the disk has room again, commits go on", "free_mib", free>>20)
			}
			return nil
		}
		s := Shortage{Free: free, MinFree: e.minFree}
		if e.shortage.Swap(&s) == nil {
			e.log.Warn("commits wait for room on the disk", "free_mib", free>>20, "min_free_mib", e.minFree>>20)
		}
		t := time.NewTimer(roomInterval)
		select {
		case <-t.C:
			continue
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-e.closing:
			t.Stop()
			return store.ErrClosed
		case <-e.stop.done:
			t.Stop()
			return e.stop.get()
		}
	}
	return nil
}

// free is the room on the store's disk, where the system tells.
func (e *engine) free() (bytes uint64, known bool) {
	usage, err := e.disk.GetDiskUsage(e.dir)
	return usage.AvailBytes, err == nil
}

// FreeSpace is the room on the disk of a directory, or of the one that it will be in.
func FreeSpace(dir string) (uint64, error) {
	for {
		usage, err := vfs.Default.GetDiskUsage(dir)
		if up := filepath.Dir(dir); os.IsNotExist(err) && up != dir {
			dir = up
			continue
		}
		return usage.AvailBytes, err
	}
}
