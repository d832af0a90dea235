package decoded

import (
	"testing"

	"chainexplorer/internal/felt"
)

// TestByClass holds what is known of classes against a map, few and many, before and after it is reset.
func TestByClass(t *testing.T) {
	var b byClass[int]
	for _, n := range []int{3, fewClasses, fewClasses + 1, 5 * fewClasses, 2} {
		want := map[felt.Felt]int{}
		for i := range 2 * n {
			h := felt.Keccak([]byte{byte(i * 7 % n)}) // each twice
			b.set(&h, i)
			want[h] = i
		}
		if len(b.hashes) != n || len(b.values) != n {
			t.Fatalf("%d and %d entries of %d classes", len(b.hashes), len(b.values), n)
		}
		for h, i := range want {
			if got := b.of(&h); got != i {
				t.Fatalf("%d of class %s, want %d", got, h, i)
			}
		}
		other := felt.Selector("other")
		if got := b.of(&other); got != 0 || b.find(&other) >= 0 {
			t.Fatalf("%d of a class that is not there", got)
		}
		b.reset()
		first := felt.Keccak([]byte{0})
		if b.find(&first) >= 0 || len(b.values) > 0 {
			t.Fatal("there are classes left")
		}
	}
}
