package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/store/storetest"
)

var (
	left  = &store.Table{ID: 1, Name: "left", PartitionLen: 2} // a word of SQL on purpose
	right = &store.Table{ID: 2, Name: "right", PartitionLen: 0}
)

func options(url string) postgres.Options {
	return postgres.Options{URL: url, Schema: "chain", Tables: []*store.Table{left, right}}
}

// raw runs statements behind the engine's back.
func raw(t testing.TB, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // a test's
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func acquire(t testing.TB, e store.Engine, owner string) store.Lease {
	t.Helper()
	l, err := e.Acquire(t.Context(), store.Writer, owner, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fill sets n rows of each table to a value.
func fill(epoch uint64, n int, value string) *store.Batch {
	b := &store.Batch{Epoch: epoch}
	for i := range uint32(n) {
		sort := store.AppendUint32(nil, i)
		b.Put(store.Key{Table: left, Partition: []byte{byte(i), byte(i >> 8)}, Sort: sort}, []byte(value))
		b.Put(store.Key{Table: right, Sort: sort}, []byte(value))
	}
	return b
}

// census counts the rows by value.
func census(t testing.TB, e store.Engine) map[string]int {
	t.Helper()
	lines, err := storetest.Dump(t.Context(), e, []*store.Table{left, right})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, l := range lines {
		out[string(l.Value)]++
	}
	return out
}

func TestRefuses(t *testing.T) {
	url := pgtest.Database(t)
	in := func(schema string, change ...string) postgres.Options {
		o := options(url)
		o.Schema = schema
		if len(change) > 0 {
			mustOpen(t, o).Close() //nolint:errcheck // never fails
			raw(t, url, change...)
		}
		return o
	}
	raw(t, url, `create schema recipes`, `create table recipes.cake (flour int)`,
		`create schema twin`, `create table twin._store (program text, layout int, citus bool)`, `insert into twin._store values ('cakes', 1, false)`)
	other := in("other", `select 1`)
	other.Tables = []*store.Table{{ID: 1, Name: "left", PartitionLen: 3}, right}
	renumbered := in("renumbered", `select 1`)
	renumbered.Tables = []*store.Table{{ID: 200, Name: "left", PartitionLen: 2}, right}
	missing := in("none")
	missing.ReadOnly = true
	citus := in("spread")
	citus.Citus = postgres.CitusOn
	odd := in(`odd"; drop schema x`)
	secret := in("secret")
	secret.URL = "postgres://someone:hunter2@127.0.0.1:1/db"
	pooled := in("pooled")
	pooled.URL = pgtest.Pooler(t, url)
	nonsense := in("nonsense")
	nonsense.URL = "postgres://someone:hunter2@[::1/db"
	for _, c := range []struct {
		name string
		o    postgres.Options
		want string
	}{
		{"newer layout", in("newer", `update newer._store set layout = 99`), "has layout 99 and this program knows layouts up to 3"},
		{"older layout", in("older", `update older._store set layout = 2`), "schema older has layout 2 and this program's is 3: index again into an empty database"},
		{"another program's tables", in("recipes"), "tables of another program"},
		{"another program's store", in("twin"), "tables of another program"},
		{"other tables", other, `table 1 of schema other is "left" with partitions of 2 bytes`},
		{"other numbers", renumbered, `table "left" of schema renumbered has the number 1, and this program's has 200: index again`},
		{"read-only and not there", missing, "there is no store in schema none"},
		{"no Citus", citus, "no Citus extension"},
		{"odd name", odd, "is not lower-case letters"},
		{"behind a pooler", pooled, "a pooler in between ignores them"},
		{"nobody listens", secret, "127.0.0.1:1"},
		{"bad address", nonsense, "the database's address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := postgres.Open(t.Context(), c.o)
			if err == nil {
				e.Close() //nolint:errcheck // never fails
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q lacks %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in the error %q", err)
			}
		})
	}
	older := in("older") // which also those who make nothing do not wait for
	older.Existing = true
	if e, err := postgres.Open(t.Context(), older); err == nil || errors.Is(err, postgres.ErrOutdated) {
		e.Close() //nolint:errcheck // never fails
		t.Errorf("the older layout: %v", err)
	}
	// A schema that is not ours survives a drop as well.
	o := in("recipes")
	if err := postgres.Drop(t.Context(), o); err == nil {
		t.Error("dropped another program's schema")
	}
	raw(t, url, `select * from recipes.cake`)
	o = in("newer")
	raw(t, url, `update newer._store set layout = 1`)
	for range 2 { // the second time there is nothing
		if err := postgres.Drop(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
}

// TestManyOpenAtOnce: of several that find no schema one makes it.
func TestManyOpenAtOnce(t *testing.T) {
	o := options(pgtest.Database(t))
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			e, err := postgres.Open(t.Context(), o)
			if err != nil {
				t.Errorf("%d: %v", i, err)
				return
			}
			defer e.Close() //nolint:errcheck // never fails
			if _, err := e.Stats(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestNewTable: a program with one table more makes it, and its rows and those
// of the tables before it are there.
func TestNewTable(t *testing.T) {
	o := options(pgtest.Database(t))
	e := mustOpen(t, o)
	if err := e.Commit(t.Context(), fill(acquire(t, e, "a").Epoch, 3, "v")); err != nil {
		t.Fatal(err)
	}
	third := &store.Table{ID: 9, Name: "third", PartitionLen: 1}
	readOnly := o
	readOnly.Tables, readOnly.ReadOnly = append(readOnly.Tables, third), true
	if e, err := postgres.Open(t.Context(), readOnly); err == nil {
		e.Close() //nolint:errcheck // never fails
		t.Error("opened for reading without the table")
	}
	o.Tables = readOnly.Tables
	next := mustOpen(t, o)
	b := &store.Batch{Epoch: acquire(t, next, "a").Epoch}
	b.Put(store.Key{Table: third, Partition: []byte("p")}, []byte("new"))
	if err := next.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	reader := mustOpen(t, readOnly)
	if got := census(t, reader); got["v"] != 6 {
		t.Errorf("rows %v", got)
	}
	if err := reader.Commit(t.Context(), fill(3, 1, "w")); !errors.Is(err, postgres.ErrReadOnly) {
		t.Errorf("commit on a read-only store: %v", err)
	}
	if _, err := reader.Acquire(t.Context(), store.Writer, "b", time.Hour); !errors.Is(err, postgres.ErrReadOnly) {
		t.Errorf("lease of a read-only store: %v", err)
	}
}

// TestLargeCommits writes tables that only grow by COPY, and merges where rows
// exist: the outcome is the same as that of small commits.
func TestLargeCommits(t *testing.T) { largeCommits(t, options(pgtest.Database(t))) }

func TestLargeCommitsOnCitus(t *testing.T) {
	o := options(citusDatabase(t))
	forget(t, o)
	largeCommits(t, o)
}

func largeCommits(t *testing.T, o postgres.Options) {
	e := mustOpen(t, o)
	epoch := acquire(t, e, "a").Epoch
	commit := func(b *store.Batch) {
		t.Helper()
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want map[string]int) {
		t.Helper()
		if got := census(t, e); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("rows %v, want %v", got, want)
		}
	}
	const n = 6000
	commit(fill(epoch, n, "first"))
	expect(map[string]int{"first": 2 * n})
	commit(fill(epoch, n+1000, "second")) // the first to meet rows that exist
	expect(map[string]int{"second": 2 * (n + 1000)})
	commit(fill(epoch, n, "third")) // known to be merged by now
	b := fill(epoch, 3000, "fourth")
	for i := range uint32(2500) { // the last change counts
		b.Delete(store.Key{Table: right, Sort: store.AppendUint32(nil, i)})
	}
	commit(b)
	expect(map[string]int{"fourth": 3000 + 500, "third": 2*n - 6000, "second": 2000})
	stats, err := e.Stats(t.Context())
	if err != nil || stats.Commits != 4 || stats.DiskBytes == 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestStatementTimeout: a read that the server cannot answer ends with an error
// that says so, and the next view works.
func TestStatementTimeout(t *testing.T) {
	url := pgtest.Database(t)
	o := options(url)
	o.StatementTimeout = 50 * time.Millisecond
	e := mustOpen(t, o)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // a test's
	for _, s := range []string{"begin", `lock table chain._leaves in access exclusive mode`} {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	read := func() error {
		return e.View(t.Context(), func(r store.Reader) error {
			_, err := r.Get(t.Context(), store.Key{Table: left, Partition: []byte("pp")})
			return err
		})
	}
	if err := read(); err == nil || !strings.Contains(err.Error(), "statement timeout") {
		t.Errorf("a read of a locked table: %v", err)
	}
	if _, err := conn.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after the lock: %v", err)
	}
}

// TestReadAfterView: a reader that was kept finds no connection of somebody else.
func TestReadAfterView(t *testing.T) {
	e := mustOpen(t, options(pgtest.Database(t)))
	var kept store.Reader
	if err := e.View(t.Context(), func(r store.Reader) error { kept = r; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Get(t.Context(), store.Key{Table: right}); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a read after its view: %v", err)
	}
}

// TestCanceledRead: the end of a context reaches a read that is under way.
func TestCanceledRead(t *testing.T) {
	url := pgtest.Database(t)
	e := mustOpen(t, options(url))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // a test's
	for _, s := range []string{"begin", `lock table chain._leaves in access exclusive mode`} {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = e.View(ctx, func(r store.Reader) error {
		_, err := r.GetMany(ctx, []store.Key{{Table: right}})
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestRestoreRefuses what is no checkpoint, and a schema that is in use.
func TestRestoreRefuses(t *testing.T) {
	url := pgtest.Database(t)
	e := mustOpen(t, options(url))
	if err := e.Commit(t.Context(), fill(acquire(t, e, "a").Epoch, 3, "v")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/copy"
	if err := e.Checkpoint(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	elsewhere := options(url)
	elsewhere.Schema = "elsewhere"
	if _, err := postgres.Restore(t.Context(), elsewhere, t.TempDir()); err == nil {
		t.Error("restored from an empty directory")
	}
	if _, err := postgres.Restore(t.Context(), options(url), dir); err == nil {
		t.Error("restored over a store")
	}
	// A file that lacks its end leaves nothing behind.
	content, err := os.ReadFile(dir + "/right")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/right", content[:len(content)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Restore(t.Context(), elsewhere, dir); err == nil {
		t.Error("restored a damaged checkpoint")
	}
	if err := os.WriteFile(dir+"/right", content, 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := postgres.Restore(t.Context(), elsewhere, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close() //nolint:errcheck // never fails
	if got := census(t, copied); got["v"] != 6 {
		t.Errorf("rows %v", got)
	}
}
