package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"chainexplorer/internal/store"
)

// testEach shows few and many rows to visitors: each that is there once, with its
// value, and nothing after an error.
func testEach(t *testing.T, s Store) {
	w := open(t, s)
	const rows = 700
	name := func(i int) store.Key { return key(narrow, "p", fmt.Sprintf("%04d", i)) }
	w.commit(func(batch *store.Batch) {
		for i := range rows {
			if i%3 != 0 {
				batch.Put(name(i), fmt.Appendf(nil, "value %d", i))
			}
		}
		batch.Put(name(rows), nil)
	})
	w.view(func(ctx context.Context, r store.Reader) {
		for _, n := range []int{0, 1, 7, 64, rows} {
			var keys []store.Key
			for i := range n {
				keys = append(keys, name((i*271)%rows)) // every one once, in no order
			}
			keys = append(keys, name(rows), name(rows)) // an empty value, twice
			var mu sync.Mutex
			seen := map[int]string{}
			err := r.Each(ctx, keys, func() store.Visitor {
				before := -1 // state of this visitor alone
				return func(i int, value []byte) error {
					mu.Lock()
					defer mu.Unlock()
					if v, twice := seen[i]; twice || before == i {
						t.Errorf("of %d: row %d is shown again, after %q", n, i, v)
					}
					before, seen[i] = i, string(value)
					return nil
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range keys {
				v, err := r.Get(ctx, k)
				if got, there := seen[i]; there != (err == nil) || got != string(v) {
					t.Errorf("of %d: row %d is shown as %q, %t; Get says %q, %v", n, i, got, there, v, err)
				}
			}
			wrong := errors.New("the visitor's own")
			shown := 0
			err = r.Each(ctx, keys, func() store.Visitor {
				return func(int, []byte) error {
					mu.Lock()
					defer mu.Unlock()
					if shown++; shown >= 2 || n == 0 {
						return wrong
					}
					return nil
				}
			})
			if err != wrong { //nolint:errorlint // as it is
				t.Errorf("of %d: a visitor's error became %v", n, err)
			}
			if shown > 64 {
				t.Errorf("of %d: %d rows were shown after an error", n, shown)
			}
		}
		none := func() store.Visitor { t.Error("a visitor for nothing"); return nil }
		if err := r.Each(ctx, nil, none); err != nil {
			t.Error(err)
		}
		bad := key(narrow, "too long", "a")
		if err := r.Each(ctx, []store.Key{name(1), bad}, none); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Each with a bad key: %v", err)
		}
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if err := r.Each(canceled, []store.Key{name(1)}, none); !errors.Is(err, context.Canceled) {
			t.Errorf("Each with a canceled context: %v", err)
		}
	})
}
