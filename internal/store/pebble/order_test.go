package pebble

import (
	"bytes"
	"math/rand/v2"
	"slices"
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
	for round := range 300 {
		ops := make([]store.Op, rng.IntN(600))
		for i := range ops {
			table := tables[rng.IntN(len(tables))]
			ops[i].Key = store.Key{Table: table, Partition: random(table.PartitionLen), Sort: random(rng.IntN([]int{1, 4, 12, 200}[rng.IntN(4)]))}
			if i > 0 && rng.IntN(4) == 0 {
				ops[i].Key = ops[rng.IntN(i)].Key
			}
		}
		want := make([]int, len(ops))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int {
			return bytes.Compare(appendKey(nil, &ops[a].Key), appendKey(nil, &ops[b].Key))
		})
		places := inKeyOrder(ops)
		for i, p := range places {
			if p.index != want[i] {
				t.Fatalf("round %d: change %d stands at %d, where %d belongs", round, p.index, i, want[i])
			}
			if i > 0 && sameKey(&ops[p.index].Key, &ops[places[i-1].index].Key) && p.word != places[i-1].word {
				t.Fatalf("round %d: one key has two words", round)
			}
		}
	}
}
