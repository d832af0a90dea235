package index

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/store"
)

// TestCommitted: rows are forgotten and never wrong, and their number is bounded.
func TestCommitted(t *testing.T) {
	if Raced {
		t.Skip("sequential and long: run without the race detector")
	}
	table, other := &store.Table{ID: 9, Name: "kept", PartitionLen: 4}, &store.Table{ID: 10, Name: "other", PartitionLen: 4}
	var tables [256]bool
	tables[table.ID] = true
	key := func(tb *store.Table, n int) store.Key {
		return store.Key{Table: tb, Partition: binary.BigEndian.AppendUint32(nil, uint32(n))}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	want := map[int][]byte{}
	var c committed
	hits := 0
	for batch := range 60 {
		o := newOverlay(nil)
		for range 8000 {
			n := rng.IntN(4 * keepRows)
			if rng.IntN(3) == 0 {
				n = rng.IntN(100) // busy ones
			}
			op := store.Op{Key: key(table, n), Value: binary.BigEndian.AppendUint32(nil, rng.Uint32())}
			switch rng.IntN(10) {
			case 0:
				op.Value, op.Delete = nil, true
			case 1:
				op.Value = nil
			}
			o.add(&op)
			o.add(&store.Op{Key: key(other, n), Value: op.Value})
			want[n] = rowValue(&op)
		}
		c.learn(o, &tables)
		for i := range 3000 {
			n := i
			if i >= 100 {
				n = rng.IntN(4 * keepRows)
			}
			got, known := c.get(key(table, n))
			if !known {
				if n < 100 {
					t.Fatalf("batch %d: busy row %d is forgotten", batch, n)
				}
				continue
			}
			hits++
			if string(got) != string(want[n]) || (got == nil) != (want[n] == nil) {
				t.Fatalf("batch %d: row %d is %x, not %x", batch, n, got, want[n])
			}
			if _, known := c.get(key(other, n)); known {
				t.Fatal("a row of a table that nobody asks for is kept")
			}
		}
		if n := len(c.newer) + len(c.older); n > 2*keepRows {
			t.Fatalf("%d rows are kept", n)
		}
	}
	if hits == 0 {
		t.Error("nothing was remembered")
	}
	c.forget()
	if _, known := c.get(key(table, 1)); known {
		t.Error("something is known after forgetting")
	}
}
