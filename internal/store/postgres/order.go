package postgres

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"chainexplorer/internal/store"
)

// span are the last changes of a batch to each row of one partition, by key.
type span struct {
	table     *store.Table
	partition []byte // led by the table's id
	ops       []*store.Op
}

// place finds a change; most comparisons end at its prefix.
type place struct {
	prefix uint64
	index  int32
	table  byte
}

// bySpan sorts a batch, in the order of the index, which is the cheapest to write
// in, and drops changes that a later one replaces.
func bySpan(ops []store.Op) []*span {
	places := make([]place, len(ops))
	for i := range ops {
		places[i] = place{prefixOf(&ops[i]), int32(i), ops[i].Table.ID}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.table != b.table {
			return cmp.Compare(a.table, b.table)
		}
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := compareKeys(&ops[a.index], &ops[b.index]); c != 0 {
			return c
		}
		return cmp.Compare(a.index, b.index)
	})
	sorted := make([]*store.Op, 0, len(ops))
	var list []*span
	for i, p := range places {
		op := &ops[p.index]
		if i+1 < len(places) && places[i+1].table == p.table && compareKeys(op, &ops[places[i+1].index]) == 0 {
			continue
		}
		if n := len(list); n == 0 || list[n-1].table.ID != p.table || !bytes.Equal(list[n-1].partition[1:], op.Partition) {
			list = append(list, &span{table: op.Table, partition: partitionOf(op.Table, op.Partition)})
		}
		sorted = append(sorted, op) // never grows beyond its first memory
		s := list[len(list)-1]
		s.ops = sorted[len(sorted)-len(s.ops)-1:]
	}
	for _, s := range list {
		s.ops = slices.Clip(s.ops)
	}
	return list
}

// partitionOf is how a partition is named in the SQL table.
func partitionOf(t *store.Table, partition []byte) []byte {
	return append(append(make([]byte, 0, 1+len(partition)), t.ID), partition...)
}

// prefixOf sorts as the key does. Partitions of a table have one length, so
// joining them with the sort keeps the order.
func prefixOf(op *store.Op) uint64 {
	var b [8]byte
	n := copy(b[:], op.Partition)
	copy(b[n:], op.Sort)
	return binary.BigEndian.Uint64(b[:])
}

func compareKeys(a, b *store.Op) int {
	if c := bytes.Compare(a.Partition, b.Partition); c != 0 {
		return c
	}
	return bytes.Compare(a.Sort, b.Sort)
}
