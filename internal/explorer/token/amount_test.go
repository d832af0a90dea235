package token

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestAmountIsArithmetic holds sums of random values against big integers.
func TestAmountIsArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var a Amount
	want := new(big.Int)
	for range 20_000 {
		var v [32]byte
		for i := rng.IntN(33); i < 32; i++ {
			v[i] = byte(rng.Uint32())
		}
		if rng.IntN(10) == 0 {
			for i := range v {
				v[i] = 0xff
			}
		}
		n := new(big.Int).SetBytes(v[:])
		if rng.IntN(2) == 0 {
			a, want = a.Add(AmountOf(v)), want.Add(want, n)
		} else {
			a, want = a.Sub(AmountOf(v)), want.Sub(want, n)
		}
		if a.Big().Cmp(want) != 0 || a.Sign() != want.Sign() || a.String() != want.String() {
			t.Fatalf("%s, want %s", a, want)
		}
		var buf [40]byte
		back, ok := fromMagnitude(a.magnitude(&buf), a.Sign() < 0)
		if !ok || back != a {
			t.Fatalf("%s became %s, %v", a, back, ok)
		}
		if c := a.Cmp(AmountOf(v)); c != want.Cmp(n) {
			t.Fatalf("%s against %s: %d", want, n, c)
		}
	}
	for _, n := range []int64{0, 1, -1, 1 << 62, -1 << 63} {
		if got := AmountOfInt(n).Big().Int64(); got != n {
			t.Errorf("%d became %d", n, got)
		}
	}
}

// FuzzBalance: a record that is accepted is the one that would be written.
func FuzzBalance(f *testing.F) {
	encode := func(v *Balance) []byte {
		row, past := appendBalance(nil, v)
		if again, err := decodePast(past, v.Block); err != nil || again != *v {
			f.Errorf("the past of %+v is %+v, %v", v, again, err)
		}
		return row
	}
	f.Add(encode(&Balance{Amount: AmountOfInt(-7), Units: 3, Sent: true, Block: 900}))
	f.Add(encode(&Balance{Received: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeBalance(b)
		if err != nil {
			return
		}
		again, err := decodeBalance(encode(&v))
		if err != nil || again != v {
			t.Fatalf("%+v became %+v, %v", v, again, err)
		}
	})
}

// FuzzTotals is the same for totals.
func FuzzTotals(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 1, 4, 4, 1, 0, 1, 0, 1, 0, 0, 4, 2, 0, 1, 9})
	f.Fuzz(func(t *testing.T, b []byte) { decodeTotals(b) }) //nolint:errcheck // it must not panic
}
