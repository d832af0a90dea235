package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// checkEvery is how many rows a loop reads between two looks at its context.
const checkEvery = 64

// reader reads one snapshot. It holds no state of its own, hence it is safe
// for concurrent use.
type reader struct {
	engine *engine
	view   *lsm.Snapshot
	shelf  *store.Shelf // of the snapshot; nil in a view that only its owner has
	spare  *iterators   // of the snapshot
}

var (
	_ store.Reader = (*reader)(nil)
	_ store.Memory = (*reader)(nil)
)

// Shelf is what the views of this snapshot remember.
func (r *reader) Shelf() *store.Shelf { return r.shelf }

// check says whether a read may go on.
func (r *reader) check(ctx context.Context) error {
	if r.engine.isClosing() {
		return store.ErrClosed
	}
	return ctx.Err()
}

func (r *reader) failed(t *store.Table, err error) error {
	if Damaged(err) {
		err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return fmt.Errorf("read table %s of store %s: %w", t.Name, r.engine.dir, err)
}

func appendKey(b []byte, k *store.Key) []byte {
	b = append(b, k.Table.ID)
	b = append(b, k.Partition...)
	return append(b, k.Sort...)
}

// keyBuffer is room for most keys.
type keyBuffer [128]byte

func (r *reader) Get(ctx context.Context, k store.Key) ([]byte, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if err := r.engine.schema.CheckKey(&k); err != nil {
		return nil, err
	}
	it, err := r.spare.take(ctx, r.view, unfiltered, k.Table.ID, nil, nil)
	if err != nil {
		return nil, r.failed(k.Table, err)
	}
	var out []byte
	value, found, err := r.row(it, appendKey(it.key[:0], &k))
	if found && err == nil {
		out = make([]byte, len(value))
		copy(out, value)
	}
	if closeErr := r.spare.give(it); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, r.failed(k.Table, err)
	}
	if !found {
		return nil, store.ErrNotFound
	}
	return out, nil
}

// GetMany visits the keys in their order on disk with one iterator, so that
// neighbours share blocks, and copies the values into few pieces of memory.
// Many keys are shared out among a few iterators that run side by side.
func (r *reader) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	out := make([][]byte, len(ks))
	err := r.Each(ctx, ks, func() store.Visitor {
		var arena []byte
		return func(i int, value []byte) error {
			if cap(arena)-len(arena) < len(value) || arena == nil {
				arena = make([]byte, 0, max(len(value), min(arenaBytes, len(ks)*len(value))))
			}
			start := len(arena)
			arena = append(arena, value...)
			out[i] = arena[start:len(arena):len(arena)] // not nil when it is empty
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Each is GetMany without the copies.
func (r *reader) Each(ctx context.Context, ks []store.Key, visitor func() store.Visitor) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	size, present := 0, true
	for i := range ks {
		if err := r.engine.schema.CheckKey(&ks[i]); err != nil {
			return err
		}
		size += 1 + len(ks[i].Partition) + len(ks[i].Sort)
		present = present && ks[i].Table.Present
	}
	if len(ks) == 0 {
		return nil
	}
	w := &lookup{r: r, seeks: sortedSeeks(ks, size), kind: withFilters, visitor: visitor}
	if present {
		w.kind = unfiltered
	}
	func() {
		defer w.others.Wait() // also when a visitor leaves by a panic
		w.work(ctx, true)
	}()
	if w.panicked != nil { // here, where somebody may have something to say to it
		panic(w.panicked)
	}
	if w.visited != nil {
		return w.visited
	}
	if w.err != nil {
		return wrapRead(r, ks[0].Table, w.err)
	}
	return nil
}

// Another iterator is worth its price when so much is left to do, and so many
// keys. What more iterators than a few could gain is left to other requests.
const (
	worthSharing = 100 * time.Microsecond
	keysAtOnce   = 32
	maxIterators = 4
)

// lookup is an Each under way: iterators take the keys from it by the piece.
// Rows cost very different times, neighbours in a block next to nothing, so that
// fixed shares would leave one iterator waiting for another.
type lookup struct {
	r       *reader
	seeks   []seek
	kind    kind
	visitor func() store.Visitor

	others  sync.WaitGroup
	taken   atomic.Int64 // seeks that were handed out
	failed  sync.Once
	err     error // of a read
	visited error // of a visitor
	// panicked is what a visitor of another goroutine left with.
	panicked any
}

const pieceKeys = 8

// piece hands out the next keys, none at the end or after a fault.
func (w *lookup) piece() []seek {
	end := int(w.taken.Add(pieceKeys))
	if end-pieceKeys >= len(w.seeks) {
		return nil
	}
	return w.seeks[end-pieceKeys : min(end, len(w.seeks))]
}

// share starts more iterators, as the first one finds that so many keys took so
// long: rows that lie side by side are read sooner than others wake up.
func (w *lookup) share(ctx context.Context, keys int, took time.Duration) {
	left := len(w.seeks) - keys
	if time.Duration(left)*took/time.Duration(keys) < worthSharing {
		return
	}
	for range min(len(w.seeks)/keysAtOnce, runtime.GOMAXPROCS(0), maxIterators) - 1 {
		w.others.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					w.failed.Do(func() { w.panicked = p })
					w.taken.Store(int64(len(w.seeks)))
				}
			}()
			w.work(ctx, false)
		})
	}
}

func (w *lookup) work(ctx context.Context, first bool) {
	visited, err := w.look(ctx, first)
	if err != nil || visited != nil {
		w.failed.Do(func() { w.err, w.visited = err, visited })
		w.taken.Store(int64(len(w.seeks)))
	}
}

// look looks up keys in order and shows what it finds to a visitor, whose error
// it returns first. Filters of the bottom level are worth reading for rows that
// may not be there: a projection mostly asks for such.
func (w *lookup) look(ctx context.Context, first bool) (visited, err error) {
	part := w.piece()
	if part == nil {
		return nil, nil
	}
	it, err := w.r.spare.take(ctx, w.r.view, w.kind, part[0].key[0], nil, nil)
	if err != nil {
		return nil, err
	}
	// In a defer, since a visitor may leave by a panic.
	defer func() {
		if closeErr := w.r.spare.give(it); err == nil && visited == nil {
			err = closeErr
		}
	}()
	visit, begin := w.visitor(), time.Now()
	for n := 0; part != nil; part = w.piece() {
		if n += len(part); n >= checkEvery {
			n = 0
			if err := w.r.check(ctx); err != nil {
				return nil, err
			}
		}
		for i := range part {
			s := &part[i]
			value, found, err := w.r.row(it, s.key)
			if err != nil {
				return nil, err
			}
			if !found {
				if it.Error() != nil {
					return nil, nil // Close returns it
				}
				continue
			}
			if err := visit(s.index, value); err != nil {
				return err, nil
			}
		}
		if first {
			first = false
			w.share(ctx, len(part), time.Since(begin))
		}
	}
	return nil, nil
}

// arenaBytes is how much memory GetMany takes at a time for values.
const arenaBytes = 64 << 10

// seek is one key of GetMany and where it was asked for.
type seek struct {
	key   []byte
	index int
}

func sortedSeeks(ks []store.Key, size int) []seek {
	seeks := make([]seek, len(ks))
	keys := make([]byte, 0, size)
	for i := range ks {
		start := len(keys)
		keys = appendKey(keys, &ks[i])
		seeks[i] = seek{key: keys[start:len(keys):len(keys)], index: i}
	}
	slices.SortFunc(seeks, func(a, b seek) int { return bytes.Compare(a.key, b.key) })
	return seeks
}

func (r *reader) Scan(ctx context.Context, rg store.Range) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		if err := r.engine.schema.CheckRange(&rg); err != nil {
			yield(store.Row{}, err)
			return
		}
		prefix := appendKey(nil, &store.Key{Table: rg.Table, Partition: rg.Partition})
		lower, upper := prefix, store.PrefixEnd(prefix)
		if len(rg.From) > 0 {
			lower = slices.Concat(prefix, rg.From)
		}
		if rg.To != nil {
			upper = slices.Concat(prefix, rg.To)
		}
		left := rg.Limit
		err := r.each(ctx, rg.Table, lower, upper, rg.Reverse, func(key, value []byte) bool {
			left--
			return yield(store.Row{Sort: key[len(prefix):], Value: value}, nil) && left > 0
		})
		if err != nil {
			yield(store.Row{}, wrapRead(r, rg.Table, err))
		}
	}
}

func (r *reader) Walk(ctx context.Context, t *store.Table, after *store.Key) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		if err := r.engine.schema.CheckTable(t); err != nil {
			yield(store.Entry{}, err)
			return
		}
		lower, upper := []byte{t.ID}, []byte{t.ID + 1}
		if after != nil {
			from := store.Key{Table: t, Partition: after.Partition, Sort: after.Sort}
			if err := r.engine.schema.CheckKey(&from); err != nil {
				yield(store.Entry{}, err)
				return
			}
			lower = store.After(appendKey(nil, &from))
		}
		err := r.each(ctx, t, lower, upper, false, func(key, value []byte) bool {
			return yield(store.Entry{
				Partition: key[1 : 1+t.PartitionLen],
				Sort:      key[1+t.PartitionLen:],
				Value:     value,
			}, nil)
		})
		if err != nil {
			yield(store.Entry{}, wrapRead(r, t, err))
		}
	}
}

// wrapRead names the place of a fault, and leaves the errors alone that a
// caller expects.
func wrapRead(r *reader, t *store.Table, err error) error {
	if errors.Is(err, store.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return r.failed(t, err)
}

// each hands the rows of a table from lower to below upper to fn until it returns false.
func (r *reader) each(ctx context.Context, t *store.Table, lower, upper []byte, reverse bool, fn func(key, value []byte) bool) (err error) {
	if err := r.check(ctx); err != nil {
		return err
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil
	}
	if t.Series && r.engine.settled.Load() > 0 {
		return r.eachOfSeries(ctx, lower, upper, reverse, fn)
	}
	it, err := r.spare.take(ctx, r.view, unfiltered, t.ID, lower, upper)
	if err != nil {
		return err
	}
	// In a defer, since fn may leave by a panic or by ending its goroutine.
	stopped := false
	defer func() {
		if closeErr := r.spare.give(it); err == nil && !stopped {
			err = closeErr
		}
	}()
	start, step := it.First, it.Next
	if reverse {
		start, step = it.Last, it.Prev
	}
	n := 0
	for ok := start(); ok; ok = step() {
		if n++; n%checkEvery == 0 {
			if err := r.check(ctx); err != nil {
				return err
			}
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if !fn(it.Key(), value) {
			stopped = true
			return nil
		}
	}
	return nil
}
