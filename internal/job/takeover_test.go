package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// cut is a store whose leases cannot be renewed while it is off.
type cut struct {
	store.Engine
	off atomic.Bool
}

func (c *cut) Renew(ctx context.Context, l store.Lease, d time.Duration) (store.Lease, error) {
	if c.off.Load() {
		return l, errors.New("no way through")
	}
	return c.Engine.Renew(ctx, l, d)
}

// TestTakeOver: a process that cannot renew its lease stops its job in time, and
// another goes on with it. What the first has begun it cannot write any more.
func TestTakeOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		line := &cut{Engine: w.engine}
		var late error
		stopped := make(chan time.Time, 1)
		first := &fake{name: "count", tables: census.Enrichment(), every: time.Second}
		first.step = func(ctx context.Context, commit job.Commit) (bool, error) {
			if !line.off.Load() {
				return false, commit(ctx, row(1))
			}
			<-ctx.Done() // a long step
			stopped <- time.Now()
			time.Sleep(time.Minute) // it does not listen
			late = commit(context.WithoutCancel(ctx), row(2))
			return false, late
		}
		a := w.start(job.Options{Store: line, Owner: "a", Shared: true, Jobs: []job.Job{first}})
		second := &fake{name: "count", tables: census.Enrichment(), every: time.Second}
		second.step = func(ctx context.Context, commit job.Commit) (bool, error) { return false, commit(ctx, row(3)) }
		time.Sleep(time.Second)
		b := w.start(job.Options{Owner: "b", Shared: true, Jobs: []job.Job{second}})
		time.Sleep(time.Minute)
		if first.count() < 50 || second.count() != 0 {
			t.Errorf("%d and %d steps", first.count(), second.count())
		}
		line.off.Store(true)
		began := time.Now()
		if d := (<-stopped).Sub(began); d > ttl+ttl/3 {
			t.Errorf("the job went on for %v", d)
		}
		time.Sleep(2 * ttl)
		if second.count() == 0 {
			t.Error("nobody took the job over")
		}
		time.Sleep(2 * time.Minute)
		if !errors.Is(late, store.ErrFenced) {
			t.Errorf("a late commit: %v", late)
		}
		if a.metric(t, "lost_total", "count") != 1 || a.metric(t, "failures_total", "count") != 0 || b.metric(t, "held", "count") != 1 {
			t.Errorf("lost %v, failures %v, held by the other %v", a.metric(t, "lost_total", "count"), a.metric(t, "failures_total", "count"), b.metric(t, "held", "count"))
		}
		line.off.Store(false)
		n := first.count()
		time.Sleep(time.Minute)
		if first.count() != n {
			t.Error("both work")
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * ttl)
		if first.count() == n || a.metric(t, "held", "count") != 1 {
			t.Error("nobody took the job back")
		}
	})
}

// TestFenced: a job whose lease was taken away notices at its next commit.
func TestFenced(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := &fake{name: "count", tables: census.Enrichment(), every: 100 * time.Millisecond}
		f.step = func(ctx context.Context, commit job.Commit) (bool, error) { return false, commit(ctx, row(1)) }
		s := w.start(job.Options{Owner: "a", Shared: true, Jobs: []job.Job{f}})
		time.Sleep(time.Second)
		// As if it had run out and another had come.
		if _, err := w.engine.Acquire(t.Context(), "job/count", "a", time.Minute); err != nil {
			t.Fatal(err)
		}
		n := f.count()
		time.Sleep(time.Second)
		if f.count() > n+2 || s.metric(t, "lost_total", "count") != 1 {
			t.Errorf("%d steps more, lost %v", f.count()-n, s.metric(t, "lost_total", "count"))
		}
	})
}

// TestSpread: processes that begin together share the jobs, and whoever is left
// does them all.
func TestSpread(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		jobs := func() (out []job.Job) {
			for i := range 4 {
				out = append(out, &fake{name: fmt.Sprint("job-", i), every: time.Second})
			}
			return out
		}
		held := func(s *started) (n int) {
			for i := range 4 {
				n += int(s.metric(t, "held", fmt.Sprint("job-", i)))
			}
			return n
		}
		a := w.start(job.Options{Owner: "a", Shared: true, Jobs: jobs()})
		time.Sleep(time.Millisecond) // not at the very same moment
		b := w.start(job.Options{Owner: "b", Shared: true, Jobs: jobs()})
		time.Sleep(time.Minute)
		if na, nb := held(a), held(b); na != 2 || nb != 2 {
			t.Errorf("%d and %d jobs", na, nb)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		began := time.Now()
		for held(b) < 4 {
			if time.Since(began) > time.Minute {
				t.Fatalf("%d jobs are done", held(b))
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("all jobs are done after %v", time.Since(began))
		// Alone, nobody is waited for.
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		c := w.start(job.Options{Owner: "c", Jobs: jobs()})
		time.Sleep(time.Millisecond)
		if held(c) != 4 {
			t.Errorf("%d jobs are done by who is alone:\n%s", held(c), w.log.String())
		}
		if strings.Contains(w.log.String(), "failed") {
			t.Error(w.log.String())
		}
	})
}

// readOnly is a store that gives out no lease while it is.
type readOnly struct {
	store.Engine
	on atomic.Bool
}

func (r *readOnly) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (store.Lease, error) {
	if r.on.Load() {
		return store.Lease{}, errors.New("cannot execute INSERT in a read-only transaction")
	}
	return r.Engine.Acquire(ctx, name, owner, ttl)
}

// TestReadOnlyStore: a store that takes no writes for long is told of when that begins, once a
// minute, and when it is over, and not with every try of every job.
func TestReadOnlyStore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		line := &readOnly{Engine: w.engine}
		line.on.Store(true)
		jobs := []job.Job{&fake{name: "a", every: time.Second}, &fake{name: "b", every: time.Second}, &fake{name: "c", every: time.Second}}
		w.start(job.Options{Store: line, Owner: "a", Shared: true, Jobs: jobs})
		time.Sleep(10*time.Minute - time.Second)
		if n := strings.Count(w.log.String(), "could not take the lease of a job"); n < 9 || n > 10 {
			t.Errorf("told %d times in ten minutes:\n%s", n, w.log.String())
		}
		line.on.Store(false)
		time.Sleep(time.Minute)
		if n := strings.Count(w.log.String(), "leases of jobs can be taken again"); n != 1 {
			t.Errorf("told %d times that it is over:\n%s", n, w.log.String())
		}
	})
}
