package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// A step of a rollback ends with this many blocks, or with Options.UndoBytes: it
// must not take more memory than indexing does, however deep the fork is.
const undoStepBlocks = 2_000

// opBytes is what a change takes in memory beside its key and value, about.
const opBytes = 120

// undone are the changes that take the newest blocks back.
type undone struct {
	// restored are the rows that may have been there before.
	restored restored
	// Of the rows of dated tables no two blocks write the same. Those of lists go by
	// the list where the store takes that, and the others one by one, to b.
	ends ends
	cuts bool
	b    *store.Batch
	// dated are the tables whose rows are those.
	dated *[256]bool
}

func (x *Indexer) newUndone(b *store.Batch) *undone {
	u := &undone{b: b, dated: x.dated}
	u.ends.number = &x.replay.number
	_, u.cuts = x.Store.(store.Cutter)
	return u
}

// bytes is about how much memory the changes take.
func (u *undone) bytes() int {
	return 2*u.restored.bytes + u.b.Bytes() + opBytes*(len(u.restored.values)+u.b.Len()) + u.ends.bytes()
}

// undoBlocks adds the changes that undo the newest blocks down to ancestor, or
// to where the step is full, and returns the block that becomes the head.
func (x *Indexer) undoBlocks(ctx context.Context, ancestor uint64, b *store.Batch) (head chain.Head, err error) {
	head = x.state.Head
	err = x.Store.View(ctx, func(r store.Reader) error {
		u := x.newUndone(b)
		last := max(ancestor+1, head.Number+1-min(head.Number, undoStepBlocks))
		ahead := x.replayDown(ctx, r, head.Number, last)
		defer ahead.stop()
		for head.Number >= last && u.bytes() < x.UndoBytes {
			back, err := ahead.next(ctx)
			if err == nil {
				err = u.add(back, head)
			}
			if err != nil {
				return fmt.Errorf("undo block %d: %w", head.Number, err)
			}
			head = *back.Parent
			x.replay.giveBack(back)
		}
		u.restored.put(&x.replay.tables, b)
		u.ends.put(b)
		b.Put(chain.HeadKey, head.Encode())
		return nil
	})
	return head, err
}

// add takes back the block that is the head, and keeps none of its memory.
func (u *undone) add(back *TakenBack, head chain.Head) error {
	if back.Parent == nil {
		return errors.New("there is no head before it")
	}
	if back.Head != head {
		return fmt.Errorf("projected again it has digest %x, the index says %x", back.Head.Digest, head.Digest)
	}
	u.restored.add(back)
	for _, changes := range back.changes() {
		list := changes.List()
		for i := range list {
			if c := &list[i]; u.dated[c.ID] {
				u.remove(head.Number, changes.Table(c), changes.Key(c))
			}
		}
	}
	for _, k := range []store.Key{chain.DigestKey(head.Number), UndoKey(head.Number)} {
		u.remove(head.Number, k.Table, overlayKey(nil, k))
	}
	u.ends.done(head.Number)
	return nil
}

// remove lets a row of a dated table go.
func (u *undone) remove(block uint64, t *store.Table, key []byte) {
	if !u.cuts || !u.ends.add(block, t, key) {
		p := 1 + t.PartitionLen
		u.b.Delete(store.Key{Table: t, Partition: key[1:p], Sort: key[p:]})
	}
}
