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
	// Origin says that no diff deployed it: it was there before the first block.
	Origin bool
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
		out = append(out, Epoch{Block: c.block, Deployed: c.kind == kindDeployed, Class: c.class})
	}
	return withOrigin(ctx, r, address, before, out, limit)
}

// withOrigin ends a list with the class that a contract had before the first
// block, if it is one of those.
func withOrigin(ctx context.Context, r store.Reader, address felt.Felt, before *Place, list []Epoch, limit int) ([]Epoch, bool, error) {
	first := before != nil && before.Deployed
	if n := len(list); n > 0 {
		first = list[n-1].Deployed
	}
	if first {
		return list, false, nil // it begins with a deployment
	}
	origin, err := originOf(ctx, r, address)
	if err != nil || origin == nil {
		return list, false, err
	}
	if len(list) == limit {
		return list, true, nil
	}
	return append(list, Epoch{Deployed: true, Origin: true, Class: *origin}), false, nil
}
