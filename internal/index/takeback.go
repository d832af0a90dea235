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
	Removed  []store.Op  // rows of dated tables
}

// TakeBack finds what undoing a block changes, from its undo record. It needs no
// other block, and reads nothing.
func (r *Replayer) TakeBack(ctx context.Context, b *explorer.Block, rec []byte) (*TakenBack, error) {
	undo, err := decodeUndo(rec)
	if err != nil {
		return nil, fmt.Errorf("undo record: %w", err)
	}
	p, err := r.begin(b)
	if err != nil {
		return nil, err
	}
	var parent chain.Head
	if undo.parent != nil {
		parent = *undo.parent
	}
	again := &retold{rest: undo.values}
	followed, head, err := p.finish(ctx, parent, again)
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
	back := &TakenBack{Parent: undo.parent, Head: head}
	back.Restored, back.Removed = again.changes(&r.dated, p.rows.Ops(), followed)
	return back, nil
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

// changes are copied: what the block's rows are cut from holds far more than their
// keys.
func (t *retold) changes(dated *[256]bool, lists ...[]store.Op) (restored, removed []store.Op) {
	before, gone := explorer.NewRows(len(t.values)), explorer.NewRows(len(lists[0]))
	for _, list := range lists {
		for i := range list {
			op := &list[i]
			if dated[op.Table.ID] {
				gone.Delete(op.Table, op.Partition, op.Sort)
			} else if value := t.before(op.Key); value == nil {
				before.Delete(op.Table, op.Partition, op.Sort)
			} else {
				before.Put(op.Table, op.Partition, op.Sort, value)
			}
		}
	}
	return before.Ops(), gone.Ops()
}
