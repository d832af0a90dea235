package index

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// TakenBack is what changes when a block is undone, beside what the write path
// itself keeps of a block.
type TakenBack struct {
	Parent   *chain.Head // nil for a first block
	Head     chain.Head  // that the block made
	Restored []store.Op  // rows that may have been there before
	Removed  []store.Key // rows of dated tables

	own, followed explorer.Rows // that keys are cut from
	again         retold
}

// TakeBack finds what undoing a block changes, from its undo record. It needs no
// other block, and reads nothing.
func (r *Replayer) TakeBack(ctx context.Context, b *explorer.Block, rec []byte) (*TakenBack, error) {
	undo, err := decodeUndo(rec)
	if err != nil {
		return nil, fmt.Errorf("undo record: %w", err)
	}
	back, _ := r.memory.Get().(*TakenBack)
	if back == nil {
		back = &TakenBack{}
	}
	p, err := r.begin(b, &back.own)
	if err != nil {
		return nil, err
	}
	var parent chain.Head
	if undo.parent != nil {
		parent = *undo.parent
	}
	again := &back.again
	again.rest = undo.values
	followed, head, err := p.finish(ctx, parent, again, &back.followed)
	if err != nil {
		return nil, err
	}
	others, err := again.take(len(again.others(&r.dated, p.rows.Ops(), followed)))
	if err != nil {
		return nil, err
	}
	if len(again.rest) > 0 {
		return nil, fmt.Errorf("%w: undo record has %d values that nobody asks for", record.ErrCorrupt, len(again.rest))
	}
	again.noted(others)
	back.Parent, back.Head = undo.parent, head
	back.changes(&r.dated, p.rows.Ops())
	back.changes(&r.dated, followed)
	return back, nil
}

// giveBack lets another block have the memory. The caller keeps nothing of it but
// values of the undo record.
func (r *Replayer) giveBack(back *TakenBack) {
	back.own.Reset()
	back.followed.Reset()
	back.Restored, back.Removed = back.Restored[:0], back.Removed[:0]
	clear(back.again.at)
	back.again.values, back.again.rest = back.again.values[:0], nil
	r.memory.Put(back)
}

// changes notes what undoing these changes of the block does.
func (back *TakenBack) changes(dated *[256]bool, list []store.Op) {
	for i := range list {
		op := &list[i]
		if dated[op.Table.ID] {
			back.Removed = append(back.Removed, op.Key)
			continue
		}
		value := back.again.before(op.Key)
		back.Restored = append(back.Restored, store.Op{Key: op.Key, Value: value, Delete: value == nil})
	}
}

// retold answers a block's followers as they were answered when it was indexed.
type retold struct {
	found
	rest [][]byte
}

// GetMany answers with the next values of the record.
func (t *retold) GetMany(_ context.Context, keys []store.Key) ([][]byte, error) {
	values, err := t.take(len(keys))
	if err == nil {
		t.asked(keys, values)
	}
	return values, err
}

func (t *retold) take(n int) (values [][]byte, err error) {
	if n > len(t.rest) {
		return nil, fmt.Errorf("%w: undo record has no answer to %d questions", record.ErrCorrupt, n-len(t.rest))
	}
	values, t.rest = t.rest[:n:n], t.rest[n:]
	return values, nil
}
