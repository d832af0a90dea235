package index

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

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
	read := make(chan stretch)
	ahead.work.Go(func() error {
		defer close(read)
		for top := from; top >= last && top <= from; {
			s := readStretch(ctx, r, max(last, explorer.FirstOfStretch(top)), top)
			select {
			case read <- s:
			case <-ctx.Done():
				return nil
			}
			top = s.first - 1
		}
		return nil
	})
	ahead.work.Go(func() error {
		defer close(ahead.queue)
		var pool errgroup.Group
		pool.SetLimit(runtime.GOMAXPROCS(0))
		defer pool.Wait() //nolint:errcheck // blocks carry their own
		for s := range read {
			for i := len(s.blocks) - 1; i >= 0; i-- {
				slot := make(chan readBack, 1)
				select {
				case ahead.queue <- slot:
				case <-ctx.Done():
					return nil
				}
				pool.Go(func() error {
					slot <- x.replay.readBack(ctx, &s.blocks[i])
					return nil
				})
			}
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

// stretch is what the index keeps of some blocks of a stretch, oldest first. They are read
// together: to look for the first row costs more than to go on to the next.
type stretch struct {
	first  uint64
	blocks []stored
}

// stored is what the index keeps of a block, and its undo record.
type stored struct {
	sum    *block.Summary
	state  starknet.StateDiff
	rows   [][]byte // of transactions
	record []byte
	err    error
}

// readStretch reads blocks first to last.
func readStretch(ctx context.Context, r store.Reader, first, last uint64) stretch {
	s := stretch{first, make([]stored, last-first+1)}
	if err := s.read(ctx, r); err != nil {
		for i := range s.blocks {
			s.blocks[i].err = err
		}
	}
	return s
}

func (s *stretch) read(ctx context.Context, r store.Reader) error {
	numbers, undo := make([]uint64, len(s.blocks)), make([]store.Key, len(s.blocks))
	for i := range s.blocks {
		numbers[i] = s.first + uint64(i)
		undo[i] = UndoKey(numbers[i])
	}
	records, err := r.GetMany(ctx, undo)
	if err != nil {
		return fmt.Errorf("undo records: %w", err)
	}
	sums, err := block.GetMany(ctx, r, numbers)
	if err != nil {
		return err
	}
	states, err := block.StatesOf(ctx, r, numbers)
	if err != nil {
		return err
	}
	rows, err := transaction.StoredOf(ctx, r, numbers[0], numbers[len(numbers)-1])
	if err != nil {
		return err
	}
	for i := range s.blocks {
		s.blocks[i] = stored{sum: sums[i], state: states[i], rows: rows[i], record: records[i]}
		if records[i] == nil {
			s.blocks[i].err = fmt.Errorf("undo record: %w", store.ErrNotFound)
		}
	}
	return nil
}

// transactions are where blocks are read that are projected and then forgotten.
var transactions = sync.Pool{New: func() any { return &transaction.Memory{} }}

// readBack projects a block again.
func (r *Replayer) readBack(ctx context.Context, s *stored) (got readBack) {
	if s.err != nil {
		return readBack{err: s.err}
	}
	m := transactions.Get().(*transaction.Memory)
	defer transactions.Put(m)
	b := &explorer.Block{State: s.state, StateDiffLength: s.sum.StateDiffLength, Stored: s.rows}
	b.Header = s.sum.Header
	if b.Transactions, b.Receipts, got.err = m.Read(s.sum.Number, s.rows); got.err != nil {
		return got
	}
	got.TakenBack, got.err = r.TakeBack(ctx, b, s.record)
	return got
}
