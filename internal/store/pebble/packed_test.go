package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

var packedTables = []*store.Table{
	{ID: 7, Name: "narrow", PartitionLen: 1, SortLen: store.NumberBytes, Series: true},
	{ID: 8, Name: "other", PartitionLen: 2},
	{ID: 9, Name: "wide", PartitionLen: 32, SortLen: 32 + store.NumberBytes, Series: true},
}

// wideKey is of a table with names that begin alike.
func wideKey(name int, number uint64) (partition, sort []byte) {
	partition = bytes.Repeat([]byte{0xab}, 32)
	sort = make([]byte, 32, 40)
	binary.BigEndian.PutUint32(sort[28:], uint32(name))
	return partition, binary.BigEndian.AppendUint64(sort, number)
}

// TestPacked: what was packed is there, in the order of its keys, however long it is and
// however much of it there is.
func TestPacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	lengths := leafLengthsOf(packedTables)
	var p packed
	for range 3 { // with memory that was used before
		want := map[string]string{}
		for number := uint64(0); number < 3_000; number += 1 + rng.Uint64N(2) {
			var c store.Changes
			put := func(table *store.Table, partition, sort []byte) {
				size := rng.IntN(20)
				switch rng.IntN(2_000) {
				case 0:
					size = packedBytes - chunkRows - 5 + rng.IntN(10)
				case 1:
					size = 3*packedBytes + rng.IntN(10)
				}
				value := make([]byte, size)
				for i := range value {
					value[i] = byte(rng.Uint32())
				}
				key := string(slices.Concat([]byte{table.ID}, partition, sort))
				if _, twice := want[key]; twice {
					return
				}
				c.Put(table, partition, sort, value)
				if table.Series {
					want[key] = string(value)
				}
			}
			for range rng.IntN(12) {
				partition, sort := wideKey(rng.IntN(5_000), number)
				put(packedTables[2], partition, sort)
				put(packedTables[1], partition[:2], sort)
				put(packedTables[0], []byte{byte(rng.IntN(3))}, binary.BigEndian.AppendUint64(nil, number))
			}
			if err := p.add(&c, &lengths); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		var keys [2][]byte
		for _, at := range p.inOrder() {
			err := p.each(&p.list[at.at], &keys, func(key, value []byte) error {
				if want[string(key)] != string(value) {
					t.Fatalf("row %x has %d bytes, want %d", key, len(value), len(want[string(key)]))
				}
				got = append(got, string(key))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%d of %d rows are there, or their keys do not ascend", len(got), len(want))
		}
		size := 0
		for _, b := range p.pieces {
			size += len(b)
		}
		if p.held() < size-packedBytes || p.held() > 2*size {
			t.Errorf("%d bytes are held, and it says %d", size, p.held())
		}
		p.giveBack()
		if p.held() != 0 {
			t.Errorf("it holds %d bytes of nothing", p.held())
		}
	}
}

// TestPackedRefusals: what has no place behind the rows that are there is refused.
func TestPackedRefusals(t *testing.T) {
	lengths := leafLengthsOf(packedTables)
	var p packed
	add := func(number uint64, gone bool) error {
		var c store.Changes
		partition, sort := wideKey(1, number)
		if gone {
			c.Delete(packedTables[2], partition, sort)
		} else {
			c.Put(packedTables[2], partition, sort, []byte("v"))
		}
		return p.add(&c, &lengths)
	}
	if err := add(7, false); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"again": add(7, false), "before": add(6, false), "gone": add(8, true)} {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPackedLeaves: a long series of a stream becomes leaves if it is settled, and single
// rows if it is not; rows below what is settled are refused; what is not worth a table goes
// the way of other rows.
func TestPackedLeaves(t *testing.T) {
	disk := vfs.NewMem()
	var want []uint64
	for _, step := range []struct {
		name      string
		bulkBytes int
		from      uint64
		settled   bool
		keys      int // of 100 rows of 30 bytes
		refused   bool
	}{
		{name: "settled", bulkBytes: 1, settled: true, keys: 4},
		{name: "not settled", bulkBytes: 1, from: 100, keys: 100},
		{name: "small", bulkBytes: 1 << 20, from: 200, keys: 100},
		{name: "settled again", bulkBytes: 1, from: 300, settled: true, keys: 4},
		{name: "below", bulkBytes: 1, from: 350, settled: true, refused: true},
		{name: "small and below", bulkBytes: 1 << 20, from: 350, refused: true},
	} {
		e, l := openListed(t, disk, step.bulkBytes)
		before, b := storedKeys(t, e), &store.Batch{Epoch: l.Epoch}
		b.Attach(e.Stream())
		for n := step.from; n < step.from+100; n += 10 {
			var c store.Changes
			for i := range uint64(10) {
				k := listedKey(n + i)
				c.Put(k.Table, k.Partition, k.Sort, bytes.Repeat([]byte{byte(i)}, 30))
			}
			if err := b.Stream().Add(t.Context(), &c); err != nil {
				t.Fatal(err)
			}
		}
		if step.settled {
			b.Settled = step.from + 100
		}
		err := e.Commit(t.Context(), b)
		if step.refused != errors.Is(err, store.ErrInvalid) || !step.refused && err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err == nil {
			for n := range uint64(100) {
				want = append(want, step.from+n)
			}
		}
		if got := storedKeys(t, e) - before; got != step.keys {
			t.Errorf("%s: %d keys are stored, want %d", step.name, got, step.keys)
		}
		if got := numbersOf(t, e); !slices.Equal(got, want) {
			t.Errorf("%s: there is %d, want %d", step.name, got, want)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
