package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/submission"
)

// crowd is a builder whose builds wait until they are let go on.
type crowd struct {
	*bench
	looks   atomic.Int32 // at whether anything can be built
	at, all atomic.Int32 // builds under way, and begun
	let     chan error   // one for each build: how it ends
}

func (c *crowd) Ready(context.Context) error {
	c.looks.Add(1)
	return nil
}

func (c *crowd) Build(ctx context.Context, _ io.Reader, _ *submission.Package) (*build.Result, error) {
	c.all.Add(1)
	c.at.Add(1)
	defer c.at.Add(-1)
	select {
	case err := <-c.let:
		if err != nil {
			return nil, err
		}
		return &build.Result{ClassHash: c.declared, CandidateDigest: "sha256:" + digits}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const digits = "abababababababababababababababababababababababababababababababab"

// newCrowd has jobs of as many workspaces, and a worker that does three at once.
func newCrowd(t *testing.T, jobs int) (c *crowd, ids []string) {
	t.Helper()
	c = &crowd{bench: newBench(t), let: make(chan error)}
	c.Builds, c.Builder, c.Interval = 3, c, 10*time.Millisecond
	c.step() // announces itself
	accounts := account.NewRepository(c.db, account.Options{})
	for i := range jobs {
		w, err := accounts.CreateWorkspace(t.Context(), fmt.Sprintf("crowd %d", i), account.Free)
		if err != nil {
			t.Fatal(err)
		}
		c.workspace = w.ID
		ids = append(ids, c.queue(c.declared).ID)
	}
	return c, ids
}

func (c *crowd) states(ids []string) map[job.State]int {
	out := map[job.State]int{}
	for _, id := range ids {
		list, err := c.Jobs.List(c.t.Context(), "", 100)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, j := range list {
			if j.ID == id {
				out[j.State]++
			}
		}
	}
	return out
}

// begin steps in the background.
func (c *crowd) begin(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.Step(ctx, nil)
		done <- err
	}()
	return done
}

// TestSeveralAtOnce: as many jobs are built at once as are allowed and no more, the next
// begins when one has ended, and what is due otherwise is done meanwhile.
func TestSeveralAtOnce(t *testing.T) {
	c, ids := newCrowd(t, 5)
	var ahead atomic.Int64
	c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	done := c.begin(t.Context())
	until(t, func() bool { return c.at.Load() == 3 })
	looks := c.looks.Load()
	ahead.Store(int64(lookEvery))
	until(t, func() bool { return c.looks.Load() > looks })
	if s := c.states(ids); s[job.Building] != 3 || s[job.Queued] != 2 {
		t.Errorf("%v", s)
	}
	c.let <- nil
	until(t, func() bool { return c.all.Load() == 4 })
	if n := c.at.Load(); n > 3 {
		t.Errorf("%d builds at once", n)
	}
	for range 4 {
		c.let <- nil
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s := c.states(ids); s[job.Succeeded] != 5 {
		t.Errorf("%v", s)
	}
}

// TestSeveralStop: a worker that is stopped gives back all that it has, and begins nothing.
func TestSeveralStop(t *testing.T) {
	c, ids := newCrowd(t, 4)
	ctx, stop := context.WithCancel(t.Context())
	done := c.begin(ctx)
	until(t, func() bool { return c.at.Load() == 3 })
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if s := c.states(ids); s[job.Queued] != 4 || c.at.Load() != 0 || c.all.Load() != 3 {
		t.Errorf("%v, %d builds go on, %d were begun", s, c.at.Load(), c.all.Load())
	}
}

// TestOneOfSeveralFails: the failure of one job is that job's alone.
func TestOneOfSeveralFails(t *testing.T) {
	c, ids := newCrowd(t, 3)
	done := c.begin(t.Context())
	until(t, func() bool { return c.at.Load() == 3 })
	c.let <- &build.Failure{Code: build.Failed}
	c.let <- nil
	c.let <- nil
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s := c.states(ids); s[job.Succeeded] != 2 || s[job.Failed] != 1 {
		t.Errorf("%v", s)
	}
}
