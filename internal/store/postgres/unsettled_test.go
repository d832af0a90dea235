package postgres

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// TestUnsettledOnCitus: a worker that was away in the second phase of a commit has
// it prepared only. No view may see the rest of that commit without it, and no commit
// may build on the rows that were before it.
func TestUnsettledOnCitus(t *testing.T) {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	o := testOptions(url, "citus_unsettled")
	o.Citus = CitusOn
	if err := Drop(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e := filled(t, o)
	l, err := e.Acquire(t.Context(), store.Writer, "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	key := func(sort string) store.Key {
		return store.Key{Table: o.Tables[0], Partition: []byte{9, 99}, Sort: []byte(sort)}
	}
	put := func(ctx context.Context, k store.Key, value string) error {
		b := &store.Batch{Epoch: l.Epoch}
		b.Put(k, []byte(value))
		return e.Commit(ctx, b)
	}
	if err := put(t.Context(), key("a"), "before"); err != nil {
		t.Fatal(err)
	}
	// A leaf of one row has its value as it is.
	partition := partitionOf(o.Tables[0], key("a").Partition)
	ring := e.ring.Load()
	in := ring.shardOf(partition)
	worker, err := pgx.ConnectConfig(t.Context(), ring.servers[in.server].write.Config().ConnConfig.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close(context.Background()) //nolint:errcheck // a test's
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := worker.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("begin")
	run("update "+in.sql.table+" set v = 'after' where p = $1", partition)
	run("prepare transaction 'chainexplorer_test'")
	settled := false
	defer func() {
		if !settled {
			worker.Exec(context.Background(), "rollback prepared 'chainexplorer_test'") //nolint:errcheck // after a failure
		}
	}()

	get := func(ctx context.Context, sort string) (value string, err error) {
		err = e.View(ctx, func(r store.Reader) error {
			v, err := r.Get(ctx, key(sort))
			value = string(v)
			return err
		})
		return value, err
	}
	// The state that a view had kept is whole; another is taken only after a commit.
	e.endSnapshots(true)
	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if v, err := get(brief, "a"); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a view of half a commit: %q, %v", v, err)
	}
	done := make(chan error, 1)
	go func() { done <- put(context.Background(), key("b"), "beside") }()
	// It has asked once it holds the locks of the table.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var locks int
		if err := e.write.QueryRow(t.Context(), `select count(*) from pg_stat_activity where state like 'idle in transaction%' and application_name = $1`,
			sessionName(o.Schema, store.Writer, l.Epoch)).Scan(&locks); err != nil {
			t.Fatal(err)
		}
		if locks > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the commit does not wait for the worker")
		}
	}
	select {
	case err := <-done:
		t.Fatalf("a commit upon half a commit: %v", err)
	default:
	}
	run("commit prepared 'chainexplorer_test'")
	settled = true
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for sort, want := range map[string]string{"a": "after", "b": "beside"} {
		if got, err := get(t.Context(), sort); got != want || err != nil {
			t.Errorf("row %s is %q, want %q: %v", sort, got, want, err)
		}
	}
}
