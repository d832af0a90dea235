// Package lease keeps a lease of a store as long as it is needed, for the writer
// of a chain and for the jobs beside it.
//
// A renewal is one small write, three times within the time that a lease lasts.
// Whoever has not had an answer for as long as that no longer knows whether the
// lease is still its own, and stops: its commits would be fenced anyway, but what
// it does meanwhile is work for nothing, and what it says of itself is not known.
package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"chainexplorer/internal/store"
)

// ErrLost says that a lease is another's now, or that nobody knows.
var ErrLost = errors.New("the lease is lost")

// Renewer is the store.
type Renewer interface {
	Renew(ctx context.Context, held store.Lease, ttl time.Duration) (store.Lease, error)
}

// Keep renews a lease that lasts for ttl until ctx ends, or the lease is lost, or
// the store is gone; it calls lost then, with an ErrLost or the store's error.
func Keep(ctx context.Context, s Renewer, held store.Lease, ttl time.Duration, log *slog.Logger, lost context.CancelCauseFunc) {
	confirmed := time.Now()
	tick := time.NewTicker(ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		asked := time.Now()
		// A process that was stopped for long still asks once.
		asking, done := context.WithDeadline(ctx, confirmed.Add(max(ttl, asked.Sub(confirmed)+ttl/3)))
		next, err := s.Renew(asking, held, ttl)
		done()
		switch {
		case err == nil:
			held, confirmed = next, asked
		case ctx.Err() != nil:
			return
		case errors.Is(err, store.ErrFenced):
			lost(fmt.Errorf("%w: renew: %w", ErrLost, err))
			return
		case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrStopped):
			lost(fmt.Errorf("renew the lease: %w", err))
			return
		case time.Since(confirmed) >= ttl:
			lost(fmt.Errorf("%w: it could not be renewed in time: %w", ErrLost, err))
			return
		default:
			log.Warn("could not renew a lease", "lease", named(held), "err", err)
		}
	}
}

func named(l store.Lease) string {
	if l.Name == store.Writer {
		return "writer"
	}
	return l.Name
}
