package arrange_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"chainexplorer/internal/arrange"
)

type row struct{ key, at int }

func byKey(a, b row) int { return cmp.Compare(a.key, b.key) }

// TestAsSlicesDo: the lists are ordered as package slices orders them.
func TestAsSlicesDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		list := make([]row, n)
		for i := range list {
			list[i] = row{rng.IntN(n), i}
		}
		want, stable, unstable := slices.Clone(list), slices.Clone(list), slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		arrange.StablyBy(stable, byKey)
		if !slices.Equal(stable, want) {
			t.Fatalf("%d elements are %v, not %v", n, stable, want)
		}
		arrange.By(unstable, func(a, b row) int { return cmp.Or(byKey(a, b), cmp.Compare(b.at, a.at)) })
		slices.SortFunc(want, func(a, b row) int { return cmp.Or(byKey(a, b), cmp.Compare(b.at, a.at)) })
		if !slices.Equal(unstable, want) {
			t.Fatalf("%d elements are %v, not %v", n, unstable, want)
		}
	}
}
