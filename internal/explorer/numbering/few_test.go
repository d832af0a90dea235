package numbering

import (
	"slices"
	"testing"

	"chainexplorer/internal/felt"
)

// Numbers are those of the order in which felts first come, for few of them and many, before
// and after they are forgotten.
func TestFew(t *testing.T) {
	var s Few
	for _, n := range []int{3, few, few + 1, 5 * few, 2} {
		var want []felt.Felt
		for i := range 2 * n {
			f := felt.Keccak([]byte{byte(i * 7 % n)}) // each twice
			at := slices.Index(want, f)
			if s.Find(&f) != at {
				t.Fatalf("felt %d of %d has number %d, want %d", i, n, s.Find(&f), at)
			}
			number, fresh := s.Number(&f)
			if fresh != (at < 0) {
				t.Fatalf("felt %d of %d is new: %t", i, n, fresh)
			}
			if fresh {
				at, want = len(want), append(want, f)
			}
			if number != at {
				t.Fatalf("felt %d of %d got number %d, want %d", i, n, number, at)
			}
		}
		if !slices.Equal(s.All(), want) {
			t.Fatalf("%d felts are %d", n, len(s.All()))
		}
		s.Reset()
		if first := felt.Keccak([]byte{0}); s.Find(&first) >= 0 || len(s.All()) > 0 {
			t.Fatal("there are felts left")
		}
	}
}
