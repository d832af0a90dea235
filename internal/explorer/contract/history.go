package contract

import (
	"context"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Epoch is a class that a contract got: from a block on.
type Epoch struct {
	Block uint64
	// Deployed says that the contract began with it; otherwise it replaced another.
	Deployed bool
	Class    felt.Felt
}

// Place orders the epochs of a contract: a block may have two.
type Place struct {
	Block    uint64
	Deployed bool
}

// Epochs returns up to limit classes of a contract in front of a place, newest
// first; nil starts at the newest. One scan.
func Epochs(ctx context.Context, r store.Reader, address felt.Felt, before *Place, limit int) (out []Epoch, more bool, err error) {
	rng := store.Range{Table: History, Partition: address[:], Reverse: true, Limit: limit + 1}
	if before != nil {
		kind := byte(kindReplaced)
		if before.Deployed {
			kind = kindDeployed
		}
		rng.To = sortKey(before.Block, kind)
	}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, false, fmt.Errorf("list the classes of contract %s: %w", address, err)
		}
		if len(out) == limit {
			return out, true, nil
		}
		c, err := parseChange(row)
		if err != nil {
			return nil, false, fmt.Errorf("contract %s: %w", address, err)
		}
		out = append(out, Epoch{c.block, c.kind == kindDeployed, c.class})
	}
	return out, false, nil
}
