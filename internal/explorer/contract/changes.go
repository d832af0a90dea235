package contract

import (
	"context"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Change is a class that a contract got.
type Change struct {
	Block uint64
	Class felt.Felt
	// Deployed says that the contract began with it; otherwise it replaced another.
	Deployed bool
}

// Changes lists the classes of a contract up to a block, newest first, at most
// limit. One scan.
func Changes(ctx context.Context, r store.Reader, address felt.Felt, block uint64, limit int) ([]Change, error) {
	h, err := load(ctx, r, address, block, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Change, len(h.changes))
	for i, c := range h.changes {
		out[i] = Change{c.block, c.class, c.kind == kindDeployed}
	}
	return out, nil
}
