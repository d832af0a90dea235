package node

import (
	"context"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
)

// Voice asks one node of a pool alone, where what matters is who says so.
type Voice struct {
	pool *Pool
	name string
}

// Only is the node of that name.
func (p *Pool) Only(name string) *Voice { return &Voice{p, name} }

// CallAt is that of Pool.
func (n *Voice) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	return n.pool.callAt(ctx, at, calls, OnNode(n.name))
}

// ClassHashAt is that of Pool.
func (n *Voice) ClassHashAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error) {
	return n.pool.feltAt(ctx, "starknet_getClassHashAt", at, address, OnNode(n.name))
}

// NonceAt is that of Pool.
func (n *Voice) NonceAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error) {
	return n.pool.feltAt(ctx, "starknet_getNonce", at, address, OnNode(n.name))
}
