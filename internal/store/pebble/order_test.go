package pebble

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"chainexplorer/internal/store"
)

// Batches of keys that share beginnings, end in zeros, are long, and come
// twice must be in the order of their bytes, with the last change of each.
func TestInKeyOrder(t *testing.T) {
	tables := []*store.Table{{ID: 7, PartitionLen: 0}, {ID: 8, PartitionLen: 4}, {ID: 9, PartitionLen: 33}}
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.IntN(3)) // zeros, and much in common
		}
		if n > 8 && rng.IntN(2) == 0 {
			clear(b[:n-rng.IntN(3)])
		}
		return b
	}
	memory := &sorting{}
	for range 300 {
		ops := make([]store.Op, rng.IntN(600))
		for i := range ops {
			table := tables[rng.IntN(len(tables))]
			ops[i].Key = store.Key{Table: table, Partition: random(table.PartitionLen), Sort: random(rng.IntN([]int{1, 4, 12, 200}[rng.IntN(4)]))}
			if i > 0 && rng.IntN(4) == 0 {
				ops[i].Key = ops[rng.IntN(i)].Key
			}
		}
		checkInKeyOrder(t, ops, memory)
	}
}

// checkInKeyOrder makes changes and holds what they are sorted to against a sort of their keys.
func checkInKeyOrder(t *testing.T, ops []store.Op, memory *sorting) {
	t.Helper()
	c := &store.Changes{}
	var want []int
	for i := range ops {
		want = append(want, i)
		if op := &ops[i]; op.Delete {
			c.Delete(op.Table, op.Partition, op.Sort)
		} else {
			c.Put(op.Table, op.Partition, op.Sort, []byte(strconv.Itoa(i)))
		}
	}
	keyOf := func(i int) []byte { return appendKey(nil, &ops[i].Key) }
	slices.SortStableFunc(want, func(a, b int) int { return bytes.Compare(keyOf(a), keyOf(b)) })
	for i := len(want) - 2; i >= 0; i-- {
		if bytes.Equal(keyOf(want[i]), keyOf(want[i+1])) {
			want = slices.Delete(want, i, i+1)
		}
	}
	list := inKeyOrder(c, memory)
	if len(list) != len(want) {
		t.Fatalf("%d changes of %d rows", len(list), len(want))
	}
	for i := range list {
		ch, op := &list[i], &ops[want[i]]
		value := strconv.Itoa(want[i])
		if op.Delete {
			value = ""
		}
		if !bytes.Equal(c.Key(ch), keyOf(want[i])) || string(c.Value(ch)) != value || ch.Delete != op.Delete {
			t.Fatalf("change %d sets %x to %q, where %x to %q belongs", i, c.Key(ch), c.Value(ch), keyOf(want[i]), value)
		}
	}
}

// Rows of series of a large commit come in the order of their numbers and are put together,
// beside rows that are changed twice. If one of them comes late, or twice, all are sorted.
func TestInKeyOrderOfSeries(t *testing.T) {
	one := &store.Table{ID: 7, PartitionLen: 2, SortLen: store.NumberBytes, Series: true}
	two := &store.Table{ID: 9, PartitionLen: 9, SortLen: 3 + store.NumberBytes, Series: true}
	other := &store.Table{ID: 8, PartitionLen: 4}
	rng := rand.New(rand.NewPCG(3, 4))
	var ops []store.Op
	for block := range uint64(900) {
		for range 7 {
			name := make([]byte, 12)
			name[0], name[11] = byte(rng.IntN(3)), byte(rng.IntN(40))
			number := binary.BigEndian.AppendUint64(nil, block)
			ops = append(ops,
				store.Op{Key: store.Key{Table: two, Partition: name[:9], Sort: append(name[9:], number...)}},
				store.Op{Key: store.Key{Table: other, Partition: []byte{0, 0, 1, byte(rng.IntN(200))}, Sort: number[6:7]}, Delete: rng.IntN(3) == 0},
				store.Op{Key: store.Key{Table: one, Partition: []byte{name[11], name[0]}, Sort: number}})
		}
	}
	// Each series has a number once.
	seen := map[string]bool{}
	ops = slices.DeleteFunc(ops, func(op store.Op) bool {
		key := string(appendKey(nil, &op.Key))
		twice := op.Table.Series && seen[key]
		seen[key] = true
		return twice
	})
	late := len(ops) / 2 // a row of a series that goes on
	for ops[late].Table != two {
		late++
	}
	memory := &sorting{}
	for _, c := range []struct {
		what     string
		ops      []store.Op
		together bool
	}{
		{"in order", ops, true},
		{"one comes late", slices.Concat(ops[:late], ops[late+1:], ops[late:late+1]), false},
		{"one comes twice", slices.Concat(ops[:late], ops[late:late+1], ops[late:]), false},
		{"in order, in memory that was used", ops, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			checkInKeyOrder(t, c.ops, memory)
			changes := &store.Changes{}
			for i := range c.ops {
				changes.Put(c.ops[i].Table, c.ops[i].Partition, c.ops[i].Sort, nil)
			}
			if got := memory.gather(changes); got != c.together {
				t.Errorf("its series are put together: %v", got)
			}
			if places := len(memory.found); c.together && places > len(c.ops)/2 {
				t.Errorf("%d of %d rows are sorted", places, len(c.ops))
			}
		})
	}
}
