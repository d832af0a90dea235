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

// TestLeaseOfAClockAhead: a lease that the database gave out while its clock was a day ahead
// keeps nobody waiting for that day. Who holds it and is there has an ordinary one after its
// next renewal.
func TestLeaseOfAClockAhead(t *testing.T) {
	clock := storetest.NewClock()
	o := options(pgtest.Database(t))
	o.Now = clock.Now
	one, two := mustOpen(t, o), mustOpen(t, o)
	clock.Advance(24 * time.Hour)
	held := acquire(t, one, "one")
	clock.Advance(-24 * time.Hour)
	if _, err := one.Renew(t.Context(), held, time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Acquire(t.Context(), store.Writer, "two", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
		t.Fatalf("lease of one who is there: %v", err)
	}
	clock.Advance(24 * time.Hour)
	if _, err := one.Renew(t.Context(), held, time.Minute); err != nil {
		t.Fatal(err)
	}
	clock.Advance(-24 * time.Hour)
	next := acquire(t, two, "two")
	if next.Epoch <= held.Epoch {
		t.Errorf("epoch %d after %d", next.Epoch, held.Epoch)
	}
	if _, err := one.Renew(t.Context(), held, time.Minute); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the one before holds it still: %v", err)
	}
}

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
		"update chain._fences set commits = commits + 1 where name = ''", `insert into chain._leaves (n, p, k, v) values (1, '\x02', 'row', 'half')`,
	} {
		if _, err := stalled.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := two.Acquire(t.Context(), store.Writer, "two", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
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

// TestLeasesApart: who stands still in the middle of a commit under one lease
// holds up nobody who has another, and is not touched by who takes another over.
func TestLeasesApart(t *testing.T) {
	url := pgtest.Database(t)
	clock := storetest.NewClock()
	o := options(url)
	o.Now = clock.Now
	one, two := mustOpen(t, o), mustOpen(t, o)
	take := func(e store.Engine, name, owner string) store.Lease {
		t.Helper()
		l, err := e.Acquire(t.Context(), name, owner, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	commit := func(e store.Engine, l store.Lease, row string) {
		t.Helper()
		b := &store.Batch{}
		b.Under(l)
		b.Put(store.Key{Table: left, Partition: []byte("pp"), Sort: []byte(row)}, []byte(row))
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	writer, job := take(one, store.Writer, "one"), take(one, "job/a", "one")
	stalled, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close(t.Context()) //nolint:errcheck // a test's
	for _, s := range []string{
		"begin", fmt.Sprintf("select set_config('application_name', 'cx:chain:%d', true)", writer.Epoch),
		"update chain._fences set commits = commits + 1 where name = ''", `insert into chain._leaves (n, p, k, v) values (1, '\x02', 'row', 'whole')`,
	} {
		if _, err := stalled.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	commit(one, job, "beside") // the writer's transaction is open
	if _, err := one.Renew(t.Context(), job, time.Minute); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	next := take(two, "job/a", "two") // the writer's has run out as well, and nobody asks for it
	commit(two, next, "after")
	take(two, "job/b", "two")
	if _, err := stalled.Exec(t.Context(), "commit"); err != nil {
		t.Errorf("the writer's commit was ended: %v", err)
	}
	commit(one, writer, "writer")
	if got := census(t, two); got["beside"] != 1 || got["after"] != 1 || got["whole"] != 1 || got["writer"] != 1 {
		t.Errorf("rows %v", got)
	}
}

// TestExisting: who makes nothing writes rows and takes leases all the same.
func TestExisting(t *testing.T) {
	o := options(pgtest.Database(t))
	worker := o
	worker.Existing = true
	if _, err := postgres.Open(t.Context(), worker); !errors.Is(err, postgres.ErrNoStore) {
		t.Errorf("opened what is not there: %v", err)
	}
	mustOpen(t, o)
	e := mustOpen(t, worker)
	l, err := e.Acquire(t.Context(), "job/a", "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := fill(l.Epoch, 1, "v")
	b.Under(l)
	if err := e.Commit(t.Context(), b); err != nil {
		t.Error(err)
	}
}

// TestDatabaseClock: without a clock of its own an engine goes by the server's.
func TestDatabaseClock(t *testing.T) {
	o := options(pgtest.Database(t))
	one, two := mustOpen(t, o), mustOpen(t, o)
	l, err := one.Acquire(t.Context(), store.Writer, "one", time.Minute)
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
		next, err := two.Acquire(t.Context(), store.Writer, "two", time.Minute)
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
	changes := reader.Changes(t.Context(), store.Writer)
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

	// Of another lease nothing is heard, whatever is committed under it.
	aside, err := writer.Acquire(t.Context(), "job/aside", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := fill(aside.Epoch, 1, "aside")
	b.Under(aside)
	if err := writer.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	commit(0) // changes nothing
	select {
	case <-changes:
		t.Error("an empty commit, or one under another lease, was announced")
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

// settled is what an engine that follows says of its commits: until it does, it says something else each time.
func settled(t *testing.T, e *postgres.Engine) uint64 {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if n := e.Commits(); n == e.Commits() {
			return n
		}
		if time.Since(begin) > time.Minute {
			t.Fatal("the engine never follows")
		}
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
	settled := func() uint64 { return settled(t, reader) }
	n := settled()
	lease := acquire(t, writer, "a")
	for range 3 {
		if err := writer.Commit(t.Context(), fill(lease.Epoch, 1, "v")); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for reader.Commits() == n {
			if time.Since(begin) > time.Minute {
				t.Fatal("a commit goes unnoticed")
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("noticed after %v", time.Since(begin))
		n = settled()
	}
	if err := writer.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	// Commits under another lease are noticed as well.
	aside, err := writer.Acquire(t.Context(), "job/aside", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n = settled()
		b := fill(0, 1, "v")
		b.Under(aside)
		if err := writer.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); reader.Commits() == n; {
			if time.Since(begin) > time.Minute {
				t.Fatal("a commit under another lease goes unnoticed")
			}
			time.Sleep(time.Millisecond)
		}
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
		if time.Since(begin) > time.Minute {
			t.Fatal("trusted without a server")
		}
		time.Sleep(time.Millisecond)
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
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

var _ store.Engine = (*postgres.Engine)(nil)
