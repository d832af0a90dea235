package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
)

// Commit applies changes of enrichment tables atomically, beside the commits of
// blocks: it sees to the batch's lease, and refuses rows of other tables.
type Commit = func(ctx context.Context, b *store.Batch) error

// startBackfill completes the classes of earlier blocks until ctx ends. It is the
// writer's own work, because the rows of classes are written with blocks as well.
func (x *Indexer) startBackfill(ctx context.Context) {
	if x.NoClasses {
		return
	}
	x.background.Go(func() error {
		x.keepRunning(ctx, "class backfill", (&backfill{x: x}).Run)
		return nil
	})
}

// keepRunning calls run again after a pause when it ends before ctx does.
func (x *Indexer) keepRunning(ctx context.Context, name string, run func(context.Context, Commit) error) {
	for failures := 0; ; {
		begin := time.Now()
		err := run(ctx, x.commitEnrichment)
		if ctx.Err() != nil || storeGone(err) {
			return
		}
		failures++
		if time.Since(begin) > x.RetryMax {
			failures = 1 // it worked for a while
		}
		x.Logger.Warn("work beside the blocks ended, starting it again", "work", name, "err", err, "failures", failures)
		if x.pause(ctx, failures) != nil {
			return
		}
	}
}

func (x *Indexer) commitEnrichment(ctx context.Context, b *store.Batch) error {
	for _, op := range b.Ops() {
		if t := op.Table; !slices.Contains(catalog.Enrichment(), t) {
			return fmt.Errorf("%w: table %s is not enrichment", store.ErrInvalid, t.Name)
		}
	}
	b.Under(x.lease)
	return x.Store.Commit(ctx, b)
}
