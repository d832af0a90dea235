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
func (e *engine) Commit(ctx context.Context, b *store.Batch) error {
	if s := b.Stream(); s != nil {
		defer s.Drop() // unless it becomes part of the store
	}
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
	w, err := e.build(b)
	if err != nil {
		return err
	}
	if err := e.takeWriter(ctx); err != nil {
		w.drop()
		return err
	}
	defer e.giveWriter()
	if l := e.leaseOf(b.Lease); !l.held || l.epoch != b.Epoch {
		w.drop()
		return store.ErrFenced
	}
	m := e.next(b.Changes())
	next, err := w.apply(m)
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
func (e *engine) Commits() uint64 { return e.commits.Load() }

// write is a commit that is ready to be made.
type write interface {
	// apply makes it, with its mark, waits until it is durable and returns the state
	// with it. The caller holds the writer's token, so that state holds nothing else
	// that is new.
	apply(m mark) (*lsm.Snapshot, error)
	// drop gives it up.
	drop()
}

// build puts the changes in order and chooses the way that they go: through the log
// and a memtable, or as tables of their own.
func (e *engine) build(b *store.Batch) (write, error) {
	c := b.Changes()
	if err := e.schema.CheckChanges(c); err != nil {
		return nil, err
	}
	cuts, err := e.spans(b.Cuts())
	if err != nil {
		return nil, err
	}
	s, err := e.streamOf(b)
	if err != nil {
		return nil, err
	}
	if err := s.giveBack(c); err != nil {
		return nil, err
	}
	rows := rows{c, inKeyOrder(c, &sorting{})}
	streamed, series, err := s.finish()
	if err != nil {
		return nil, err
	}
	if b.Bytes() >= e.bulkBytes || len(cuts) >= bulkCuts || len(streamed) > 0 || series != nil {
		return e.buildTables(rows, cuts, streamed, series, b.Settled)
	}
	return e.buildLogged(rows, cuts)
}

// rows are changes in the order of their keys, with what holds these and values.
type rows struct {
	*store.Changes
	list []store.Change
}

// together is how many rows are looked at before they are written. They lie in the order
// of blocks, so that each is somewhere else in memory.
const together = 64

// each hands keys and values to fn, a nil value for a row that goes.
func (r rows) each(fn func(key, value []byte) error) error {
	for i := range r.list {
		if i%together == 0 {
			r.Touch(r.list[i:min(i+together, len(r.list))])
		}
		c := &r.list[i]
		value := r.Value(c)
		if c.Delete {
			value = nil
		}
		if err := fn(r.Key(c), value); err != nil {
			return err
		}
	}
	return nil
}

// logged is a commit through the log.
type logged struct {
	e     *engine
	batch *lsm.Batch
	cuts  []span
	// lowest is the row of a series with the lowest number that it changes, if it does.
	lowest       []byte
	lowestNumber uint64
}

func (e *engine) buildLogged(rows rows, cuts []span) (*logged, error) {
	size := 16
	for i := range cuts {
		size += len(cuts[i].from) + len(cuts[i].to) + opOverhead
	}
	for i := range rows.list {
		size += rows.list[i].Size() + opOverhead
	}
	batch := e.db.NewBatchWithSize(size)
	for i := range cuts { // first: they end no row that the batch writes
		if err := batch.DeleteRange(cuts[i].from, cuts[i].to, nil); err != nil {
			_ = batch.Close()
			return nil, fmt.Errorf("cut %d of the batch: %w", i, err)
		}
	}
	w := &logged{e: e, batch: batch, cuts: cuts}
	err := rows.each(func(key, value []byte) error {
		if n, some := e.leaves.numberIn(key); some && (w.lowest == nil || n < w.lowestNumber) {
			w.lowest, w.lowestNumber = key, n
		}
		if value == nil {
			return batch.Delete(key, nil)
		}
		return batch.Set(key, value, nil)
	})
	if err != nil {
		_ = batch.Close()
		return nil, err
	}
	return w, nil
}

func (w *logged) drop() { _ = w.batch.Close() }

func (w *logged) apply(m mark) (*lsm.Snapshot, error) {
	err := w.e.checkCuts(w.cuts)
	if err == nil && w.lowest != nil && w.e.inLeaf(w.lowest) {
		err = errSettled(w.lowest)
	}
	if err != nil {
		w.drop()
		return nil, err
	}
	if err := w.batch.Set([]byte(commitsKey), m.row(), nil); err != nil {
		w.drop()
		return nil, err
	}
	return w.e.write(w.batch)
}

// takeWriter waits for the token that stands for the right to write.
func (e *engine) takeWriter(ctx context.Context) error {
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

func (e *engine) giveWriter() { <-e.writer }

// write writes the batch, waits until it is durable and returns the state with it.
// The caller holds the writer's token.
func (e *engine) write(batch *lsm.Batch) (*lsm.Snapshot, error) {
	return e.changed(func() error {
		if err := e.db.Apply(batch, lsm.Sync); err != nil {
			return err
		}
		return batch.Close()
	})
}

// changed makes a change and returns the state with it.
func (e *engine) changed(fn func() error) (*lsm.Snapshot, error) {
	var next *lsm.Snapshot
	err := e.guarded(func() error {
		if err := fn(); err != nil {
			return err
		}
		next = e.db.NewSnapshot()
		return nil
	})
	if err != nil {
		return nil, err // next may still be written to
	}
	return next, nil
}
