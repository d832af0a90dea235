package contract

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
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

// maxDeployed bounds how many of a block's deployments are asked for their transaction.
const maxDeployed = 256

// DeployedIn lists the contracts that a transaction is known to have deployed, of those
// that its block did. One round trip, if the block deployed any.
func DeployedIn(ctx context.Context, r store.Reader, diff *starknet.StateDiff, at explorer.Position) (out []starknet.DeployedContract, err error) {
	list := diff.Deployed[:min(len(diff.Deployed), maxDeployed)]
	if len(list) == 0 {
		return nil, nil
	}
	addresses := make([]felt.Felt, len(list))
	for i := range list {
		addresses[i] = list[i].Address
	}
	found, err := Identities(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if d := found[i].Deployment; d != nil && d.Kind != UnknownDeployment && d.Block == at.Block && d.Tx == at.Index {
			out = append(out, list[i])
		}
	}
	return out, nil
}
