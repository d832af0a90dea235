package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"chainexplorer/internal/store"
)

// fill commits rows to all tables in a few batches.
func (w *writer) fill() {
	w.t.Helper()
	for i := range 10 {
		w.commit(func(b *store.Batch) {
			for j := range 100 {
				n := uint64(i*100 + j)
				b.Put(store.Key{Table: single, Sort: store.AppendUint64(nil, n)}, store.AppendUint64(nil, n))
				b.Put(store.Key{Table: narrow, Partition: []byte{byte(n)}, Sort: store.AppendUint64(nil, n)}, nil)
				b.Put(store.Key{Table: last, Partition: []byte{byte(n), 0xff}, Sort: nil}, store.AppendUint64(nil, n))
			}
			if i > 0 {
				b.Delete(store.Key{Table: single, Sort: store.AppendUint64(nil, uint64(i))})
			}
		})
	}
}

func mustDigest(t *testing.T, e store.Engine) [32]byte {
	t.Helper()
	d, err := Digest(t.Context(), e, Tables())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func testDurability(t *testing.T, s Store) {
	w := open(t, s)
	empty := mustDigest(t, w.engine)
	w.fill()
	want := mustDigest(t, w.engine)
	if want == empty {
		t.Fatal("a filled store has the digest of an empty one")
	}
	for range 2 {
		if err := w.engine.Close(); err != nil {
			t.Fatal(err)
		}
		w = open(t, s)
		if got := mustDigest(t, w.engine); got != want {
			t.Fatalf("content changed by closing and opening")
		}
	}
}

func testCheckpoint(t *testing.T, s Store) {
	w := open(t, s)
	w.fill()
	dir := s.CopyDir(t)
	if err := w.engine.Checkpoint(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	want := mustDigest(t, w.engine)
	// Neither the store nor the copy follows the other's changes.
	w.put(key(narrow, "p", "later"), "v")
	copied := s.OpenCopy(t, dir)
	t.Cleanup(func() { _ = copied.Close() })
	if got := mustDigest(t, copied); got != want {
		t.Error("the copy differs from the store at the time of the checkpoint")
	}
	l, err := copied.Acquire(t.Context(), store.Writer, "suite", time.Hour)
	if err != nil || l.Epoch <= w.lease.Epoch {
		t.Fatalf("lease of the copy %+v, %v", l, err)
	}
	if err := tryCommit(t, copied, l.Epoch, key(narrow, "p", "copy")); err != nil {
		t.Fatal(err)
	}
	w.view(func(ctx context.Context, r store.Reader) {
		if _, err := r.Get(ctx, key(narrow, "p", "copy")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a change of the copy shows in the store: %v", err)
		}
	})
	if err := w.engine.Checkpoint(t.Context(), dir); err == nil {
		t.Error("a checkpoint was written over another")
	}
	// A checkpoint that fails leaves the store in order.
	w.put(key(narrow, "p", "after"), "v")
}

func testCompact(t *testing.T, s Store) {
	w := open(t, s)
	w.fill()
	want := mustDigest(t, w.engine)
	if err := w.engine.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mustDigest(t, w.engine); got != want {
		t.Error("compaction changed the content")
	}
	w.put(key(narrow, "p", "after"), "v")
}

func testStats(t *testing.T, s Store) {
	w := open(t, s)
	b := &store.Batch{Epoch: w.lease.Epoch}
	for i := range uint64(1000) {
		b.Put(store.Key{Table: single, Sort: store.AppendUint64(nil, i)}, make([]byte, 100))
	}
	for range 2 {
		if err := w.engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	stale := &store.Batch{Epoch: w.lease.Epoch + 1}
	stale.Put(key(narrow, "p", "a"), nil)
	if err := w.engine.Commit(t.Context(), stale); !errors.Is(err, store.ErrFenced) {
		t.Fatal(err)
	}
	got, err := w.engine.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Commits != 2 || got.CommitBytes != 2*1000*108 {
		t.Errorf("two commits of 1,000 rows of 108 bytes are counted as %+v", got)
	}
	if got.DiskBytes == 0 {
		t.Errorf("a store with rows takes no disk: %+v", got)
	}
}

func testCancel(t *testing.T, s Store) {
	w := open(t, s)
	const n = 10_000
	w.commit(func(b *store.Batch) {
		for i := range uint64(n) {
			b.Put(store.Key{Table: single, Sort: store.AppendUint64(nil, i)}, nil)
		}
	})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	k := store.Key{Table: single, Sort: store.AppendUint64(nil, 1)}
	all := store.Range{Table: single, Limit: manyRows}
	b := &store.Batch{Epoch: w.lease.Epoch}
	b.Delete(k)
	check := func(call string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a canceled context: %v", call, err)
		}
	}
	check("View", w.engine.View(canceled, func(store.Reader) error { return nil }))
	_, err := store.Look(canceled, w.engine, []store.Key{k})
	check("Look", err)
	check("Commit", w.engine.Commit(canceled, b))
	_, err = w.engine.Acquire(canceled, store.Writer, "suite", time.Hour)
	check("Acquire", err)
	_, err = w.engine.Renew(canceled, w.lease, time.Hour)
	check("Renew", err)
	check("Release", w.engine.Release(canceled, w.lease))
	_, err = w.engine.Stats(canceled)
	check("Stats", err)
	check("Checkpoint", w.engine.Checkpoint(canceled, s.CopyDir(t)))
	check("Compact", w.engine.Compact(canceled))
	w.view(func(ctx context.Context, r store.Reader) {
		_, err := r.Get(canceled, k)
		check("Get", err)
		_, err = r.GetMany(canceled, []store.Key{k})
		check("GetMany", err)
		_, err = scan(canceled, r, all)
		check("Scan", err)
		_, err = walk(canceled, r, single, nil)
		check("Walk", err)
		if _, err := r.Get(ctx, k); err != nil {
			t.Errorf("a canceled commit took effect: %v", err)
		}

		// In the middle of a sequence: an error, soon, and nothing behind it.
		for name, run := range map[string]func(context.Context, func(error) bool){
			"Scan": func(ctx context.Context, yield func(error) bool) {
				for _, err := range r.Scan(ctx, all) {
					if !yield(err) {
						return
					}
				}
			},
			"Walk": func(ctx context.Context, yield func(error) bool) {
				for _, err := range r.Walk(ctx, single, nil) {
					if !yield(err) {
						return
					}
				}
			},
		} {
			ctx, cancel := context.WithCancel(ctx)
			rows, last := 0, error(nil)
			run(ctx, func(err error) bool {
				if last != nil {
					t.Errorf("%s goes on after an error", name)
				}
				if last = err; err == nil {
					rows++
				}
				cancel()
				return true
			})
			if !errors.Is(last, context.Canceled) || rows >= n {
				t.Errorf("%s canceled after a row: %d rows, %v", name, rows, last)
			}
		}
	})
	if err := tryCommit(t, w.engine, w.lease.Epoch, k); err != nil {
		t.Errorf("commit after canceled calls: %v", err)
	}
}

func testUseAfterClose(t *testing.T, s Store) {
	w := open(t, s)
	w.put(key(narrow, "p", "a"), "v")
	for range 2 {
		if err := w.engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	check := func(call string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after close: %v", call, err)
		}
	}
	check("View", w.engine.View(ctx, func(store.Reader) error {
		t.Error("view of a closed store")
		return nil
	}))
	check("Commit", tryCommit(t, w.engine, w.lease.Epoch, key(narrow, "p", "b")))
	_, err := w.engine.Acquire(ctx, store.Writer, "suite", time.Hour)
	check("Acquire", err)
	_, err = w.engine.Renew(ctx, w.lease, time.Hour)
	check("Renew", err)
	check("Release", w.engine.Release(ctx, w.lease))
	_, err = w.engine.Stats(ctx)
	check("Stats", err)
	check("Checkpoint", w.engine.Checkpoint(ctx, s.CopyDir(t)))
	check("Compact", w.engine.Compact(ctx))
}

// testCloseDuringViews closes while a view is in the middle of a scan. Its
// reads go on or fail with ErrClosed, and the engine is closed in the end.
func testCloseDuringViews(t *testing.T, s Store) {
	w := open(t, s)
	w.fill()
	closed := make(chan error, 1)
	err := w.engine.View(t.Context(), func(r store.Reader) error {
		rows := 0
		for _, err := range r.Scan(t.Context(), store.Range{Table: single, Limit: manyRows}) {
			if rows++; rows == 1 {
				go func() { closed <- w.engine.Close() }()
			}
			if err != nil {
				return err
			}
		}
		for range 1000 {
			if _, err := r.Get(t.Context(), key(narrow, "p", "none")); !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, store.ErrClosed) {
		t.Errorf("a view during close ended with %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	if err := w.engine.View(t.Context(), func(store.Reader) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("view after close: %v", err)
	}
}
