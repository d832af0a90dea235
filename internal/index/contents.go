package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// A block's hash stands for everything in it, so that equal hashes are equal
// blocks. A local development node has no state root, and its hashes say little
// more than the number of a block: a block that was taken back and made again with
// other transactions has the same one, and so has the first block of every such
// node. Where blocks are not verified and have no state root, the index is
// therefore held against what the blocks hold: their times and transactions.

// contents is what a block is told by when its hash is no commitment.
type contents struct {
	hash         felt.Felt
	timestamp    uint64
	transactions []felt.Felt
}

func (c *contents) equal(d *contents) bool {
	return c.hash == d.hash && c.timestamp == d.timestamp && slices.Equal(c.transactions, d.transactions)
}

// contentSource is a Source that knows what blocks hold.
type contentSource interface {
	contentsAt(ctx context.Context, number uint64) (*contents, error)
}

// contentsAt asks for a block with the hashes of its transactions.
func (n *Nodes) contentsAt(ctx context.Context, number uint64) (*contents, error) {
	raw, name, err := n.Pool.BlockHeader(ctx, node.BlockNumber(number))
	if err != nil {
		return nil, known(err)
	}
	h, err := starknet.DecodeHeader(raw)
	var list struct{ Transactions []felt.Felt }
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("block %d from node %s: %w", number, name, err)
	}
	return &contents{h.Hash, h.Timestamp, list.Transactions}, nil
}

// indexedContents is the same of the index; nil when the block's hash stands for
// it.
func (x *Indexer) indexedContents(ctx context.Context, number uint64) (out *contents, err error) {
	err = x.Store.View(ctx, func(r store.Reader) error {
		b, err := block.Get(ctx, r, number)
		if err != nil || !b.NewRoot.IsZero() {
			return err
		}
		out = &contents{hash: b.Hash, timestamp: b.Timestamp}
		if b.Transactions == 0 {
			return nil
		}
		list, err := transaction.Previews(ctx, r, number, 0, int(b.Transactions))
		if err != nil {
			return err
		}
		for _, t := range list {
			out.transactions = append(out.transactions, t.Hash)
		}
		return nil
	})
	return out, err
}

// sameContents says whether a block of the index is the source's, whose hash is
// equal.
func (x *Indexer) sameContents(ctx context.Context, number uint64) (bool, error) {
	source, able := x.Source.(contentSource)
	if x.Verify != VerifyOff || !able {
		return true, nil
	}
	ours, err := x.indexedContents(ctx, number)
	if err != nil || ours == nil {
		return true, err
	}
	theirs, err := source.contentsAt(ctx, number)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for the transactions of block %d: %w", number, err)
	}
	return ours.equal(theirs), nil
}

// replacedInPlace says whether the index's head was replaced by a block of the
// same hash, at a source that is not behind it.
func (x *Indexer) replacedInPlace(ctx context.Context, head BlockRef) (bool, error) {
	if !x.state.HasHead || head.Number < x.state.Head.Number {
		return false, nil
	}
	same, err := x.sameContents(ctx, x.state.Head.Number)
	return !same, err
}
