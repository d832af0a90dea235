package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/store"
)

// acquire takes the writer's lease, standing by while another process has it.
func (x *Indexer) acquire(ctx context.Context) (store.Lease, error) {
	for waiting := false; ; waiting = true {
		lease, err := x.Store.Acquire(ctx, store.Writer, x.Owner, x.TTL)
		if err == nil {
			if waiting {
				x.Logger.Info("taking over as the writer", "epoch", lease.Epoch)
			}
			return lease, nil
		}
		if !errors.Is(err, store.ErrLeaseHeld) {
			return lease, fmt.Errorf("take the writer's lease: %w", err)
		}
		if !waiting {
			x.Logger.Info("another process writes this index, standing by")
		}
		t := time.NewTimer(x.TTL / 5)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return lease, ctx.Err()
		}
	}
}

// renew keeps the lease alive until ctx ends, and ends the run when the lease
// is lost. Commits are fenced anyway; ending early saves useless work.
func (x *Indexer) renew(ctx context.Context, lost context.CancelCauseFunc) {
	lease := x.lease
	t := time.NewTicker(x.TTL / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		next, err := x.Store.Renew(ctx, lease, x.TTL)
		switch {
		case err == nil:
			lease = next
		case storeGone(err):
			lost(fmt.Errorf("renew the writer's lease: %w", err))
			return
		case ctx.Err() == nil:
			x.Logger.Warn("could not renew the lease", "err", err)
		}
	}
}
