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
	undoes   undoes

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
	x.found.reset()
	rows := &x.followed
	if rows.Reset(); p.needUndo || x.streamer != nil { // its memory becomes the batch's, or the stream's
		rows = &explorer.Rows{}
		rows.Reserve(x.expectRows.followed, x.expectRows.followedBytes)
	}
	err := follow(ctx, x.followers, p.plans, blk, rows, func(ctx context.Context, keys []store.Key) ([][]byte, error) {
		values, err := b.rows.getMany(ctx, &x.lately, x.Store, keys, &x.asked)
		if p.needUndo && err == nil {
			x.found.asked(keys, values)
		}
		return values, err
	})
	if err != nil {
		return err
	}
	head := headOf(blk, b.head.Digest, p.sum, rows.Sum())
	if p.needUndo {
		b.addUndo(blk.Number, &x.found, x.found.others(x.dated, p.rows.Changes(), rows.Changes()))
	} else {
		if b.undo.Oldest == blk.Number { // there are no records to prune
			b.undo.Oldest = blk.Number + 1
		}
		b.undo.Floor, b.moved, b.plain = blk.Number+1, true, true
		b.ops.Settled = blk.Number + 1
	}
	digest := chain.DigestKey(blk.Number)
	rows.Put(digest.Table, digest.Partition, digest.Sort, chain.EncodeDigest(head.Digest))
	rows.Put(chain.Meta, nil, chain.HeadKey.Sort, head.Encode())
	if stream := x.streamOf(b, p); stream != nil {
		for _, changes := range []*store.Changes{p.rows.Changes(), rows.Changes()} {
			if err := stream.Add(ctx, changes); err != nil {
				return fmt.Errorf("write rows of block %d: %w", blk.Number, err)
			}
		}
	}
	for _, changes := range []*store.Changes{p.rows.Changes(), rows.Changes()} {
		if p.needUndo {
			x.share(b, changes)
		} else {
			x.copy(b, changes)
		}
	}
	x.expectRows.own.Store(int64(p.rows.Len()))
	x.expectRows.ownBytes.Store(int64(p.rows.Bytes()))
	x.expectRows.followed, x.expectRows.followedBytes = rows.Len(), rows.Bytes()
	b.putClasses(p.classes)
	b.findings.Add(blk.Number, p.finding)
	x.noteOrigins(b, p)
	b.head, b.some = head, true
	b.blocks++
	b.transactions += len(blk.Transactions)
	b.events += blk.EventCount()
	return nil
}

// share adds the rows of a block with an undo record, whose memory the batch holds from
// then on.
func (x *Indexer) share(b *batch, changes *store.Changes) {
	kept, written, list := b.rows.share(changes), b.ops.Changes().Share(changes), changes.List()
	for i := range list {
		if id := list[i].ID; x.recalled[id] || !x.dated[id] {
			kept.add(&list[i])
		} else {
			written.Append(list[i])
		}
	}
}

// copy adds the rows of a block without an undo record: only followers look at them before
// they are committed. Batches of such blocks are large. Their memory holds nothing but
// what they commit, while most of what followers write takes the place of what an earlier
// block wrote, and rows of ascending tables and of series are the stream's, if the engine can.
func (x *Indexer) copy(b *batch, changes *store.Changes) {
	written, list := b.ops.Changes(), changes.List()
	written.Heed(changes)
	for i := range list {
		switch c := &list[i]; {
		case x.recalled[c.ID]:
			b.rows.copyOf(hashOf(changes.Key(c)), changes, c)
		case x.streamer != nil && (changes.Table(c).Ascending || changes.Table(c).Series): // the stream has it
		default:
			written.Copy(changes, c)
		}
	}
	b.rows.pack()
}

// streamOf is where rows of ascending tables go, nil if they stay with the others: near
// the head, where commits are small, and where an engine has no streams.
func (x *Indexer) streamOf(b *batch, p *prepared) store.Stream {
	if p.needUndo || x.streamer == nil {
		return nil
	}
	if b.ops.Stream() == nil {
		b.ops.Attach(x.streamer.Stream())
	}
	return b.ops.Stream()
}

// drop gives up what a batch that is not committed has written.
func (b *batch) drop() {
	if s := b.ops.Stream(); s != nil {
		s.Drop()
	}
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
	defer b.drop()
	if err := b.undoes.put(ctx, x.Store, &b.ops); err != nil {
		return err
	}
	b.rows.commit(&b.ops)
	if b.moved {
		b.ops.Put(chain.UndoKey, encodeUndoSpan(b.undo))
	}
	b.findings.Put(&b.ops)
	if err := x.Store.Commit(ctx, &b.ops); err != nil {
		return &commitError{fmt.Sprintf("blocks up to %d", b.head.Number), err}
	}
	return nil
}

// held is the number of bytes of the batch that are held in memory until its commit.
func (b *batch) held() int { return b.ops.Held() + b.rows.rows.Bytes() + b.undoes.bytes }

// size is the number of bytes that a commit of the batch writes.
func (b *batch) size() int { return b.ops.Bytes() + b.rows.rows.Bytes() + b.undoes.bytes }

// adopt makes a committed batch the indexer's state and announces it.
func (x *Indexer) adopt(b *batch) {
	x.lately.learn(b.rows, &x.recalled)
	x.Metrics.committed(b)
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
	x.progress.add(b, x.known)
	x.Announce(Announcement{Head: b.head})
}
