package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// retryClasses bounds how many missing classes are asked for at a time.
const retryClasses = 32

// missing asks again for the classes that could not be had, beside the run and
// a bounded number at a time. What it finds is committed between two rounds,
// when no block is under way that might say that the class is missing.
type missing struct {
	// after is where in the list of missing classes the next try starts.
	after *felt.Felt
	found chan []classRow // nil while nothing is asked
	// unverified are classes that no node could give in a form that has their
	// hash. To hash them is slow, and they are not asked for again until the next
	// start. Used by the one who asks.
	unverified hashSet
}

// retryMissing starts to ask for some missing classes, at the index's head: a
// class that was ever declared is there. One that belongs to a block that was
// forked away stays missing.
func (x *Indexer) retryMissing(ctx context.Context) error {
	if x.NoClasses || x.missing.found != nil || !x.state.HasHead {
		return nil
	}
	var hashes []felt.Felt
	err := x.Store.View(ctx, func(r store.Reader) (err error) {
		hashes, err = class.AbsentAfter(ctx, r, x.missing.after, retryClasses)
		return err
	})
	if err != nil {
		return err
	}
	x.missing.after = nil // around again
	if len(hashes) == retryClasses {
		x.missing.after = &hashes[len(hashes)-1]
	}
	if len(hashes) == 0 {
		return nil
	}
	found, head := make(chan []classRow, 1), x.state.Head.Number
	x.missing.found = found
	x.background.Go(func() error {
		found <- x.askMissing(ctx, hashes, head)
		return nil
	})
	return nil
}

// askMissing asks for classes one by one, and stops when the node fails: then
// it is away, and the others would fail as well.
func (x *Indexer) askMissing(ctx context.Context, hashes []felt.Felt, head uint64) (rows []classRow) {
	for _, h := range hashes {
		if x.missing.unverified.has(h) {
			continue
		}
		release, err := x.classes.turn(ctx)
		if err != nil {
			return rows
		}
		got, err := x.askClass(ctx, class.Mention{Hash: h}, head, x.verifyLate())
		release()
		var lie *VerifyError
		switch {
		case err == nil && got.abi.Status == class.Unverified:
			x.missing.unverified.add(h)
		case err == nil:
			x.Metrics.classes.WithLabelValues(got.abi.Status.String()).Inc()
			rows = append(rows, classRow{h, got})
		case errors.As(err, &lie):
			x.Logger.Error("a class is not what its hash says, and stays missing", "class", h, "err", err)
		case errors.Is(err, ErrNotFound):
		default:
			x.Logger.Warn("missing classes still cannot be had", "class", h, "err", err)
			return rows
		}
	}
	return rows
}

// verifyLate says whether a class that is fetched after its block is held against
// its hash: unless nothing is. Nobody waits for these, so that it is done also for
// blocks that are too old for VerifyTail.
func (x *Indexer) verifyLate() bool { return x.Verify != VerifyOff }

// storeFound commits what was found since. It must not run beside a round.
func (x *Indexer) storeFound(ctx context.Context) error {
	var rows []classRow
	select {
	case rows = <-x.missing.found:
	default:
		return nil // nothing is asked, or not answered yet
	}
	x.missing.found = nil
	if len(rows) == 0 {
		return nil
	}
	b := &store.Batch{Epoch: x.lease.Epoch}
	for i := range rows {
		rows[i].put(b)
	}
	if err := x.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("commit %d classes: %w", len(rows), err)
	}
	x.Logger.Info("found classes that were missing", "classes", len(rows))
	return nil
}

// putClasses adds the rows of classes to a batch of blocks.
func (b *batch) putClasses(rows []classRow) {
	for i := range rows {
		rows[i].put(&b.ops)
		b.classes = append(b.classes, rows[i].hash)
	}
}
