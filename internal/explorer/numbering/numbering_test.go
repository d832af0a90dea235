package numbering

import (
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
)

func TestNumbersAreThoseOfTheOrder(t *testing.T) {
	type named struct {
		f  felt.Felt
		of uint32
	}
	r := rand.New(rand.NewPCG(3, 4))
	var table Table
	for _, felts := range []uint64{1, 3, 40, 5000, keep + 1, 2} {
		want := map[named]int32{}
		for range 3 * felts {
			k := named{felt.FromUint128(r.Uint64N(2), r.Uint64N(felts)), r.Uint32N(3)}
			n, fresh := table.Number(&k.f, k.of)
			known, there := want[k]
			if !there {
				known = int32(len(want))
				want[k] = known
			}
			if n != known || fresh == there {
				t.Fatalf("%s as %d is number %d, new %t; want %d of %d", k.f, k.of, n, fresh, known, len(want))
			}
		}
		if table.Len() != len(want) {
			t.Fatalf("%d numbers for %d", table.Len(), len(want))
		}
		for k, n := range want {
			if f, of := table.At(n); *f != k.f || of != k.of {
				t.Fatalf("number %d is %s as %d, want %s as %d", n, f, of, k.f, k.of)
			}
		}
		table.Reset()
		if table.Len() != 0 || cap(table.keys) > keep {
			t.Fatalf("%d left, memory for %d", table.Len(), cap(table.keys))
		}
	}
}
