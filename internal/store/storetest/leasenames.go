package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/store"
)

// commitUnder tries one row under a lease.
func commitUnder(ctx context.Context, e store.Engine, l store.Lease, k store.Key) error {
	b := &store.Batch{}
	b.Under(l)
	b.Put(k, []byte("v"))
	return e.Commit(ctx, b)
}

func take(t *testing.T, e store.Engine, name, owner string) store.Lease {
	t.Helper()
	l, err := e.Acquire(t.Context(), name, owner, time.Hour)
	if err != nil || l.Name != name || l.Owner != owner {
		t.Fatalf("lease %q of %s: %+v, %v", name, owner, l, err)
	}
	return l
}

// testLeaseNames: leases of different names are held, fenced and released apart.
func testLeaseNames(t *testing.T, s Store) {
	w := open(t, s)
	e, ctx, k := w.engine, t.Context(), key(narrow, "p", "a")
	fenced := func(what string, l store.Lease) {
		t.Helper()
		if err := commitUnder(ctx, e, l, k); !errors.Is(err, store.ErrFenced) {
			t.Errorf("commit under %s: %v", what, err)
		}
	}
	works := func(what string, l store.Lease) {
		t.Helper()
		if err := commitUnder(ctx, e, l, k); err != nil {
			t.Errorf("commit under %s: %v", what, err)
		}
	}
	fenced("a lease that nobody ever had", store.Lease{Name: "job/a", Epoch: w.lease.Epoch})
	for range 3 { // so that epochs differ
		w.lease = take(t, e, store.Writer, "suite")
	}
	a := take(t, e, "job/a", "one")
	b := take(t, e, "job/b", "two") // another owner, beside the others
	if a.Epoch >= w.lease.Epoch {
		t.Errorf("the first epoch of a name is %d, that of the writer %d", a.Epoch, w.lease.Epoch)
	}
	works("the writer's lease", w.lease)
	works("lease a", a)
	works("lease b", b)
	if _, err := e.Acquire(ctx, "job/a", "two", time.Hour); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("lease a of another owner: %v", err)
	}
	// An epoch counts under its own name alone.
	fenced("the writer's epoch and the name a", store.Lease{Name: "job/a", Epoch: w.lease.Epoch})
	fenced("the epoch of a without its name", store.Lease{Epoch: a.Epoch})
	if _, err := e.Renew(ctx, store.Lease{Name: "job/b", Owner: a.Owner, Epoch: a.Epoch}, time.Hour); !errors.Is(err, store.ErrFenced) {
		t.Errorf("renewal of a under the name of b: %v", err)
	}
	if err := e.Release(ctx, store.Lease{Name: "job/b", Owner: a.Owner, Epoch: a.Epoch}); err != nil {
		t.Errorf("release of a under the name of b: %v", err)
	}
	works("lease b", b)

	// A stale holder is refused, and the others do not notice.
	next := take(t, e, "job/a", "one")
	if next.Epoch <= a.Epoch {
		t.Errorf("epoch %d after %d", next.Epoch, a.Epoch)
	}
	fenced("an older lease a", a)
	if _, err := e.Renew(ctx, a, time.Hour); !errors.Is(err, store.ErrFenced) {
		t.Errorf("renewal of an older lease a: %v", err)
	}
	if err := e.Release(ctx, a); err != nil {
		t.Errorf("release of an older lease a: %v", err)
	}
	works("lease a", next)
	if renewed, err := e.Renew(ctx, next, 2*time.Hour); err != nil || renewed.Name != "job/a" || !renewed.Expires.After(next.Expires) {
		t.Errorf("renewed %+v, %v", renewed, err)
	}
	if err := e.Release(ctx, next); err != nil {
		t.Fatal(err)
	}
	fenced("lease a after its release", next)
	works("lease b", b)
	works("the writer's lease", w.lease)
	if err := e.Release(ctx, w.lease); err != nil {
		t.Fatal(err)
	}
	works("lease b", b)

	for _, name := range []string{"A", "ä", "a b", "/a", "a\x00", strings.Repeat("a", 64)} {
		if _, err := e.Acquire(ctx, name, "one", time.Hour); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("lease %q: %v", name, err)
		}
	}
}

// testLeaseNamesExpire: one lease runs out and is taken over, another is not.
func testLeaseNamesExpire(t *testing.T, s Store) {
	if s.Clock == nil {
		t.Skip("the engine's clock cannot be moved")
	}
	e := s.Open(t)
	t.Cleanup(func() { _ = e.Close() })
	ctx, k := t.Context(), key(narrow, "p", "a")
	short, err := e.Acquire(ctx, "job/a", "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	long := take(t, e, "job/b", "one")
	s.Clock.Advance(time.Minute)
	next := take(t, e, "job/a", "two")
	if _, err := e.Acquire(ctx, "job/b", "two", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("a lease that has not run out: %v", err)
	}
	if err := commitUnder(ctx, e, short, k); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit of the one before: %v", err)
	}
	for _, l := range []store.Lease{next, long} {
		if err := commitUnder(ctx, e, l, k); err != nil {
			t.Errorf("commit under %s of %s: %v", l.Name, l.Owner, err)
		}
	}
}

// testLeaseNamesAcrossOpens: epochs of a name never fall, in the store or a copy.
func testLeaseNamesAcrossOpens(t *testing.T, s Store) {
	var highest uint64
	ctx, k := t.Context(), key(narrow, "p", "a")
	for i := range 3 {
		e := s.Open(t)
		for range 2 {
			l := take(t, e, "job/a", "owner")
			if l.Epoch <= highest {
				t.Fatalf("epoch %d after %d", l.Epoch, highest)
			}
			if err := commitUnder(ctx, e, store.Lease{Name: "job/a", Epoch: highest}, k); !errors.Is(err, store.ErrFenced) {
				t.Errorf("commit with an earlier epoch: %v", err)
			}
			highest = l.Epoch
		}
		if i == 2 {
			dir := s.CopyDir(t)
			if err := e.Checkpoint(ctx, dir); err != nil {
				t.Fatal(err)
			}
			copied := s.OpenCopy(t, dir)
			t.Cleanup(func() { _ = copied.Close() })
			if l := take(t, copied, "job/a", "owner"); l.Epoch <= highest {
				t.Errorf("epoch %d of the copy after %d", l.Epoch, highest)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// testLeaseNamesBounded: names beyond the last that a store remembers are
// refused, and those that it has go on.
func testLeaseNamesBounded(t *testing.T, s Store) {
	w := open(t, s)
	first := take(t, w.engine, "job/0", "one")
	for i := 1; i < store.MaxLeases; i++ {
		take(t, w.engine, fmt.Sprintf("job/%d", i), "one")
	}
	if _, err := w.engine.Acquire(t.Context(), "job/more", "one", time.Hour); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("one more: %v", err)
	}
	if err := w.engine.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Acquire(t.Context(), "job/more", "one", time.Hour); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("one more after another was released: %v", err)
	}
	if l := take(t, w.engine, "job/0", "one"); l.Epoch <= first.Epoch {
		t.Errorf("epoch %d after %d", l.Epoch, first.Epoch)
	}
	w.lease = take(t, w.engine, store.Writer, "suite")
	w.put(key(narrow, "p", "a"), "v")
}

// testLeasesAtOnce commits under several leases at the same time, to rows of
// their own, while one of them changes hands again and again. No commit is lost
// or torn.
func testLeasesAtOnce(t *testing.T, s Store) {
	w := open(t, s)
	e, ctx := w.engine, t.Context()
	const rounds, rows = 20, 8
	fill := func(l store.Lease, id byte, round int) error {
		b := &store.Batch{}
		b.Under(l)
		for j := range rows {
			b.Put(store.Key{Table: narrow, Partition: []byte{id}, Sort: []byte{byte(j)}}, []byte{byte(round)})
		}
		return e.Commit(ctx, b)
	}
	var wg sync.WaitGroup
	for id := range byte(4) {
		l := w.lease
		if id > 0 {
			l = take(t, e, fmt.Sprintf("job/%d", id), "one")
		}
		wg.Go(func() {
			for round := range rounds {
				if err := fill(l, id, round); err != nil {
					t.Errorf("commit under %q: %v", l.Name, err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for round := range rounds {
			l, err := e.Acquire(ctx, "job/restless", "one", time.Hour)
			if err == nil {
				err = fill(l, 9, round)
			}
			if err != nil {
				t.Errorf("lease and commit: %v", err)
				return
			}
		}
	})
	wg.Go(func() {
		for range rounds {
			view(t, e, func(ctx context.Context, r store.Reader) {
				for _, id := range []byte{0, 1, 2, 3, 9} {
					got, err := scan(ctx, r, store.Range{Table: narrow, Partition: []byte{id}, Limit: 2 * rows})
					if err != nil || len(got) != 0 && len(got) != rows {
						t.Errorf("%d rows of %d, %v", len(got), id, err)
					}
					for i := range got {
						if got[i][2:] != got[0][2:] {
							t.Errorf("half of a commit shows: %q", got)
						}
					}
				}
			})
		}
	})
	wg.Wait()
	if n := countRows(t, e); n != 5*rows {
		t.Errorf("%d rows, want %d", n, 5*rows)
	}
}

// testTwoEnginesNames is a job that changes hands between two processes while a
// third party's and the writer's leases stay where they are.
func testTwoEnginesNames(t *testing.T, s Store) {
	if !s.Shared {
		t.Skip("the store cannot be open twice")
	}
	one, two := s.Open(t), s.Open(t)
	t.Cleanup(func() { _, _ = one.Close(), two.Close() })
	ctx := t.Context()
	writer, a, b := take(t, one, store.Writer, "one"), take(t, one, "job/a", "one"), take(t, two, "job/b", "two")
	if _, err := two.Acquire(ctx, "job/a", "two", time.Hour); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("second engine took a held lease: %v", err)
	}
	if err := one.Release(ctx, a); err != nil {
		t.Fatal(err)
	}
	next := take(t, two, "job/a", "two")
	if err := commitUnder(ctx, one, a, key(narrow, "p", "old")); !errors.Is(err, store.ErrFenced) {
		t.Errorf("first engine commits after the second took over: %v", err)
	}
	for i, c := range []struct {
		e store.Engine
		l store.Lease
	}{{one, writer}, {two, b}, {two, next}} {
		if err := commitUnder(ctx, c.e, c.l, key(narrow, "p", fmt.Sprint(i))); err != nil {
			t.Errorf("commit under %q: %v", c.l.Name, err)
		}
	}
	if n := countRows(t, one); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
}
