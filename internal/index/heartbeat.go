package index

import (
	"context"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// beat keeps the row of what the nodes said, until ctx ends: at once, and then
// every HeardInterval, blocks or not, so that a reader can tell an indexer that
// is alive from one that is gone, and a quiet chain from a silent node. It is a
// commit of a hundred bytes or so.
//
// The pipeline has no part in it: while it is stuck, or catches up for hours, the
// row stays true.
func (x *Indexer) beat(ctx context.Context) {
	t := time.NewTicker(x.HeardInterval)
	defer t.Stop()
	for {
		seen := x.Heard()
		seen.At = time.Now()
		b := &store.Batch{Epoch: x.lease.Epoch}
		b.Put(chain.SeenKey, seen.Encode())
		b.Put(chain.PeaksKey, seen.EncodePeaks())
		switch err := x.Store.Commit(ctx, b); {
		case err == nil, ctx.Err() != nil:
		case storeGone(err):
			return // the run ends for the same reason
		default:
			x.Logger.Warn("could not store what the nodes said", "err", err)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}
