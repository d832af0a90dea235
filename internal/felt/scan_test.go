package felt

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Scan takes what Parse takes, wherever the digits stand and end, and nothing else.
func TestScanAgreesWithParse(t *testing.T) {
	front, rest := strings.Repeat("\"0x12", 13), strings.Repeat("\",0x1", 14)
	check := func(text string) {
		t.Helper()
		var got Felt
		n := Scan(&got, []byte(front+text+"\""+rest), len(front))
		want, err := Parse(text)
		switch {
		case (err != nil || !vectors) && n != 0:
			t.Fatalf("%q: %d bytes, but %v", text, n, err)
		case vectors && err == nil && (n != len(text) || got != want):
			t.Fatalf("%q: %d bytes, %s, want %s", text, n, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	const digits = "0123456789abcdefABCDEF"
	for n := range 2*Size + 20 {
		for range 200 {
			b := make([]byte, n)
			for i := range b {
				b[i] = digits[r.IntN(len(digits))]
			}
			if n > 2*Size-2 && r.IntN(4) > 0 {
				copy(b, "000")
			}
			check("0x" + string(b))
		}
	}
	prime := strings.TrimPrefix(Felt(Prime).String(), "0x")
	for _, edge := range []string{prime, prime[:len(prime)-1] + "0", "0" + prime, "0" + prime[:len(prime)-1] + "0", prime[:len(prime)-1] + "2"} {
		check("0x" + edge)
	}
	for c := range 256 { // every byte in every place
		for at := range 2 * Size {
			b := []byte("0x0" + strings.Repeat("5", 2*Size-1))
			b[2+at] = byte(c)
			if c != '"' {
				check(string(b))
			}
		}
	}
	for _, text := range []string{"", "0", "0x", "0X5", "1x5", "0y5", "x5", "0x0x5", "0x\"5"} {
		check(text)
	}
}

// Scan leaves alone what stands too near to an end of the text.
func TestScanStaysInTheText(t *testing.T) {
	long := []byte(strings.Repeat("0x1\",", 60))
	for at := 0; at+3 < len(long); at += 5 {
		want := 0
		if vectors && at >= 2*Size && len(long)-at > 2*Size+2 {
			want = 3
		}
		if n := Scan(new(Felt), long, at); n != want {
			t.Errorf("%d bytes at %d of %d, want %d", n, at, len(long), want)
		}
	}
}
