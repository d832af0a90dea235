package felt_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
)

// TestAppendDecimal holds the digits against math/big's: of all lengths, and around the powers
// of ten and of two.
func TestAppendDecimal(t *testing.T) {
	check := func(n *big.Int) {
		t.Helper()
		if n.Sign() < 0 || n.BitLen() > 256 {
			return
		}
		var v [32]byte
		n.FillBytes(v[:])
		if got, want := string(felt.AppendDecimal([]byte("x"), &v)), "x"+n.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	one := big.NewInt(1)
	for _, base := range []int64{2, 10} {
		for n := big.NewInt(1); n.BitLen() <= 257; n.Mul(n, big.NewInt(base)) {
			check(n)
			check(new(big.Int).Sub(n, one))
			check(new(big.Int).Add(n, one))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, rng.IntN(33))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		check(new(big.Int).SetBytes(b))
	}
	if got := felt.MustParse("0xde0b6b3a7640000").Decimal(); got != "1000000000000000000" {
		t.Errorf("an ether is %s", got)
	}
}
