package relay

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/upstream"
)

// Run sends what is queued. When work ends nothing new is taken, what is queued becomes
// unavailable at once, and what is at the prover goes on until life ends: then it is given
// up, and whatever this process still has is gone.
func (r *Relay) Run(work, life context.Context) {
	r.recover(life)
	r.beat(life)
	var wg sync.WaitGroup
	for range r.Concurrency {
		wg.Go(func() {
			for t := r.dequeue(work); t != nil; t = r.dequeue(work) {
				r.run(work, life, t)
			}
		})
	}
	wg.Go(func() { r.every(life, beatEvery, r.beat) })
	wg.Go(func() { r.every(life, beatEvery, r.recover) })
	wg.Go(func() { r.every(life, beatEvery, r.expire) })
	wg.Go(func() { r.every(life, tidyEvery, r.tidy) })
	wg.Go(func() {
		r.probe(work)
		r.every(work, readyEvery, r.probe)
	})
	<-work.Done()
	r.draining.Store(true)
	r.giveUpQueue(life)
	<-life.Done()
	wg.Wait()
	r.giveUpQueue(life) // what came in between
	ctx, cancel := context.WithTimeout(context.WithoutCancel(life), storeTime)
	defer cancel()
	if err := r.Jobs.Leave(ctx, r.process); err != nil {
		r.Logger.Warn("the prover relay's jobs were not ended; they are when another process looks after them", "err", err)
	}
	r.forget()
}

func (r *Relay) every(ctx context.Context, d time.Duration, do func(context.Context)) {
	for backoff.Wait(ctx, d) == nil {
		do(ctx)
	}
}

// giveUpQueue ends what was not sent.
func (r *Relay) giveUpQueue(life context.Context) {
	r.mu.Lock()
	waiting := r.queue
	r.queue = nil
	r.mu.Unlock()
	for _, t := range waiting {
		r.end(life, t, job.Unavailable, nil, nil, "stopping")
	}
}

// run brings a task to its end. A fault of ours ends the task and not the process; what it
// says is not logged, because it may hold anything.
func (r *Relay) run(work, life context.Context, t *task) {
	defer func() {
		if p := recover(); p != nil {
			r.Logger.Error("panic in the prover relay", "job", t.id, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			r.end(life, t, job.UnknownDelivery, nil, nil, "panic")
		}
	}()
	r.Metrics.left(job.Queued, r.Now().Sub(t.since))
	tries := 0
	last := "not_sent"
	for {
		tries++
		if work.Err() != nil {
			r.end(life, t, job.Unavailable, nil, nil, "stopping")
			return
		}
		err := r.store(work, func(ctx context.Context) error { return r.Jobs.Dispatch(ctx, t.id, r.process, t.attempts+1) })
		if err == nil {
			t.attempts++
			t.sent = r.Now()
			out := r.Prover.Prove(life, t.body)
			r.Metrics.left(job.Dispatched, r.Now().Sub(t.sent))
			r.Metrics.answered(out)
			if out.Alert {
				r.Logger.Warn("the prover and the relay do not fit: look at the prover", "job", t.id, "class", out.Class)
			}
			if out.Kind != upstream.Busy && out.Kind != upstream.Unsent {
				r.conclude(life, t, out)
				return
			}
			last = out.Class
			err = r.store(life, func(ctx context.Context) error { return r.Jobs.Requeue(ctx, t.id, r.process) })
			if wait := max(r.Retry.After(tries), min(out.RetryAfter, r.Patience)); err == nil && r.waits(work, t, wait) {
				continue
			}
		}
		if errors.Is(err, job.ErrLost) {
			r.drop(t) // others thought that this process was gone
			return
		}
		r.end(life, t, job.Unavailable, nil, nil, last)
		return
	}
}

// waits says whether a task is to be tried once more, when it is time.
func (r *Relay) waits(work context.Context, t *task, d time.Duration) bool {
	if r.Now().Add(d).After(t.since.Add(r.Patience)) {
		return false
	}
	backoff.Wait(work, d) //nolint:errcheck // the next try sees that the work ended
	return true
}

// conclude ends a task with what the prover said, or did not say.
func (r *Relay) conclude(life context.Context, t *task, out upstream.Outcome) {
	switch out.Kind {
	case upstream.Succeeded:
		r.end(life, t, job.Succeeded, nil, &parcel{Result: out.Result}, out.Class)
	case upstream.Refused:
		r.end(life, t, job.Failed, &out.Code, &parcel{Error: out.Error}, out.Class)
	case upstream.Unavailable:
		r.end(life, t, job.Unavailable, nil, nil, out.Class)
	default:
		r.end(life, t, job.UnknownDelivery, nil, nil, out.Class)
	}
}

// end clears the body, holds what there is for the first poll, and says so in the row, in
// this order: who reads the row finds the result.
func (r *Relay) end(life context.Context, t *task, to job.State, code *int64, p *parcel, class string) {
	clear(t.body)
	if p != nil {
		r.hold(t, p)
	}
	err := r.store(life, func(ctx context.Context) error { return r.Jobs.End(ctx, t.id, r.process, to, code, p != nil) })
	if err != nil && p != nil {
		r.release(t.id)
	}
	switch {
	case errors.Is(err, job.ErrLost):
	case err != nil:
		r.Logger.Error("how a prover job ended could not be stored", "job", t.id, "state", string(to), "err", err)
	default:
		r.Metrics.ended(to, class)
		r.Logger.Info("prover job", "job", t.id, "workspace", t.workspace, "state", string(to), "class", class, "attempts", t.attempts)
	}
	r.drop(t)
}

// store changes the database, however long that takes while there is life, and once after.
func (r *Relay) store(life context.Context, change func(context.Context) error) error {
	for failures := 1; ; failures++ {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(life), storeTime)
		err := change(ctx)
		cancel()
		if err == nil || errors.Is(err, job.ErrLost) || life.Err() != nil {
			return err
		}
		r.Logger.Warn("the control database does not take what the prover relay has to say", "err", err)
		backoff.Wait(life, r.Retry.After(failures)) //nolint:errcheck // then it is tried once more
	}
}

// beat says that this process is alive, to those that share the database.
func (r *Relay) beat(ctx context.Context) {
	if !r.Jobs.Shared() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := r.Jobs.Beat(ctx, r.process, r.Address, beatLease); err != nil {
		if ctx.Err() == nil {
			r.silent.Fails(err)
		}
		return
	}
	r.silent.Works()
	r.joined.Store(true) // before that, others would take its jobs for those of one that is gone
}

// recover ends the jobs of processes that are gone, and rows of our own that have no body:
// those of requests whose commit was not known to have happened.
func (r *Relay) recover(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	n, err := r.Jobs.Recover(ctx, r.process, r.Now().Add(-r.ResultTTL-beatLease), beatLease)
	if err != nil {
		if ctx.Err() == nil {
			r.Logger.Warn("prover jobs of processes that are gone were not ended", "err", err)
		}
		return
	}
	if n != (job.Ended{}) {
		r.Metrics.outcomes.WithLabelValues(string(job.Unavailable), "owner_gone").Add(float64(n.Unavailable))
		r.Metrics.outcomes.WithLabelValues(string(job.UnknownDelivery), "owner_gone").Add(float64(n.Unknown))
		r.Logger.Warn("ended prover jobs of processes that are gone", "unavailable", n.Unavailable, "unknown_delivery", n.Unknown)
	}
	ids, err := r.Jobs.Strays(ctx, r.process, r.Now().Add(-strayAge))
	if err != nil {
		return
	}
	for _, id := range ids {
		r.mu.Lock()
		known := r.known[id]
		r.mu.Unlock()
		if !known {
			r.Jobs.End(ctx, id, r.process, job.Unavailable, nil, false) //nolint:errcheck // tried again
		}
	}
}

func (r *Relay) tidy(ctx context.Context) {
	if _, err := r.Jobs.Tidy(ctx, r.Now().Add(-r.Retention)); err != nil && ctx.Err() == nil {
		r.Logger.Warn("old prover jobs were not deleted", "err", err)
	}
}

// probe finds out whether the prover is there. One that fails twice in a row is away.
func (r *Relay) probe(ctx context.Context) {
	err := r.Prover.Ready(ctx)
	if err != nil && ctx.Err() == nil {
		if backoff.Wait(ctx, r.Retry.Min) != nil {
			return
		}
		err = r.Prover.Ready(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	if was := r.away.Swap(err != nil); was != (err != nil) {
		if err != nil {
			r.Logger.Warn("the prover is away: no requests are taken", "err", err)
		} else {
			r.Logger.Info("the prover answers again")
		}
	}
}
