package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// Node is all that live routes may ask of a node. Nothing else in this package
// reaches one, and every question about an indexed block is pinned to its hash.
type Node interface {
	// CallAt runs view functions at one block, in one batch, results in order.
	CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error)
	// CallPending runs them on the block that is being built, and says which it is.
	CallPending(ctx context.Context, calls []contractcall.Call) (contractcall.Pending, []contractcall.Result, error)
	// ClassHashAt and NonceAt read a contract; false when there is none.
	ClassHashAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error)
	NonceAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error)
	// TraceOf runs a transaction of a block again and tells what it called; false when the
	// node has no trace of it.
	TraceOf(ctx context.Context, at contractcall.Block, tx felt.Felt) ([]byte, bool, error)
}

const (
	// nodeTime bounds how long a request waits for a node.
	nodeTime = 5 * time.Second
	// maxLive bounds the requests that wait for a node, so that a slow one
	// leaves room for indexed routes.
	maxLive = 128
	// nodeRetryAfter is the hint when a node cannot be asked, in seconds.
	nodeRetryAfter = 2
)

// BlockTagInput is the block that a live read is about.
type BlockTagInput struct {
	BlockTag string `query:"block_tag" maxLength:"70" default:"latest" doc:"A block number, a block hash, latest or pending. Pass a number or a hash for an answer that can be reproduced."`
}

// liveBlock is what a block_tag stands for.
type liveBlock struct {
	tag     string
	pending bool
	at      contractcall.Block // unless pending
	state   chain.State
}

// liveBlock resolves a block_tag to one block of the index.
func (s *Routes) liveBlock(ctx context.Context, r explorer.Reader, state *chain.State, tag string) (*liveBlock, error) {
	b := &liveBlock{tag: tag, state: *state}
	var pin chain.Pin
	switch {
	case tag == "pending":
		b.pending = true
		return b, nil
	case tag == "latest":
	case len(tag) > 1 && (tag[:2] == "0x" || tag[:2] == "0X"):
		hash, err := kernel.FeltOf("query.block_tag", tag)
		if err != nil {
			return nil, err
		}
		pin.Hash = &hash
	default:
		n, ok := kernel.NumberOf(tag)
		if !ok {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.block_tag: %q is neither a block number, nor a block hash, nor latest, nor pending.", kernel.Clip(tag, 70))
		}
		pin.Number = &n
	}
	var err error
	b.at, err = pinned(ctx, r, state, pin)
	return b, err
}

// pinned is the block that a live read is pinned to.
func pinned(ctx context.Context, r explorer.Reader, state *chain.State, p chain.Pin) (contractcall.Block, error) {
	at, err := state.Find(ctx, r, p)
	switch {
	case errors.Is(err, chain.ErrNoL1):
		err = kernel.RetryLater(60, nil, "No indexed block is known to be accepted on L1 yet.")
	case errors.Is(err, block.ErrNotFound) && p.Hash != nil:
		err = kernel.Because(kernel.ReasonBlockNotFound, "No indexed block has the hash %s.", *p.Hash)
	case errors.Is(err, block.ErrNotFound):
		err = kernel.Because(kernel.ReasonBlockNotFound, "Block %d is not indexed; the newest is %d.", *p.Number, state.Head.Number)
	}
	return contractcall.Block(at), err
}

// LiveBlock is the block that a live answer is about. It stands beside the
// echoed tag in every such answer.
type LiveBlock struct {
	BlockTag       string     `json:"blockTag" doc:"The caller's own text."`
	BlockNumber    *uint64    `json:"blockNumber" doc:"The block that the call was made at."`
	BlockHash      *felt.Felt `json:"blockHash" doc:"What the call was pinned to; null for the block that is being built, which has none yet."`
	FinalityStatus string     `json:"finalityStatus" enum:"PRE_CONFIRMED,ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	BasedOn        *BasedOn   `json:"basedOn" doc:"Only for pending: the block that the one being built stands on, where it is known."`
}

// BasedOn is the parent of the block that is being built.
type BasedOn struct {
	BlockNumber uint64    `json:"blockNumber"`
	BlockHash   felt.Felt `json:"blockHash"`
}

// ask puts calls to the node, at the block, within the time and number that
// live requests have.
func (s *Routes) ask(ctx context.Context, c *Chain, b *liveBlock, calls ...contractcall.Call) (*LiveBlock, []contractcall.Result, error) {
	if c.Node == nil {
		return nil, nil, noNode()
	}
	who := kernel.RequestOf(ctx).Caller
	if e := s.Live.Enter(ctx, who, "that wait for a node"); e != nil {
		return nil, nil, e
	}
	defer s.Live.Leave(who)
	ctx, cancel := context.WithTimeout(ctx, nodeTime)
	defer cancel()
	if b.pending {
		at, out, err := c.Node.CallPending(ctx, calls)
		if err != nil {
			return nil, nil, nodeFailure(ctx, err)
		}
		shown, err := s.showPending(ctx, c, b, at)
		return shown, out, err
	}
	out, err := c.Node.CallAt(ctx, b.at, calls)
	if err != nil {
		return nil, nil, nodeFailure(ctx, err)
	}
	shown := &LiveBlock{BlockTag: b.tag, BlockNumber: &b.at.Number, BlockHash: &b.at.Hash, FinalityStatus: "ACCEPTED_ON_L2"}
	if b.state.Finality(b.at.Number, c.Depth) == chain.AcceptedL1 {
		shown.FinalityStatus = "ACCEPTED_ON_L1"
	}
	return shown, out, nil
}

// showPending names the block that is being built and, where the index has it,
// the one that it stands on.
func (s *Routes) showPending(ctx context.Context, c *Chain, b *liveBlock, at contractcall.Pending) (*LiveBlock, error) {
	shown := &LiveBlock{BlockTag: b.tag, BlockNumber: at.Number, FinalityStatus: "PRE_CONFIRMED"}
	err := c.Store.View(ctx, func(r explorer.Reader) error {
		var parent *block.Summary
		var err error
		switch {
		case at.Parent != nil:
			var n uint64
			if n, err = block.NumberOf(ctx, r, *at.Parent); err == nil {
				parent, err = block.Get(ctx, r, n)
			}
		case *at.Number > 0:
			parent, err = block.Get(ctx, r, *at.Number-1)
		}
		if errors.Is(err, block.ErrNotFound) || err == nil && parent == nil {
			return nil // not indexed yet
		}
		if err != nil {
			return err
		}
		shown.BasedOn = &BasedOn{parent.Number, parent.Hash}
		if at.Number == nil {
			next := parent.Number + 1
			shown.BlockNumber = &next
		}
		return nil
	})
	return shown, err
}

// nodeFailure is what a caller is told of a node that gave no answer.
func nodeFailure(ctx context.Context, err error) error {
	message := "No node could be asked in time."
	switch {
	case errors.Is(err, contractcall.ErrTooLong):
		e := kernel.Fail(kernel.CodeCallReverted, "The answer is longer than the %d MiB that are read of a call.", contractcall.MaxAnswer>>20)
		e.Cause = err
		return e
	case errors.Is(err, contractcall.ErrBlockUnknown):
		message = "The nodes do not have this block any more, or not yet."
	case errors.Is(err, contractcall.ErrUnavailable):
	case ctx.Err() == nil:
		return fmt.Errorf("ask a node: %w", err)
	}
	e := kernel.Because(kernel.ReasonNodeUnavailable, "%s", message)
	e.RetryAfter, e.Cause = nodeRetryAfter, err
	return e
}

// noNode refuses what only a node can answer.
func noNode() *kernel.Error {
	e := kernel.Because(kernel.ReasonNodeUnavailable, "This service has no node to ask.")
	e.RetryAfter = 60
	return e
}
