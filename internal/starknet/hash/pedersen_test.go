package hash_test

import (
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/starknet/hash"

	junocrypto "github.com/NethermindEth/juno/core/crypto"
	junofelt "github.com/NethermindEth/juno/core/felt"
	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

func pedersenByPeer(a, b *fp.Element) fp.Element {
	x, y := junofelt.Felt(*a), junofelt.Felt(*b)
	return fp.Element(junocrypto.Pedersen(&x, &y))
}

func TestPedersen(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		a, b := element(r), element(r)
		if got, want := hash.Pedersen(&a, &b), pedersenByPeer(&a, &b); got != want {
			t.Fatalf("of %v and %v: %v, not %v", a, b, got, want)
		}
	}
}

func TestPedersenPairs(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for n := range 40 {
			list := make([]fp.Element, n)
			for i := range list {
				list[i] = element(r)
			}
			got := append([]fp.Element(nil), list...)
			hash.PedersenPairs(got)
			for i := range n / 2 {
				if want := pedersenByPeer(&list[2*i], &list[2*i+1]); got[i] != want {
					t.Fatalf("pair %d of %d: of %v and %v: %v, not %v", i, n, list[2*i], list[2*i+1], got[i], want)
				}
			}
		}
	})
}

func TestChains(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		var chains hash.Chains
		for n := range 22 { // the same memory for all
			var want []fp.Element
			for i := range n {
				length := r.IntN(4)
				if i == 0 {
					length = r.IntN(12)
				}
				var felts []*junofelt.Felt
				for range length {
					e := element(r)
					chains.Add(&e)
					f := junofelt.Felt(e)
					felts = append(felts, &f)
				}
				chains.End()
				want = append(want, fp.Element(junocrypto.PedersenArray(felts...)))
			}
			got := chains.Sums()
			if len(got) != n {
				t.Fatalf("%d sums of %d lists", len(got), n)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("list %d of %d: %v, not %v", i, n, got[i], want[i])
				}
			}
		}
	})
}

func BenchmarkPedersen(b *testing.B) {
	r := rand.New(rand.NewPCG(17, 18))
	x, y := element(r), element(r)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			x = hash.Pedersen(&x, &y)
		}
	})
	for _, way := range hash.Ways() {
		b.Run(way.String(), func(b *testing.B) {
			defer hash.Use(way)()
			list := make([]fp.Element, 16)
			hash.PedersenPairs(list)
			for b.Loop() {
				hash.PedersenPairs(list)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8, "ns/hash")
		})
	}
	b.Run("peer", func(b *testing.B) {
		for b.Loop() {
			x = pedersenByPeer(&x, &y)
		}
	})
}
