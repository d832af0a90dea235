package webhook_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/control/controltest"
	job "chainexplorer/internal/job/webhook"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
)

// filters are of every kind that a fork takes back.
func filters(w *world) []string {
	return []string{`{"kind":"block"}`, fmt.Sprintf(`{"kind":"transfer","token":[%q]}`, contracts.STRK), fmt.Sprintf(`{"kind":"event","address":[%q]}`, contracts.ETH), `{"kind":"transfer"}`, `{"kind":"event","address":["0xdead"]}`}
}

// TestThroughForks: whatever the chain, the receivers and the processes do, in the end what
// counts is what the chain has to tell, without a gap, in order, and never contradictory.
func TestThroughForks(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			at := controltest.File
			if seed == 1 {
				at = controltest.Server
			}
			w := newWorldOn(t, 30, at(t))
			rng := rand.New(rand.NewPCG(seed, 7))
			trouble := func() func(n int, m *message) int {
				own := rand.New(rand.NewPCG(seed, rng.Uint64()))
				return func(int, *message) int {
					return []int{0, 0, 0, 0, 0, 0, 500, 503, 302, -1}[own.IntN(10)]
				}
			}
			type told struct {
				filter string
				from   uint64
				r      *receiver
			}
			var all []told
			for _, f := range filters(w) {
				for _, from := range []uint64{26, 30} {
					_, r := w.subscribe(f, from, trouble())
					all = append(all, told{f, from, r})
				}
			}
			_, finality := w.subscribe(`{"kind":"finality"}`, 30, trouble())
			_, forks := w.subscribe(`{"kind":"fork"}`, 30, trouble())
			begin := func() *process {
				return w.deliver(func(j *job.Job) { j.PartBytes = 15_000 })
			}
			processes := []*process{begin(), begin()}
			for i := range 14 {
				if i%5 == 4 { // all that there is was told, and then some of it is undone
					w.same(all[0].filter, all[0].from, all[0].r)
				}
				if rng.IntN(2) == 0 || i%5 == 4 {
					w.Chain.Fork(1 + rng.IntN(9))
				}
				w.Chain.Extend(rng.IntN(4) + 1)
				w.IndexInto(w.Engine)
				if i := rng.IntN(3); i < 2 { // one ends, and another begins
					processes[i].end()
					processes[i] = begin()
				}
				for _, p := range processes {
					p.Wake()
				}
			}
			for _, o := range all {
				w.same(o.filter, o.from, o.r)
			}
			retracted := 0
			for _, o := range all {
				o.r.mu.Lock()
				for _, m := range o.r.order {
					if m.Type == "retracted" {
						retracted++
					}
				}
				o.r.mu.Unlock()
			}
			if retracted == 0 || len(w.Chain.Reorgs()) == 0 {
				t.Errorf("%d retractions, %d forks", retracted, len(w.Chain.Reorgs()))
			}
			for name, r := range map[string]*receiver{"finality": finality, "fork": forks} {
				r.mu.Lock()
				if len(r.order) == 0 || r.order[0].Type != name || len(r.order[0].Data.Items) != 1 {
					t.Errorf("%d messages of %s", len(r.order), name)
				}
				r.mu.Unlock()
			}
		})
	}
}

// TestOneIsSlow: receivers that never answer do not keep others waiting.
func TestOneIsSlow(t *testing.T) {
	w := newWorld(t, 10)
	stop := make(chan struct{})
	defer close(stop)
	for range 3 {
		w.subscribe(`{"kind":"block"}`, 5, func(int, *message) int { <-stop; return 500 })
	}
	_, quick := w.subscribe(`{"kind":"block"}`, 0, nil)
	p := w.deliver(func(j *job.Job) { j.Patience = 20 * time.Millisecond })
	w.same(`{"kind":"block"}`, 0, quick)
	w.Chain.Extend(3)
	w.IndexInto(w.Engine)
	p.Wake()
	w.same(`{"kind":"block"}`, 0, quick)
}

// TestGivingUp: what nobody takes becomes a dead letter, the next follows, and too many
// disable the subscription; what was given up can be asked for again, and comes in its turn.
func TestGivingUp(t *testing.T) {
	w := newWorld(t, 6)
	bad := map[int64]bool{2: true}
	s, r := w.subscribe(`{"kind":"block"}`, 3, func(_ int, m *message) int {
		if bad[m.Data.Sequence] {
			return 500
		}
		return 0
	})
	p := w.deliver(func(j *job.Job) { j.GiveUp = 30 * time.Millisecond })
	have := func(n int) func() (bool, error) {
		return func() (bool, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.all) == n, fmt.Errorf("%d messages", len(r.all))
		}
	}
	state := func(want webhook.State, why webhook.Reason) func() (bool, error) {
		return func() (bool, error) {
			got, err := w.hooks.Get(t.Context(), w.owner(), s.ID)
			if err == nil && (got.State != want || got.Reason != why) {
				err = fmt.Errorf("%s %s", got.State, got.Reason)
			}
			return err == nil, err
		}
	}
	ok := func(f func() (bool, error)) func() (bool, error) {
		return func() (bool, error) {
			yes, err := f()
			if yes {
				return true, nil
			}
			return false, err
		}
	}
	r.failed = true // a gap is to be expected
	w.until("the others come", ok(have(2)))
	letters, err := w.hooks.DeadLetters(t.Context(), w.owner(), s.ID, 1<<62, 10)
	if err != nil || len(letters) != 1 || letters[0].Sequence != 2 || letters[0].Status != 500 || letters[0].Attempts < 2 {
		t.Fatalf("%+v %v", letters, err)
	}
	r.mu.Lock()
	delete(bad, 2)
	r.mu.Unlock()
	if _, err := w.hooks.Redeliver(t.Context(), w.owner(), s.ID, 2); err != nil {
		t.Fatal(err)
	}
	p.Wake()
	w.until("it is sent again", ok(have(3)))
	r.mu.Lock()
	for i := range int64(100) {
		bad[4+i] = true
	}
	r.mu.Unlock()
	w.Chain.Extend(5)
	w.IndexInto(w.Engine)
	p.Wake()
	w.until("three in a row disable it", ok(state(webhook.Disabled, webhook.Failing)))
	r.mu.Lock()
	clear(bad)
	r.mu.Unlock()
	active := webhook.Active
	if _, err := w.hooks.Change(t.Context(), w.owner(), s.ID, webhook.Change{State: &active}); err != nil {
		t.Fatal(err)
	}
	p.Wake()
	w.until("it goes on", ok(have(5)))
	r.mu.Lock()
	r.answer = func(int, *message) int { return 410 }
	r.mu.Unlock()
	if _, err := w.hooks.Test(t.Context(), w.owner(), s.ID); err != nil {
		t.Fatal(err)
	}
	p.Wake()
	w.until("410 disables it", ok(state(webhook.Disabled, webhook.Gone)))
}

// TestClockAhead: a message that failed while the clock was days ahead is tried again when
// the clock is right, and not only when those days are over.
func TestClockAhead(t *testing.T) {
	w := newWorld(t, 6)
	s, r := w.subscribe(`{"kind":"block"}`, 3, nil)
	days := 5 * 24 * time.Hour
	p := w.deliver(func(j *job.Job) {
		j.Now = func() time.Time { return time.Now().Add(days) }
		j.Retry = backoff.Policy{Min: time.Hour, Max: time.Hour}
		j.Client = egress.New(egress.Options{}) // to which the receiver's network is none
	})
	w.until("it failed then", func() (bool, error) {
		work, err := w.hooks.Load(t.Context(), s.ID)
		return err == nil && work.Message != nil && work.Message.Attempts == 1 && work.Message.NextAt.After(time.Now().Add(days-time.Hour)), err
	})
	p.end()
	w.deliver()
	w.until("it comes", func() (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.all) > 0, nil
	})
}

// TestRolledBack: what was told of blocks that L1 had accepted cannot be taken back. The
// webhook is disabled and says why, and goes on from where its owner says.
func TestRolledBack(t *testing.T) {
	w := newWorld(t, 40)
	st, err := w.feed.State(t.Context())
	if err != nil || st.L1 == nil || st.L1.Number < 8 {
		t.Fatalf("%+v %v", st, err)
	}
	s, r := w.subscribe(`{"kind":"block"}`, 5, nil)
	p := w.deliver()
	w.same(`{"kind":"block"}`, 5, r)
	if sent, err := w.hooks.Sent(t.Context(), s.ID, 100); err != nil || len(sent) != int(st.Head.Number-st.L1.Number) {
		t.Errorf("%d blocks are remembered: %v", len(sent), err)
	}
	w.Chain.Fork(int(st.Head.Number-st.L1.Number) + 2)
	w.Chain.Extend(1)
	w.IndexInto(w.Engine)
	p.Wake()
	w.until("it is disabled", func() (bool, error) {
		got, err := w.hooks.Get(t.Context(), w.owner(), s.ID)
		if err == nil && (got.State != webhook.Disabled || got.Reason != webhook.RolledBack) {
			err = fmt.Errorf("%s %s at block %d of %+v after %d messages", got.State, got.Reason, got.Position.Number, st, got.Sequence)
		}
		return err == nil, err
	})
	at, err := w.feed.Before(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	from, err := job.PositionOf(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.hooks.Replay(t.Context(), w.owner(), s.ID, from, 30); err != nil {
		t.Fatal(err)
	}
	active := webhook.Active
	if _, err := w.hooks.Change(t.Context(), w.owner(), s.ID, webhook.Change{State: &active}); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	told := len(r.order)
	r.mu.Unlock()
	w.until("it goes on", func() (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		head, _ := w.Chain.Head()
		return len(r.order) > told && r.order[told].Data.Block.Number == 30 && r.order[len(r.order)-1].Data.Block.Number == head, nil
	})
}
