package simnode

import (
	"math/big"
	"testing"

	"chainexplorer/internal/felt"
)

func TestCellsWrittenTwiceAreToldOnce(t *testing.T) {
	f := felt.FromUint64
	b := &builder{}
	for _, w := range [][3]uint64{{2, 1, 10}, {1, 5, 20}, {2, 1, 11}, {2, 0, 12}, {1, 5, 21}, {1, 5, 22}} {
		b.write(f(w[0]), f(w[1]), f(w[2]))
	}
	b.sortDiff()
	got := b.diff.Storage
	if len(got) != 2 || len(got[0].Entries) != 1 || got[0].Entries[0].Value != f(22) ||
		len(got[1].Entries) != 2 || got[1].Entries[0].Value != f(12) || got[1].Entries[1].Value != f(11) {
		t.Errorf("storage diff %v", got)
	}
}

func TestHistory(t *testing.T) {
	h := newHistory[string, int](true)
	h.set(1, "a", 10)
	h.set(3, "a", 30)
	h.set(3, "a", 31)
	h.set(5, "b", 50)
	for _, c := range []struct {
		key   string
		block uint64
		want  int
		ok    bool
	}{{"a", 0, 0, false}, {"a", 1, 10, true}, {"a", 2, 10, true}, {"a", 3, 31, true}, {"a", 99, 31, true}, {"b", 4, 0, false}, {"b", 5, 50, true}} {
		if got, ok := h.at(c.key, c.block); got != c.want || ok != c.ok {
			t.Errorf("%s after %d is %d, %v", c.key, c.block, got, ok)
		}
	}
	h.rollback(3)
	if h.get("a") != 10 || h.get("b") != 0 || len(h.log) != 1 {
		t.Errorf("after a rollback a is %d, b is %d", h.get("a"), h.get("b"))
	}
}

func TestAmounts(t *testing.T) {
	r := newRandom(1)
	for range 500 {
		a := amount{r.next(), r.next(), r.next(), r.next() >> 20}
		b := amount{r.next(), r.next() >> 10}
		n := r.next() >> 48
		A, B := a.big(), b.big()
		check := func(what string, got amount, want *big.Int) {
			t.Helper()
			if got.big().Cmp(want) != 0 {
				t.Errorf("%s of %s and %s is %s, want %s", what, A, B, got.big(), want)
			}
		}
		check("sum", a.add(b), new(big.Int).Add(A, B))
		check("difference", a.add(b).sub(b), A)
		check("product", a.mul(n), new(big.Int).Mul(A, new(big.Int).SetUint64(n)))
		for _, bits := range []uint{0, 1, 63, 64, 65, 128, 200} {
			check("shift", a.shr(bits), new(big.Int).Rsh(A, bits))
		}
		check("quotient", amountFromQuotient(b, n+2), new(big.Int).Quo(B, new(big.Int).SetUint64(n+2)))
		check("round trip", amountFromBig(A), A)
		if a.less(b) != (A.Cmp(B) < 0) {
			t.Errorf("%s below %s is wrong", A, B)
		}
		low, high := a.low(), a.high()
		v, err := felt.U256(low, high)
		if err != nil || amountFromBytes(v) != a {
			t.Errorf("halves of %s are wrong: %v", A, err)
		}
	}
}
