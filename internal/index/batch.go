package index

import (
	"context"
	"crypto/sha256"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// batch gathers blocks for one commit. It is built by one goroutine; the
// indexer's own state changes only when the commit has succeeded.
type batch struct {
	ops   store.Batch // rows that are not in rows
	rows  *overlay
	head  chain.Head
	some  bool // head is set
	undo  UndoSpan
	moved bool // undo changed
	plain bool // its blocks have no undo records

	findings chain.FindingLog

	classes []felt.Felt // that the batch has rows of

	blocks, transactions, events int
}

func (x *Indexer) newBatch(after *batch) *batch {
	b := &batch{ops: x.spare}
	x.spare = store.Batch{}
	b.ops.Epoch = x.lease.Epoch
	if after == nil {
		b.rows = newOverlay(nil)
		b.head, b.some, b.undo, b.findings = x.state.Head, x.state.HasHead, x.undo, x.checked.Next()
	} else {
		b.rows = newOverlay(after.rows)
		b.head, b.some, b.undo, b.findings = after.head, after.some, after.undo, after.findings.Next()
	}
	if !x.state.Present && after == nil {
		b.ops.Put(chain.FormatKey, chain.Format{Layout: chain.Layout, ChainID: x.chainID}.Encode())
	}
	if x.state.HasFault && after == nil {
		b.ops.Delete(chain.FaultKey)
	}
	if !x.state.Hindered.Since.IsZero() && after == nil {
		b.ops.Delete(chain.HinderedKey)
	}
	return b
}

// add appends a block. On an error the batch must be thrown away.
func (x *Indexer) add(ctx context.Context, b *batch, p *prepared) error {
	blk := p.block
	if want, known := x.expected.at(blk.Number); known && blk.Hash != want {
		return &strayError{Block: blk.Number, Node: p.node, Hash: blk.Hash, Want: want}
	}
	if b.some && (blk.Number != b.head.Number+1 || blk.ParentHash != b.head.Hash) {
		return &forkError{Block: blk.Number, Node: p.node, Parent: blk.ParentHash, Want: b.head.Hash}
	}
	b.rows.begin(p.needUndo)
	rows := explorer.NewRows(x.expectRows.followed)
	err := follow(ctx, x.followers, p.plans, blk, rows, func(ctx context.Context, keys []store.Key) ([][]byte, error) {
		return b.rows.getMany(ctx, &x.lately, x.Store, keys)
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
			// Without undo records only followers look at uncommitted rows.
			switch op := &ops[i]; {
			case x.recalled[op.Table.ID] || p.needUndo && !x.dated[op.Table.ID]:
				b.rows.add(op)
			case op.Delete:
				b.ops.Delete(op.Key)
			default:
				b.ops.Put(op.Key, op.Value)
			}
		}
	}
	x.expectRows.own.Store(int64(len(p.rows.Ops())))
	x.expectRows.followed = len(rows.Ops())
	b.putClasses(p.classes)
	b.findings.Add(blk.Number, p.finding)
	x.noteOrigins(b, p)
	b.head, b.some = head, true
	b.blocks++
	b.transactions += len(blk.Transactions)
	b.events += blk.EventCount()
	return nil
}

// addUndo records what the block's rows were before, those aside that are new by
// their keys.
func (x *Indexer) addUndo(ctx context.Context, b *batch, number uint64, lists ...[]store.Op) error {
	var keys []store.Key
	seen := map[string]struct{}{}
	var buf []byte
	for _, ops := range lists {
		for i := range ops {
			if x.dated[ops[i].Table.ID] {
				continue
			}
			buf = overlayKey(buf, ops[i].Key)
			if _, twice := seen[string(buf)]; !twice {
				seen[string(buf)] = struct{}{}
				keys = append(keys, ops[i].Key)
			}
		}
	}
	before, err := b.rows.getMany(ctx, &x.lately, x.Store, keys)
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
	b.rows.put(&b.ops)
	if b.moved {
		b.ops.Put(chain.UndoKey, encodeUndoSpan(b.undo))
	}
	b.findings.Put(&b.ops)
	if err := x.Store.Commit(ctx, &b.ops); err != nil {
		return fmt.Errorf("commit blocks up to %d: %w", b.head.Number, err)
	}
	return nil
}

// size is the number of bytes that a commit of the batch writes.
func (b *batch) size() int { return b.ops.Bytes() + b.rows.bytes }

// adopt makes a committed batch the indexer's state and announces it.
func (x *Indexer) adopt(b *batch) {
	x.lately.learn(b.rows, &x.recalled)
	b.ops.Reset()
	x.spare = b.ops // for its memory
	x.state.Head, x.state.HasHead = b.head, true
	x.state.Format, x.state.Present = chain.Format{Layout: chain.Layout, ChainID: x.chainID}, true
	if !x.state.Hindered.Since.IsZero() {
		x.pardon()
	}
	x.state.HasFault, x.state.Hindered = false, chain.Hindrance{}
	x.undo, x.checked = b.undo, b.findings.Next()
	x.classes.learn(b.classes...)
	x.stuck = 0
	x.Metrics.committed(b)
	x.progress.add(b, x.known)
	x.Announce(Announcement{Head: b.head})
}
