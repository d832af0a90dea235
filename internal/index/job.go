package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
)

// Job derives enrichment beside the run: rows of tables that no digest covers
// and no fork undoes, from the index itself and from calls to a node. It works
// only while this process is the writer.
type Job interface {
	// Name is what logs call the job.
	Name() string
	// Run works until ctx ends. Another end is logged, and Run is called again
	// after a pause. commit applies changes of enrichment tables atomically,
	// beside the commits of blocks: it sees to the batch's epoch, and refuses
	// rows of other tables.
	Run(ctx context.Context, commit Commit) error
}

// Commit applies a batch as the writer.
type Commit func(ctx context.Context, b *store.Batch) error

// startJobs runs the jobs until ctx ends.
func (x *Indexer) startJobs(ctx context.Context) {
	jobs := x.Jobs
	if !x.NoClasses {
		jobs = append(slices.Clip(jobs), &backfill{x: x})
	}
	for _, j := range jobs {
		x.background.Go(func() error {
			x.runJob(ctx, j)
			return nil
		})
	}
}

func (x *Indexer) runJob(ctx context.Context, j Job) {
	for failures := 0; ; {
		begin := time.Now()
		err := j.Run(ctx, x.commitEnrichment)
		if ctx.Err() != nil || storeGone(err) {
			return
		}
		failures++
		if time.Since(begin) > x.RetryMax {
			failures = 1 // it worked for a while
		}
		x.Logger.Warn("a job ended, starting it again", "job", j.Name(), "err", err, "failures", failures)
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
	b.Epoch = x.lease.Epoch
	return x.Store.Commit(ctx, b)
}
