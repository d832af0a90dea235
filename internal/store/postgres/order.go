package postgres

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"chainexplorer/internal/store"
)

// changes are the last changes of a batch to each row of one table, by key: in
// the order of the index, which is the cheapest to write in.
type changes struct {
	table   *store.Table
	puts    []*store.Op
	deletes []*store.Op
	bytes   int // of the puts
}

// place finds a change; most comparisons end at its prefix.
type place struct {
	prefix uint64
	index  int32
	table  byte
}

// byTable sorts a batch and drops changes that a later one replaces.
func byTable(ops []store.Op) []*changes {
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
	var list []*changes
	for i, p := range places {
		op := &ops[p.index]
		if i+1 < len(places) && places[i+1].table == p.table && compareKeys(op, &ops[places[i+1].index]) == 0 {
			continue
		}
		if len(list) == 0 || list[len(list)-1].table.ID != p.table {
			list = append(list, &changes{table: op.Table})
		}
		c := list[len(list)-1]
		if op.Delete {
			c.deletes = append(c.deletes, op)
		} else {
			c.puts = append(c.puts, op)
			c.bytes += len(op.Partition) + len(op.Sort) + len(op.Value)
		}
	}
	return list
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
