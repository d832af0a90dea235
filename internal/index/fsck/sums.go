package fsck

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"chainexplorer/internal/store"
)

// sum stands for a set of rows in no order: how many they are, and their hashes added up.
// Rows that blocks explain come block by block and those of a table in the order of its
// keys: to hold one against the other row by row is a look for each at any place of the
// disk, and to add both up is none.
type sum struct {
	rows  uint64
	lanes [4]uint64
}

func (s *sum) add(o sum) {
	s.rows += o.rows
	for i := range s.lanes {
		s.lanes[i] += o.lanes[i]
	}
}

// adder hashes rows with a key that is made for one check: nobody can have chosen rows
// whose sum is that of others.
type adder struct {
	secret [16]byte
	buf    []byte
}

func newAdder() *adder {
	a := &adder{}
	rand.Read(a.secret[:]) //nolint:errcheck // never fails
	return a
}

// another has the same secret, for another goroutine.
func (a *adder) another() *adder { return &adder{secret: a.secret} }

// row is the sum of one.
func (a *adder) row(table byte, partition, sort, value []byte) sum {
	b := append(a.buf[:0], a.secret[:]...)
	b = append(b, table)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(sort)))
	b = append(b, partition...) // as long in all rows of the table
	b = append(b, sort...)
	b = append(b, value...)
	a.buf = b
	h := sha256.Sum256(b)
	s := sum{rows: 1}
	for i := range s.lanes {
		s.lanes[i] = binary.LittleEndian.Uint64(h[8*i:])
	}
	return s
}

// tableSum is the sum of rows of a table.
type tableSum struct {
	table *store.Table
	sum
}

// ofChanges adds up rows of a block by table.
func (a *adder) ofChanges(changes *store.Changes) (out []tableSum) {
	list := changes.List()
	for i := range list {
		t := changes.Table(&list[i])
		at := len(out) - 1 // mostly that of the row before
		for at >= 0 && out[at].table != t {
			at--
		}
		if at < 0 {
			at, out = len(out), append(out, tableSum{table: t})
		}
		key := changes.Key(&list[i])[1:]
		out[at].add(a.row(t.ID, key[:t.PartitionLen], key[t.PartitionLen:], changes.Value(&list[i])))
	}
	return out
}
