package ledger

import (
	"bytes"

	"chainexplorer/internal/store"
)

// SameRow says whether two values of a row say the same. When a point was made is no
// part of what it says.
func SameRow(t *store.Table, sort, a, b []byte) (bool, error) {
	if t != Points {
		return bytes.Equal(a, b), nil
	}
	p, err := decodePoint(sort, a)
	if err != nil {
		return false, err
	}
	q, err := decodePoint(sort, b)
	if err != nil {
		return false, err
	}
	q.MaterializedAt = p.MaterializedAt
	return bytes.Equal(p.encode(), q.encode()), nil
}

// Same says whether two generations say the same, whenever they were made.
func (g *Generation) Same(o *Generation) bool {
	c := *o
	c.MaterializedAt = g.MaterializedAt
	return bytes.Equal((&State{Serving: g}).Encode(), (&State{Serving: &c}).Encode())
}
