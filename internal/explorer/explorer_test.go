package explorer_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store"
)

// The digest of rows is part of the format: for each in order its table's id, the length of
// its sort key, whether it goes, if not the length of its value, partition, sort key and value.
// How much is hashed at a time makes no difference.
func TestSumIsOfTheRowsInOrder(t *testing.T) {
	tables := []*store.Table{{ID: 7, Name: "seven", PartitionLen: 3}, {ID: 9, Name: "nine", PartitionLen: 32}, {ID: 11, Name: "eleven"}}
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for round := range 40 {
		rows := &explorer.Rows{}
		var want bytes.Buffer
		for range r.IntN(200) {
			table := tables[r.IntN(len(tables))]
			partition, sort, value := random(table.PartitionLen), random(1+r.IntN(200)), random(r.IntN(60))
			switch r.IntN(20) {
			case 0:
				value = random(r.IntN(9000))
			case 1: // about as much as is hashed at a time
				value = random(4096 - 260 + r.IntN(300))
			}
			want.WriteByte(table.ID)
			want.Write(binary.AppendUvarint(nil, uint64(len(sort))))
			if r.IntN(5) == 0 {
				rows.Delete(table, partition, sort)
				want.WriteByte(1)
				value = nil
			} else {
				rows.Put(table, partition, sort, value)
				want.WriteByte(0)
				want.Write(binary.AppendUvarint(nil, uint64(len(value))))
			}
			want.Write(partition)
			want.Write(sort)
			want.Write(value)
		}
		if got := rows.Sum(); got != sha256.Sum256(want.Bytes()) {
			t.Fatalf("round %d: another digest of %d rows", round, rows.Len())
		}
	}
}
