package storetest_test

import (
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/storetest"
)

func TestDumpDigestDiff(t *testing.T) {
	one := &store.Table{ID: 9, Name: "one", PartitionLen: 1}
	two := &store.Table{ID: 3, Name: "two"}
	tables := []*store.Table{one, two}
	fill := func(rows ...[3]string) store.Engine {
		e := pebbletest.Open(t, tables)
		l, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		b := &store.Batch{Epoch: l.Epoch}
		for _, r := range rows {
			k := store.Key{Table: two, Sort: []byte(r[1])}
			if r[0] != "" {
				k = store.Key{Table: one, Partition: []byte(r[0]), Sort: []byte(r[1])}
			}
			b.Put(k, []byte(r[2]))
		}
		if err := e.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		return e
	}
	a := fill([3]string{"p", "a", "1"}, [3]string{"p", "b", "2"}, [3]string{"", "x", "3"})
	tests := []struct {
		name  string
		b     store.Engine
		diffs []string
	}{
		{"equal", fill([3]string{"", "x", "3"}, [3]string{"p", "b", "2"}, [3]string{"p", "a", "1"}), nil},
		{"value", fill([3]string{"p", "a", "1"}, [3]string{"p", "b", "!"}, [3]string{"", "x", "3"}),
			[]string{"one 70 62 = 32 in the first, 21 in the second"}},
		{"missing and more", fill([3]string{"p", "a", "1"}, [3]string{"q", "b", "2"}, [3]string{"", "x", "3"}),
			[]string{"only in the first: one 70 62 = 32", "only in the second: one 71 62 = 32"}},
		{"other split of the same bytes", fill([3]string{"p", "a1", ""}, [3]string{"p", "b", "2"}, [3]string{"", "x", "3"}),
			[]string{"only in the first: one 70 61 = 31", "only in the second: one 70 6131 = "}},
		{"table empty", fill([3]string{"p", "a", "1"}, [3]string{"p", "b", "2"}),
			[]string{"only in the first: two  78 = 33"}},
	}
	want, err := storetest.Digest(t.Context(), a, tables)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		diffs, err := storetest.Diff(t.Context(), a, tt.b, tables, 10)
		if err != nil || !slices.Equal(diffs, tt.diffs) {
			t.Errorf("%s: got %q, %v; want %q", tt.name, diffs, err, tt.diffs)
		}
		digest, err := storetest.Digest(t.Context(), tt.b, tables)
		if err != nil || (digest == want) != (tt.diffs == nil) {
			t.Errorf("%s: digests equal is %t, %v", tt.name, digest == want, err)
		}
	}
	if diffs, err := storetest.Diff(t.Context(), a, fill(), tables, 2); err != nil || len(diffs) != 2 {
		t.Errorf("limited to two: %q, %v", diffs, err)
	}
	lines, err := storetest.Dump(t.Context(), a, tables)
	if err != nil || len(lines) != 3 || lines[0].String() != "one 70 61 = 31" || lines[2].Table != two {
		t.Errorf("dump: %v, %v", lines, err)
	}
}
