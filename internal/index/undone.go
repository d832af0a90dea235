package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// A step of a rollback ends with this many blocks, or with Options.UndoBytes: it
// must not take more memory than indexing does, however deep the fork is.
const undoStepBlocks = 1_000

// opBytes is what a change takes in memory beside its key and value, about.
const opBytes = 300

// undone are the changes that take the newest blocks back.
type undone struct {
	// restored are the rows that may have been there before. Of a row that many
	// blocks changed the value before the oldest of them is kept.
	restored *overlay
	// Of the rows of dated tables no two blocks write the same. Those of lists go by
	// the list where the store takes that, and the others one by one, to b.
	ends ends
	cuts bool
	b    *store.Batch
}

func (x *Indexer) newUndone(b *store.Batch) *undone {
	u := &undone{restored: newOverlay(nil), b: b}
	u.ends.number, u.ends.at = &x.replay.number, map[string]int{}
	_, u.cuts = x.Store.(store.Cutter)
	return u
}

// bytes is about how much memory the changes take.
func (u *undone) bytes() int {
	return u.restored.rows.Held() + u.b.Bytes() + opBytes*(u.restored.rows.Len()+u.b.Len()) + u.ends.bytes()
}

// undoBlocks adds the changes that undo the newest blocks down to ancestor, or
// to where the step is full, and returns the block that becomes the head.
func (x *Indexer) undoBlocks(ctx context.Context, ancestor uint64, b *store.Batch) (head chain.Head, err error) {
	head = x.state.Head
	err = x.Store.View(ctx, func(r store.Reader) error {
		u := x.newUndone(b)
		last := max(ancestor+1, head.Number+1-min(head.Number, undoStepBlocks))
		ahead := x.replayDown(ctx, r, head.Number, last)
		defer ahead.stop()
		for head.Number >= last && u.bytes() < x.UndoBytes {
			back, err := ahead.next(ctx)
			if err == nil {
				err = u.add(back, head)
			}
			if err != nil {
				return fmt.Errorf("undo block %d: %w", head.Number, err)
			}
			head = *back.Parent
			x.replay.giveBack(back)
		}
		u.restored.commit(b)
		u.ends.put(b)
		b.Put(chain.HeadKey, head.Encode())
		return nil
	})
	return head, err
}

// add takes back the block that is the head, and keeps none of its memory.
func (u *undone) add(back *TakenBack, head chain.Head) error {
	if back.Parent == nil {
		return errors.New("there is no head before it")
	}
	if back.Head != head {
		return fmt.Errorf("projected again it has digest %x, the index says %x", back.Head.Digest, head.Digest)
	}
	for i := range back.Restored {
		u.restored.put(&back.Restored[i])
	}
	for i := range back.Removed {
		u.remove(head.Number, back.Removed[i])
	}
	u.remove(head.Number, chain.DigestKey(head.Number))
	u.remove(head.Number, UndoKey(head.Number))
	return nil
}

// remove lets a row of a dated table go.
func (u *undone) remove(block uint64, k store.Key) {
	if !u.cuts || !u.ends.add(block, k) {
		u.b.Delete(k)
	}
}

// replaying reads blocks back, newest first, and projects them ahead of the one
// that is being undone, on all cores.
type replaying struct {
	queue  chan chan readBack
	cancel context.CancelFunc
	work   errgroup.Group
}

// readBack is a block that can be taken back.
type readBack struct {
	*TakenBack
	err error
}

// replayDown begins with block from and ends with block last.
func (x *Indexer) replayDown(ctx context.Context, r store.Reader, from, last uint64) *replaying {
	ctx, cancel := context.WithCancel(ctx)
	ahead := &replaying{queue: make(chan chan readBack, runtime.GOMAXPROCS(0)), cancel: cancel}
	ahead.work.Go(func() error {
		defer close(ahead.queue)
		var pool errgroup.Group
		pool.SetLimit(runtime.GOMAXPROCS(0))
		defer pool.Wait() //nolint:errcheck // blocks carry their own
		for number := from; number >= last; number-- {
			slot := make(chan readBack, 1)
			select {
			case ahead.queue <- slot:
			case <-ctx.Done():
				return nil
			}
			pool.Go(func() error {
				slot <- x.readBack(ctx, r, number)
				return nil
			})
		}
		return nil
	})
	return ahead
}

// next waits for the next block.
func (a *replaying) next(ctx context.Context) (*TakenBack, error) {
	select {
	case slot := <-a.queue:
		select {
		case got := <-slot:
			return got.TakenBack, got.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stop ends the work: nothing may read when the view has ended.
func (a *replaying) stop() {
	a.cancel()
	a.work.Wait() //nolint:errcheck // see above
}

func (x *Indexer) readBack(ctx context.Context, r store.Reader, number uint64) (got readBack) {
	rec, err := r.Get(ctx, UndoKey(number))
	if err != nil {
		return readBack{err: fmt.Errorf("undo record: %w", err)}
	}
	blk, _, err := LoadBlock(ctx, r, number)
	if err != nil {
		return readBack{err: err}
	}
	got.TakenBack, got.err = x.replay.TakeBack(ctx, blk, rec)
	return got
}
