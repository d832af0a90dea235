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
	// Release, if set, is to be called when the parts are not used any more: they
	// count against the memory for answers until then.
	Release func()
}

// done gives the memory of the parts back.
func (r *Raw) done() {
	if r.Release != nil {
		r.Release()
	}
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

// From narrows which nodes a question may go to. The zero value leaves it to the
// source.
type From struct {
	Only string   // this node alone, even if it is in quarantine
	Not  []string // and these not at all
}

// NodeHash is what one node says of a block number. With neither an error nor
// Found the node has no such block.
type NodeHash struct {
	Node  string
	Hash  felt.Felt
	Found bool
	Err   error // no answer was had
}

// Peers is a Source of several nodes that can be told apart: what one of them
// says can be held against the others.
type Peers interface {
	Source
	// FetchFrom is Fetch from particular nodes. ErrNoOther says that From rules
	// all of them out, ErrQuarantine that those which it does not are in one.
	FetchFrom(ctx context.Context, number uint64, from From) (Raw, error)
	// ClassFrom is Class from particular nodes.
	ClassFrom(ctx context.Context, number uint64, hash felt.Felt, from From) (raw []byte, node string, err error)
	// HashesAt asks every node for the hash of a block, all at once. The answers
	// are in a steady order; nodes that are in quarantine have an error.
	HashesAt(ctx context.Context, number uint64) []NodeHash
	// Blame puts a node that gave a false answer into quarantine: for a while
	// that grows with each offence it is not asked and its head does not count.
	Blame(node string, err error)
}
