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
	var c committed
	get := func(k store.Key) ([]byte, bool) {
		name := overlayKey(nil, k)
		return c.get(hashOf(name), name)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	want := map[int][]byte{}
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
			o.put(&op)
			o.put(&store.Op{Key: key(other, n), Value: op.Value})
			if want[n] = op.Value; op.Value == nil && !op.Delete {
				want[n] = []byte{}
			}
		}
		c.learn(o, &tables)
		for i := range 3000 {
			n := i
			if i >= 100 {
				n = rng.IntN(4 * keepRows)
			}
			got, known := get(key(table, n))
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
			if _, known := get(key(other, n)); known {
				t.Fatal("a row of a table that nobody asks for is kept")
			}
		}
		for _, o := range []*overlay{c.newer, c.older} {
			if o != nil && (o.rows.Len() > keepRows || o.rows.Held() > keepBytes+keepBytes/8) {
				t.Fatalf("%d rows are kept in %d bytes", o.rows.Len(), o.rows.Held())
			}
		}
	}
	if hits == 0 {
		t.Error("nothing was remembered")
	}
	c.forget()
	if _, known := get(key(table, 1)); known {
		t.Error("something is known after forgetting")
	}
}

// put is copyOf of a change by itself.
func (o *overlay) put(op *store.Op) {
	var one store.Changes
	if op.Delete {
		one.Delete(op.Table, op.Partition, op.Sort)
	} else {
		one.Put(op.Table, op.Partition, op.Sort, op.Value)
	}
	c := &one.List()[0]
	o.copyOf(hashOf(one.Key(c)), &one, c)
}
