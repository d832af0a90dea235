package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/store/storetest"
)

// TestTakeOverFromAStalledCommit: a writer that stands still in the middle of a
// commit holds the fence. Its successor takes over at once, and the writer, when
// it wakes up, cannot finish.
func TestTakeOverFromAStalledCommit(t *testing.T) {
	url := pgtest.Database(t)
	clock := storetest.NewClock()
	o := options(url)
	o.Now = clock.Now
	one, two := mustOpen(t, o), mustOpen(t, o)
	old := acquire(t, one, "one")

	// What a commit does, up to the place where it stalls.
	stalled, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close(t.Context()) //nolint:errcheck // ended by the server
	for _, s := range []string{
		"begin", fmt.Sprintf("select set_config('application_name', 'cx:chain:%d', true)", old.Epoch),
		"update chain._writer set commits = commits + 1", `insert into chain."right" values ('', 'row', 'half')`,
	} {
		if _, err := stalled.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := two.Acquire(t.Context(), "two", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
		t.Fatalf("lease while the first holds it: %v", err)
	}
	// Renewals do not wait for the commit.
	if _, err := one.Renew(t.Context(), old, time.Hour); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	next := acquire(t, two, "two")
	b := &store.Batch{Epoch: next.Epoch}
	b.Put(store.Key{Table: right, Sort: []byte("row")}, []byte("whole"))
	if err := two.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := stalled.Exec(t.Context(), "commit"); err == nil {
		t.Error("the stalled commit went through")
	}
	if got := census(t, two); got["whole"] != 1 || len(got) != 1 {
		t.Errorf("rows %v", got)
	}
	if err := one.Commit(t.Context(), fill(old.Epoch, 1, "late")); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit of the first writer: %v", err)
	}
}

// TestDatabaseClock: without a clock of its own an engine goes by the server's.
func TestDatabaseClock(t *testing.T) {
	o := options(pgtest.Database(t))
	one, two := mustOpen(t, o), mustOpen(t, o)
	l, err := one.Acquire(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Until(l.Expires); d < 50*time.Second || d > time.Minute {
		t.Errorf("expires in %v", d)
	}
	if l, err = one.Renew(t.Context(), l, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for { // a millisecond is soon over
		next, err := two.Acquire(t.Context(), "two", time.Minute)
		if err == nil {
			if next.Epoch <= l.Epoch {
				t.Errorf("epoch %d after %d", next.Epoch, l.Epoch)
			}
			return
		}
		if !errors.Is(err, store.ErrLeaseHeld) {
			t.Fatal(err)
		}
	}
}

// TestChanges: another process's commit is announced, also one that happened
// while nobody listened.
func TestChanges(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	proxy := pgtest.NewProxy(t, server)
	writer := mustOpen(t, options(server.URL()))
	reader := mustOpen(t, options(proxy.URL("postgres")))
	epoch := acquire(t, writer, "a").Epoch
	changes := reader.Changes(t.Context())
	commit := func(n int) {
		t.Helper()
		if err := writer.Commit(t.Context(), fill(epoch, n, "v")); err != nil {
			t.Fatal(err)
		}
	}
	// The listener may not be there yet, so the first commit is repeated.
	for heard := false; !heard; {
		commit(1)
		select {
		case <-changes:
			heard = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	drain(changes)
	commit(3000) // by COPY
	start := time.Now()
	<-changes
	t.Logf("announced after %v", time.Since(start))
	drain(changes)

	commit(0) // changes nothing
	select {
	case <-changes:
		t.Error("an empty commit was announced")
	case <-time.After(50 * time.Millisecond):
	}
	proxy.Cut()
	commit(2)
	<-changes // after the connection was made again, or by asking
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	for range changes { // ends with the engine
	}
}

// TestCommits: the counter that answers are remembered by moves at once with this
// process's commits and soon with others', and never stands still while nobody
// knows.
func TestCommits(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	proxy := pgtest.NewProxy(t, server)
	writer := mustOpen(t, options(server.URL()))
	if a, b := writer.Commits(), writer.Commits(); a == b {
		t.Error("an engine that does not follow is trusted")
	}
	o := options(proxy.URL("postgres"))
	o.Follow = true
	reader := mustOpen(t, o)
	settled := func() uint64 {
		t.Helper()
		for begin := time.Now(); ; {
			if n := reader.Commits(); n == reader.Commits() {
				return n
			}
			if time.Since(begin) > 20*time.Second {
				t.Fatal("the engine never follows")
			}
		}
	}
	n := settled()
	lease := acquire(t, writer, "a")
	for range 3 {
		if err := writer.Commit(t.Context(), fill(lease.Epoch, 1, "v")); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for reader.Commits() == n {
			if time.Since(begin) > 5*time.Second {
				t.Fatal("a commit goes unnoticed")
			}
		}
		t.Logf("noticed after %v", time.Since(begin))
		n = settled()
	}
	if err := writer.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	lease = acquire(t, reader, "b")
	n = settled()
	if err := reader.Commit(t.Context(), fill(lease.Epoch, 1, "w")); err != nil {
		t.Fatal(err)
	}
	if reader.Commits() == n {
		t.Error("a commit of its own goes unnoticed")
	}
	settled()
	server.Kill() // nobody knows
	begin := time.Now()
	for {
		if n := reader.Commits(); n != reader.Commits() {
			break
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatal("trusted without a server")
		}
	}
	t.Logf("not trusted any more after %v", time.Since(begin))
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled()
}

func drain(ch <-chan struct{}) {
	for {
		select {
		case <-ch:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

var _ store.Engine = (*postgres.Engine)(nil)
