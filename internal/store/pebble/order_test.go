package pebble

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"chainexplorer/internal/store"
)

// Batches of keys that share beginnings, end in zeros, are long, and come
// twice must be in the order of their bytes, and the changes of one key in the
// order in which they were made.
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
	for round := range 300 {
		ops := make([]store.Op, rng.IntN(600))
		c := &store.Changes{}
		for i := range ops {
			table := tables[rng.IntN(len(tables))]
			ops[i].Key = store.Key{Table: table, Partition: random(table.PartitionLen), Sort: random(rng.IntN([]int{1, 4, 12, 200}[rng.IntN(4)]))}
			if i > 0 && rng.IntN(4) == 0 {
				ops[i].Key = ops[rng.IntN(i)].Key
			}
			c.Put(ops[i].Table, ops[i].Partition, ops[i].Sort, []byte(strconv.Itoa(i)))
		}
		want := make([]int, len(ops))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int {
			return bytes.Compare(appendKey(nil, &ops[a].Key), appendKey(nil, &ops[b].Key))
		})
		list := inKeyOrder(c, memory)
		var last []string
		for i := range list {
			if got := string(c.Value(&list[i])); got != strconv.Itoa(want[i]) {
				t.Fatalf("round %d: change %s stands at %d, where %d belongs", round, got, i, want[i])
			}
			if i+1 == len(list) || !bytes.Equal(c.Key(&list[i]), c.Key(&list[i+1])) {
				last = append(last, string(c.Value(&list[i])))
			}
		}
		for i, ch := range lastChanges(c, list) {
			if got := string(c.Value(&ch)); i >= len(last) || got != last[i] {
				t.Fatalf("round %d: change %s is not the last of its row", round, got)
			}
		}
	}
}
