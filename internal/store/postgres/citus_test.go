package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
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

// TestRefusedOnCitus: a cluster that rows cannot be written to the workers of is refused when
// a store is opened, with words that say what to change; whoever only reads may use it.
func TestRefusedOnCitus(t *testing.T) {
	refuses := func(t *testing.T, o postgres.Options, want string) {
		t.Helper()
		e, err := postgres.Open(t.Context(), o)
		if err == nil {
			e.Close() //nolint:errcheck // never fails
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	t.Run("two copies", func(t *testing.T) {
		u, err := url.Parse(citusDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("citus.shard_replication_factor", "2")
		u.RawQuery = q.Encode()
		o := options(u.String())
		o.Schema, o.ShardCount = "citus_copies", 4
		forget(t, o)
		refuses(t, o, "is kept 2 times, and only one copy can be written to")
	})
	t.Run("a worker without metadata", func(t *testing.T) {
		o := options(citusDatabase(t))
		o.Schema, o.ShardCount = "citus_unaware", 4
		forget(t, o)
		mustOpen(t, o)
		conn, err := pgx.Connect(t.Context(), o.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) }) //nolint:errcheck // a test's
		var host string
		var port int
		if err := conn.QueryRow(t.Context(), "select nodename, nodeport from pg_dist_node where groupid > 0 order by 1, 2 limit 1").Scan(&host, &port); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "select stop_metadata_sync_to_node($1, $2)", host, port); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := conn.Exec(context.Background(), "select start_metadata_sync_to_node($1, $2)", host, port); err != nil {
				t.Error(err)
			}
		})
		refuses(t, o, fmt.Sprintf("worker %s:%d does not know which shards it has: select start_metadata_sync_to_node('%s', %d)", host, port, host, port))
		o.ReadOnly = true
		mustOpen(t, o)
	})
}
