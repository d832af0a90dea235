package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres/pgtest"
)

// whole checks that the store holds one value everywhere and says which.
func whole(t *testing.T, e store.Engine) string {
	t.Helper()
	got := census(t, e)
	if len(got) != 1 {
		t.Fatalf("half a commit: %v", got)
	}
	for value := range got {
		return value
	}
	return ""
}

// TestCutCommits breaks the connection of a commit after any number of bytes,
// for small commits (one message) and large ones (COPY, staging). The commit is
// there or not, never a part of it, and one that was acknowledged is there.
func TestCutCommits(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	proxy := pgtest.NewProxy(t, server)
	sizes := []int{20, 4000}
	if raced {
		sizes = sizes[:1]
	}
	for _, rows := range sizes {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			o := options(proxy.URL("postgres"))
			o.Schema = fmt.Sprintf("rows_%d", rows)
			o.PoolSize = 4
			watched := o
			watched.URL = server.URL()
			e, watcher := mustOpen(t, o), mustOpen(t, watched)
			epoch := acquire(t, e, "a").Epoch
			if err := e.Commit(t.Context(), fill(epoch, rows, "0")); err != nil {
				t.Fatal(err)
			}
			if err := e.Commit(t.Context(), fill(epoch, rows, "0")); err != nil { // now all is prepared
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, uint64(rows)))
			size := int64(rows*90 + 8000)
			failed, applied := 0, 0
			last := "0"
			for i := 1; i <= 40; i++ {
				value := fmt.Sprint(i)
				if i%3 == 0 { // it happens, and the answer is lost
					before := proxy.Replied()
					if err := e.Commit(t.Context(), fill(epoch, rows, last)); err != nil {
						t.Fatal(err)
					}
					proxy.CutAfterReplies(max(proxy.Replied()-before-1-rng.Int64N(200), 0))
				} else {
					proxy.CutAfter(rng.Int64N(size))
				}
				err := e.Commit(t.Context(), fill(epoch, rows, value))
				proxy.CutAfter(-1)
				proxy.CutAfterReplies(-1)
				found := whole(t, watcher)
				switch {
				case found != value && found != last:
					t.Fatalf("commit %d (%v) left %s after %s", i, err, found, last)
				case err == nil && found != value:
					t.Fatalf("the acknowledged commit %d is lost: %s", i, found)
				case err != nil && (errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrInvalid)):
					t.Fatalf("a broken connection shows as %v", err)
				}
				if err != nil {
					failed++
					if found == value {
						applied++
					}
				}
				last = found
			}
			t.Logf("%d commits failed, %d of them took effect", failed, applied)
			if failed < 5 || failed == 40 || (applied == 0 && rows < 100) {
				t.Errorf("%d commits failed, %d of them took effect: the test proves nothing", failed, applied)
			}
		})
	}
}

// TestCutCopies is the same for tables that only grow, whose rows are copied
// straight into them: all rows of a commit are there, or none.
func TestCutCopies(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	server := pgtest.New(t, pgtest.Options{})
	proxy := pgtest.NewProxy(t, server)
	o := options(proxy.URL("postgres"))
	o.PoolSize = 4
	watched := o
	watched.URL = server.URL()
	e, watcher := mustOpen(t, o), mustOpen(t, watched)
	epoch := acquire(t, e, "a").Epoch
	rng := rand.New(rand.NewPCG(1, 1))
	const rows = 1000
	failed, want := 0, map[string]int{}
	for i := range uint32(30) {
		value := fmt.Sprint(i)
		b := &store.Batch{Epoch: epoch}
		for j := range uint32(rows) {
			sort := store.AppendUint32(nil, i*rows+j)
			b.Put(store.Key{Table: left, Partition: []byte{byte(j), byte(j >> 8)}, Sort: sort}, []byte(value))
			b.Put(store.Key{Table: right, Sort: sort}, []byte(value))
		}
		proxy.CutAfter(rng.Int64N(150_000))
		err := e.Commit(t.Context(), b)
		proxy.CutAfter(-1)
		got := census(t, watcher)
		n := got[value]
		if n != 0 && n != 2*rows || err == nil && n == 0 {
			t.Fatalf("commit %d (%v) left %d of %d rows", i, err, n, 2*rows)
		}
		if n > 0 {
			want[value] = n
		}
		if err != nil {
			failed++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("rows %v, want %v", got, want)
		}
	}
	t.Logf("%d commits failed", failed)
	if failed < 5 || failed == 30 {
		t.Errorf("%d of 30 commits failed: the test proves nothing", failed)
	}
}

// TestKilledServer kills the server with kill -9 between commits and in the
// middle of one, again and again. What was acknowledged is there afterwards, and
// the engine goes on with the server that comes back.
func TestKilledServer(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{Durable: true})
	o := options(server.URL())
	o.PoolSize = 4
	e := mustOpen(t, o)
	epoch := acquire(t, e, "a").Epoch
	last := ""
	for i := range 4 {
		value := fmt.Sprint(i)
		killed := make(chan struct{})
		if i%2 == 1 {
			go func() { // in the middle, wherever that is
				defer close(killed)
				server.Kill()
			}()
		}
		err := e.Commit(t.Context(), fill(epoch, 3000, value))
		if i%2 == 0 {
			if err != nil {
				t.Fatalf("commit %d after a restart: %v", i, err)
			}
			server.Kill()
			close(killed)
		}
		<-killed
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		found := whole(t, e)
		if found != value && (err == nil || found != last) {
			t.Fatalf("after commit %d (%v) the store holds %q, before it %q", i, err, found, last)
		}
		last = found
	}
}

// TestServerAway: who reads while the server is away is told that it will pass.
func TestServerAway(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	e := mustOpen(t, options(server.URL()))
	read := func() error {
		return e.View(t.Context(), func(r store.Reader) error { return nil })
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	during := e.View(t.Context(), func(r store.Reader) error {
		server.Kill()
		return read()
	})
	if !errors.Is(during, store.ErrUnavailable) {
		t.Errorf("while the server is away: %v", during)
	}
	for range 3 {
		if err := read(); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("after the server went away: %v", err)
		}
	}
}
