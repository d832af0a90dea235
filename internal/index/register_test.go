package index

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/store"
)

// TestRegister: keys are numbered as a map would, whether they are hashed here or come from
// another register, through growth and after a reset.
func TestRegister(t *testing.T) {
	tables := []*store.Table{{ID: 7, PartitionLen: 2}, {ID: 8, PartitionLen: 4}}
	rng := rand.New(rand.NewPCG(1, 2))
	var r, other register
	for round := range 3 {
		want := map[string]int{}
		for i := range 20_000 {
			table := tables[rng.IntN(2)]
			b := binary.BigEndian.AppendUint32(make([]byte, 100*rng.IntN(2)), rng.Uint32N(3_000))
			b = append(b, make([]byte, 4)...)
			k := store.Key{Table: table, Partition: b[:table.PartitionLen], Sort: b[table.PartitionLen:]}
			key := overlayKey(nil, k)
			number, there := want[string(key)]
			if !there {
				number = len(want)
				want[string(key)] = number
			}
			var got int
			var known bool
			if i%2 == 0 {
				got, known = r.number(key)
			} else {
				at, _ := other.number(key)
				hash := other.list[at].hash
				r.touch([]uint32{hash})
				got, known = r.numberOf(hash, other.at(at))
			}
			if got != number || known != there {
				t.Fatalf("round %d: key %x is number %d, known %v; want %d, %v", round, key, got, known, number, there)
			}
			again := r.key(got, table)
			if !bytes.Equal(r.at(got), key) || !bytes.Equal(again.Partition, k.Partition) || !bytes.Equal(again.Sort, k.Sort) {
				t.Fatalf("number %d is %x, want %x", got, r.at(got), key)
			}
		}
		if len(r.list) != len(want) || r.bytes() < 8*len(want) {
			t.Fatalf("%d keys of %d bytes, want %d", len(r.list), r.bytes(), len(want))
		}
		r.reset()
		if round == 1 {
			other.reset()
		}
	}
}

// TestRegisterOfLongKeys: a key may be longer than the pieces of memory that keys share.
func TestRegisterOfLongKeys(t *testing.T) {
	var r register
	for i := range 4 {
		long := bytes.Repeat([]byte{byte(i)}, registerChunk+i)
		if got, known := r.number(long); got != 2*i || known {
			t.Fatalf("a long key is number %d, known %v", got, known)
		}
		if got, known := r.number(long[:3]); got != 2*i+1 || known {
			t.Fatalf("a short key is number %d, known %v", got, known)
		}
		if got, known := r.number(long); got != 2*i || !known || len(r.at(got)) != len(long) {
			t.Fatalf("the long key is number %d, known %v", got, known)
		}
	}
}
