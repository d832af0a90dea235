package live

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
)

// The first block that is gone is found wherever it is, with few questions.
func TestForkOfATrail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		first, length := uint64(r.IntN(50)), 1+r.IntN(2000)
		tr := trail{first: first}
		for i := range length {
			tr.push(felt.FromUint64(uint64(i)+1000), 4096)
		}
		want := first + uint64(r.IntN(length+1))
		shorter := r.IntN(2) == 0 // the chain ends there
		asked := 0
		got, err := tr.fork(func(n uint64) (felt.Felt, bool, error) {
			asked++
			if n < first || n >= tr.next() {
				t.Fatalf("asked for block %d of %d to %d", n, first, tr.next())
			}
			if n >= want {
				return felt.FromUint64(7), !shorter, nil
			}
			hash, _ := tr.at(n)
			return hash, true, nil
		})
		depth := bits.Len64(tr.next() - want + 1)
		if err != nil || got != want || asked > 2*depth+1 {
			t.Fatalf("%d of %d to %d is %d after %d questions: %v", want, first, tr.next(), got, asked, err)
		}
	}
}

func TestTrailIsBounded(t *testing.T) {
	tr := trail{first: 5}
	for i := range 1000 {
		tr.push(felt.FromUint64(uint64(i)), 10)
		if len(tr.hashes) >= 20 {
			t.Fatalf("%d hashes", len(tr.hashes))
		}
	}
	if got, ok := tr.at(1004); !ok || got != felt.FromUint64(999) || tr.next() != 1005 {
		t.Errorf("the last is %v, next %d", got, tr.next())
	}
	snapshot := tr
	tr.cut(1003)
	tr.push(felt.FromUint64(1), 10)
	if got, _ := snapshot.at(1003); got != felt.FromUint64(998) {
		t.Error("a copy changed")
	}
	older := trail{first: tr.first - 3}
	for i := range 5 { // overlaps
		older.push(felt.FromUint64(uint64(100+i)), 10)
	}
	low := tr.first
	tr.prepend(older, 10)
	if got, _ := tr.at(low - 1); tr.first != low-3 || got != felt.FromUint64(102) {
		t.Errorf("after joining it starts at %d", tr.first)
	}
}
