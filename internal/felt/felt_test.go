package felt_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
)

const (
	primeHex     = "0x800000000000011000000000000000000000000000000000000000000000001"
	beforePrime  = "0x800000000000011000000000000000000000000000000000000000000000000"
	belowTopWord = "0x800000000000010ffffffffffffffffffffffffffffffffffffffffffffffff"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0x0": "0x0", "0x00": "0x0", "0x1": "0x1", "0x0001": "0x1", "0xAbC": "0xabc", "0XfF": "0xff",
		beforePrime: beforePrime, belowTopWord: belowTopWord,
		"0x" + strings.Repeat("0", 64):         "0x0",
		"0x0" + beforePrime[2:]:                beforePrime,
		"0x" + strings.Repeat("0", 61) + "5a7": "0x5a7",
	} {
		got, err := felt.Parse(text)
		if err != nil || got.String() != want {
			t.Errorf("Parse(%q) = %s (%v), want %s", text, got, err, want)
		}
		if fromBytes, err := felt.Parse([]byte(text)); err != nil || fromBytes != got {
			t.Errorf("Parse of bytes %q = %s (%v)", text, fromBytes, err)
		}
	}
	for text, want := range map[string]error{
		"": felt.ErrSyntax, "0": felt.ErrSyntax, "0x": felt.ErrSyntax, "1": felt.ErrSyntax, "ff": felt.ErrSyntax, "x1": felt.ErrSyntax, "1x1": felt.ErrSyntax,
		"-0x1": felt.ErrSyntax, "0x-1": felt.ErrSyntax, "0x1 ": felt.ErrSyntax, " 0x1": felt.ErrSyntax, "0xg": felt.ErrSyntax, "0x1g": felt.ErrSyntax, "0xg1": felt.ErrSyntax,
		"0x1_0": felt.ErrSyntax, "0x\xff": felt.ErrSyntax, "0x+1": felt.ErrSyntax, "0x" + strings.Repeat("0", 65): felt.ErrSyntax,
		primeHex: felt.ErrRange, "0x0" + primeHex[2:]: felt.ErrRange, "0x" + strings.Repeat("f", 64): felt.ErrRange,
		"0x800000000000011000000000000000100000000000000000000000000000000": felt.ErrRange,
		"0x800000000000012000000000000000000000000000000000000000000000000": felt.ErrRange,
	} {
		if got, err := felt.Parse(text); !errors.Is(err, want) || got != felt.Zero {
			t.Errorf("Parse(%q) = %s (%v), want %v", text, got, err, want)
		}
	}
}

func TestPrinting(t *testing.T) {
	for _, c := range []struct{ text, padded string }{
		{"0x0", "0x" + strings.Repeat("0", 64)},
		{"0xf", "0x" + strings.Repeat("0", 63) + "f"},
		{"0x10", "0x" + strings.Repeat("0", 62) + "10"},
		{beforePrime, "0x0" + beforePrime[2:]},
	} {
		f := felt.MustParse(c.text)
		if f.String() != c.text || f.Padded() != c.padded {
			t.Errorf("%s prints as %s and %s", c.text, f, f.Padded())
		}
		data, err := json.Marshal(map[felt.Felt]felt.Felt{f: f})
		if want := `{"` + c.text + `":"` + c.text + `"}`; err != nil || string(data) != want {
			t.Errorf("JSON %s (%v), want %s", data, err, want)
		}
		var back map[felt.Felt]felt.Felt
		if err := json.Unmarshal(data, &back); err != nil || back[f] != f {
			t.Errorf("JSON %s reads as %v (%v)", data, back, err)
		}
	}
	var f felt.Felt
	if json.Unmarshal([]byte(`5`), &f) == nil || json.Unmarshal([]byte(`"5"`), &f) == nil {
		t.Error("a number without 0x reads as a felt")
	}
}

func TestNumbers(t *testing.T) {
	if f := felt.FromUint64(0x1234); f.String() != "0x1234" {
		t.Errorf("FromUint64 gives %s", f)
	}
	if f := felt.FromUint128(1, 2); f.String() != "0x10000000000000002" {
		t.Errorf("FromUint128 gives %s", f)
	}
	if n, ok := felt.FromUint64(1<<63 + 5).Uint64(); !ok || n != 1<<63+5 {
		t.Errorf("Uint64 gives %d, %v", n, ok)
	}
	if _, ok := felt.FromUint128(1, 0).Uint64(); ok {
		t.Error("2^64 fits 64 bits")
	}
	if felt.MustParse("0x2").Cmp(felt.MustParse("0x10")) >= 0 || felt.Zero.Cmp(felt.Zero) != 0 || !felt.Zero.IsZero() {
		t.Error("felts do not sort as numbers")
	}
	for _, n := range []*big.Int{big.NewInt(-1), new(big.Int).SetBytes(felt.Prime[:]), new(big.Int).Lsh(big.NewInt(1), 300)} {
		if _, err := felt.FromBig(n); !errors.Is(err, felt.ErrRange) {
			t.Errorf("FromBig(%s): %v", n, err)
		}
	}
	f := felt.MustParse(beforePrime)
	if back, err := felt.FromBig(f.Big()); err != nil || back != f {
		t.Errorf("Big and back gives %s (%v)", back, err)
	}
	if f, err := felt.FromBytes([]byte{1, 2}); err != nil || f.String() != "0x102" {
		t.Errorf("FromBytes gives %s (%v)", f, err)
	}
	if _, err := felt.FromBytes(felt.Prime[:]); !errors.Is(err, felt.ErrRange) {
		t.Errorf("FromBytes of the prime: %v", err)
	}
	if _, err := felt.FromBytes(make([]byte, 33)); !errors.Is(err, felt.ErrRange) {
		t.Errorf("FromBytes of 33 bytes: %v", err)
	}
}

// TestIs compares with ==, on felts that differ in some words alone, by one bit or by all.
func TestIs(t *testing.T) {
	words := []uint64{0, 1, 0x136e97dc0a5a201d, math.MaxUint64}
	var all []felt.Felt
	for i := range len(words) * len(words) * len(words) * len(words) {
		var f felt.Felt
		for at, n := 0, i; at < felt.Size; at, n = at+8, n/len(words) {
			binary.BigEndian.PutUint64(f[at:], words[n%len(words)])
		}
		all = append(all, f)
	}
	for i := range all {
		for j := range all {
			if got := all[i].Is(&all[j]); got != (i == j) {
				t.Fatalf("%x is %x: %v", all[i][:], all[j][:], got)
			}
		}
	}
}

// FuzzParse compares with math/big: same syntax, same number, same range.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"0x0", "0X1f", primeHex, beforePrime, belowTopWord, "0x", "1", "0x" + strings.Repeat("0", 64), "0xg", "-0x1"} {
		f.Add(text)
	}
	prime := new(big.Int).SetBytes(felt.Prime[:])
	f.Fuzz(func(t *testing.T, text string) {
		got, err := felt.Parse(text)
		digits, prefixed := strings.CutPrefix(strings.ToLower(text), "0x")
		plain := prefixed && len(digits) >= 1 && len(digits) <= 64 && strings.Trim(digits, "0123456789abcdef") == ""
		if !plain {
			if !errors.Is(err, felt.ErrSyntax) {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		n, _ := new(big.Int).SetString(digits, 16)
		if n.Cmp(prime) >= 0 {
			if !errors.Is(err, felt.ErrRange) {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		if err != nil || got.Big().Cmp(n) != 0 || got.String() != "0x"+n.Text(16) {
			t.Fatalf("Parse(%q) = %s (%v), want %s", text, got, err, n.Text(16))
		}
		if again, err := felt.Parse(got.Padded()); err != nil || again != got {
			t.Fatalf("%s does not read back: %v", got.Padded(), err)
		}
	})
}

func BenchmarkParseInto(b *testing.B) {
	text := []byte("0x49d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7")
	b.SetBytes(int64(len(text)))
	var f felt.Felt
	for b.Loop() {
		if err := felt.ParseInto(&f, text); err != nil {
			b.Fatal(err)
		}
	}
}
