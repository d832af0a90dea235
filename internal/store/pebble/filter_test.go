package pebble

import (
	"errors"
	"fmt"
	"testing"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

const filteredRows = 1_000

// filtered are two tables of as many rows, the second of which may be one of lists.
func filtered(listed bool) []*store.Table {
	return []*store.Table{
		{ID: 5, Name: "plain", PartitionLen: 8},
		{ID: 6, Name: "list", PartitionLen: 8, Listed: listed},
	}
}

func openFiltered(t *testing.T, fs vfs.FS, listed bool) *engine {
	t.Helper()
	o := MemOptions(fs, filtered(listed))
	o.BulkBytes = 1
	e, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// filteredKeys are those of a table's rows or, with 1, of as many between them that are
// not there.
func filteredKeys(table *store.Table, between uint64) (keys []store.Key) {
	for n := range uint64(filteredRows) {
		keys = append(keys, store.Key{Table: table, Partition: store.AppendUint64(nil, 2*n+between), Sort: []byte("row")})
	}
	return keys
}

func fillFiltered(t *testing.T, e *engine, tables []*store.Table) {
	t.Helper()
	l, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Under(l)
	for _, table := range tables {
		for i, k := range filteredKeys(table, 0) {
			b.Put(k, fmt.Append(nil, table.ID, i))
		}
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// checkFiltered reads every row by its key, and as many that are not there, and returns
// for how many a filter was enough.
func checkFiltered(t *testing.T, e *engine, tables []*store.Table) (spared int64) {
	t.Helper()
	spared = -e.db.Metrics().Filter.Hits
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, table := range tables {
			keys := filteredKeys(table, 0)
			values, err := r.GetMany(t.Context(), append(keys, filteredKeys(table, 1)...))
			if err != nil {
				return err
			}
			for i, v := range values {
				if want := fmt.Sprint(table.ID, i); i < filteredRows && string(v) != want || i >= filteredRows && v != nil {
					return fmt.Errorf("row %d of %s is %q", i, table.Name, v)
				}
			}
			for i, k := range keys {
				if v, err := r.Get(t.Context(), k); err != nil || string(v) != fmt.Sprint(table.ID, i) {
					return fmt.Errorf("row %d of %s is %q: %w", i, table.Name, v, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return spared + e.db.Metrics().Filter.Hits
}

func filterBytes(t *testing.T, e *engine) (n uint64) {
	t.Helper()
	levels, err := e.db.SSTables(lsm.WithProperties())
	if err != nil {
		t.Fatal(err)
	}
	for _, tables := range levels {
		for i := range tables {
			n += tables[i].Properties.FilterSize
		}
	}
	return n
}

// TestListedRowsHaveNoFilter: the rows of lists are left out of filters, and found.
func TestListedRowsHaveNoFilter(t *testing.T) {
	size := map[bool]uint64{}
	for _, listed := range []bool{false, true} {
		e := openFiltered(t, vfs.NewMem(), listed)
		fillFiltered(t, e, filtered(listed))
		if err := e.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		size[listed] = filterBytes(t, e)
		spared := checkFiltered(t, e, filtered(listed))
		most := int64(2 * filteredRows)
		if listed {
			most = filteredRows
		}
		if spared > most || spared < most*9/10 {
			t.Errorf("filters spared %d reads of rows that are not there, of %d", spared, most)
		}
	}
	if size[true] > size[false]*6/10 {
		t.Errorf("filters of one table of two have %d bytes, those of both %d", size[true], size[false])
	}
}

// TestFiltersOfOtherDeclarations: a filter is read by what it lacks, not by what the
// tables are declared as when it is read.
func TestFiltersOfOtherDeclarations(t *testing.T) {
	for _, listed := range []bool{false, true} {
		fs := vfs.NewMem()
		e := openFiltered(t, fs, listed)
		fillFiltered(t, e, filtered(listed))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		checkFiltered(t, openFiltered(t, fs, !listed), filtered(!listed))
	}
}

// TestFiltersOfAllRows: stores of earlier versions have filters of Pebble's own, which
// go on sparing reads.
func TestFiltersOfAllRows(t *testing.T) {
	fs := vfs.NewMem()
	o := MemOptions(fs, filtered(true))
	s, err := settings(o)
	if err != nil {
		t.Fatal(err)
	}
	s.FS, s.Logger = fs, eventLog{log: o.Logger, fatal: func(err error) { t.Error(err) }}
	for i := range s.Levels {
		s.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
	}
	db, err := lsm.Open(o.Dir, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range filtered(true) {
		for i, k := range filteredKeys(table, 0) {
			err = errors.Join(err, db.Set(appendKey(nil, &k), fmt.Append(nil, table.ID, i), nil))
		}
	}
	if err := errors.Join(err, db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
	e := openFiltered(t, fs, true)
	if filterBytes(t, e) == 0 {
		t.Fatal("the store has no filters")
	}
	if spared := checkFiltered(t, e, filtered(true)); spared < 2*filteredRows*9/10 {
		t.Errorf("filters spared %d reads of rows that are not there, of %d", spared, 2*filteredRows)
	}
}
