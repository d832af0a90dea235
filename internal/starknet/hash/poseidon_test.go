package hash_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"chainexplorer/internal/starknet/hash"

	junocrypto "github.com/NethermindEth/juno/core/crypto"
	junofelt "github.com/NethermindEth/juno/core/felt"
	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// pairByPeer and listByPeer are the hashes as another program computes them.
func pairByPeer(a, b *fp.Element) fp.Element {
	x, y := junofelt.Felt(*a), junofelt.Felt(*b)
	return fp.Element(junocrypto.Poseidon(&x, &y))
}

func listByPeer(list []fp.Element) fp.Element {
	felts := make([]*junofelt.Felt, len(list))
	for i := range list {
		f := junofelt.Felt(list[i])
		felts[i] = &f
	}
	return fp.Element(junocrypto.PoseidonArray(felts...))
}

// element is random, or one of those at which carries and borrows are longest.
func element(r *rand.Rand) (e fp.Element) {
	words := [...]uint64{0, 1, 2, 1<<52 - 1, 1 << 52, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	switch r.IntN(4) {
	case 0: // words, in Montgomery form as they are
		for i := range 3 {
			e[i] = words[r.IntN(len(words))]
		}
		e[3] = r.Uint64N(1 << 59)
	case 1: // just below the prime
		e = fp.Element{0, 0, 0, 1<<59 + 17}
		e[0] -= uint64(r.IntN(3))
		if e[0] != 0 {
			e[1], e[2], e[3] = 1<<64-1, 1<<64-1, e[3]-1
		}
	case 2:
		e.SetUint64(uint64(r.IntN(3)))
	default:
		for i := range e {
			e[i] = r.Uint64()
		}
		e[3] %= 1 << 59
	}
	return e
}

// every runs a test in each way that this processor has to work on eight of a kind.
func every(t *testing.T, test func(t *testing.T)) {
	for _, way := range hash.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			defer hash.Use(way)()
			test(t)
		})
	}
	if n := len(hash.Ways()); n < 3 {
		t.Logf("this processor has %d of 3 ways: %v", n, hash.Ways())
	}
}

func TestPoseidon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := element(r), element(r)
		if got, want := hash.Poseidon(&a, &b), pairByPeer(&a, &b); got != want {
			t.Fatalf("of %v and %v: %v, not %v", a, b, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 40 {
			list := make([]fp.Element, n)
			for i := range list {
				list[i] = element(r)
			}
			got := append([]fp.Element(nil), list...)
			hash.Pairs(got)
			for i := range n / 2 {
				if want := pairByPeer(&list[2*i], &list[2*i+1]); got[i] != want {
					t.Fatalf("pair %d of %d: of %v and %v: %v, not %v", i, n, list[2*i], list[2*i+1], got[i], want)
				}
			}
		}
	})
}

func TestLists(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		var lists hash.Lists
		for n := range 30 { // the same memory for all
			var want []fp.Element
			for i := range n {
				length := r.IntN(7)
				if i == 0 || r.IntN(10) == 0 {
					length = r.IntN(60)
				}
				list := make([]fp.Element, length)
				for j := range list {
					list[j] = element(r)
					lists.Add(&list[j])
				}
				lists.End()
				want = append(want, listByPeer(list))
			}
			got := lists.Sums()
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

func FuzzPoseidon(f *testing.F) {
	f.Add(make([]byte, 64))
	f.Add(bytes.Repeat([]byte{255}, 96))
	f.Fuzz(func(t *testing.T, data []byte) {
		var lists hash.Lists
		var list []fp.Element
		for ; len(data) >= 32 && len(list) < 16; data = data[32:] {
			var e fp.Element
			list = append(list, *e.SetBytes(data[:32]))
		}
		want := listByPeer(list)
		for _, way := range hash.Ways() {
			undo := hash.Use(way)
			for range 2 { // of eight lanes one is done alone in the end
				for i := range list {
					lists.Add(&list[i])
				}
				lists.End()
			}
			for i, got := range lists.Sums() {
				if got != want {
					t.Fatalf("%v: %d: %v, not %v", way, i, got, want)
				}
			}
			undo()
		}
	})
}

// What runs is what the program in asm wrote: it cannot be run here, because it needs
// modules that nothing else does.
func TestAssemblyIsCurrent(t *testing.T) {
	sum := sha256.New()
	for _, name := range []string{"main.go", "poseidon.go", "pedersen.go", "floats.go"} {
		source, err := os.ReadFile("asm/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(source)
	}
	made, err := os.ReadFile("lanes_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(made, fmt.Appendf(nil, "made from %x", sum.Sum(nil))) {
		t.Fatal("lanes_amd64.s was not made from asm as it is: cd asm && go run . -out ../lanes_amd64.s")
	}
}

func BenchmarkPoseidon(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x, y := element(r), element(r)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			x = hash.Poseidon(&x, &y)
		}
	})
	for _, way := range hash.Ways() {
		b.Run(way.String(), func(b *testing.B) {
			defer hash.Use(way)()
			list := make([]fp.Element, 16)
			for b.Loop() {
				hash.Pairs(list)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8, "ns/hash")
		})
	}
	b.Run("peer", func(b *testing.B) {
		for b.Loop() {
			x = pairByPeer(&x, &y)
		}
	})
}
