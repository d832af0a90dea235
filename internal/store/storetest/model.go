package storetest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"chainexplorer/internal/store"
)

// model is what a store must behave like: a map, and sorting.
type model map[modelKey]string

type modelKey struct {
	table           *store.Table
	partition, sort string
}

func (m model) apply(b *store.Batch) {
	for _, c := range b.Cuts() {
		maps.DeleteFunc(m, func(k modelKey, _ string) bool {
			return k.table == c.Table && k.partition == string(c.Partition) &&
				k.sort >= string(c.From) && (c.To == nil || k.sort < string(c.To))
		})
	}
	for _, op := range b.Ops() {
		k := modelKey{op.Table, string(op.Partition), string(op.Sort)}
		if op.Delete {
			delete(m, k)
		} else {
			m[k] = string(op.Value)
		}
	}
}

func (m model) scan(r store.Range) []string {
	var sorts []string
	for k := range m {
		if k.table != r.Table || k.partition != string(r.Partition) {
			continue
		}
		if k.sort < string(r.From) || (r.To != nil && k.sort >= string(r.To)) {
			continue
		}
		sorts = append(sorts, k.sort)
	}
	slices.Sort(sorts)
	if r.Reverse {
		slices.Reverse(sorts)
	}
	sorts = sorts[:min(len(sorts), r.Limit)]
	var rows []string
	for _, sort := range sorts {
		rows = append(rows, sort+"="+m[modelKey{r.Table, string(r.Partition), sort}])
	}
	return rows
}

// random draws from few bytes, so that keys collide, are prefixes of one
// another and sit at the ends of the byte range.
type random struct{ *rand.Rand }

func (r random) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = []byte{0x00, 0x01, 'm', 0xfe, 0xff}[r.IntN(5)]
	}
	return b
}

func (r random) key(tables []*store.Table) store.Key {
	t := tables[r.IntN(len(tables))]
	if t.SortLen > 0 {
		return store.Key{Table: t, Partition: r.partition(t), Sort: r.bytes(t.SortLen)}
	}
	return store.Key{Table: t, Partition: r.partition(t), Sort: r.bytes(r.IntN(4))}
}

// partition is one of few, also where it is long.
func (r random) partition(t *store.Table) []byte {
	p := bytes.Repeat([]byte{0xff}, t.PartitionLen)
	if t.PartitionLen > 0 {
		p[t.PartitionLen-1] = r.bytes(1)[0]
	}
	return p
}

func (r random) bound() []byte {
	if r.IntN(4) == 0 {
		return nil
	}
	return r.bytes(r.IntN(4))
}

func testModel(t *testing.T, s Store) {
	seeds, commits := uint64(4), 60
	if s.Brief {
		seeds, commits = 1, 12
	}
	for seed := range seeds {
		t.Logf("seed %d", seed)
		rnd := random{rand.New(rand.NewPCG(seed, 1))}
		w := open(t, s)
		_, cutter := w.engine.(store.Cutter)
		m := model{}
		w.clear()
		for range commits {
			b := &store.Batch{Epoch: w.lease.Epoch}
			for range rnd.IntN(60) {
				if k := rnd.key(Tables()); rnd.IntN(3) == 0 {
					b.Delete(k)
				} else {
					b.Put(k, rnd.bytes(rnd.IntN(6)))
				}
			}
			for range rnd.IntN(4) {
				if k := rnd.key(Tables()); cutter {
					b.Cut(store.Cut{Table: k.Table, Partition: k.Partition, From: k.Sort, To: rnd.bound()})
				}
			}
			if err := w.engine.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			m.apply(b)
			w.view(func(ctx context.Context, r store.Reader) { m.check(ctx, t, r, rnd) })
			if rnd.IntN(20) == 0 {
				if err := w.engine.Close(); err != nil {
					t.Fatal(err)
				}
				w = open(t, s)
			}
		}
		w.view(func(ctx context.Context, r store.Reader) { m.checkWalk(ctx, t, r) })
		if err := w.engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// clear deletes all rows, so that seeds can share a store.
func (w *writer) clear() {
	w.t.Helper()
	rows, err := Dump(w.t.Context(), w.engine, Tables())
	if err != nil {
		w.t.Fatal(err)
	}
	w.commit(func(b *store.Batch) {
		for _, row := range rows {
			b.Delete(store.Key{Table: row.Table, Partition: row.Partition, Sort: row.Sort})
		}
	})
}

// check compares some reads of each kind with the model.
func (m model) check(ctx context.Context, t *testing.T, r store.Reader, rnd random) {
	t.Helper()
	var keys []store.Key
	for range []int{20, 150}[rnd.IntN(2)] { // an engine may treat many differently
		keys = append(keys, rnd.key(Tables()))
	}
	vs, err := r.GetMany(ctx, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		want, ok := m[modelKey{k.Table, string(k.Partition), string(k.Sort)}]
		if string(vs[i]) != want || (vs[i] != nil) != ok {
			t.Fatalf("GetMany %s %x %x = %q, want %q, %t", k.Table.Name, k.Partition, k.Sort, vs[i], want, ok)
		}
		v, err := r.Get(ctx, k)
		if string(v) != want || errors.Is(err, store.ErrNotFound) == ok || (err != nil && ok) {
			t.Fatalf("Get %s %x %x = %q, %v, want %q, %t", k.Table.Name, k.Partition, k.Sort, v, err, want, ok)
		}
	}
	for range 20 {
		table := Tables()[rnd.IntN(len(Tables()))]
		rg := store.Range{
			Table: table, Partition: rnd.partition(table), From: rnd.bound(), To: rnd.bound(),
			Reverse: rnd.IntN(2) == 0, Limit: 1 + rnd.IntN(20),
		}
		got, err := scan(ctx, r, rg)
		if want := m.scan(rg); err != nil || !slices.Equal(got, want) {
			t.Fatalf("scan %+v = %q, %v, want %q", rg, got, err, want)
		}
	}
}

// sorted returns the keys by partition and sort.
func (m model) sorted() []modelKey {
	keys := slices.Collect(maps.Keys(m))
	slices.SortFunc(keys, func(a, b modelKey) int {
		if a.partition != b.partition {
			return bytes.Compare([]byte(a.partition), []byte(b.partition))
		}
		return bytes.Compare([]byte(a.sort), []byte(b.sort))
	})
	return keys
}

// checkWalk compares every table as a whole, and walks that start at a row.
func (m model) checkWalk(ctx context.Context, t *testing.T, r store.Reader) {
	t.Helper()
	keys := m.sorted()
	for _, table := range Tables() {
		var want []string
		var starts []*store.Key
		for _, k := range keys {
			if k.table == table {
				want = append(want, k.partition+"/"+k.sort+"="+m[k])
				starts = append(starts, &store.Key{Table: table, Partition: []byte(k.partition), Sort: []byte(k.sort)})
			}
		}
		if got, err := walk(ctx, r, table, nil); err != nil || !slices.Equal(got, want) {
			t.Fatalf("walk %s = %.4000q, %v, want %.4000q", table.Name, got, err, want)
		}
		for i, start := range starts {
			if got, err := walk(ctx, r, table, start); err != nil || !slices.Equal(got, want[i+1:]) {
				t.Fatalf("walk %s after row %d = %q, %v", table.Name, i, got, err)
			}
		}
	}
}

func walk(ctx context.Context, r store.Reader, t *store.Table, after *store.Key) ([]string, error) {
	var rows []string
	for e, err := range r.Walk(ctx, t, after) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, string(e.Partition)+"/"+string(e.Sort)+"="+string(e.Value))
	}
	return rows, nil
}

func testWalk(t *testing.T, s Store) {
	w := open(t, s)
	w.commit(func(b *store.Batch) {
		for _, k := range []store.Key{
			key(single, "", "before"), key(narrow, "a", ""), key(narrow, "a", "x"),
			key(narrow, "b", "\xff"), key(narrow, "\xff", "\xff"), key(wide, string(make([]byte, 32)), "behind"),
		} {
			b.Put(k, []byte("v"))
		}
	})
	all := []string{"a/=v", "a/x=v", "b/\xff=v", "\xff/\xff=v"}
	at := func(p, sort string) *store.Key { k := key(narrow, p, sort); return &k }
	tests := []struct {
		name  string
		after *store.Key
		want  []string
	}{
		{"all", nil, all},
		{"after a row", at("a", "x"), all[2:]},
		{"after an empty sort", at("a", ""), all[1:]},
		{"after a row that is not there", at("a", "w"), all[1:]},
		{"after a partition that is not there", at("\x01", ""), all},
		{"after the last", at("\xff", "\xff"), nil},
	}
	w.view(func(ctx context.Context, r store.Reader) {
		for _, tt := range tests {
			if got, err := walk(ctx, r, narrow, tt.after); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
			}
		}
		for e, err := range r.Walk(ctx, narrow, nil) {
			if err != nil || string(e.Partition) != "a" {
				t.Errorf("first row %q, %v", e.Partition, err)
			}
			break // leaving early is fine
		}
		if got, err := walk(ctx, r, last, nil); err != nil || len(got) != 0 {
			t.Errorf("empty table: %q, %v", got, err)
		}
	})
}
