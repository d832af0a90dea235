package feed

import (
	"context"
	"errors"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
)

// view is one look at the index.
type view struct {
	*Reader
	ctx   context.Context
	r     explorer.Reader
	state *chain.State
}

func (r *Reader) view(ctx context.Context, fn func(*view) error) error {
	return chain.View(ctx, r.Index, func(x explorer.Reader, s *chain.State) error {
		if !s.HasHead {
			return ErrEmpty
		}
		return fn(&view{r, ctx, x, s})
	})
}

// marked fills in how far the tiers and the forks are.
func (v *view) marked(at Place) Place {
	at.Finalized, at.L1, at.ForkCount = 0, 0, v.state.Fork.Count
	if n, ok := v.state.FinalizedBlock(v.Depth); ok {
		at.Finalized = n + 1
	}
	if v.state.HasL1 {
		at.L1 = min(v.state.L1.Number, v.state.Head.Number) + 1 // a node may tell of one that is not indexed yet
	}
	return at
}

// tiers are the newest blocks of the tiers.
func (v *view) tiers() (finalized, l1 *block.Stamp, err error) {
	at := v.marked(Place{})
	for _, t := range []struct {
		behind uint64
		to     **block.Stamp
	}{{at.Finalized, &finalized}, {at.L1, &l1}} {
		if t.behind == 0 {
			continue
		}
		stamps, err := block.Stamps(v.ctx, v.r, []uint64{t.behind - 1})
		if err != nil {
			return nil, nil, err
		}
		*t.to = &stamps[0]
	}
	return finalized, l1, nil
}

// newest is the newest of some blocks that is of the chain: those of a ladder, and others.
func (v *view) newest(ladder []rung, numbers []uint64, others []block.Ref) (best block.Ref, err error) {
	there := slices.Clone(numbers)
	for _, o := range others {
		there = append(there, o.Number)
	}
	there = slices.DeleteFunc(there, func(n uint64) bool { return n > v.state.Head.Number })
	known, err := block.ByNumber(v.ctx, v.r, there)
	if err != nil {
		return best, err
	}
	found := false
	take := func(b *block.Summary) {
		if !found || b.Number > best.Number {
			best, found = b.Ref(), true
		}
	}
	for i, n := range numbers {
		if b := known[n]; b != nil && i < len(ladder) && rungOf(b.Hash) == ladder[i] {
			take(b)
		}
	}
	for _, o := range others {
		if b := known[o.Number]; b != nil && b.Hash == o.Hash {
			take(b)
		}
	}
	if !found {
		return best, ErrForked
	}
	return best, nil
}

// behind says that a place is of the chain, and ErrForked otherwise.
func (v *view) behind(after *Place) error {
	if after.Start() {
		return nil
	}
	_, err := after.Get(v.ctx, v.r)
	if errors.Is(err, block.ErrGone) {
		return ErrForked
	}
	return err
}
