package index

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// undoes are the undo records of a batch. What they lack are rows of the store as it
// is before the batch, nearly all of which are not there: hashes of transactions. They
// are read in one go when the batch is committed, beside the building of the next.
type undoes struct {
	list  []unread
	keys  []store.Key // that are to be read, of all records
	bytes int         // about what the records take
}

// unread is a record without the last of its values.
type unread struct {
	number uint64
	parent *chain.Head
	values [][]byte
	at     []int // the places of values that are to be read
}

// addUndo notes what a block found, and which other rows it writes. Blocks of the
// batch before it may have written them.
func (b *batch) addUndo(number uint64, f *found, others []store.Key) {
	u := unread{number: number, values: f.values}
	if b.some {
		parent := b.head
		u.parent = &parent
	}
	for _, k := range others {
		v, known := b.rows.own(k)
		if !known {
			u.at = append(u.at, len(u.values))
			b.undoes.keys = append(b.undoes.keys, k)
		}
		u.values = append(u.values, v)
	}
	for _, v := range u.values {
		b.undoes.bytes += 2 + len(v)
	}
	b.undoes.list = append(b.undoes.list, u)
}

// put adds the records to the commit. The batch before it must be committed.
func (u *undoes) put(ctx context.Context, engine store.Engine, ops *store.Batch) error {
	if len(u.list) == 0 {
		return nil
	}
	var read [][]byte
	err := engine.View(ctx, func(r store.Reader) (err error) {
		read, err = r.GetMany(ctx, u.keys)
		return err
	})
	if err != nil {
		return fmt.Errorf("read earlier rows for the undo records of %d blocks: %w", len(u.list), err)
	}
	var e record.Encoder // for all: the commit copies them
	for i := range u.list {
		rec := &u.list[i]
		for j, at := range rec.at {
			rec.values[at] = read[j]
		}
		read = read[len(rec.at):]
		ops.Put(UndoKey(rec.number), encodeUndo(&e, rec.parent, rec.values))
	}
	*u = undoes{}
	return nil
}
