// Package webhook delivers webhooks: it reads what happened on a chain behind the place of
// every subscription, makes messages of it, and sends them until they are taken.
//
// One goroutine, that of Step, knows which subscriptions there are and what each waits for.
// It gives a subscription to at most one other goroutine at a time: to one of a few that look
// for its next message, or to one of those that send. So a subscription has one message under
// way, in order, and no receiver keeps others waiting: how the places are shared is in
// share.go.
//
// Costs: a subscription without a match costs a feed.Reader.Read for each block, and a part of
// one statement every few seconds. A message costs one transaction of the control database.
// Bodies are in memory while they are sent, and those that wait to be tried again are not.
package webhook

import (
	"container/heap"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/feed"
	runner "chainexplorer/internal/job"
	"chainexplorer/internal/store"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
)

// The usual times and bounds.
const (
	usualDeliveries = 32
	looksAtOnce     = 4
	pollEvery       = time.Second      // for changes by people
	flushEvery      = 5 * time.Second  // of places of subscriptions without matches
	tidyEvery       = 10 * time.Minute // of dead letters
	shift           = 5 * time.Second  // after which the runner is told that all went well
	troubleTime     = 5 * time.Second  // before something that the database or the index did not do is tried again
	giveUpAfter     = 24 * time.Hour
	retryMin        = 5 * time.Second
	retryMax        = 4 * time.Hour
)

// Job is a job of the runner, of one chain.
type Job struct {
	Webhooks *webhook.Repo
	Feed     *feed.Reader
	Client   *egress.Client
	// Deliveries is how many requests are under way at once (default 32).
	Deliveries int
	// Trust is for how long a receiver has to take everything quickly before it counts as
	// proven (default 1 minute), and Patience how long one is waited for that took nothing
	// yet (default 5 seconds).
	Trust, Patience time.Duration
	// Retry are the waits between attempts, and GiveUp how long there are attempts.
	Retry  backoff.Policy
	GiveUp time.Duration
	// Flush is how often places are written that moved over blocks without a match.
	Flush time.Duration
	// PartBytes bounds the items of a message, unless one alone is larger (default 256 KiB).
	PartBytes int
	Now       func() time.Time
	Logger    *slog.Logger
	Metrics   *Metrics

	woken chan struct{}
	state *atomic.Pointer[feed.State] // of the chain, as it was last seen
	desk  *desk                       // of the goroutine that calls Step
}

var _ runner.Job = (*Job)(nil)

// New sets the job up.
func New(j Job) *Job {
	if j.Deliveries <= 0 {
		j.Deliveries = usualDeliveries
	}
	if j.Trust <= 0 {
		j.Trust = usualTrust
	}
	if j.Patience <= 0 {
		j.Patience = usualPatience
	}
	if j.Retry.Min <= 0 {
		j.Retry = backoff.Policy{Min: retryMin, Max: retryMax}
	}
	if j.GiveUp <= 0 {
		j.GiveUp = giveUpAfter
	}
	if j.Flush <= 0 {
		j.Flush = flushEvery
	}
	if j.PartBytes <= 0 {
		j.PartBytes = maxItemBytes
	}
	if j.Now == nil {
		j.Now = time.Now
	}
	if j.Logger == nil {
		j.Logger = slog.New(slog.DiscardHandler)
	}
	if j.Metrics == nil {
		j.Metrics = NewMetrics(nil)
	}
	j.woken, j.state = make(chan struct{}, 1), new(atomic.Pointer[feed.State])
	return &j
}

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "webhook" }

// Tables are none: webhooks are in the control database.
func (*Job) Tables() []*store.Table { return nil }

// Every is short, because a step itself waits for something to do.
func (*Job) Every() time.Duration { return 50 * time.Millisecond }

// Wake says that the index has changed. It never blocks.
func (j *Job) Wake() {
	select {
	case j.woken <- struct{}{}:
	default: // one is waiting
	}
}

// desk is what the goroutine of a step knows, for as long as the lease is held.
type desk struct {
	*Job
	lease context.Context
	subs  map[string]*sub
	looks []*sub // to be looked for a message, in order
	due   []*sub // to be sent, in order
	// troubled could not be looked after, and are tried again.
	troubled []*sub
	waiting  later // to be sent at a time
	done     chan *sub

	looking int
	places
	version         int64
	polled, flushed time.Time
	tidied          time.Time
}

// Step delivers until ctx ends, or nothing is under way after some time.
func (j *Job) Step(parent context.Context, _ runner.Commit) (more bool, err error) {
	ctx, cancel := context.WithCancel(parent)
	if j.desk == nil || j.desk.lease != parent {
		j.desk = &desk{Job: j, lease: parent, subs: map[string]*sub{}, done: make(chan *sub), places: newPlaces(), version: -1}
	}
	d := j.desk
	defer func() {
		cancel()
		for d.looking+d.sending > 0 {
			d.settle(<-d.done)
		}
		if err != nil {
			j.desk = nil
			d.flush(context.WithoutCancel(parent), true) //nolint:errcheck // whoever comes next looks at a few blocks again
		}
	}()
	for begin := time.Now(); ; {
		if err := d.round(ctx); err != nil {
			return false, err
		}
		if d.looking+d.sending+len(d.looks) == 0 && time.Since(begin) > shift {
			return false, nil
		}
		if err := d.wait(ctx); err != nil {
			return false, err
		}
	}
}

// wait waits until there is something to do.
func (d *desk) wait(ctx context.Context) error {
	wait := pollEvery
	if len(d.waiting) > 0 {
		wait = min(wait, max(0, d.waiting[0].Message.NextAt.Sub(d.Now())))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case s := <-d.done:
		d.settle(s)
	case <-d.woken:
		d.polled = time.Time{}
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// round looks what is new and gives subscriptions to goroutines.
func (d *desk) round(ctx context.Context) error {
	now := d.Now()
	if time.Since(d.polled) >= pollEvery {
		if err := d.refresh(ctx); err != nil {
			return err
		}
		d.polled = time.Now()
		d.Metrics.oldest(d.oldest(now))
	}
	if time.Since(d.flushed) >= d.Flush {
		if err := d.flush(ctx, false); err != nil {
			return err
		}
		d.flushed = time.Now()
	}
	if time.Since(d.tidied) >= tidyEvery {
		if _, err := d.Webhooks.Tidy(ctx); err != nil {
			return err
		}
		d.tidied = time.Now()
	}
	for len(d.troubled) > 0 && time.Now().After(d.troubled[0].notYet) {
		if s := d.troubled[0]; !s.gone {
			d.queue(s)
		}
		d.troubled = d.troubled[1:]
	}
	for len(d.waiting) > 0 && !d.waiting[0].Message.NextAt.After(now) {
		d.due = append(d.due, heap.Pop(&d.waiting).(*sub))
	}
	d.begin(ctx)
	return nil
}
