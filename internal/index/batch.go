package index

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// batch gathers blocks for one commit. It is built by one goroutine; the
// indexer's own state changes only when the commit has succeeded.
type batch struct {
	ops   store.Batch
	rows  *overlay
	head  chain.Head
	some  bool // head is set
	undo  UndoSpan
	moved bool // undo changed
	plain bool // holds a block without an undo record

	classes []felt.Felt // that the batch has rows of

	blocks, transactions, events int
}

func (x *Indexer) newBatch(after *batch) *batch {
	b := &batch{ops: store.Batch{Epoch: x.lease.Epoch}}
	if after == nil {
		b.rows = newOverlay(nil)
		b.head, b.some, b.undo = x.state.Head, x.state.HasHead, x.undo
	} else {
		b.rows = newOverlay(after.rows)
		b.head, b.some, b.undo = after.head, after.some, after.undo
	}
	if !x.state.Present && after == nil {
		b.ops.Put(chain.FormatKey, chain.Format{Layout: chain.Layout, ChainID: x.chainID}.Encode())
	}
	if x.state.HasFault && after == nil {
		b.ops.Delete(chain.FaultKey)
	}
	return b
}

// add appends a block. On an error the batch must be thrown away.
func (x *Indexer) add(ctx context.Context, b *batch, p *prepared) error {
	blk := p.block
	if b.some && (blk.Number != b.head.Number+1 || blk.ParentHash != b.head.Hash) {
		return &forkError{Block: blk.Number, Node: p.node, Parent: blk.ParentHash, Want: b.head.Hash}
	}
	rows, err := follow(ctx, x.followers, blk, func(ctx context.Context, keys []store.Key) ([][]byte, error) {
		return b.rows.getMany(ctx, x.Store, keys)
	})
	if err != nil {
		return err
	}
	head := headOf(blk, b.head.Digest, p.sum, rows.Sum())
	digest := chain.DigestKey(blk.Number)
	rows.Put(digest.Table, digest.Partition, digest.Sort, chain.EncodeDigest(head.Digest))
	rows.Put(chain.Meta, nil, chain.HeadKey.Sort, head.Encode())

	if p.needUndo {
		if err := x.addUndo(ctx, b, blk.Number, p.rows.Ops(), rows.Ops()); err != nil {
			return err
		}
	} else {
		if b.undo.Oldest == blk.Number { // there are no records to prune
			b.undo.Oldest = blk.Number + 1
		}
		b.undo.Floor, b.moved, b.plain = blk.Number+1, true, true
	}
	for _, ops := range [][]store.Op{p.rows.Ops(), rows.Ops()} {
		for i := range ops {
			op := &ops[i]
			if op.Delete {
				b.ops.Delete(op.Key)
			} else {
				b.ops.Put(op.Key, op.Value)
			}
			// Without undo records only followers look at uncommitted rows.
			if p.needUndo || x.remember[op.Table] || op.Table == chain.Meta {
				b.rows.add(op)
			}
		}
	}
	b.putClasses(p.classes)
	b.head, b.some = head, true
	b.blocks++
	b.transactions += len(blk.Transactions)
	b.events += blk.EventCount()
	return nil
}

// follow runs the subjects that depend on earlier rows, with one read for all,
// and one more where some of them have to ask twice.
func follow(ctx context.Context, followers []explorer.Follower, blk *explorer.Block,
	getMany func(context.Context, []store.Key) ([][]byte, error),
) (*explorer.Rows, error) {
	values, err := readFor(ctx, followers, blk, getMany, func(f explorer.Follower, _ int) ([]store.Key, error) { return f.Earlier(blk), nil })
	if err != nil {
		return nil, err
	}
	chased, err := readFor(ctx, followers, blk, getMany, func(f explorer.Follower, i int) ([]store.Key, error) {
		if c, ok := f.(explorer.Chaser); ok {
			return c.Chase(blk, values[i])
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	rows := &explorer.Rows{}
	for i, f := range followers {
		earlier := values[i]
		if len(chased[i]) > 0 {
			earlier = slices.Concat(earlier, chased[i])
		}
		if err := f.Follow(blk, earlier, rows); err != nil {
			return nil, &projectionError{blk.Number, f.Name(), err}
		}
	}
	return rows, nil
}

// readFor reads the rows that followers ask for, in one go if there are any.
func readFor(ctx context.Context, followers []explorer.Follower, blk *explorer.Block,
	getMany func(context.Context, []store.Key) ([][]byte, error), ask func(explorer.Follower, int) ([]store.Key, error),
) ([][][]byte, error) {
	var keys []store.Key
	ends := make([]int, len(followers))
	for i, f := range followers {
		own, err := ask(f, i)
		if err != nil {
			return nil, &projectionError{blk.Number, f.Name(), err}
		}
		keys = append(keys, own...)
		ends[i] = len(keys)
	}
	out := make([][][]byte, len(followers))
	if len(keys) == 0 {
		return out, nil
	}
	values, err := getMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read earlier rows for block %d: %w", blk.Number, err)
	}
	from := 0
	for i, end := range ends {
		out[i] = values[from:end]
		from = end
	}
	return out, nil
}

// addUndo records what the block's rows were before.
func (x *Indexer) addUndo(ctx context.Context, b *batch, number uint64, lists ...[]store.Op) error {
	var keys []store.Key
	seen := map[string]struct{}{}
	var buf []byte
	for _, ops := range lists {
		for i := range ops {
			buf = overlayKey(buf, ops[i].Key)
			if _, twice := seen[string(buf)]; !twice {
				seen[string(buf)] = struct{}{}
				keys = append(keys, ops[i].Key)
			}
		}
	}
	before, err := b.rows.getMany(ctx, x.Store, keys)
	if err != nil {
		return fmt.Errorf("read earlier rows for the undo record of block %d: %w", number, err)
	}
	b.ops.Put(UndoKey(number), encodeUndo(keys, before))
	return nil
}

// nextDigest chains a block's rows to the digest of the blocks before it.
func nextDigest(before chain.Digest, own, followed [sha256.Size]byte) chain.Digest {
	var in [3 * sha256.Size]byte
	copy(in[:], before[:])
	copy(in[32:], own[:])
	copy(in[64:], followed[:])
	return sha256.Sum256(in[:])
}

// commit makes a batch durable. The indexer's state is not touched: see adopt.
func (x *Indexer) commit(ctx context.Context, b *batch) error {
	if b.moved {
		b.ops.Put(chain.UndoKey, encodeUndoSpan(b.undo))
	}
	if err := x.Store.Commit(ctx, &b.ops); err != nil {
		return fmt.Errorf("commit blocks up to %d: %w", b.head.Number, err)
	}
	return nil
}

// adopt makes a committed batch the indexer's state and announces it.
func (x *Indexer) adopt(b *batch) {
	x.state.Head, x.state.HasHead = b.head, true
	x.state.Format, x.state.Present = chain.Format{Layout: chain.Layout, ChainID: x.chainID}, true
	x.state.HasFault = false
	x.undo = b.undo
	x.classes.learn(b.classes...)
	x.stuck = 0
	x.Metrics.committed(b)
	x.progress.add(b, x.known)
	x.Announce(Announcement{Head: b.head})
}
