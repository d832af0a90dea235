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
	Parent *chain.Head // nil for a first block
	Head   chain.Head  // that the block made

	own, followed explorer.Rows // that it wrote; those of dated tables go
	again         retold        // what the others were
	written       []int         // numbers of the others, each once
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
	head, err := p.finish(ctx, parent, again, &back.followed)
	if err != nil {
		return nil, err
	}
	for _, changes := range back.changes() {
		list := changes.List()
		for i := range list {
			if r.dated[list[i].ID] {
				continue
			}
			if n, first := again.wrote(changes.Key(&list[i])); first {
				back.written = append(back.written, n)
			}
		}
	}
	if err := again.tellOthers(); err != nil {
		return nil, err
	}
	back.Parent, back.Head = undo.parent, head
	return back, nil
}

// changes are those that the block made.
func (back *TakenBack) changes() [2]*store.Changes {
	return [2]*store.Changes{back.own.Changes(), back.followed.Changes()}
}

// giveBack lets another block have the memory. The caller keeps nothing of it but
// values of the undo record.
func (r *Replayer) giveBack(back *TakenBack) {
	back.own.Reset()
	back.followed.Reset()
	back.again.reset()
	back.written = back.written[:0]
	r.memory.Put(back)
}

// retold answers a block's followers as they were answered when it was indexed.
type retold struct {
	found
	rest [][]byte
	more int    // rows that were written and not asked for
	done []bool // which rows were written, by their numbers
}

func (t *retold) reset() {
	t.keys.reset()
	t.at, t.values, t.rest, t.more, t.done = t.at[:0], t.values[:0], nil, 0, t.done[:0]
}

// GetMany answers with the next values of the record.
func (t *retold) GetMany(_ context.Context, keys []store.Key) ([][]byte, error) {
	values, err := t.take(len(keys))
	if err == nil {
		t.asked(keys, values)
	}
	return values, err
}

// wrote notes that the block writes a row which may have been there. It is after all
// questions. first is false for a row that it wrote before.
func (t *retold) wrote(key []byte) (number int, first bool) {
	for len(t.done) < len(t.at) {
		t.done = append(t.done, false)
	}
	n, known := t.keys.number(key)
	if !known {
		t.at, t.done = append(t.at, len(t.values)+t.more), append(t.done, false)
		t.more++
	}
	first = !t.done[n]
	t.done[n] = true
	return n, first
}

// tellOthers takes the values of the rows that were written and not asked for, which
// are the last of the record.
func (t *retold) tellOthers() error {
	values, err := t.take(t.more)
	if err != nil {
		return err
	}
	if len(t.rest) > 0 {
		return fmt.Errorf("%w: undo record has %d values that nobody asks for", record.ErrCorrupt, len(t.rest))
	}
	t.values = append(t.values, values...)
	return nil
}

// value is what a row was, nil if it was not there.
func (t *retold) value(number int) []byte { return t.values[t.at[number]] }

func (t *retold) take(n int) (values [][]byte, err error) {
	if n > len(t.rest) {
		return nil, fmt.Errorf("%w: undo record has no answer to %d questions", record.ErrCorrupt, n-len(t.rest))
	}
	values, t.rest = t.rest[:n:n], t.rest[n:]
	return values, nil
}
