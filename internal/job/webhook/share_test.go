package webhook_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	job "chainexplorer/internal/job/webhook"
)

const blocks = `{"kind":"block"}`

// crowd are receivers that answer when they are let go.
type crowd struct {
	under, most atomic.Int64
	arrived     chan struct{}
	letGo       chan struct{}
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{arrived: make(chan struct{}, 1000), letGo: make(chan struct{})}
	t.Cleanup(func() { close(c.letGo) })
	return c
}

func (c *crowd) answer(int, *message) int {
	n := c.under.Add(1)
	defer c.under.Add(-1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	c.arrived <- struct{}{}
	<-c.letGo
	return 500
}

// counted is for until.
func counted(have, want int64) (bool, error) {
	if have != want {
		return false, fmt.Errorf("%d, want %d", have, want)
	}
	return true, nil
}

func (c *crowd) are(w *world, n int64) {
	w.T.Helper()
	w.until("requests are under way", func() (bool, error) {
		return counted(c.under.Load(), n)
	})
}

// patient lets a process wait for receivers for as long as a test lasts.
func patient(w *world, j *job.Job) {
	j.Client, j.Patience, j.Trust = w.client(time.Hour), time.Hour, time.Millisecond
}

// TestStrangersHang: new webhooks of many workspaces whose receivers never answer leave half
// of the places to those that are proven, and of a workspace's own share they leave most.
func TestStrangersHang(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	hang := newCrowd(t)
	_, good := w.subscribe(blocks, 0, nil)
	p := w.deliver(func(j *job.Job) {
		patient(w, j)
		j.Deliveries = 16
	})
	w.same(blocks, 0, good)
	for range 4 { // of its own workspace
		w.subscribe(blocks, 0, hang.answer)
	}
	p.Wake()
	hang.are(w, 1)
	for range 9 {
		who := w.stranger()
		for range 2 {
			w.subscribeAs(who, blocks, 0, hang.answer)
		}
	}
	p.Wake()
	hang.are(w, 8)
	for range 3 {
		w.Chain.Extend(2)
		w.IndexInto(w.Engine)
		p.Wake()
		w.same(blocks, 0, good)
	}
	if n := hang.most.Load(); n != 8 {
		t.Errorf("%d requests were under way to receivers that are not proven", n)
	}
}

// TestFirstChance: the new webhook of a workspace does not wait for all those that others
// have made before.
func TestFirstChance(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	hang := newCrowd(t)
	for range 4 {
		who := w.stranger()
		for range 8 {
			w.subscribeAs(who, blocks, 0, hang.answer)
		}
	}
	p := w.deliver(func(j *job.Job) {
		patient(w, j)
		j.Deliveries = 8
	})
	hang.are(w, 4)
	var came atomic.Bool
	s, _ := w.subscribe(blocks, 0, func(int, *message) int { came.Store(true); return 0 })
	p.Wake()
	w.until("its message is made", func() (bool, error) {
		got, err := w.hooks.Load(t.Context(), s.ID)
		return err == nil && got.Message != nil, err
	})
	// Others are let go one by one. One place may be given before the message is known.
	for range 3 {
		before := len(hang.arrived)
		hang.letGo <- struct{}{}
		w.until("the place is taken", func() (bool, error) { return came.Load() || len(hang.arrived) > before, nil })
	}
	w.until("it has its turn", func() (bool, error) { return came.Load(), nil })
}

// TestOwnHang: receivers of a workspace that fail keep neither its new webhooks nor those that
// are proven waiting.
func TestOwnHang(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	_, good := w.subscribe(blocks, 0, nil)
	hang := newCrowd(t)
	var bad atomic.Int64
	for range 6 {
		w.subscribe(blocks, 0, func(n int, m *message) int {
			if n == 1 { // then it is known to fail
				bad.Add(1)
				return 500
			}
			return hang.answer(n, m)
		})
	}
	p := w.deliver(func(j *job.Job) { patient(w, j) })
	hang.are(w, 1)
	w.until("all of them have failed", func() (bool, error) { return counted(bad.Load(), 6) })
	w.same(blocks, 0, good)
	_, fresh := w.subscribe(blocks, 0, nil)
	p.Wake()
	w.same(blocks, 0, fresh)
	if n := hang.most.Load(); n != 1 {
		t.Errorf("%d requests to receivers that failed", n)
	}
}
