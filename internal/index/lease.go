package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/backoff"
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
		if err := backoff.Wait(ctx, x.TTL/5); err != nil {
			return lease, err
		}
	}
}
