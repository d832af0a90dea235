package index

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// undone is the index without its newest blocks, while these are being undone:
// the changes that take them back, over a view of the store.
type undone struct {
	r     store.Reader
	ops   map[string]store.Op // the newest change of each row: it restores the oldest state
	order []string
	bytes int
	buf   []byte
}

func (u *undone) add(op store.Op) {
	u.buf = overlayKey(u.buf, op.Key)
	if _, there := u.ops[string(u.buf)]; !there {
		key := string(u.buf)
		u.order = append(u.order, key)
		u.ops[key] = op
	} else {
		u.ops[string(u.buf)] = op
	}
	u.bytes += len(u.buf) + len(op.Value)
}

// GetMany answers with the rows as they were before the blocks that are undone
// so far.
func (u *undone) GetMany(ctx context.Context, keys []store.Key) ([][]byte, error) {
	values, err := u.r.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		u.buf = overlayKey(u.buf, k)
		if op, there := u.ops[string(u.buf)]; there {
			values[i] = rowValue(&op)
		}
	}
	return values, nil
}

// undoBlocks adds the changes that undo the newest blocks down to ancestor, or
// to where the batch is full, and returns the block that becomes the head.
func (x *Indexer) undoBlocks(ctx context.Context, ancestor uint64, b *store.Batch) (uint64, error) {
	head := x.state.Head
	err := x.Store.View(ctx, func(r store.Reader) error {
		u := &undone{r: r, ops: map[string]store.Op{}}
		for head.Number > ancestor && u.bytes < rollbackBytes {
			parent, err := x.undoBlock(ctx, u, head)
			if err != nil {
				return fmt.Errorf("undo block %d: %w", head.Number, err)
			}
			head = parent
		}
		for _, k := range u.order {
			if op := u.ops[k]; op.Delete {
				b.Delete(op.Key)
			} else {
				b.Put(op.Key, op.Value)
			}
		}
		return nil
	})
	return head.Number, err
}

// undoBlock takes back what the newest block wrote, and returns the head before
// it. The rows that its record restores are the ones that it was projected upon,
// so that projecting it again gives the rows that it wrote; its digest says
// whether they are.
func (x *Indexer) undoBlock(ctx context.Context, u *undone, head chain.Head) (parent chain.Head, err error) {
	key := UndoKey(head.Number)
	rec, err := u.r.Get(ctx, key)
	if err != nil {
		return parent, fmt.Errorf("undo record: %w", err)
	}
	ops, err := DecodeUndo(rec, x.Subjects)
	if err != nil {
		return parent, fmt.Errorf("undo record: %w", err)
	}
	for _, op := range ops {
		u.add(op)
	}
	u.add(store.Op{Key: key, Delete: true})
	u.add(store.Op{Key: chain.DigestKey(head.Number), Delete: true})

	before, err := u.GetMany(ctx, []store.Key{chain.HeadKey})
	if err != nil {
		return parent, err
	}
	if before[0] == nil {
		return parent, fmt.Errorf("there is no head before it")
	}
	if parent, err = chain.DecodeHead(before[0]); err != nil {
		return parent, err
	}
	blk, _, err := LoadBlock(ctx, u.r, head.Number)
	if err != nil {
		return parent, err
	}
	own, followed, again, err := x.replay.Block(ctx, blk, parent, u)
	if err != nil {
		return parent, err
	}
	if again != head {
		return parent, fmt.Errorf("projected again it has digest %x, the index says %x", again.Digest, head.Digest)
	}
	for _, list := range [][]store.Op{own, followed} {
		for i := range list {
			if x.dated[list[i].Table.ID] {
				u.add(store.Op{Key: list[i].Key, Delete: true})
			}
		}
	}
	return parent, nil
}
