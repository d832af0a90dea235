package index

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestPrune removes the records below the floor and no others, in steps of bounded size, also
// where long runs of blocks have none.
func TestPrune(t *testing.T) {
	e := pebbletest.Open(t, catalog.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	const far, floor = 3_000_000, 3_000_000 + 2*pruneBlocks + 21
	put := &store.Batch{Epoch: lease.Epoch}
	for _, run := range [][2]uint64{{3, 16}, {16, 17}, {31, 33}, {5_000, 5_040}, {far + 7, floor + 9}} {
		for n := run[0]; n < run[1]; n++ {
			put.Put(UndoKey(n), []byte{1})
		}
	}
	if err := e.Commit(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	counting := &scanCounter{Engine: e}
	x := &Indexer{Options: Options{Store: counting, UndoBlocks: 10}, undo: UndoSpan{Oldest: 3, Floor: 4}}
	x.state.Head.Number, x.state.HasL1, x.state.L1.Number = floor+9, true, floor-1
	for steps := 0; x.undo.Oldest < floor; steps++ {
		b, was := &store.Batch{Epoch: lease.Epoch}, x.undo
		if err := x.prune(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if counting.scans > pruneBlocks/explorer.StretchSize+20 {
			t.Fatalf("step %d took %d scans", steps, counting.scans)
		}
		counting.scans = 0
		if b.Len() > pruneBlocks+explorer.StretchSize || x.undo.Oldest <= was.Oldest || steps > 3 {
			t.Fatalf("step %d removes %d records, from %d to %d", steps, b.Len()-1, was.Oldest, x.undo.Oldest)
		}
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		var left []uint64
		err := e.View(t.Context(), func(r store.Reader) error {
			written, err := ReadUndoSpan(t.Context(), r)
			if err != nil || written != x.undo || written.Floor != floor {
				t.Errorf("%+v is written, %+v known, error %v", written, x.undo, err)
			}
			for at := uint64(0); at != ^uint64(0); {
				if at, err = nextUndo(t.Context(), r, at); err == nil && at != ^uint64(0) {
					left = append(left, at)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Min(left) < x.undo.Oldest || slices.Max(left) != floor+8 {
			t.Fatalf("records from %d to %d are left, and the oldest is said to be %d", slices.Min(left), slices.Max(left), x.undo.Oldest)
		}
		if x.undo.Oldest == floor && len(left) != 9 {
			t.Fatalf("%d records are left", len(left))
		}
	}
	if x.undo != (UndoSpan{Oldest: floor, Floor: floor}) {
		t.Fatalf("%+v", x.undo)
	}
	b := &store.Batch{}
	if err := x.prune(t.Context(), b); err != nil || b.Len() != 0 {
		t.Fatalf("with nothing to remove %d changes, error %v", b.Len(), err)
	}
}

// scanCounter counts the scans of its views.
type scanCounter struct {
	store.Engine
	scans int
}

func (c *scanCounter) View(ctx context.Context, read func(store.Reader) error) error {
	return c.Engine.View(ctx, func(r store.Reader) error { return read(scanReader{r, &c.scans}) })
}

type scanReader struct {
	store.Reader
	scans *int
}

func (r scanReader) Scan(ctx context.Context, rng store.Range) iter.Seq2[store.Row, error] {
	*r.scans++
	return r.Reader.Scan(ctx, rng)
}
