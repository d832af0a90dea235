package transfer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSpotsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var want []spot
		for tx, n := uint32(rng.IntN(3)), rng.IntN(6); n >= 0; n-- {
			log := uint32(rng.IntN(4))
			for range 1 + rng.IntN(4) {
				want = append(want, spot{tx, log, Side(1 + rng.IntN(3))})
				log += 1 + uint32(rng.IntN(200))
			}
			tx += 1 + uint32(rng.IntN(300))
		}
		if rng.IntN(20) == 0 {
			want = append(want, spot{maxPlace, maxPlace, Both})
		}
		var b []byte
		var last spot
		for i, s := range want {
			b = appendSpot(b, last, s, i == 0)
			last = s
		}
		got, err := decodeSpots(nil, b)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v became %v, %v", want, got, err)
		}
	}
}

// FuzzSpots: a row that is accepted is what would be written for its places.
func FuzzSpots(f *testing.F) {
	f.Add([]byte{1, 0})
	f.Add([]byte{3, 5, 6, 2, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		spots, err := decodeSpots(nil, b)
		if err != nil {
			return
		}
		var again []byte
		var last spot
		for i, s := range spots {
			if i > 0 && (s.tx < last.tx || s.tx == last.tx && s.log <= last.log) {
				t.Fatalf("%v does not ascend", spots)
			}
			again = appendSpot(again, last, s, i == 0)
			last = s
		}
		if !slices.Equal(again, b) {
			t.Fatalf("%x is accepted and would be written as %x", b, again)
		}
	})
}

// TestPairRow: the two halves of a row do not disturb each other.
func TestPairRow(t *testing.T) {
	var r PairRow
	for _, balance := range [][]byte{nil, {7}, make([]byte, 300)} {
		r.Reset(balance)
		r.Add(2, 5, In)
		r.Add(2, 6, Out)
		r.Add(9, 0, Both)
		got, _, err := splitPair(r.buf)
		if err != nil || !slices.Equal(got, balance) {
			t.Errorf("the balance is %x, %v", got, err)
		}
		l := list{table: Pairs}
		spots, err := l.spots(nil, r.buf)
		if err != nil || !slices.Equal(spots, []spot{{2, 5, In}, {2, 6, Out}, {9, 0, Both}}) {
			t.Errorf("the places are %v, %v", spots, err)
		}
	}
	for _, bad := range [][]byte{nil, {1}, {2, 0, 1, 0}, {1, 5, 1, 0}} {
		if _, _, err := splitPair(bad); err == nil {
			t.Errorf("%x is a row", bad)
		}
	}
}
