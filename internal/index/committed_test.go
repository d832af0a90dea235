package index

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/store"
)

var (
	keptTable  = &store.Table{ID: 9, Name: "kept", PartitionLen: 4}
	otherTable = &store.Table{ID: 10, Name: "other", PartitionLen: 4}
)

func rowKey(tb *store.Table, n int) store.Key {
	return store.Key{Table: tb, Partition: binary.BigEndian.AppendUint32(nil, uint32(n))}
}

// asked is what is remembered of a row.
func (c *committed) asked(k store.Key) ([]byte, bool) {
	_, value, known := c.get(nil, overlayKey(nil, k))
	return value, known
}

// TestCommitted: rows are forgotten and never wrong, and their number and memory are bounded.
func TestCommitted(t *testing.T) {
	if Raced {
		t.Skip("sequential and long: run without the race detector")
	}
	for name, c := range map[string]committed{
		"by rows":     newCommitted(2_000, 64<<20),
		"by bytes":    newCommitted(1<<20, 3*pieceBytes),
		"without end": newCommitted(1<<20, 64<<20),
	} {
		t.Run(name, func(t *testing.T) { testCommitted(t, &c, name == "without end") })
	}
}

func testCommitted(t *testing.T, c *committed, all bool) {
	var tables [256]bool
	tables[keptTable.ID] = true
	rng := rand.New(rand.NewPCG(4, 4))
	want := map[int][]byte{}
	hits, misses := 0, 0
	const rows = 30_000
	for batch := range 30 {
		o := newOverlay(nil)
		for range 1_000 {
			n := rng.IntN(rows)
			if rng.IntN(3) == 0 {
				n = rng.IntN(100) // busy ones
			}
			value := make([]byte, rng.IntN(40))
			for i := range value {
				value[i] = byte(rng.Uint32())
			}
			op := store.Op{Key: rowKey(keptTable, n), Value: value}
			if rng.IntN(10) == 0 {
				op.Value, op.Delete = nil, true
			}
			o.put(&op)
			o.put(&store.Op{Key: rowKey(otherTable, n), Value: op.Value})
			want[n] = op.Value
		}
		c.learn(o, &tables)
		for i := range 3_000 {
			n := i
			if i >= 100 {
				n = rng.IntN(rows)
			}
			got, known := c.asked(rowKey(keptTable, n))
			if _, written := want[n]; !known {
				if written && (n < 100 || all) {
					t.Fatalf("batch %d: row %d is forgotten", batch, n)
				}
				misses++
				continue
			}
			hits++
			if !bytes.Equal(got, want[n]) || (got == nil) != (want[n] == nil) {
				t.Fatalf("batch %d: row %d is %x, not %x", batch, n, got, want[n])
			}
			if _, known := c.asked(rowKey(otherTable, n)); known {
				t.Fatal("a row of a table that nobody asks for is kept")
			}
		}
		for _, g := range []*generation{&c.newer, &c.older} {
			if g.rows > c.rows || 3*len(g.slots) > max(8*c.rows, 3*firstSlots) || len(g.pieces)*pieceBytes > c.bytes+pieceBytes {
				t.Fatalf("%d rows are kept in %d slots and %d bytes", g.rows, len(g.slots), len(g.pieces)*pieceBytes)
			}
		}
	}
	if hits == 0 || misses == 0 {
		t.Errorf("of the rows %d were remembered and %d not", hits, misses)
	}
	c.forget()
	if _, known := c.asked(rowKey(keptTable, 1)); known {
		t.Error("something is known after forgetting")
	}
}

// TestCommittedLends: what was told of rows stays as it was while others are remembered in
// their place.
func TestCommittedLends(t *testing.T) {
	c := newCommitted(64, 1<<20)
	put := func(n int, value string) {
		key := c.nameOf(overlayKey(nil, rowKey(keptTable, n)))
		c.put(&key, []byte(value))
	}
	var room []byte
	var told [][]byte
	for n := range 200 {
		put(n, "as it was")
		var value []byte
		room, value, _ = c.get(room, overlayKey(nil, rowKey(keptTable, n)))
		told = append(told, value)
		put(n, "otherwise")
	}
	for n, value := range told {
		if string(value) != "as it was" {
			t.Fatalf("row %d became %q", n, value)
		}
	}
	if _, known := c.asked(rowKey(keptTable, 1)); known {
		t.Error("more is remembered than there is room for")
	}
}

// TestCommittedKeepsWhatIsAskedFor: a row that is asked for now and then stays, however many
// others come; one that is not goes.
func TestCommittedKeepsWhatIsAskedFor(t *testing.T) {
	c := newCommitted(64, 1<<20)
	for n := range 1_000 {
		key := c.nameOf(overlayKey(nil, rowKey(keptTable, n)))
		c.put(&key, []byte{byte(n)})
		if n%32 == 0 {
			if got, known := c.asked(rowKey(keptTable, 0)); !known || !bytes.Equal(got, []byte{0}) {
				t.Fatalf("after %d rows the first is %x, known: %v", n, got, known)
			}
		}
	}
	if _, known := c.asked(rowKey(keptTable, 1)); known {
		t.Error("the second row is still there")
	}
}

// TestCommittedTooLong: of a row that is too long for it nothing is known, nor what it was.
func TestCommittedTooLong(t *testing.T) {
	c := newCommitted(64, 1<<20)
	key := c.nameOf(overlayKey(nil, rowKey(keptTable, 1)))
	for _, size := range []int{1, longestKept, longestKept + 1} {
		value := make([]byte, size)
		c.put(&key, value)
		got, known := c.asked(rowKey(keptTable, 1))
		if known != (size <= longestKept) || len(got) != size && known {
			t.Errorf("of %d bytes %d are known: %v", size, len(got), known)
		}
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
