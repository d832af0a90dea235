package postgres

import (
	"bytes"
	"slices"

	"chainexplorer/internal/store"
)

// span are the last changes of a batch to each row of one partition, by key.
type span struct {
	table     *store.Table
	partition []byte // led by the table's id
	ops       []*store.Op
}

// bySpan shares a batch out among partitions, in the order of the index, which is
// the cheapest to write in, and drops changes that a later one replaces.
func bySpan(ops []store.Op) []*span {
	var list []*span
	known := make(map[string]*span, len(ops)/8)
	var name []byte
	var last *span
	for i := range ops {
		op := &ops[i]
		if last == nil || last.table.ID != op.Table.ID || !bytes.Equal(last.partition[1:], op.Partition) {
			name = append(append(name[:0], op.Table.ID), op.Partition...)
			if last = known[string(name)]; last == nil {
				last = &span{table: op.Table, partition: bytes.Clone(name)}
				known[string(name)] = last
				list = append(list, last)
			}
		}
		last.ops = append(last.ops, op)
	}
	slices.SortFunc(list, func(a, b *span) int { return bytes.Compare(a.partition, b.partition) })
	for _, s := range list {
		s.order()
	}
	return list
}

// order sorts changes by key, unless they are already, as those of lists are that
// grow at their end.
func (s *span) order() {
	rising := true
	for i := 1; i < len(s.ops) && rising; i++ {
		rising = bytes.Compare(s.ops[i-1].Sort, s.ops[i].Sort) < 0
	}
	if rising {
		return
	}
	slices.SortStableFunc(s.ops, func(a, b *store.Op) int { return bytes.Compare(a.Sort, b.Sort) })
	kept := s.ops[:0]
	for i, op := range s.ops {
		if i+1 == len(s.ops) || !bytes.Equal(op.Sort, s.ops[i+1].Sort) {
			kept = append(kept, op)
		}
	}
	s.ops = kept
}

// partitionOf is how a partition is named in the SQL table.
func partitionOf(t *store.Table, partition []byte) []byte {
	return append(append(make([]byte, 0, 1+len(partition)), t.ID), partition...)
}
