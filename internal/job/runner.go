package job

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/logs"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/lease"
)

// Options configure a Runner. Zero values of the rest take the defaults.
type Options struct {
	Store store.Engine // needed
	Jobs  []Job
	Chain felt.Felt // the chain that the nodes of this process serve

	// Owner names this process in the leases (default "jobs"); TTL is a lease's
	// life (default 15 s).
	Owner string
	TTL   time.Duration
	// Shared says that other processes may do the same jobs. Then a process that
	// has some leaves the next free one to the others for a moment, a tenth of the
	// TTL for each that it has.
	Shared bool
	// RetryMin and RetryMax bound the pause after a job failed (default 250 ms, 15 s).
	RetryMin, RetryMax time.Duration

	Logger  *slog.Logger
	Metrics *Metrics
}

// Runner does the jobs that nobody else does. Make one with New and call
// Run, and again when it has ended.
type Runner struct {
	Options
	seats []*seat
	woken chan struct{} // something happened to the index
	ended chan *seat
	said  string // the last reason for waiting that was logged
	told  reports

	leases logs.Lasting // trouble with taking them
}

// seat is the place of one job in this process.
type seat struct {
	job     Job
	woken   chan struct{}
	running bool

	result   error     // of the last time, when it ended
	failures int       // in a row
	notYet   time.Time // before which it is left to others
	standing bool      // that another process has it was logged
}

// New checks the options.
func New(o Options) (*Runner, error) {
	if err := check(o.Jobs); err != nil {
		return nil, err
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&o.TTL, 15*time.Second)
	def(&o.RetryMin, 250*time.Millisecond)
	def(&o.RetryMax, 15*time.Second)
	if o.Owner == "" {
		o.Owner = "jobs"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	r := &Runner{Options: o, woken: make(chan struct{}, 1), ended: make(chan *seat),
		leases: logs.Lasting{Logger: o.Logger, Trouble: "could not take the lease of a job", Over: "leases of jobs can be taken again"}}
	for _, j := range o.Jobs {
		r.seats = append(r.seats, &seat{job: j, woken: make(chan struct{}, 1)})
		o.Metrics.held(j.Name(), false)
	}
	return r, nil
}

// Wake tells the jobs that the index has changed, so that they need not wait for
// the time that they look by themselves. It never blocks.
func (r *Runner) Wake() {
	nudge(r.woken)
	for _, s := range r.seats {
		nudge(s.woken)
		if j, ok := s.job.(Waker); ok {
			j.Wake()
		}
	}
}

func nudge(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // one is waiting
	}
}

// beat is how often a process without jobs looks for a free one.
func (r *Runner) beat() time.Duration { return r.TTL / 5 }

// courtesy is how much longer a process waits that has some jobs.
func (r *Runner) courtesy(held int) time.Duration { return time.Duration(held) * r.TTL / 10 }

// Run does jobs until ctx ends, which is no error, or until this process can do
// none any more: the store is gone, or holds another chain.
func (r *Runner) Run(parent context.Context) error {
	ctx, cancel := context.WithCancel(parent)
	var working sync.WaitGroup
	held := 0
	for {
		wait, err := r.look(ctx, &working, &held)
		if err == nil && ctx.Err() == nil {
			err = r.pause(ctx, wait, &held)
		}
		if err == nil && ctx.Err() == nil {
			continue
		}
		cancel()
		for ; held > 0; held-- { // each gives its lease back
			r.settle(<-r.ended)
		}
		working.Wait()
		if parent.Err() != nil {
			return nil
		}
		return err
	}
}

// pause waits for the next look.
func (r *Runner) pause(ctx context.Context, wait time.Duration, held *int) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	woken := r.woken
	if r.said == "" { // only a process that waits for the index is woken by it
		woken = nil
	}
	select {
	case s := <-r.ended:
		*held--
		return r.settle(s)
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
	return nil
}

// look takes what is free and due, and says when to look again.
func (r *Runner) look(ctx context.Context, working *sync.WaitGroup, held *int) (time.Duration, error) {
	if *held == len(r.seats) {
		return time.Hour, nil // until one ends
	}
	why, err := r.ready(ctx)
	switch {
	case errors.Is(err, errOtherChain), gone(err):
		return 0, err
	case err != nil && ctx.Err() == nil:
		why = "the store cannot be read: " + err.Error()
	}
	if r.say(why); why != "" {
		return r.beat(), nil
	}
	now := time.Now()
	next := r.beat()
	if r.Shared {
		next += r.courtesy(*held)
	}
	for _, i := range rand.Perm(len(r.seats)) {
		s := r.seats[i]
		if s.running {
			continue
		}
		if d := s.notYet.Sub(now); d > 0 {
			next = min(next, d)
			continue
		}
		lease, err := r.Store.Acquire(ctx, leaseOf(s.job), r.Owner, r.TTL)
		switch {
		case err == nil:
			r.leases.Works()
			r.begin(ctx, s, lease, working)
			*held++
			if r.Shared {
				return r.courtesy(*held), nil
			}
		case errors.Is(err, store.ErrLeaseHeld):
			r.leases.Works()
			if !s.standing {
				s.standing = true
				r.Logger.Info("another process does this job, standing by", "job", s.job.Name())
			}
		case gone(err):
			return 0, err
		case ctx.Err() == nil:
			r.leases.Fails(err, "job", s.job.Name()) // of all jobs alike: it is the store
		}
	}
	return next, nil
}

// say logs a reason for waiting once.
func (r *Runner) say(why string) {
	if why != "" && why != r.said {
		r.Logger.Warn("jobs are waiting", "for", why)
	}
	r.said = why
}

// begin starts a job whose lease was taken.
func (r *Runner) begin(ctx context.Context, s *seat, lease store.Lease, working *sync.WaitGroup) {
	s.running, s.standing = true, false
	r.Metrics.held(s.job.Name(), true)
	r.told.of(s.job.Name(), func(x *Report) { x.Held = true })
	r.Logger.Info("doing a job", "job", s.job.Name(), "epoch", lease.Epoch)
	working.Go(func() {
		s.result = r.hold(ctx, s, lease)
		r.ended <- s
	})
}

// settle decides what follows the end of a job. It returns an error when there
// can be no more.
func (r *Runner) settle(s *seat) error {
	err, name := s.result, s.job.Name()
	s.running = false
	r.Metrics.held(name, false)
	r.told.of(name, func(x *Report) { x.Held = false })
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return nil // the end was asked for
	case gone(err):
		return err
	case errors.Is(err, lease.ErrLost):
		s.failures, s.notYet = 0, time.Now().Add(r.beat())
		r.Metrics.lost(name)
		r.Logger.Warn("the lease of a job was lost, standing by", "job", name, "err", err)
		return nil
	}
	s.failures++
	s.notYet = time.Now().Add(backoff.Policy{Min: r.RetryMin, Max: r.RetryMax}.After(s.failures))
	r.Metrics.failed(name)
	r.told.of(name, func(x *Report) { x.Failures, x.Failed = x.Failures+1, time.Now() })
	r.Logger.Warn("a job failed, and whoever is first tries it again", "job", name, "err", err, "failures", s.failures)
	return nil
}

// gone tells the errors after which this process cannot write any more.
func gone(err error) bool {
	return errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrStopped)
}
