// Package job runs the work beside the indexer: what is derived from the index
// and from calls to a node, in tables that no digest covers and no fork undoes.
//
// Each job has a lease of its own, "job/" and its name, so that it is done by one
// process at a time, whichever that is: the indexer's or any other that has the
// store open. The Runner guarantees that
//
//   - a job works only while its lease is held, and commits under that lease: a
//     process that was paused cannot write when it wakes up;
//   - a job that was lost stops at once, and its process stands by again;
//   - commits change the job's own tables and nothing else, whatever the job does.
//
// Blocks are committed by somebody else, before, between and during the steps of a
// job. A job must therefore take nothing from memory that its own rows do not say:
// the block that it has come to, with its hash or the number of forks.
package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/store"
)

// Job is one kind of work. Its methods are called by one goroutine at a time.
type Job interface {
	// Name is what the lease, logs and metrics call the job.
	Name() string
	// Tables are the enrichment tables that the job writes. Nobody else does.
	Tables() []*store.Table
	// Every is how often there is something to look for when nothing is announced.
	Every() time.Duration
	// Step does the most urgent part of the work, if there is any, and reports
	// whether there may be more at once.
	Step(ctx context.Context, commit Commit) (more bool, err error)
}

// Waker is a job whose steps last, and that is told of changes meanwhile.
type Waker interface {
	// Wake says that the index has changed. It never blocks.
	Wake()
}

// Commit applies changes to the tables of a job atomically. It sees to the
// batch's lease, and refuses rows of other tables.
type Commit = func(ctx context.Context, b *store.Batch) error

// leaseOf is the name of a job's lease.
func leaseOf(j Job) string { return "job/" + j.Name() }

// check refuses jobs that would get into each other's way, or into the indexer's.
func check(jobs []Job) error {
	owners := map[*store.Table]string{}
	for _, j := range jobs {
		if err := store.CheckLeaseName(leaseOf(j)); err != nil {
			return err
		}
		for _, t := range j.Tables() {
			if !slices.Contains(catalog.Enrichment(), t) || slices.Contains(class.Enrichment(), t) || slices.Contains(contract.Enrichment(), t) {
				return fmt.Errorf("%w: job %s: table %s is the indexer's", store.ErrInvalid, j.Name(), t.Name)
			}
			if other, taken := owners[t]; taken {
				return fmt.Errorf("%w: jobs %s and %s both write table %s", store.ErrInvalid, other, j.Name(), t.Name)
			}
			owners[t] = j.Name()
		}
	}
	names := map[string]bool{}
	for _, j := range jobs {
		if names[j.Name()] {
			return fmt.Errorf("%w: two jobs have the name %s", store.ErrInvalid, j.Name())
		}
		names[j.Name()] = true
	}
	return nil
}

// committer is the Commit of a job under a lease.
func committer(e store.Engine, j Job, l store.Lease) Commit {
	own := j.Tables()
	return func(ctx context.Context, b *store.Batch) error {
		for _, op := range b.Ops() {
			if !slices.Contains(own, op.Table) {
				return fmt.Errorf("%w: table %s does not belong to job %s", store.ErrInvalid, op.Table.Name, j.Name())
			}
		}
		b.Under(l)
		return e.Commit(ctx, b)
	}
}
