package index

import (
	"context"

	"chainexplorer/internal/store"
)

// overlay holds rows that are not committed yet and may be asked for, so that the
// blocks of one batch see each other. Of a row that many of them change, such as
// a balance, only the last change is kept.
type overlay struct {
	at  map[string]int // number of the row's change in ops
	ops []store.Op
	// bytes is the size of keys and values.
	bytes int
	// below is the overlay of the batch that is being committed, if any.
	below *overlay
}

func newOverlay(below *overlay) *overlay {
	o := &overlay{at: map[string]int{}, below: below}
	if below != nil {
		o.ops = make([]store.Op, 0, len(below.ops))
	}
	return o
}

func overlayKey(buf []byte, k store.Key) []byte { return appendOverlayKey(buf[:0], k) }

func appendOverlayKey(buf []byte, k store.Key) []byte {
	buf = append(buf, k.Table.ID)
	buf = append(buf, k.Partition...) // of fixed length: no separator is needed
	return append(buf, k.Sort...)
}

func (o *overlay) add(op *store.Op) {
	if o.replace(op) {
		return
	}
	var buf [96]byte
	key := overlayKey(buf[:0], op.Key)
	o.at[string(key)] = len(o.ops)
	o.ops = append(o.ops, *op)
	o.bytes += len(key) + len(op.Value)
}

// replace is add for a row that has a change, and false for one that has none.
func (o *overlay) replace(op *store.Op) bool {
	var buf [96]byte
	i, there := o.at[string(overlayKey(buf[:0], op.Key))]
	if there {
		last := &o.ops[i]
		o.bytes += len(op.Value) - len(last.Value)
		last.Value, last.Delete = op.Value, op.Delete
	}
	return there
}

// get returns a row's value, nil for one that is known not to be there.
func (o *overlay) get(k store.Key) (value []byte, known bool) {
	var buf [96]byte
	key := overlayKey(buf[:0], k)
	for l := o; l != nil; l = l.below {
		if i, ok := l.at[string(key)]; ok {
			return rowValue(&l.ops[i]), true
		}
	}
	return nil, false
}

// own is get of this overlay alone.
func (o *overlay) own(k store.Key) (value []byte, known bool) {
	var buf [96]byte
	i, known := o.at[string(overlayKey(buf[:0], k))]
	if known {
		value = rowValue(&o.ops[i])
	}
	return value, known
}

// rowValue is what a change leaves of a row: nil if it is deleted, and only then.
func rowValue(op *store.Op) []byte {
	switch {
	case op.Delete:
		return nil
	case op.Value == nil:
		return []byte{}
	}
	return op.Value
}

// put adds the changes to a commit.
func (o *overlay) put(b *store.Batch) {
	for i := range o.ops {
		if op := &o.ops[i]; op.Delete {
			b.Delete(op.Key)
		} else {
			b.Put(op.Key, op.Value)
		}
	}
}

// getMany answers from the overlay and from what was committed lately, and asks
// the store once for the rest.
func (o *overlay) getMany(ctx context.Context, lately *committed, engine store.Engine, keys []store.Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	var missing []store.Key
	var where []int
	for i, k := range keys {
		v, known := o.get(k)
		if !known {
			v, known = lately.get(k)
		}
		if known {
			out[i] = v
			continue
		}
		missing = append(missing, k)
		where = append(where, i)
	}
	if len(missing) == 0 {
		return out, nil
	}
	values, err := store.Look(ctx, engine, missing)
	for i, v := range values {
		out[where[i]] = v
	}
	return out, err
}
