package felt_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
)

// The digits of a number are those of a big integer, however many it has, and whatever stands in
// front of them and behind is left alone.
func TestAppendHex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(f felt.Felt) {
		t.Helper()
		room := []byte("in front, and more than all digits take: ......................................................................behind")
		const front = len("in front")
		behind := string(room[front+2+2*felt.Size:])
		want := "in front0x" + new(big.Int).SetBytes(f[:]).Text(16)
		if got := f.AppendHex(room[:front]); string(got) != want || &got[0] != &room[0] {
			t.Fatalf("%x: %s, want %s", f[:], got, want)
		}
		if got := string(room[front+2+2*felt.Size:]); got != behind {
			t.Fatalf("%x: %q behind it", f[:], got)
		}
		if got := f.AppendHex(room[:front:front]); string(got) != want {
			t.Fatalf("%x in memory of its own: %s, want %s", f[:], got, want)
		}
	}
	check(felt.Felt{})
	for n := range felt.Size + 1 {
		for first := range 256 { // also such as are no numbers below the prime
			var f felt.Felt
			for i := felt.Size - n; i < felt.Size; i++ {
				f[i] = byte(r.Uint32())
			}
			if n > 0 {
				f[felt.Size-n] = byte(first)
			}
			check(f)
		}
	}
}
