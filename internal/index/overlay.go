package index

import (
	"context"

	"chainexplorer/internal/store"
)

// overlay remembers rows that are not committed yet, so that the blocks of one
// batch see each other. A nil value in the map is a deleted row.
type overlay struct {
	rows map[string][]byte
	// below is the overlay of the batch that is being committed, if any.
	below *overlay
}

func newOverlay(below *overlay) *overlay {
	return &overlay{rows: map[string][]byte{}, below: below}
}

func overlayKey(buf []byte, k store.Key) []byte {
	buf = append(buf[:0], k.Table.ID)
	buf = append(buf, k.Partition...) // of fixed length: no separator is needed
	return append(buf, k.Sort...)
}

func (o *overlay) add(op *store.Op) {
	var buf [96]byte
	key := string(overlayKey(buf[:0], op.Key))
	switch {
	case op.Delete:
		o.rows[key] = nil
	case op.Value == nil:
		o.rows[key] = []byte{}
	default:
		o.rows[key] = op.Value
	}
}

func (o *overlay) get(k store.Key) (value []byte, known bool) {
	var buf [96]byte
	key := overlayKey(buf[:0], k)
	for ; o != nil; o = o.below {
		if v, ok := o.rows[string(key)]; ok {
			return v, true
		}
	}
	return nil, false
}

// getMany answers from the overlay and asks the store once for the rest.
func (o *overlay) getMany(ctx context.Context, engine store.Engine, keys []store.Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	var missing []store.Key
	var where []int
	for i, k := range keys {
		v, known := o.get(k)
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
	err := engine.View(ctx, func(r store.Reader) error {
		values, err := r.GetMany(ctx, missing)
		for i, v := range values {
			out[where[i]] = v
		}
		return err
	})
	return out, err
}
