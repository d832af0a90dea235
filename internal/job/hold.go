package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/lease"
)

const (
	// breath is the least time between two looks of a job that found nothing:
	// while blocks are caught up with they are announced without a pause.
	breath = time.Second
	// releaseTime bounds the end.
	releaseTime = 2 * time.Second
)

// hold does a job until ctx ends, the job fails or its lease is lost, and gives
// the lease back.
func (r *Runner) hold(parent context.Context, s *seat, held store.Lease) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		lease.Keep(ctx, r.Store, held, r.TTL, r.Logger, cancel)
	}()
	err := r.work(ctx, s, held)
	if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
		err = cause
	}
	if errors.Is(err, store.ErrFenced) {
		err = fmt.Errorf("%w: %w", lease.ErrLost, err)
	}
	cancel(nil)
	<-renewed
	if gone(err) || errors.Is(err, store.ErrFenced) {
		return err
	}
	// It is given back even when the caller is in a hurry.
	release, done := context.WithTimeout(context.WithoutCancel(parent), releaseTime)
	defer done()
	if rerr := r.Store.Release(release, held); rerr != nil && !gone(rerr) {
		r.Logger.Warn("could not release the lease of a job", "job", s.job.Name(), "err", rerr)
	}
	return err
}

// work goes through the steps of a job, then rests, and so on.
func (r *Runner) work(ctx context.Context, s *seat, held store.Lease) error {
	commit, name := committer(r.Store, s.job, held), s.job.Name()
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
		r.told.of(name, func(x *Report) { x.Runs, x.Done = x.Runs+1, time.Now() })
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
