package pebble

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// rowsOf opens a store with rows of a few partitions, which lie in tables, and returns how to write all of
// them anew.
func rowsOf(t *testing.T) (e *engine, table *store.Table, write func(generation int)) {
	t.Helper()
	table = &store.Table{ID: 1, Name: "rows", PartitionLen: 1}
	e, err := open(MemOptions(vfs.NewMem(), []*store.Table{table}))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := e.Acquire(t.Context(), "index", "test", 1e12)
	if err != nil {
		t.Fatal(err)
	}
	return e, table, func(generation int) {
		t.Helper()
		b := &store.Batch{Lease: lease.Name, Epoch: lease.Epoch}
		for p := range byte(partitions) {
			for n := range rowsEach {
				b.Put(rowKey(table, p, n), rowValue(generation, p, n))
			}
		}
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := e.db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

const partitions, rowsEach = 5, 40

func rowKey(table *store.Table, p byte, n int) store.Key {
	return store.Key{Table: table, Partition: []byte{p}, Sort: binary.BigEndian.AppendUint16(nil, uint16(n))}
}

func rowValue(generation int, p byte, n int) []byte {
	return fmt.Appendf(nil, "generation %d, partition %d, row %d", generation, p, n)
}

// readAll reads every row of a partition in all ways, and says what is wrong.
func readAll(t *testing.T, r store.Reader, table *store.Table, generation int, p byte) error {
	ctx := t.Context()
	keys := make([]store.Key, rowsEach)
	for n := range keys {
		keys[n] = rowKey(table, p, n)
		got, err := r.Get(ctx, keys[n])
		if want := string(rowValue(generation, p, n)); err != nil || string(got) != want {
			return fmt.Errorf("get: %q, %w, want %q", got, err, want)
		}
		if _, err := r.Get(ctx, rowKey(table, p, rowsEach+n)); err != store.ErrNotFound {
			return fmt.Errorf("get of no row: %w", err)
		}
	}
	for _, reverse := range []bool{false, true} {
		seen := 0
		for row, err := range r.Scan(ctx, store.Range{Table: table, Partition: []byte{p}, From: keys[3].Sort, To: keys[33].Sort, Limit: 100, Reverse: reverse}) {
			if err != nil {
				return err
			}
			n := 3 + seen
			if reverse {
				n = 32 - seen
			}
			if want := string(rowValue(generation, p, n)); string(row.Value) != want || string(row.Sort) != string(keys[n].Sort) {
				return fmt.Errorf("scan: %q, want %q", row.Value, want)
			}
			// Another read moves no iterator but its own.
			if _, err := r.Get(ctx, keys[seen]); err != nil {
				return err
			}
			if want := string(rowValue(generation, p, n)); string(row.Value) != want {
				return fmt.Errorf("scan, after another read: %q, want %q", row.Value, want)
			}
			if seen++; reverse && seen == 10 {
				break // in the middle
			}
		}
		if want := map[bool]int{false: 30, true: 10}[reverse]; seen != want {
			return fmt.Errorf("scan: %d rows, want %d", seen, want)
		}
	}
	values, err := r.GetMany(ctx, append(keys, rowKey(table, p, rowsEach)))
	if err != nil || values[rowsEach] != nil {
		return fmt.Errorf("get many: %q, %w", values[rowsEach], err)
	}
	for n := range keys {
		if want := string(rowValue(generation, p, n)); string(values[n]) != want {
			return fmt.Errorf("get many: %q, want %q", values[n], want)
		}
	}
	return nil
}

// TestIteratorsOfManyReaders has many read side by side, while what they read is written anew: each sees
// its own rows, of its own state.
func TestIteratorsOfManyReaders(t *testing.T) {
	e, table, write := rowsOf(t)
	write(0)
	const generations = 4
	for generation := range generations {
		var readers, started sync.WaitGroup
		for n := range 16 {
			started.Add(1)
			readers.Go(func() {
				err := e.View(t.Context(), func(r store.Reader) error {
					started.Done()
					for range 5 {
						if err := readAll(t, r, table, generation, byte(n%partitions)); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("reader %d of generation %d: %v", n, generation, err)
				}
			})
		}
		started.Wait()
		write(generation + 1)
		readers.Wait()
	}
	if err := e.Close(); err != nil { // Pebble counts those that were left open
		t.Error(err)
	}
}

// TestIteratorsAreLetGo: what nobody reads keeps no table open for long, and no more of them than a few.
func TestIteratorsAreLetGo(t *testing.T) {
	e, table, write := rowsOf(t)
	write(0)
	read := func(r store.Reader) error { return readAll(t, r, table, 0, 1) }
	for range 3 {
		if err := e.View(t.Context(), read); err != nil {
			t.Fatal(err)
		}
	}
	spare := &e.current.spare
	kept := func() int { return len(spare.idle[unfiltered]) + len(spare.idle[withFilters]) }
	if n := kept(); n == 0 || n > 3 {
		t.Errorf("%d iterators are kept of one reader", n)
	}
	if n := e.db.Metrics().TableIters; n == 0 {
		t.Error("those that are kept hold no table")
	}
	spare.expire()
	if n := e.db.Metrics().TableIters; n != 0 || kept() != 0 {
		t.Errorf("%d iterators are kept when their time is over, and %d tables are open", kept(), n)
	}
	var all []func() error
	for range 3 * keptIterators {
		it, err := spare.take(t.Context(), e.current.view, unfiltered, table.ID, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, func() error { return spare.give(it) })
	}
	for _, give := range all {
		if err := give(); err != nil {
			t.Error(err)
		}
	}
	if n := kept(); n != keptIterators {
		t.Errorf("%d iterators are kept", n)
	}
	if spare.timer == nil {
		t.Error("nobody closes those that are kept")
	}
	before := e.current
	write(1)
	e.releases.Wait()
	if before.spare.timer != nil || len(before.spare.idle[unfiltered]) > 0 {
		t.Error("iterators of a state that is over are kept")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestIteratorsStayWithTheirTable: who reads a few tables in turn finds each time an iterator that has the files of that
// table open, and who reads many has no more iterators for it.
func TestIteratorsStayWithTheirTable(t *testing.T) {
	e, _, write := rowsOf(t)
	defer e.Close() //nolint:errcheck // the end of the test
	write(0)
	spare := &e.current.spare
	use := func(table byte) *iterator {
		it, err := spare.take(t.Context(), e.current.view, unfiltered, table, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if it.table != table {
			t.Fatalf("an iterator for table %d says it is for %d", table, it.table)
		}
		if err := spare.give(it); err != nil {
			t.Fatal(err)
		}
		return it
	}
	few := byte(keptIterators / 2)
	own := map[byte]*iterator{}
	for round := range 3 {
		for table := range few {
			switch it := use(table); {
			case round == 0:
				own[table] = it
			case own[table] != it:
				t.Errorf("table %d is read with another iterator in round %d", table, round)
			}
		}
	}
	for table := range 10 * few {
		use(table)
	}
	if n := len(spare.idle[unfiltered]); n != int(few) {
		t.Errorf("%d iterators are kept of who reads one table after the other, want %d", n, few)
	}
}
