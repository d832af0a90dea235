package postgres_test

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"chainexplorer/internal/store"
)

// citusDatabase is the address of a real Citus cluster. The tests make schemas
// of their own in it and drop them.
func citusDatabase(t *testing.T) string {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	return url
}

// TestViewsOnCitus commits to all shards as fast as it can while views look at
// them: a commit becomes visible on one worker after the other, and no view may
// see it on some.
func TestViewsOnCitus(t *testing.T) {
	o := options(citusDatabase(t))
	o.Schema, o.ShardCount = "citus_views", 8
	forget(t, o)
	e := mustOpen(t, o)
	epoch := acquire(t, e, "a").Epoch
	var keys []store.Key
	for i := range byte(24) {
		keys = append(keys, store.Key{Table: left, Partition: []byte{i, i}})
	}
	set := func(n uint64) {
		b := &store.Batch{Epoch: epoch}
		for _, k := range keys {
			b.Put(k, store.AppendUint64(nil, n))
		}
		if err := e.Commit(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
	set(0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	var views atomic.Int64
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				err := e.View(t.Context(), func(r store.Reader) error {
					var first uint64
					for i, k := range []store.Key{keys[0], keys[7], keys[13], keys[23]} {
						v, err := r.Get(t.Context(), k)
						if err != nil {
							return err
						}
						n, _, _ := store.Uint64(v)
						if i == 0 {
							first = n
						}
						if n != first {
							return fmt.Errorf("commit %d and commit %d in one view", first, n)
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				views.Add(1)
			}
		})
	}
	for n := range uint64(80) {
		set(n + 1)
	}
	close(done)
	readers.Wait()
	t.Logf("%d views beside 80 commits", views.Load())
}
