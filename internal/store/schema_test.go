package store_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"chainexplorer/internal/store"
)

func TestNewSchema(t *testing.T) {
	good := func() *store.Table { return &store.Table{ID: 1, Name: "blocks", PartitionLen: 8} }
	tests := []struct {
		name   string
		tables []*store.Table
		want   string // part of the error; empty means valid
	}{
		{"none", nil, ""},
		{"two", []*store.Table{good(), {ID: 254, Name: "b2_c", PartitionLen: 0}}, ""},
		{"nil table", []*store.Table{nil}, "nil"},
		{"first id", []*store.Table{{ID: 0, Name: "a"}}, "reserved"},
		{"last id", []*store.Table{{ID: 255, Name: "a"}}, "reserved"},
		{"same id", []*store.Table{good(), {ID: 1, Name: "other"}}, "same id"},
		{"same name", []*store.Table{good(), {ID: 2, Name: "blocks"}}, "name"},
		{"empty name", []*store.Table{{ID: 1}}, "name"},
		{"upper case", []*store.Table{{ID: 1, Name: "Blocks"}}, "name"},
		{"quote", []*store.Table{{ID: 1, Name: `a"b`}}, "name"},
		{"digit first", []*store.Table{{ID: 1, Name: "1a"}}, "name"},
		{"newline", []*store.Table{{ID: 1, Name: "a\n"}}, "name"},
		{"long name", []*store.Table{{ID: 1, Name: strings.Repeat("a", 49)}}, "name"},
		{"ascending last", []*store.Table{{ID: 3, Name: "log", Ascending: true}, good(), {ID: 4, Name: "log2", Ascending: true}}, ""},
		{"behind an ascending one", []*store.Table{good(), {ID: 2, Name: "log", Ascending: true}, {ID: 3, Name: "a"}}, "above that of an ascending table"},
		{"negative partition", []*store.Table{{ID: 1, Name: "a", PartitionLen: -1}}, "partition"},
		{"long partition", []*store.Table{{ID: 1, Name: "a", PartitionLen: store.MaxKeyBytes + 1}}, "partition"},
		{"negative sort", []*store.Table{{ID: 1, Name: "a", SortLen: -1}}, "sorts"},
		{"long sort", []*store.Table{{ID: 1, Name: "a", PartitionLen: 8, SortLen: store.MaxKeyBytes - 7}}, "sorts"},
		{"series", []*store.Table{{ID: 1, Name: "a", PartitionLen: 8, SortLen: store.NumberBytes, Series: true}}, ""},
		{"series without a number", []*store.Table{{ID: 1, Name: "a", SortLen: store.NumberBytes - 1, Series: true}}, "series"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := store.NewSchema(tt.tables)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("got %v, want a schema", err)
				}
				return
			}
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an invalid-use error about %q", err, tt.want)
			}
		})
	}
}

func TestSchemaChecks(t *testing.T) {
	blocks := &store.Table{ID: 1, Name: "blocks", PartitionLen: 2}
	dated := &store.Table{ID: 2, Name: "dated", PartitionLen: 2, SortLen: 8}
	s, err := store.NewSchema([]*store.Table{blocks, dated})
	if err != nil {
		t.Fatal(err)
	}
	same := *blocks
	longer := store.Table{ID: 1, Name: "blocks", PartitionLen: 3}
	two := []byte{1, 2}
	keys := []struct {
		name string
		key  store.Key
		ok   bool
	}{
		{"good", store.Key{Table: blocks, Partition: two}, true},
		{"equal declaration", store.Key{Table: &same, Partition: two}, true},
		{"longest", store.Key{Table: blocks, Partition: two, Sort: make([]byte, store.MaxKeyBytes-2)}, true},
		{"too long", store.Key{Table: blocks, Partition: two, Sort: make([]byte, store.MaxKeyBytes-1)}, false},
		{"short partition", store.Key{Table: blocks, Partition: two[:1]}, false},
		{"sort of its length", store.Key{Table: dated, Partition: two, Sort: make([]byte, 8)}, true},
		{"short sort", store.Key{Table: dated, Partition: two, Sort: make([]byte, 7)}, false},
		{"long sort", store.Key{Table: dated, Partition: two, Sort: make([]byte, 9)}, false},
		{"no table", store.Key{Partition: two}, false},
		{"other declaration", store.Key{Table: &longer, Partition: []byte{1, 2, 3}}, false},
	}
	for _, tt := range keys {
		if err := s.CheckKey(&tt.key); (err == nil) != tt.ok {
			t.Errorf("key %s: got %v", tt.name, err)
		}
		var c store.Changes
		c.Put(tt.key.Table, tt.key.Partition, tt.key.Sort, nil)
		if err := s.CheckChanges(&c); (err == nil) != tt.ok {
			t.Errorf("change of key %s: got %v", tt.name, err)
		}
	}
	for limit, ok := range map[int]bool{-1: false, 0: false, 1: true} {
		if err := s.CheckRange(&store.Range{Table: blocks, Partition: two, Limit: limit}); (err == nil) != ok {
			t.Errorf("limit %d: got %v", limit, err)
		}
	}
}

func TestNumbersSortAsBytes(t *testing.T) {
	numbers := []uint64{0, 1, 255, 256, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64}
	var last []byte
	for _, n := range numbers {
		b := store.AppendUint64([]byte("x"), n)
		if last != nil && bytes.Compare(last, b) >= 0 {
			t.Errorf("%d does not sort behind the number before it", n)
		}
		got, rest, ok := store.Uint64(append(b[1:], 9))
		if got != n || !ok || !bytes.Equal(rest, []byte{9}) {
			t.Errorf("Uint64 = %d, %x, %v; want %d", got, rest, ok, n)
		}
		small := uint32(n)
		got32, rest, ok := store.Uint32(append(store.AppendUint32(nil, small), 9))
		if got32 != small || !ok || !bytes.Equal(rest, []byte{9}) {
			t.Errorf("Uint32 = %d, %x, %v; want %d", got32, rest, ok, small)
		}
		last = b
	}
	if _, _, ok := store.Uint64(make([]byte, 7)); ok {
		t.Error("Uint64 read a short slice")
	}
	if _, _, ok := store.Uint32(make([]byte, 3)); ok {
		t.Error("Uint32 read a short slice")
	}
}

func FuzzPrefixEnd(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0xff, 0xff}, []byte{0xff, 0xff, 1})
	f.Add([]byte{1, 0xff}, []byte{2})
	f.Fuzz(func(t *testing.T, prefix, key []byte) {
		before := bytes.Clone(prefix)
		end := store.PrefixEnd(prefix)
		if !bytes.Equal(before, prefix) {
			t.Fatal("PrefixEnd changed its argument")
		}
		inside := bytes.Compare(key, prefix) >= 0 && (end == nil || bytes.Compare(key, end) < 0)
		if inside != bytes.HasPrefix(key, prefix) {
			t.Fatalf("key %x, prefix %x, end %x: inside the range is %v", key, prefix, end, inside)
		}
		if next := store.After(key); bytes.Compare(next, key) <= 0 || !bytes.Equal(next[:len(key)], key) || len(next) != len(key)+1 {
			t.Fatalf("After(%x) = %x", key, next)
		}
	})
}
