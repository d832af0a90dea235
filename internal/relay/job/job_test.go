package job_test

import (
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// bench are two processes on one database.
type bench struct {
	a, b  *job.Repo
	space string
	now   atomic.Int64 // seconds since begin
}

var begin = time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)

func (b *bench) clock() time.Time { return begin.Add(time.Duration(b.now.Load()) * time.Second) }

func newBench(t *testing.T, at string, usual job.Budget) *bench {
	t.Helper()
	b := &bench{}
	var repos []*job.Repo
	for range 2 {
		db, err := control.Open(t.Context(), control.Options{Path: at})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
		repos = append(repos, job.New(db, job.Options{Usual: usual, Now: b.clock}))
		if b.space == "" {
			w, err := account.NewRepository(db, account.Options{}).CreateWorkspace(t.Context(), "w", account.Free)
			if err != nil {
				t.Fatal(err)
			}
			b.space = w.ID
		}
	}
	b.a, b.b = repos[0], repos[1]
	return b
}

func (b *bench) ask(n int, owner string) job.Ask {
	return job.Ask{WorkspaceID: b.space, KeyID: "key_1", KeyDigest: fmt.Sprint("k", n), BodyDigest: fmt.Sprint("b", n), Owner: owner}
}

func everywhere(t *testing.T, test func(t *testing.T, at string)) {
	t.Run("file", func(t *testing.T) { test(t, controltest.File(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, controltest.Server(t)) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOneJobForManyAtOnce: duplicates in two processes are one job, and budgets hold.
func TestOneJobForManyAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		b := newBench(t, at, job.Budget{Concurrency: 3, PerDay: 5})
		crowd := func(n int, fn func(i int, r *job.Repo, owner string)) {
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					if i%2 == 0 {
						fn(i, b.a, "a")
					} else {
						fn(i, b.b, "b")
					}
				})
			}
			wg.Wait()
		}
		var made atomic.Int32
		ids := sync.Map{}
		crowd(8, func(_ int, r *job.Repo, owner string) {
			j, out, err := r.Submit(t.Context(), b.ask(0, owner))
			if err != nil {
				t.Error(err)
				return
			}
			if out == job.Created {
				made.Add(1)
			}
			ids.Store(j.ID, true)
		})
		n := 0
		ids.Range(func(id, _ any) bool {
			if !regexp.MustCompile(`^prv_[0-9a-f]{24}$`).MatchString(id.(string)) {
				t.Errorf("the id is %s", id)
			}
			n++
			return true
		})
		if made.Load() != 1 || n != 1 {
			t.Errorf("one request is %d jobs, %d ids", made.Load(), n)
		}
		made.Store(0)
		crowd(8, func(i int, r *job.Repo, owner string) {
			_, out, err := r.Submit(t.Context(), b.ask(i+1, owner))
			if err == nil && out == job.Created {
				made.Add(1)
			} else if !errors.Is(err, job.ErrConcurrency) {
				t.Error(err)
			}
		})
		if made.Load() != 2 {
			t.Errorf("%d more jobs at once", made.Load())
		}
		other := b.ask(0, "a")
		other.BodyDigest = "other"
		if _, _, err := b.a.Submit(t.Context(), other); !errors.Is(err, job.ErrKeyReused) {
			t.Error(err)
		}
		if _, err := b.a.Find(t.Context(), other); !errors.Is(err, job.ErrKeyReused) {
			t.Error(err)
		}
	})
}

// TestTheDay: a job is debited when it is made, by UTC, and not when it is tried again.
func TestTheDay(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		ctx := t.Context()
		b := newBench(t, at, job.Budget{Concurrency: 9, PerDay: 2})
		one, _, err := b.a.Submit(ctx, b.ask(1, "a"))
		must(t, err)
		_, _, err = b.a.Submit(ctx, b.ask(2, "a"))
		must(t, err)
		if _, _, err := b.a.Submit(ctx, b.ask(3, "a")); !errors.Is(err, job.ErrDaily) {
			t.Error(err)
		}
		if left := b.a.UntilTomorrow(); left != time.Hour {
			t.Errorf("%s are left", left)
		}
		must(t, b.a.End(ctx, one.ID, "a", job.Unavailable, nil, false))
		again, out, err := b.b.Submit(ctx, b.ask(1, "b"))
		if err != nil || out != job.Revived || again.ID != one.ID || again.Owner != "b" || again.State != job.Queued || again.CompletedAt != nil {
			t.Errorf("%+v %v %v", again, out, err)
		}
		must(t, b.a.SetBudget(ctx, b.space, &job.Budget{Concurrency: 9, PerDay: 3}, "more"))
		_, _, err = b.a.Submit(ctx, b.ask(3, "a"))
		must(t, err)
		if _, _, err := b.a.Submit(ctx, b.ask(4, "a")); !errors.Is(err, job.ErrDaily) {
			t.Error(err)
		}
		must(t, b.a.SetBudget(ctx, b.space, nil, "usual"))
		if err := b.a.SetBudget(ctx, "key_nobody", &job.Budget{}, ""); !errors.Is(err, job.ErrNoOwner) {
			t.Error(err)
		}
		b.now.Store(3600)
		_, _, err = b.a.Submit(ctx, b.ask(4, "a"))
		must(t, err)
	})
}

// TestOtherKeys: who revives a job has it among its own, and a key that takes another's
// place takes over what that one used and was given.
func TestOtherKeys(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		ctx := t.Context()
		b := newBench(t, at, job.Budget{Concurrency: 2, PerDay: 4})
		for i := range 3 {
			j, _, err := b.a.Submit(ctx, b.ask(i, "a"))
			must(t, err)
			must(t, b.a.End(ctx, j.ID, "a", job.Unavailable, nil, false))
		}
		other := func(n int) job.Ask {
			a := b.ask(n, "a")
			a.KeyID = "key_2"
			return a
		}
		for i := range 3 {
			_, _, err := b.a.Submit(ctx, other(i))
			if want := i == 2; errors.Is(err, job.ErrConcurrency) != want {
				t.Errorf("revival %d by another key: %v", i, err)
			}
		}
		_, _, err := b.a.Submit(ctx, b.ask(3, "a")) // the fourth of its day; it runs nothing
		must(t, err)
		if _, _, err := b.a.Submit(ctx, b.ask(4, "a")); !errors.Is(err, job.ErrDaily) {
			t.Errorf("a fifth of four a day: %v", err)
		}
		db, err := control.Open(ctx, control.Options{Path: at})
		must(t, err)
		t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
		must(t, db.Update(ctx, func(tx *sql.Tx) error { return b.a.Inherit(ctx, tx, "key_1", "key_9") }))
		fresh := b.ask(5, "a")
		fresh.KeyID = "key_9"
		if _, _, err := b.a.Submit(ctx, fresh); !errors.Is(err, job.ErrDaily) {
			t.Errorf("a key in another's place has a new day: %v", err)
		}
		if _, _, err := b.a.Submit(ctx, b.ask(6, "a")); err != nil {
			t.Errorf("the day of the old key is still used up: %v", err)
		}
	})
}

// TestMoves: only the owner moves a job that has not ended, and saying something twice is
// saying it once.
func TestMoves(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		ctx := t.Context()
		b := newBench(t, at, job.Budget{Concurrency: 99, PerDay: 99})
		j, _, err := b.a.Submit(ctx, b.ask(1, "a"))
		must(t, err)
		second, _, err := b.a.Submit(ctx, b.ask(2, "a"))
		must(t, err)
		if n, err := b.b.Position(ctx, second); err != nil || n != 1 && n != 2 {
			t.Error(n, err)
		}
		for range 2 {
			must(t, b.a.Dispatch(ctx, j.ID, "a", 1))
		}
		if n, err := b.b.Position(ctx, second); err != nil || n != 1 {
			t.Error(n, err)
		}
		if err := b.b.Dispatch(ctx, j.ID, "b", 2); !errors.Is(err, job.ErrLost) {
			t.Error(err)
		}
		must(t, b.a.Requeue(ctx, j.ID, "a"))
		must(t, b.a.Dispatch(ctx, j.ID, "a", 2))
		code := int64(-32603)
		for range 2 {
			must(t, b.a.End(ctx, j.ID, "a", job.Failed, &code, true))
		}
		if err := b.a.End(ctx, j.ID, "a", job.Succeeded, nil, true); !errors.Is(err, job.ErrLost) {
			t.Error("a terminal state was changed", err)
		}
		if err := b.a.Dispatch(ctx, j.ID, "a", 3); !errors.Is(err, job.ErrLost) {
			t.Error("a terminal state was changed", err)
		}
		got, err := b.b.Get(ctx, b.space, j.ID)
		must(t, err)
		if got.State != job.Failed || got.Attempts != 2 || got.Code == nil || *got.Code != code || !got.Held || got.CompletedAt == nil {
			t.Errorf("%+v", got)
		}
		must(t, b.a.Delivered(ctx, j.ID, "a"))
		if got, err = b.b.Get(ctx, b.space, j.ID); err != nil || got.Held {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := b.b.Get(ctx, "other", j.ID); !errors.Is(err, job.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestProcessesThatAreGone: what they had queued was not sent, what they had dispatched may
// have been, and what they held is gone.
func TestProcessesThatAreGone(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		ctx := t.Context()
		b := newBench(t, at, job.Budget{Concurrency: 99, PerDay: 99})
		var ids []string
		for i := range 4 {
			j, _, err := b.a.Submit(ctx, b.ask(i, "a"))
			must(t, err)
			ids = append(ids, j.ID)
		}
		must(t, b.a.Dispatch(ctx, ids[1], "a", 1))
		must(t, b.a.End(ctx, ids[2], "a", job.Succeeded, nil, true))
		mine, _, err := b.b.Submit(ctx, b.ask(9, "b"))
		must(t, err)
		if b.a.Shared() {
			must(t, b.a.Beat(ctx, "a", "http://a", 20*time.Second))
			if n, err := b.b.Recover(ctx, "b", b.clock(), 20*time.Second); err != nil || n != (job.Ended{}) {
				t.Errorf("jobs of a process that is alive were ended: %+v %v", n, err)
			}
			if p, err := b.b.Peer(ctx, "a"); err != nil || p != (job.Peer{Address: "http://a", Known: true, Alive: true}) {
				t.Error(p, err)
			}
			b.now.Store(21)
			if p, err := b.b.Peer(ctx, "a"); err != nil || p != (job.Peer{Address: "http://a", Known: true}) {
				t.Error(p, err)
			}
		}
		if n, err := b.b.Recover(ctx, "b", b.clock().Add(-time.Minute), 20*time.Second); err != nil || n != (job.Ended{Unavailable: 2, Unknown: 1}) {
			t.Errorf("%+v %v", n, err)
		}
		for i, want := range []job.State{job.Unavailable, job.UnknownDelivery, job.Succeeded, job.Unavailable} {
			if j, err := b.b.Get(ctx, b.space, ids[i]); err != nil || j.State != want || j.Held != (want == job.Succeeded && b.a.Shared()) || j.CompletedAt == nil {
				t.Errorf("job %d: %+v %v", i, j, err)
			}
		}
		if b.a.Shared() { // it may only have been silent, for as long as it would have kept what it held
			if n, err := b.b.Recover(ctx, "b", b.clock(), 20*time.Second); err != nil || n != (job.Ended{}) {
				t.Error(n, err)
			}
			if j, err := b.b.Get(ctx, b.space, ids[2]); err != nil || j.Held {
				t.Errorf("what a process held that is gone: %+v %v", j, err)
			}
			if p, err := b.b.Peer(ctx, "a"); err != nil || p.Known {
				t.Error(p, err)
			}
		}
		if j, err := b.b.Get(ctx, b.space, mine.ID); err != nil || j.State != job.Queued {
			t.Errorf("%+v %v", j, err)
		}
		if err := b.a.End(ctx, ids[1], "a", job.Succeeded, nil, true); !errors.Is(err, job.ErrLost) {
			t.Error("who was thought to be gone changed a terminal state", err)
		}
		strays, err := b.b.Strays(ctx, "b", b.clock().Add(time.Second))
		if err != nil || len(strays) != 1 || strays[0] != mine.ID {
			t.Error(strays, err)
		}
		must(t, b.b.Leave(ctx, "b"))
		if j, err := b.b.Get(ctx, b.space, mine.ID); err != nil || j.State != job.Unavailable {
			t.Errorf("%+v %v", j, err)
		}
		if n, err := b.b.Tidy(ctx, b.clock().Add(time.Second)); err != nil || n != 5 {
			t.Error(n, err)
		}
		if _, err := b.b.Find(ctx, b.ask(0, "b")); !errors.Is(err, job.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestClockAhead: a process that died while its clock was a day ahead is not alive for a day
// when the clocks are right, and one that is there stays so.
func TestClockAhead(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		b := newBench(t, at, job.Budget{Concurrency: 99, PerDay: 99})
		if !b.a.Shared() {
			return
		}
		ctx, lease := t.Context(), 20*time.Second
		b.now.Store(24 * 3600)
		must(t, b.a.Beat(ctx, "a", "http://a", lease))
		_, _, err := b.a.Submit(ctx, b.ask(0, "a"))
		must(t, err)
		recover := func(now int64, want job.Ended) {
			t.Helper()
			b.now.Store(now)
			if n, err := b.b.Recover(ctx, "b", b.clock().Add(-time.Hour), lease); err != nil || n != want {
				t.Errorf("after %d s: %+v %v", now, n, err)
			}
		}
		recover(0, job.Ended{})
		b.now.Store(10)
		must(t, b.a.Beat(ctx, "a", "http://a", lease))
		recover(29, job.Ended{})
		b.now.Store(24 * 3600)
		must(t, b.a.Beat(ctx, "a", "http://a", lease))
		recover(30, job.Ended{})
		recover(49, job.Ended{})
		recover(51, job.Ended{Unavailable: 1})
		if p, err := b.b.Peer(ctx, "a"); err != nil || p.Alive {
			t.Error(p, err)
		}
	})
}

// TestDayOfClockAhead: what a clock that was days ahead created is none of today's.
func TestDayOfClockAhead(t *testing.T) {
	everywhere(t, func(t *testing.T, at string) {
		b := newBench(t, at, job.Budget{Concurrency: 99, PerDay: 1})
		submit := func(now int64, i int, want error) {
			t.Helper()
			b.now.Store(now)
			if _, _, err := b.a.Submit(t.Context(), b.ask(i, "a")); !errors.Is(err, want) {
				t.Errorf("after %d s: %v, want %v", now, err, want)
			}
		}
		submit(5*24*3600, 0, nil)
		submit(0, 1, nil)
		submit(1, 2, job.ErrDaily)
		submit(24*3600, 3, nil)
		submit(5*24*3600+1, 4, job.ErrDaily)
	})
}

// TestDigests tell apart what they are for, and databases.
func TestDigests(t *testing.T) {
	one := newBench(t, filepath.Join(t.TempDir(), "a.db"), job.Budget{})
	two := newBench(t, filepath.Join(t.TempDir(), "b.db"), job.Budget{})
	x := func(h hash.Hash) { h.Write([]byte("x")) }
	a := one.a.Digest("key", x)
	if a == one.a.Digest("body", x) || a == two.a.Digest("key", x) || a != one.b.Digest("key", x) || len(a) != 64 {
		t.Error("digests are not told apart")
	}
}
