package index

import (
	"context"

	"chainexplorer/internal/felt"
)

// BlockRef names a block.
type BlockRef struct {
	Number uint64
	Hash   felt.Felt
}

// Raw is a block as the node printed it. Both parts come from one node.
type Raw struct {
	Block       []byte // result of starknet_getBlockWithReceipts
	StateUpdate []byte // result of starknet_getStateUpdate
	Node        string // for messages
}

// Source is where blocks come from. It retries and fails over by itself: an
// error from it means that no node could answer.
type Source interface {
	// ChainID names the chain.
	ChainID(ctx context.Context) (felt.Felt, error)
	// Head is the newest block of the best node; ErrNotFound on an empty chain.
	Head(ctx context.Context) (BlockRef, error)
	// Fetch returns a block by number, or ErrNotFound.
	Fetch(ctx context.Context, number uint64) (Raw, error)
	// HashAt returns the hash of the block with a number, or ErrNotFound.
	HashAt(ctx context.Context, number uint64) (felt.Felt, error)
	// L1Accepted is the newest block accepted on L1, or ErrNotFound while there is none.
	L1Accepted(ctx context.Context) (BlockRef, error)
	// Class returns the result of starknet_getClass at a block and the node that
	// gave it, or ErrNotFound.
	Class(ctx context.Context, number uint64, hash felt.Felt) (raw []byte, node string, err error)
	// Heads signals that the head may have changed, until ctx ends.
	Heads(ctx context.Context) <-chan struct{}
}
