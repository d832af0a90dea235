package block

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The running totals of blocks number the transactions of the chain, so that the block of
// one is found between any two others, however many blocks without transactions there are.
// All that are looked for are found together: a round trip looks at many blocks.
const (
	// neighbours are looked at first; then the distance doubles. Most questions end here.
	neighbours = 16
	// probes is how many blocks a further round trip looks at, shared by the gaps that
	// transactions are still missing in, and at least one in each.
	probes = 256
)

// Newest returns the blocks that hold the n newest transactions up to the end of a block,
// or all that there are, in order. Blocks between them have none. One round trip where
// the blocks next to it hold them, else one for every halving of the distance at most,
// and three or four where they lie together, behind whatever number of others.
func Newest(ctx context.Context, r store.Reader, last uint64, n int) ([]*Summary, error) {
	numbers := steps(last)
	for i, step := range numbers {
		numbers[i] = last - step
	}
	slices.Reverse(numbers)
	known, err := GetMany(ctx, r, numbers)
	if err != nil {
		return nil, err
	}
	high := known[len(known)-1].TotalTransactions
	return holding(ctx, r, known, high-min(high, uint64(n)), high)
}

// Oldest is Newest for the n oldest transactions from the beginning of a block to the end
// of another that is not before it.
func Oldest(ctx context.Context, r store.Reader, first, last uint64, n int) ([]*Summary, error) {
	numbers := steps(last - first)
	for i, step := range numbers {
		numbers[i] = first + step
	}
	known, err := GetMany(ctx, r, numbers)
	if err != nil {
		return nil, err
	}
	low := known[0].before()
	return holding(ctx, r, known, low, min(low+uint64(n), known[len(known)-1].TotalTransactions))
}

// steps are the distances of the blocks that are looked at first, up to the furthest.
func steps(furthest uint64) (out []uint64) {
	for step := uint64(0); step < furthest; {
		out = append(out, step)
		if step < neighbours {
			step++
		} else {
			step *= 2
		}
	}
	return append(out, furthest)
}

// before is the number of transactions in front of the block.
func (s *Summary) before() uint64 { return s.TotalTransactions - s.Transactions }

// holding returns the blocks with the transactions whose numbers are from low to below
// high. Of the known blocks, in order, the first has none above them in front of it and
// the last none behind it.
func holding(ctx context.Context, r store.Reader, known []*Summary, low, high uint64) ([]*Summary, error) {
	for {
		missing, err := inGaps(known, low, high)
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 {
			return slices.DeleteFunc(known, func(s *Summary) bool { return max(s.before(), low) >= min(s.TotalTransactions, high) }), nil
		}
		found, err := GetMany(ctx, r, missing)
		if err != nil {
			return nil, err
		}
		known = append(known, found...)
		arrange.By(known, func(a, b *Summary) int { return cmp.Compare(a.Number, b.Number) })
	}
}

// inGaps are the numbers of blocks to look at next: between two known ones that have some of
// the transactions between them.
func inGaps(known []*Summary, low, high uint64) (out []uint64, err error) {
	gap := func(i int) bool { return max(known[i-1].TotalTransactions, low) < min(known[i].before(), high) }
	gaps := uint64(0)
	for i := 1; i < len(known); i++ {
		if gap(i) {
			gaps++
		}
	}
	for i := 1; i < len(known) && gaps > 0; i++ {
		if !gap(i) {
			continue
		}
		after, inside := known[i-1].Number, known[i].Number-known[i-1].Number-1
		if inside == 0 {
			return nil, fmt.Errorf("%w: the totals of blocks %d and %d leave out transactions", record.ErrCorrupt, after, after+1)
		}
		for n, j := min(inside, max(probes/gaps, 1)), uint64(1); j <= n; j++ {
			out = append(out, after+(inside+1)*j/(n+1))
		}
	}
	return out, nil
}
