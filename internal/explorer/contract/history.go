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

// selfReplaced bounds how many rows a list passes over because they replace a
// class by itself.
const selfReplaced = 1000

// Epochs returns up to limit classes of a contract in front of a place, newest
// first; nil starts at the newest. A class that is replaced by itself is one epoch,
// which begins where the contract got the class, as in the directory of classes.
// One scan.
func Epochs(ctx context.Context, r store.Reader, address felt.Felt, before *Place, limit int) (out []Epoch, more bool, err error) {
	rng := store.Range{Table: History, Partition: address[:], Reverse: true, Limit: limit + 1 + selfReplaced}
	if before != nil {
		kind := byte(kindReplaced)
		if before.Deployed {
			kind = kindDeployed
		}
		rng.To = sortKey(before.Block, kind)
	}
	rows := 0
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, false, fmt.Errorf("list the classes of contract %s: %w", address, err)
		}
		rows++
		c, err := parseChange(row)
		if err != nil {
			return nil, false, fmt.Errorf("contract %s: %w", address, err)
		}
		e := Epoch{Block: c.block, Deployed: c.kind == kindDeployed, Class: c.class}
		if n := len(out); n > 0 && out[n-1].Class == e.Class {
			out[n-1] = e
			continue
		}
		if len(out) == limit {
			return out, true, nil
		}
		out = append(out, e)
	}
	if rows == rng.Limit {
		return out, true, nil
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
	if n := len(list); n > 0 && list[n-1].Class == *origin {
		list = list[:n-1]
	}
	if len(list) == limit {
		return list, true, nil
	}
	return append(list, Epoch{Deployed: true, Origin: true, Class: *origin}), false, nil
}
