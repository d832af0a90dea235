package index

import (
	"context"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store"
)

// plan is what a follower has to do on a block.
type plan struct {
	explorer.Plan
	follower explorer.Follower
}

// planned begins the followers' work on a block with what needs no other block.
func planned(followers []explorer.Follower, blk *explorer.Block) []plan {
	plans := make([]plan, len(followers))
	for i, f := range followers {
		p := plan{follower: f}
		if planner, ok := f.(explorer.Planner); ok {
			p.Plan = planner.Plan(blk)
		} else {
			p.Keys = f.Earlier(blk)
			p.Follow = func(earlier [][]byte, rows *explorer.Rows) error { return f.Follow(blk, earlier, rows) }
		}
		plans[i] = p
	}
	return plans
}

// follow runs the subjects that depend on earlier rows, with one read for all,
// and one more where some of them have to ask twice.
func follow(ctx context.Context, plans []plan, blk *explorer.Block, rows *explorer.Rows,
	getMany func(context.Context, []store.Key) ([][]byte, error),
) error {
	asked := make([][]store.Key, len(plans))
	for i := range plans {
		asked[i] = plans[i].Keys
	}
	values, err := readFor(ctx, blk, asked, getMany)
	if err != nil {
		return err
	}
	for i := range plans {
		asked[i] = nil
		if c, ok := plans[i].follower.(explorer.Chaser); ok {
			if asked[i], err = c.Chase(blk, values[i]); err != nil {
				return &projectionError{blk.Number, c.Name(), err}
			}
		}
	}
	chased, err := readFor(ctx, blk, asked, getMany)
	if err != nil {
		return err
	}
	for i := range plans {
		earlier := values[i]
		if len(chased[i]) > 0 {
			earlier = slices.Concat(earlier, chased[i])
		}
		if err := plans[i].Follow(earlier, rows); err != nil {
			return &projectionError{blk.Number, plans[i].follower.Name(), err}
		}
	}
	return nil
}

// readFor reads the rows that followers ask for, in one go if there are any.
func readFor(ctx context.Context, blk *explorer.Block, asked [][]store.Key,
	getMany func(context.Context, []store.Key) ([][]byte, error),
) ([][][]byte, error) {
	out := make([][][]byte, len(asked))
	keys := slices.Concat(asked...)
	if len(keys) == 0 {
		return out, nil
	}
	values, err := getMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read earlier rows for block %d: %w", blk.Number, err)
	}
	for i := range asked {
		out[i], values = values[:len(asked[i])], values[len(asked[i]):]
	}
	return out, nil
}
