package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

// TestGoneBack: a database that is set back to an earlier state, as by a restored backup or a failover to a copy that
// was behind, is noticed by whoever remembers what was read before: its numbers of commits come again with other rows.
func TestGoneBack(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	writer := mustOpen(t, options(server.URL()))
	o := options(server.URL())
	o.Follow = true
	lease := acquire(t, writer, "a")
	for range 5 {
		if err := writer.Commit(t.Context(), fill(lease.Epoch, 1, "v")); err != nil {
			t.Fatal(err)
		}
	}
	reader := mustOpen(t, o) // which is late for all of them
	changes := reader.Changes(t.Context(), "")
	noticed := func(what string, since uint64) {
		t.Helper()
		for begin := time.Now(); settled(t, reader) == since; time.Sleep(time.Millisecond) {
			if time.Since(begin) > 30*time.Second {
				t.Fatalf("%s goes unnoticed by who remembers answers", what)
			}
		}
		select {
		case <-changes:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s goes unnoticed by who waits for changes", what)
		}
	}
	n := settled(t, reader)
	drain(changes)
	setBack(t, o, 2)
	noticed("a lower number", n)

	// Between two looks as many commits may have come as were lost.
	n = settled(t, reader)
	drain(changes)
	server.Kill()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	noticed("the same number on a server that was started anew", n)
}

// setBack takes commits back, as far as their number tells.
func setBack(t *testing.T, o postgres.Options, commits int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // done with
	if _, err := conn.Exec(t.Context(), "update "+pgx.Identifier{o.Schema, "_fences"}.Sanitize()+" set commits = commits - $1 where name = ''", commits); err != nil {
		t.Fatal(err)
	}
}
