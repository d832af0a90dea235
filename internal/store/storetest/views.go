package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"chainexplorer/internal/store"
)

// spread are rows in different tables and partitions that every commit of a
// test sets to the same value.
func spread() []store.Key {
	var keys []store.Key
	for i := range 8 {
		p := fmt.Sprintf("%02d", i)
		keys = append(keys,
			key(single, "", p), key(narrow, p[1:], "x"), key(last, p, "y"),
			store.Key{Table: wide, Partition: append(make([]byte, 30), p...), Sort: []byte("z")})
	}
	return keys
}

// testConsistentViews commits while views read the same rows in every way. A
// view must see one value everywhere, to its end, and views must not go back.
func testConsistentViews(t *testing.T, s Store) {
	w := open(t, s)
	keys := spread()
	set := func(n uint64) {
		w.commit(func(b *store.Batch) {
			for _, k := range keys {
				b.Put(k, store.AppendUint64(nil, n))
			}
		})
	}
	set(1)
	const commits, readers = 100, 3
	var committed atomic.Uint64
	committed.Store(1)
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			var last uint64
			for last < commits {
				floor := committed.Load()
				err := w.engine.View(t.Context(), func(r store.Reader) error {
					n, err := oneValue(t.Context(), r, keys)
					if err != nil {
						return err
					}
					if n < last || n < floor {
						return fmt.Errorf("view of %d after one of %d and the commit of %d", n, last, floor)
					}
					last = n
					again, err := oneValue(t.Context(), r, keys)
					if err == nil && again != n {
						err = fmt.Errorf("view changed from %d to %d", n, again)
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := uint64(2); n <= commits; n++ {
		set(n)
		committed.Store(n)
	}
	wg.Wait()
}

// oneValue reads the rows by Get, GetMany and Scan and fails unless all agree.
func oneValue(ctx context.Context, r store.Reader, keys []store.Key) (uint64, error) {
	vs, err := r.GetMany(ctx, keys)
	if err != nil {
		return 0, err
	}
	first, _, _ := store.Uint64(vs[0])
	for i, k := range keys {
		n, _, ok := store.Uint64(vs[i])
		if !ok || n != first {
			return 0, fmt.Errorf("row %d is %d, the first is %d", i, n, first)
		}
		v, err := r.Get(ctx, k)
		if err != nil {
			return 0, err
		}
		if n, _, _ := store.Uint64(v); n != first {
			return 0, fmt.Errorf("value of row %d is %d, the first is %d", i, n, first)
		}
		for row, err := range r.Scan(ctx, store.Range{Table: k.Table, Partition: k.Partition, Limit: 99}) {
			if err != nil {
				return 0, err
			}
			if n, _, _ := store.Uint64(row.Value); n != first {
				return 0, fmt.Errorf("scan of row %d is %d, the first is %d", i, n, first)
			}
		}
	}
	return first, nil
}

// testConcurrentReaders uses one Reader from several goroutines at once.
func testConcurrentReaders(t *testing.T, s Store) {
	w := open(t, s)
	keys := spread()
	w.commit(func(b *store.Batch) {
		for _, k := range keys {
			b.Put(k, store.AppendUint64(nil, 7))
		}
	})
	w.view(func(ctx context.Context, r store.Reader) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					if n, err := oneValue(ctx, r, keys); err != nil || n != 7 {
						t.Errorf("got %d, %v", n, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func testViewError(t *testing.T, s Store) {
	w := open(t, s)
	want := errors.New("mine")
	if err := w.engine.View(t.Context(), func(store.Reader) error { return want }); !errors.Is(err, want) {
		t.Errorf("View returned %v", err)
	}
	// A view inside a view, and a commit inside a view, both work.
	w.view(func(ctx context.Context, outer store.Reader) {
		w.put(key(narrow, "p", "a"), "v")
		w.view(func(ctx context.Context, inner store.Reader) {
			if v, err := inner.Get(ctx, key(narrow, "p", "a")); err != nil || string(v) != "v" {
				t.Errorf("inner view: %q, %v", v, err)
			}
		})
		if _, err := outer.Get(ctx, key(narrow, "p", "a")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("outer view sees a commit that came after it: %v", err)
		}
	})
}
