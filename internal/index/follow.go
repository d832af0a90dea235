package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store"
)

// planned begins the followers' work on a block with what needs no other block.
func planned(followers []explorer.Follower, blk *explorer.Block) []explorer.Plan {
	plans := make([]explorer.Plan, len(followers))
	for i, f := range followers {
		plans[i] = f.Plan(blk)
	}
	return plans
}

// follow carries out what was planned for a block, and tells a fault of a subject
// from one of the store.
func follow(ctx context.Context, followers []explorer.Follower, plans []explorer.Plan, blk *explorer.Block, rows *explorer.Rows,
	getMany func(context.Context, []store.Key) ([][]byte, error),
) error {
	err := explorer.Follow(ctx, plans, getMany, rows)
	if at := new(explorer.PlanError); errors.As(err, &at) {
		return &projectionError{blk.Number, followers[at.Plan].Name(), at.Cause}
	}
	if err != nil {
		return fmt.Errorf("read earlier rows for block %d: %w", blk.Number, err)
	}
	return nil
}
