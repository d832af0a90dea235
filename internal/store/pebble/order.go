package pebble

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"chainexplorer/internal/store"
)

// place is where a change stands in its batch, with the first bytes of its key
// on disk, which decide most comparisons without a look at the change.
type place struct {
	prefix uint64
	index  int
}

// inKeyOrder returns the places of the changes sorted by key, and changes of
// one key in the order in which they were made. Pebble's memtable takes sorted
// keys several times faster: each finds its place next to the one before. The
// keys have passed the schema's check, so those of one table have partitions
// of one length.
func inKeyOrder(ops []store.Op) []place {
	places := make([]place, len(ops))
	sorted := true
	for i := range ops {
		places[i] = place{keyPrefix(&ops[i].Key), i}
		sorted = sorted && (i == 0 || places[i-1].prefix < places[i].prefix)
	}
	if sorted {
		return places
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		// Equal prefixes begin with the same table.
		x, y := &ops[a.index].Key, &ops[b.index].Key
		if c := bytes.Compare(x.Partition, y.Partition); c != 0 {
			return c
		}
		if c := bytes.Compare(x.Sort, y.Sort); c != 0 {
			return c
		}
		return cmp.Compare(a.index, b.index)
	})
	return places
}

func keyPrefix(k *store.Key) uint64 {
	var b [8]byte
	b[0] = k.Table.ID
	n := 1 + copy(b[1:], k.Partition)
	copy(b[n:], k.Sort)
	return binary.BigEndian.Uint64(b[:])
}

// sameKey compares keys that begin alike.
func sameKey(a, b *store.Key) bool {
	return a.Table.ID == b.Table.ID && bytes.Equal(a.Sort, b.Sort) && bytes.Equal(a.Partition, b.Partition)
}
