package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/store"
)

// errLost says that a lease is another's now, or that nobody knows.
var errLost = errors.New("the lease is lost")

const (
	// breath is the least time between two looks of a job that found nothing:
	// while blocks are caught up with they are announced without a pause.
	breath = time.Second
	// releaseTime bounds the end.
	releaseTime = 2 * time.Second
)

// hold does a job until ctx ends, the job fails or its lease is lost, and gives
// the lease back.
func (r *Runner) hold(parent context.Context, s *seat, lease store.Lease) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		r.renew(ctx, lease, cancel)
	}()
	err := r.work(ctx, s, lease)
	if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
		err = cause
	}
	if errors.Is(err, store.ErrFenced) {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	cancel(nil)
	<-renewed
	if gone(err) || errors.Is(err, store.ErrFenced) {
		return err
	}
	// It is given back even when the caller is in a hurry.
	release, done := context.WithTimeout(context.WithoutCancel(parent), releaseTime)
	defer done()
	if rerr := r.Store.Release(release, lease); rerr != nil && !gone(rerr) {
		r.Logger.Warn("could not release the lease of a job", "job", s.job.Name(), "err", rerr)
	}
	return err
}

// work goes through the steps of a job, then rests, and so on.
func (r *Runner) work(ctx context.Context, s *seat, lease store.Lease) error {
	commit, name := committer(r.Store, s.job, lease), s.job.Name()
	for {
		begin := time.Now()
		for more := true; more; {
			var err error
			if more, err = s.job.Step(ctx, commit); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		r.Metrics.done(name, time.Since(begin))
		s.failures = 0
		if err := rest(ctx, s); err != nil {
			return err
		}
	}
}

// rest waits until it is time to look again, or the index has changed.
func rest(ctx context.Context, s *seat) error {
	begin, every := time.Now(), s.job.Every()
	timer := time.NewTimer(min(breath, every))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	timer.Reset(max(0, every-time.Since(begin)))
	select {
	case <-timer.C:
	case <-s.woken:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// renew keeps a lease until ctx ends, and ends the work when it is lost. That is
// also when the store has not confirmed it for as long as it lasts: somebody else
// may have it then. Commits are fenced anyway; ending early saves useless work.
func (r *Runner) renew(ctx context.Context, lease store.Lease, lost context.CancelCauseFunc) {
	confirmed := time.Now()
	tick := time.NewTicker(r.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		asked := time.Now()
		asking, done := context.WithDeadline(ctx, confirmed.Add(max(r.TTL, asked.Sub(confirmed)+r.TTL/3)))
		next, err := r.Store.Renew(asking, lease, r.TTL)
		done()
		switch {
		case err == nil:
			lease, confirmed = next, asked
		case ctx.Err() != nil:
			return
		case errors.Is(err, store.ErrFenced), gone(err):
			lost(fmt.Errorf("renew: %w", err))
			return
		case time.Since(confirmed) >= r.TTL:
			lost(fmt.Errorf("%w: it could not be renewed in time: %w", errLost, err))
			return
		default:
			r.Logger.Warn("could not renew the lease of a job", "lease", lease.Name, "err", err)
		}
	}
}
