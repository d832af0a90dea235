package pebble

import (
	"context"
	"fmt"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// MaxBatchBytes bounds the keys and values of one commit. Pebble itself ends
// at 4 GiB, its own bookkeeping included.
const MaxBatchBytes = 1 << 30

// opOverhead is an upper bound of what Pebble adds to the bytes of a change:
// its kind and two lengths, and our table id.
const opOverhead = 1 + 2*5 + 1

// Commit applies the batch in one synced write.
func (e *Engine) Commit(ctx context.Context, b *store.Batch) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	if e.readOnly {
		return ErrReadOnly
	}
	if b.Bytes() > MaxBatchBytes {
		return fmt.Errorf("%w: a batch of %d bytes is larger than %d", store.ErrInvalid, b.Bytes(), MaxBatchBytes)
	}
	if err := e.awaitRoom(ctx); err != nil {
		return err
	}
	// Built before the token is taken: the copy needs no exclusion.
	batch, err := e.build(b)
	if err != nil {
		return err
	}
	if err := e.takeWriter(ctx); err != nil {
		_ = batch.Close()
		return err
	}
	defer e.giveWriter()
	if l := e.leases[b.Lease]; !l.held || l.epoch != b.Epoch {
		_ = batch.Close()
		return store.ErrFenced
	}
	m := e.next(b.Ops())
	if err := batch.Set([]byte(commitsKey), m.encode(), nil); err != nil {
		_ = batch.Close()
		return fmt.Errorf("commit to store %s: %w", e.dir, err)
	}
	next, err := e.apply(batch)
	if err == nil {
		err = e.acknowledge(m)
	}
	if err != nil {
		return fmt.Errorf("commit to store %s: %w", e.dir, err)
	}
	e.publish(next)
	e.commits.Add(1)
	e.commitBytes.Add(uint64(b.Bytes()))
	return nil
}

// Commits counts the commits of this process, which is the only one that writes.
// It rises before Commit returns: as long as it stays the same, so does what a
// new view sees.
func (e *Engine) Commits() uint64 { return e.commits.Load() }

func (e *Engine) build(b *store.Batch) (*lsm.Batch, error) {
	ops := b.Ops()
	for i := range ops {
		if err := e.schema.CheckKey(&ops[i].Key); err != nil {
			return nil, fmt.Errorf("change %d of the batch: %w", i, err)
		}
	}
	batch := e.db.NewBatchWithSize(b.Bytes() + len(ops)*opOverhead + 16)
	places := inKeyOrder(ops)
	for i, p := range places {
		op := &ops[p.index]
		// The last change of a row counts: blocks that share a batch change
		// the same balances and counters again and again.
		if i+1 < len(places) && places[i+1].word == p.word && sameKey(&op.Key, &ops[places[i+1].index].Key) {
			continue
		}
		n := 1 + len(op.Partition) + len(op.Sort)
		var d *lsm.DeferredBatchOp
		if op.Delete {
			d = batch.DeleteDeferred(n)
		} else {
			d = batch.SetDeferred(n, len(op.Value))
			copy(d.Value, op.Value)
		}
		d.Key[0] = op.Table.ID
		copy(d.Key[1:], op.Partition)
		copy(d.Key[1+len(op.Partition):], op.Sort)
		if err := d.Finish(); err != nil {
			_ = batch.Close()
			return nil, fmt.Errorf("change %d of the batch: %w", p.index, err)
		}
	}
	return batch, nil
}

// takeWriter waits for the token that stands for the right to write.
func (e *Engine) takeWriter(ctx context.Context) error {
	select {
	case e.writer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stop.done:
		return e.stop.get()
	}
	// More than one case may have been ready.
	if err := e.stop.get(); err != nil {
		e.giveWriter()
		return err
	}
	if err := ctx.Err(); err != nil {
		e.giveWriter()
		return err
	}
	return nil
}

func (e *Engine) giveWriter() { <-e.writer }

// apply writes the batch, waits until it is durable and returns the state with
// it. The caller holds the writer's token, so that state holds nothing else
// that is new.
func (e *Engine) apply(batch *lsm.Batch) (*lsm.Snapshot, error) {
	var next *lsm.Snapshot
	err := e.guarded(func() error {
		if err := e.db.Apply(batch, lsm.Sync); err != nil {
			return err
		}
		next = e.db.NewSnapshot()
		return batch.Close()
	})
	if err != nil {
		return nil, err // next may still be written to
	}
	return next, nil
}
