package pebble

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// TestGiveUpAfterFailure: a commit by tables that is given up after the disk failed must
// not wait for their removal, which never comes back.
func TestGiveUpAfterFailure(t *testing.T) {
	tables := []*store.Table{{ID: 1, Name: "head"}, {ID: 2, Name: "entry", PartitionLen: 8, Ascending: true}}
	o := MemOptions(vfs.NewMem(), tables)
	o.BulkBytes = 1
	e, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	b := &store.Batch{}
	b.Put(store.Key{Table: tables[0]}, []byte("head"))
	b.Put(store.Key{Table: tables[1], Partition: make([]byte, 8)}, []byte("entry"))
	w, err := e.build(b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(w.(*bulk).paths); n == 0 {
		t.Fatal("nothing is to be removed")
	}
	e.fail(errors.New("the disk is gone"))
	given := make(chan struct{})
	go func() {
		w.drop()
		close(given)
	}()
	select {
	case <-given:
	case <-time.After(2 * time.Minute):
		t.Fatal("it waits for a removal")
	}
}

// TestManyCuts: many cuts are a table of their own, however few their bytes, and a few go
// through the log.
func TestManyCuts(t *testing.T) {
	lists := &store.Table{ID: 1, Name: "list", PartitionLen: 8}
	e, err := open(MemOptions(vfs.NewMem(), []*store.Table{lists}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for _, c := range []struct {
		cuts  int
		table bool
	}{{bulkCuts - 1, false}, {bulkCuts, true}} {
		b := &store.Batch{}
		for i := range c.cuts {
			b.Cut(store.Cut{Table: lists, Partition: store.AppendUint64(nil, uint64(i))})
		}
		w, err := e.build(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, table := w.(*bulk); table != c.table {
			t.Errorf("%d cuts: a table is %t, want %t", c.cuts, table, c.table)
		}
		w.drop()
	}
}

// TestAscendingRowsStay: rows of an ascending table are laid down at the bottom in each
// commit by tables, also while those of others, which come to all places, are being merged,
// and also when a stream wrote them.
func TestAscendingRowsStay(t *testing.T) {
	t.Run("held", func(t *testing.T) { testAscendingRowsStay(t, false) })
	t.Run("streamed", func(t *testing.T) { testAscendingRowsStay(t, true) })
}

func testAscendingRowsStay(t *testing.T, streamed bool) {
	lists := &store.Table{ID: 1, Name: "list", PartitionLen: 8}
	entries := &store.Table{ID: 2, Name: "entry", PartitionLen: 8, Ascending: true}
	o := MemOptions(vfs.NewMem(), []*store.Table{lists, entries})
	o.BulkBytes = 1
	e, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	l, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	const commits = 60
	places := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(commits) {
		b := &store.Batch{Lease: store.Writer, Epoch: l.Epoch}
		for range 2_000 {
			b.Put(store.Key{Table: lists, Partition: store.AppendUint64(nil, places.Uint64())}, []byte("row"))
		}
		if streamed {
			c := &store.Changes{}
			c.Put(entries, store.AppendUint64(nil, i), nil, []byte("entry"))
			b.Attach(e.Stream())
			if err := b.Stream().Add(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		} else {
			b.Put(store.Key{Table: entries, Partition: store.AppendUint64(nil, i)}, []byte("entry"))
		}
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	m := e.db.Metrics()
	if m.Compact.Count == 0 {
		t.Fatal("nothing was merged")
	}
	if got := m.Levels[len(m.Levels)-1].TablesIngested; got != commits {
		t.Errorf("%d of %d tables went to the bottom", got, commits)
	}
}
