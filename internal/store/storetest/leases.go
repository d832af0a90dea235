package storetest

import (
	"errors"
	"testing"
	"time"

	"chainexplorer/internal/store"
)

func tryCommit(t *testing.T, e store.Engine, epoch uint64, k store.Key) error {
	t.Helper()
	b := &store.Batch{Epoch: epoch}
	b.Put(k, []byte("v"))
	return e.Commit(t.Context(), b)
}

func countRows(t *testing.T, e store.Engine) int {
	t.Helper()
	rows, err := Dump(t.Context(), e, Tables())
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

func testFencing(t *testing.T, s Store) {
	w := open(t, s)
	k := key(narrow, "p", "a")
	old := w.lease
	next, err := w.engine.Acquire(t.Context(), store.Writer, old.Owner, time.Hour)
	if err != nil || next.Epoch <= old.Epoch {
		t.Fatalf("second lease %+v, %v, after %+v", next, err, old)
	}
	for name, epoch := range map[string]uint64{"no epoch": 0, "old": old.Epoch, "future": next.Epoch + 1} {
		if err := tryCommit(t, w.engine, epoch, k); !errors.Is(err, store.ErrFenced) {
			t.Errorf("commit with %s: %v", name, err)
		}
	}
	if n := countRows(t, w.engine); n != 0 {
		t.Errorf("fenced commits left %d rows", n)
	}
	if err := tryCommit(t, w.engine, next.Epoch, k); err != nil {
		t.Errorf("commit with the current epoch: %v", err)
	}
	if _, err := w.engine.Renew(t.Context(), old, time.Hour); !errors.Is(err, store.ErrFenced) {
		t.Errorf("renewal of an old lease: %v", err)
	}
	// Releasing an old lease must not end the current one.
	if err := w.engine.Release(t.Context(), old); err != nil {
		t.Errorf("release of an old lease: %v", err)
	}
	if err := tryCommit(t, w.engine, next.Epoch, k); err != nil {
		t.Errorf("commit after the release of an old lease: %v", err)
	}
}

func testLease(t *testing.T, s Store) {
	e := s.Open(t)
	t.Cleanup(func() { _ = e.Close() })
	ctx := t.Context()
	k := key(narrow, "p", "a")
	if err := tryCommit(t, e, 1, k); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit before any lease: %v", err)
	}
	a, err := e.Acquire(ctx, store.Writer, "a", time.Hour)
	if err != nil || a.Owner != "a" || a.Epoch == 0 || a.Expires.IsZero() {
		t.Fatalf("first lease %+v, %v", a, err)
	}
	if _, err := e.Acquire(ctx, store.Writer, "b", time.Hour); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("lease of b while a holds it: %v", err)
	}
	if err := tryCommit(t, e, a.Epoch, k); err != nil {
		t.Errorf("commit after a refused lease: %v", err)
	}
	renewed, err := e.Renew(ctx, a, 2*time.Hour)
	if err != nil || renewed.Epoch != a.Epoch || renewed.Owner != "a" || !renewed.Expires.After(a.Expires) {
		t.Errorf("renewed %+v, %v from %+v", renewed, err, a)
	}
	// Neither an owner's name nor an epoch alone is the lease.
	if _, err := e.Renew(ctx, store.Lease{Owner: "b", Epoch: a.Epoch}, time.Hour); !errors.Is(err, store.ErrFenced) {
		t.Errorf("renewal under another name: %v", err)
	}
	if err := e.Release(ctx, renewed); err != nil {
		t.Fatalf("release: %v", err)
	}
	if err := e.Release(ctx, renewed); err != nil {
		t.Errorf("second release: %v", err)
	}
	if err := tryCommit(t, e, a.Epoch, k); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit after release: %v", err)
	}
	if _, err := e.Renew(ctx, renewed, time.Hour); !errors.Is(err, store.ErrFenced) {
		t.Errorf("renewal after release: %v", err)
	}
	b, err := e.Acquire(ctx, store.Writer, "b", time.Hour)
	if err != nil || b.Epoch <= a.Epoch {
		t.Errorf("lease of b after release: %+v, %v", b, err)
	}
	for _, ttl := range []time.Duration{0, -time.Second} {
		if _, err := e.Acquire(ctx, store.Writer, "b", ttl); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("lease for %v: %v", ttl, err)
		}
		if _, err := e.Renew(ctx, b, ttl); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("renewal for %v: %v", ttl, err)
		}
	}
	if _, err := e.Acquire(ctx, store.Writer, "", time.Hour); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("lease without an owner: %v", err)
	}
}

func testLeaseExpiry(t *testing.T, s Store) {
	if s.Clock == nil {
		t.Skip("the engine's clock cannot be moved")
	}
	e := s.Open(t)
	t.Cleanup(func() { _ = e.Close() })
	ctx := t.Context()
	k := key(narrow, "p", "a")
	a, err := e.Acquire(ctx, store.Writer, "a", time.Minute)
	if err != nil || !a.Expires.Equal(s.Clock.Now().Add(time.Minute)) {
		t.Fatalf("lease %+v, %v", a, err)
	}
	s.Clock.Advance(time.Minute - time.Nanosecond)
	if _, err := e.Acquire(ctx, store.Writer, "b", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("lease of b just before the end of a's: %v", err)
	}
	s.Clock.Advance(time.Hour)
	// Ran out, but nobody followed: still good, and renewable.
	if err := tryCommit(t, e, a.Epoch, k); err != nil {
		t.Errorf("commit after the end: %v", err)
	}
	if a, err = e.Renew(ctx, a, time.Minute); err != nil || !a.Expires.Equal(s.Clock.Now().Add(time.Minute)) {
		t.Errorf("renewal after the end: %+v, %v", a, err)
	}
	if _, err := e.Acquire(ctx, store.Writer, "b", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("lease of b after the renewal of a's: %v", err)
	}
	s.Clock.Advance(time.Minute)
	b, err := e.Acquire(ctx, store.Writer, "b", time.Minute)
	if err != nil || b.Epoch <= a.Epoch {
		t.Fatalf("lease of b at the end of a's: %+v, %v", b, err)
	}
	if err := tryCommit(t, e, a.Epoch, k); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit of a after b followed: %v", err)
	}
	if _, err := e.Renew(ctx, a, time.Minute); !errors.Is(err, store.ErrFenced) {
		t.Errorf("renewal of a after b followed: %v", err)
	}
}

func testEpochsAcrossOpens(t *testing.T, s Store) {
	var highest uint64
	for i := range 4 {
		e := s.Open(t)
		// The same owner, so that engines whose leases outlive a process agree.
		l, err := e.Acquire(t.Context(), store.Writer, "owner", time.Hour)
		if err != nil || l.Epoch <= highest {
			t.Fatalf("lease %+v, %v after epoch %d", l, err, highest)
		}
		if highest > 0 {
			if err := tryCommit(t, e, highest, key(narrow, "p", "a")); !errors.Is(err, store.ErrFenced) {
				t.Errorf("commit with the epoch of an earlier open: %v", err)
			}
		}
		highest = l.Epoch
		if i%2 == 0 {
			if err := e.Release(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// testTwoEngines is the lease between two processes.
func testTwoEngines(t *testing.T, s Store) {
	if !s.Shared {
		t.Skip("the store cannot be open twice")
	}
	one, two := s.Open(t), s.Open(t)
	t.Cleanup(func() { _, _ = one.Close(), two.Close() })
	ctx := t.Context()
	a, err := one.Acquire(ctx, store.Writer, "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Acquire(ctx, store.Writer, "two", time.Hour); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("second engine took a held lease: %v", err)
	}
	if err := tryCommit(t, one, a.Epoch, key(narrow, "p", "a")); err != nil {
		t.Error(err)
	}
	if n := countRows(t, two); n != 1 {
		t.Errorf("second engine sees %d rows, want 1", n)
	}
	if err := one.Release(ctx, a); err != nil {
		t.Fatal(err)
	}
	b, err := two.Acquire(ctx, store.Writer, "two", time.Hour)
	if err != nil || b.Epoch <= a.Epoch {
		t.Fatalf("second engine's lease %+v, %v", b, err)
	}
	if err := tryCommit(t, one, a.Epoch, key(narrow, "p", "b")); !errors.Is(err, store.ErrFenced) {
		t.Errorf("first engine commits after the second took over: %v", err)
	}
	if n := countRows(t, one); n != 1 {
		t.Errorf("the fenced commit left a trace: %d rows", n)
	}
}
