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
const opBytes = 200

// undone is the index without its newest blocks, while these are being undone:
// the changes that take them back, over a view of the store.
type undone struct {
	r store.Reader
	// restored are the rows that the undo records name. Of a row that many blocks
	// changed the value before the oldest of them is kept.
	restored *overlay
	// b takes the rows of dated tables that go: no two blocks write the same, and
	// nobody asks for those of a block that is undone.
	b    *store.Batch
	keys []byte // memory for their keys
}

// arenaSize is how much memory is taken for keys at a time.
const arenaSize = 64 << 10

// remove notes that a row goes. The key is copied: it is cut from memory that
// holds the whole block.
func (u *undone) remove(k store.Key) {
	p, n := len(k.Partition), len(k.Partition)+len(k.Sort)
	if cap(u.keys)-len(u.keys) < n {
		u.keys = make([]byte, 0, max(n, arenaSize))
	}
	from := len(u.keys)
	u.keys = append(append(u.keys, k.Partition...), k.Sort...)
	own := u.keys[from:len(u.keys):len(u.keys)]
	u.b.Delete(store.Key{Table: k.Table, Partition: own[:p:p], Sort: own[p:]})
}

// bytes is about how much memory the changes take.
func (u *undone) bytes() int {
	return u.restored.bytes + u.b.Bytes() + opBytes*(len(u.restored.ops)+u.b.Len())
}

// GetMany answers with the rows as they were before the blocks that are undone
// so far. Most of what a block asks for is what it changed.
func (u *undone) GetMany(ctx context.Context, keys []store.Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	var missing []store.Key
	var where []int
	for i, k := range keys {
		v, known := u.restored.get(k)
		if known {
			out[i] = v
			continue
		}
		missing, where = append(missing, k), append(where, i)
	}
	if len(missing) == 0 {
		return out, nil
	}
	values, err := u.r.GetMany(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		out[where[i]] = v
	}
	return out, nil
}

// undoBlocks adds the changes that undo the newest blocks down to ancestor, or
// to where the step is full, and returns the block that becomes the head.
func (x *Indexer) undoBlocks(ctx context.Context, ancestor uint64, b *store.Batch) (head chain.Head, err error) {
	head = x.state.Head
	err = x.Store.View(ctx, func(r store.Reader) error {
		u := &undone{r: r, restored: newOverlay(nil), b: b}
		last := max(ancestor+1, head.Number+1-min(head.Number, undoStepBlocks))
		ahead := x.replayDown(ctx, r, head.Number, last)
		defer ahead.stop()
		for head.Number >= last && u.bytes() < x.UndoBytes {
			parent, err := x.undoBlock(ctx, u, head, ahead)
			if err != nil {
				return fmt.Errorf("undo block %d: %w", head.Number, err)
			}
			head = parent
		}
		u.restored.put(b)
		return nil
	})
	return head, err
}

// undoBlock takes back what the newest block wrote, and returns the head before
// it. The rows that its record restores are the ones that it was projected upon,
// so that projecting it again gives the rows that it wrote; its digest says
// whether they are.
func (x *Indexer) undoBlock(ctx context.Context, u *undone, head chain.Head, ahead *replaying) (parent chain.Head, err error) {
	again, err := ahead.next(ctx)
	if err != nil {
		return parent, err
	}
	for i := range again.undo {
		u.restored.add(&again.undo[i])
	}
	u.remove(UndoKey(head.Number))

	before, err := u.GetMany(ctx, []store.Key{chain.HeadKey})
	if err != nil {
		return parent, err
	}
	if before[0] == nil {
		return parent, errors.New("there is no head before it")
	}
	if parent, err = chain.DecodeHead(before[0]); err != nil {
		return parent, err
	}
	followed, made, err := again.finish(ctx, parent, u)
	if err != nil {
		return parent, err
	}
	if made != head {
		return parent, fmt.Errorf("projected again it has digest %x, the index says %x", made.Digest, head.Digest)
	}
	u.remove(chain.DigestKey(head.Number))
	for _, list := range [][]store.Op{again.rows.Ops(), followed} {
		for i := range list {
			if x.dated[list[i].Table.ID] {
				u.remove(list[i].Key)
			}
		}
	}
	return parent, nil
}

// replaying reads blocks back, newest first, and projects them ahead of the one
// that is being undone, on all cores.
type replaying struct {
	queue  chan chan readBack
	cancel context.CancelFunc
	work   errgroup.Group
}

// readBack is a block that was projected again, and its undo record.
type readBack struct {
	*replayed
	undo []store.Op
	err  error
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
func (a *replaying) next(ctx context.Context) (readBack, error) {
	select {
	case slot := <-a.queue:
		select {
		case got := <-slot:
			return got, got.err
		case <-ctx.Done():
			return readBack{}, ctx.Err()
		}
	case <-ctx.Done():
		return readBack{}, ctx.Err()
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
	if got.undo, err = decodeUndo(rec, x.tables); err != nil {
		return readBack{err: fmt.Errorf("undo record: %w", err)}
	}
	blk, _, err := LoadBlock(ctx, r, number)
	if err != nil {
		return readBack{err: err}
	}
	got.replayed, got.err = x.replay.begin(blk)
	return got
}
