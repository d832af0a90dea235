package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/store"
)

const manyRows = 1 << 30 // a limit that no scan of the suite reaches

func testRows(t *testing.T, s Store) {
	w := open(t, s)
	a, b, missing := key(narrow, "p", "a"), key(narrow, "p", "b"), key(narrow, "p", "c")
	w.commit(func(batch *store.Batch) {
		batch.Put(a, []byte("one"))
		batch.Put(b, nil) // a row with an empty value
	})
	w.view(func(ctx context.Context, r store.Reader) {
		if v, err := r.Get(ctx, a); err != nil || string(v) != "one" {
			t.Errorf("Get(a) = %q, %v", v, err)
		}
		if v, err := r.Get(ctx, b); err != nil || len(v) != 0 {
			t.Errorf("Get(empty value) = %q, %v", v, err)
		}
		if v, err := r.Get(ctx, missing); !errors.Is(err, store.ErrNotFound) || v != nil {
			t.Errorf("Get(missing) = %q, %v", v, err)
		}
		vs, err := r.GetMany(ctx, []store.Key{missing, b, a, missing, a})
		if err != nil || len(vs) != 5 {
			t.Fatalf("GetMany = %q, %v", vs, err)
		}
		if vs[0] != nil || vs[3] != nil {
			t.Errorf("GetMany of missing rows = %q", vs)
		}
		if vs[1] == nil || len(vs[1]) != 0 {
			t.Errorf("GetMany of an empty value is nil: %t, %q", vs[1] == nil, vs[1])
		}
		if string(vs[2]) != "one" || string(vs[4]) != "one" {
			t.Errorf("GetMany = %q", vs)
		}
		if vs, err := r.GetMany(ctx, []store.Key{b}); err != nil || vs[0] == nil {
			t.Errorf("GetMany of one empty value = %v, %v", vs, err)
		}
		if vs, err := r.GetMany(ctx, nil); err != nil || len(vs) != 0 {
			t.Errorf("GetMany of nothing = %q, %v", vs, err)
		}
	})
	look := func(want ...string) {
		t.Helper()
		vs, err := store.Look(t.Context(), w.engine, []store.Key{missing, b, a, a})
		if err != nil || len(vs) != len(want) {
			t.Fatalf("Look = %q, %v", vs, err)
		}
		for i, v := range want {
			if string(vs[i]) != strings.TrimPrefix(v, "=") || (vs[i] == nil) != (v == "") {
				t.Errorf("Look = %q, want %q", vs, want)
			}
		}
	}
	look("", "=", "=one", "=one")
	if vs, err := store.Look(t.Context(), w.engine, nil); err != nil || len(vs) != 0 {
		t.Errorf("Look at nothing = %q, %v", vs, err)
	}
	if _, err := store.Look(t.Context(), w.engine, []store.Key{a, key(narrow, "too long", "a")}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("Look at a key that cannot be: %v", err)
	}
	w.commit(func(batch *store.Batch) {
		batch.Delete(a)
		batch.Delete(missing)
		batch.Put(b, []byte("two"))
	})
	w.view(func(ctx context.Context, r store.Reader) {
		if _, err := r.Get(ctx, a); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get(deleted) = %v", err)
		}
		if v, err := r.Get(ctx, b); err != nil || string(v) != "two" {
			t.Errorf("Get(overwritten) = %q, %v", v, err)
		}
	})
	look("", "=two", "", "")
}

// testBoundaries puts rows where a wrong bound of a scan would show: at the
// ends of the byte range, in neighbouring partitions and tables.
func testBoundaries(t *testing.T, s Store) {
	w := open(t, s)
	sorts := []string{"", "\x00", "\x00\x00", "a", "ab", "b", "\xfe\xff", "\xff", "\xff\xff"}
	partitions := map[*store.Table][]string{
		single: {""},
		narrow: {"\x00", "\x01", "\xfe", "\xff"},
		last:   {"\x00\x00", "\x00\xff", "\x01\x00", "\xfe\xff", "\xff\x00", "\xff\xff"},
		wide:   {strings.Repeat("\x00", 32), strings.Repeat("\xff", 31) + "\xfe", strings.Repeat("\xff", 32)},
	}
	w.commit(func(b *store.Batch) {
		for table, ps := range partitions {
			for _, p := range ps {
				for _, sort := range sorts {
					b.Put(key(table, p, sort), []byte(table.Name+p))
				}
			}
		}
	})
	w.view(func(ctx context.Context, r store.Reader) {
		for table, ps := range partitions {
			for _, p := range ps {
				var want []string
				for _, sort := range sorts {
					want = append(want, sort+"="+table.Name+p)
				}
				rg := store.Range{Table: table, Partition: []byte(p), Limit: manyRows}
				if got, err := scan(ctx, r, rg); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s %x: got %q, %v; want %q", table.Name, p, got, err, want)
				}
				slices.Reverse(want)
				rg.Reverse = true
				if got, err := scan(ctx, r, rg); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s %x in reverse: got %q, %v; want %q", table.Name, p, got, err, want)
				}
			}
		}
		// Partitions between those that exist are empty.
		for _, p := range []string{"\x02", "\xfd"} {
			got, err := scan(ctx, r, store.Range{Table: narrow, Partition: []byte(p), Limit: manyRows})
			if err != nil || len(got) != 0 {
				t.Errorf("empty partition %x: got %q, %v", p, got, err)
			}
		}
	})
}

func testScans(t *testing.T, s Store) {
	w := open(t, s)
	w.commit(func(b *store.Batch) {
		for _, sort := range []string{"", "a", "aa", "b", "c", "\xff"} {
			b.Put(key(narrow, "p", sort), []byte("v"))
		}
	})
	tests := []struct {
		name     string
		from, to []byte
		reverse  bool
		limit    int
		want     []string
	}{
		{"all", nil, nil, false, 9, []string{"", "a", "aa", "b", "c", "\xff"}},
		{"limit", nil, nil, false, 2, []string{"", "a"}},
		{"limit in reverse", nil, nil, true, 2, []string{"\xff", "c"}},
		{"exactly the limit", nil, nil, false, 6, []string{"", "a", "aa", "b", "c", "\xff"}},
		{"from is included", []byte("a"), nil, false, 2, []string{"a", "aa"}},
		{"to is not", nil, []byte("b"), false, 9, []string{"", "a", "aa"}},
		{"to is not, in reverse", nil, []byte("b"), true, 9, []string{"aa", "a", ""}},
		{"from is included in reverse", []byte("b"), nil, true, 9, []string{"\xff", "c", "b"}},
		{"between rows", []byte("ab"), []byte("bb"), false, 9, []string{"b"}},
		{"a prefix", []byte("a"), store.PrefixEnd([]byte("a")), false, 9, []string{"a", "aa"}},
		{"continued", store.After([]byte("a")), nil, false, 2, []string{"aa", "b"}},
		{"empty from is open", []byte{}, nil, false, 1, []string{""}},
		{"empty to holds nothing", nil, []byte{}, false, 9, nil},
		{"from equals to", []byte("a"), []byte("a"), false, 9, nil},
		{"from behind to", []byte("c"), []byte("a"), true, 9, nil},
		{"behind all", []byte("\xff\xff"), nil, false, 9, nil},
		{"before all but the empty one", nil, []byte("\x00"), true, 9, []string{""}},
	}
	w.view(func(ctx context.Context, r store.Reader) {
		for _, tt := range tests {
			rg := store.Range{Table: narrow, Partition: []byte("p"), From: tt.from, To: tt.to, Reverse: tt.reverse, Limit: tt.limit}
			var got []string
			for row, err := range r.Scan(ctx, rg) {
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				got = append(got, string(row.Sort))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
		// A scan that its caller leaves early must not disturb the next one.
		rg := store.Range{Table: narrow, Partition: []byte("p"), Limit: manyRows}
		for range 3 {
			for row, err := range r.Scan(ctx, rg) {
				if err != nil || len(row.Sort) != 0 {
					t.Errorf("first row %q, %v", row.Sort, err)
				}
				break
			}
		}
		// The same sequence can be run twice.
		seq := r.Scan(ctx, rg)
		for range 2 {
			n := 0
			for range seq {
				n++
			}
			if n != 6 {
				t.Errorf("a sequence used again has %d rows", n)
			}
		}
	})
}

func testInvalidUse(t *testing.T, s Store) {
	w := open(t, s)
	w.put(key(narrow, "p", "kept"), "v")
	foreign := &store.Table{ID: 9, Name: "foreign", PartitionLen: 1}
	badKeys := map[string]store.Key{
		"no table":        {Partition: []byte("p")},
		"foreign table":   key(foreign, "p", ""),
		"short partition": key(narrow, "", "a"),
		"long partition":  key(narrow, "pp", "a"),
		"long key":        key(narrow, "p", strings.Repeat("x", store.MaxKeyBytes)),
	}
	for name, bad := range badKeys {
		b := &store.Batch{Epoch: w.lease.Epoch}
		b.Put(key(narrow, "p", name), []byte("v"))
		b.Put(bad, []byte("v"))
		b.Delete(key(narrow, "p", "kept"))
		if err := w.engine.Commit(t.Context(), b); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("commit with %s: %v", name, err)
		}
	}
	w.view(func(ctx context.Context, r store.Reader) {
		for name, bad := range badKeys {
			if _, err := r.Get(ctx, bad); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("Get with %s: %v", name, err)
			}
			if _, err := r.GetMany(ctx, []store.Key{key(narrow, "p", "a"), bad}); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("GetMany with %s: %v", name, err)
			}
		}
		for name, rg := range map[string]store.Range{
			"no limit":        {Table: narrow, Partition: []byte("p")},
			"negative limit":  {Table: narrow, Partition: []byte("p"), Limit: -1},
			"no table":        {Partition: []byte("p"), Limit: 1},
			"short partition": {Table: narrow, Limit: 1},
			"foreign table":   {Table: foreign, Partition: []byte("p"), Limit: 1},
		} {
			if _, err := scan(ctx, r, rg); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("scan with %s: %v", name, err)
			}
		}
		for _, err := range r.Walk(ctx, foreign, nil) {
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("walk of a foreign table: %v", err)
			}
		}
		// No batch above left a trace.
		got, err := scan(ctx, r, store.Range{Table: narrow, Partition: []byte("p"), Limit: manyRows})
		if err != nil || !slices.Equal(got, []string{"kept=v"}) {
			t.Errorf("rows after refused batches: %q, %v", got, err)
		}
	})
}

// testOwnership checks who may change which slice: what Get and GetMany return
// is the caller's, what a batch was given is free again after the commit.
func testOwnership(t *testing.T, s Store) {
	w := open(t, s)
	partition, sort, value := []byte("p"), []byte("sort"), []byte("value")
	w.commit(func(b *store.Batch) {
		b.Put(store.Key{Table: narrow, Partition: partition, Sort: sort}, value)
	})
	for _, slice := range [][]byte{partition, sort, value} {
		clear(slice)
	}
	k := key(narrow, "p", "sort")
	for range 2 {
		w.view(func(ctx context.Context, r store.Reader) {
			v, err := r.Get(ctx, k)
			if err != nil || string(v) != "value" {
				t.Fatalf("Get = %q, %v", v, err)
			}
			clear(v)
			vs, err := r.GetMany(ctx, []store.Key{k, k})
			if err != nil || string(vs[0]) != "value" || string(vs[1]) != "value" {
				t.Fatalf("GetMany = %q, %v", vs, err)
			}
			// Growing one value must not reach into the next.
			_ = append(vs[0], "overflow"...)
			_ = append(vs[1], "overflow"...)
			if string(vs[0]) != "value" || string(vs[1]) != "value" {
				t.Errorf("values share memory: %q", vs)
			}
			clear(vs[0])
		})
	}
}

func testBatchOrder(t *testing.T, s Store) {
	w := open(t, s)
	a, b, c := key(last, "pp", "a"), key(last, "pp", "b"), key(last, "pp", "c")
	w.put(c, "old")
	w.commit(func(batch *store.Batch) {
		batch.Put(a, []byte("1"))
		batch.Put(a, []byte("2"))
		batch.Delete(a)
		batch.Put(a, []byte("3"))
		batch.Put(b, []byte("1"))
		batch.Delete(b)
		batch.Delete(c)
		batch.Put(c, []byte("new"))
	})
	w.commit(func(*store.Batch) {}) // an empty batch is fine
	w.view(func(ctx context.Context, r store.Reader) {
		got, err := scan(ctx, r, store.Range{Table: last, Partition: []byte("pp"), Limit: manyRows})
		if want := []string{"a=3", "c=new"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	})
}

func testLargeValues(t *testing.T, s Store) {
	w := open(t, s)
	large := bytes.Repeat([]byte("0123456789abcdef"), 2<<20/16)
	var keys []store.Key
	w.commit(func(b *store.Batch) {
		for _, sort := range []string{"a", "b", "c"} {
			k := key(narrow, "p", sort)
			keys = append(keys, k)
			b.Put(k, append([]byte(sort), large...))
		}
	})
	w.view(func(ctx context.Context, r store.Reader) {
		vs, err := r.GetMany(ctx, keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			want := append(bytes.Clone(k.Sort), large...)
			if !bytes.Equal(vs[i], want) {
				t.Errorf("GetMany(%s) has %d bytes that differ", k.Sort, len(vs[i]))
			}
			if v, err := r.Get(ctx, k); err != nil || !bytes.Equal(v, want) {
				t.Errorf("Get(%s) has %d bytes that differ, %v", k.Sort, len(v), err)
			}
		}
		i := 0
		for row, err := range r.Scan(ctx, store.Range{Table: narrow, Partition: []byte("p"), Limit: 9}) {
			if err != nil || !bytes.Equal(row.Value, append(bytes.Clone(keys[i].Sort), large...)) {
				t.Errorf("row %d of the scan differs, %v", i, err)
			}
			i++
		}
	})
}

func testManyRows(t *testing.T, s Store) {
	w := open(t, s)
	const n = 50_000
	p := []byte("p")
	w.commit(func(b *store.Batch) {
		for i := range uint64(n) {
			b.Put(store.Key{Table: narrow, Partition: p, Sort: store.AppendUint64(nil, i)}, store.AppendUint64(nil, i*i))
		}
	})
	w.view(func(ctx context.Context, r store.Reader) {
		for _, reverse := range []bool{false, true} {
			var i uint64
			for row, err := range r.Scan(ctx, store.Range{Table: narrow, Partition: p, Reverse: reverse, Limit: manyRows}) {
				if err != nil {
					t.Fatal(err)
				}
				want := i
				if reverse {
					want = n - 1 - i
				}
				sort, _, _ := store.Uint64(row.Sort)
				value, _, _ := store.Uint64(row.Value)
				if sort != want || value != want*want {
					t.Fatalf("row %d (reverse %t) is %d=%d", i, reverse, sort, value)
				}
				i++
			}
			if i != n {
				t.Fatalf("scan (reverse %t) has %d rows", reverse, i)
			}
		}
		var keys []store.Key
		for i := range uint64(5_000) {
			keys = append(keys, store.Key{Table: narrow, Partition: p, Sort: store.AppendUint64(nil, (i*7919)%(2*n))})
		}
		vs, err := r.GetMany(ctx, keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			sort, _, _ := store.Uint64(k.Sort)
			if sort >= n {
				if vs[i] != nil {
					t.Fatalf("missing row %d has a value", sort)
				}
			} else if value, _, _ := store.Uint64(vs[i]); value != sort*sort {
				t.Fatalf("row %d is %d", sort, value)
			}
		}
	})
}
