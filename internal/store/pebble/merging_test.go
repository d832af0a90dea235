package pebble

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// heap is a store to which tables are added that lie above each other.
type heap struct {
	*Engine
	t      *testing.T
	table  *store.Table
	lease  store.Lease
	places *rand.Rand
}

func newHeap(t *testing.T) *heap {
	t.Helper()
	table := &store.Table{ID: 1, Name: "list", PartitionLen: 8}
	o := MemOptions(vfs.NewMem(), []*store.Table{table})
	o.BulkBytes = 1
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &heap{e, t, table, lease, rand.New(rand.NewPCG(1, 2))}
}

// add commits rows at all places of the table.
func (h *heap) add(tables int) {
	h.t.Helper()
	for range tables {
		b := &store.Batch{Lease: store.Writer, Epoch: h.lease.Epoch}
		for range 100 {
			b.Put(store.Key{Table: h.table, Partition: store.AppendUint64(nil, h.places.Uint64())}, []byte("row"))
		}
		if err := h.Commit(h.t.Context(), b); err != nil {
			h.t.Fatal(err)
		}
	}
}

// depth is how many tables lie above each other, and merged how many merges there were.
func (h *heap) depth() int64  { return int64(h.db.Metrics().Levels[0].Sublevels) }
func (h *heap) merged() int64 { return h.db.Metrics().Compact.Count }
func (h *heap) close() {
	h.t.Helper()
	if err := h.Close(); err != nil {
		h.t.Error(err)
	}
}

// TestMergingWaitsForCommits: while commits by tables come, nothing is merged before many lie above each other; and what is
// left when they end is merged some time later, though nobody commits or reads.
func TestMergingWaitsForCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeap(t)
		defer h.close()
		for h.merged() == 0 && h.depth() < deepLevel-1 {
			h.add(1)
			synctest.Wait()
		}
		time.Sleep(CatchingUp / 2)
		synctest.Wait()
		if h.merged() > 0 || h.depth() != deepLevel-1 {
			t.Errorf("%d merges while commits come, %d tables lie above each other", h.merged(), h.depth())
		}
		time.Sleep(CatchingUp)
		synctest.Wait()
		if h.merged() == 0 || h.depth() > 0 {
			t.Errorf("%d merges when no commit came for long, %d tables lie above each other", h.merged(), h.depth())
		}
	})
}

// TestMergingFollowsCommits: however many commits come, without a pause, tables do not pile up.
func TestMergingFollowsCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeap(t)
		defer h.close()
		for range 20 {
			h.add(deepLevel)
			synctest.Wait()
			if h.depth() >= deepLevel {
				t.Fatalf("%d tables lie above each other", h.depth())
			}
		}
		if h.merged() == 0 {
			t.Error("nothing was merged")
		}
	})
}

// TestMergingDoesNotWaitForOthers: what is asked for by name is merged at once, and so is what a fork cut.
func TestMergingDoesNotWaitForOthers(t *testing.T) {
	t.Run("asked for", func(t *testing.T) {
		h := newHeap(t)
		defer h.close()
		h.add(3)
		if err := h.Compact(t.Context()); err != nil || h.depth() > 0 {
			t.Errorf("%v, %d tables lie above each other", err, h.depth())
		}
	})
	t.Run("cut", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newHeap(t)
			defer h.close()
			h.add(deepLevel - 4)
			b := &store.Batch{Lease: store.Writer, Epoch: h.lease.Epoch}
			for i := range bulkCuts {
				b.Cut(store.Cut{Table: h.table, Partition: store.AppendUint64(nil, uint64(i))})
			}
			if err := h.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * mergesLookedAt)
			synctest.Wait()
			if h.merged() == 0 || h.depth() > 0 {
				t.Errorf("%d merges, %d tables lie above each other", h.merged(), h.depth())
			}
		})
	})
}
