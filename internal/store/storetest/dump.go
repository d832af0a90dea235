package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"chainexplorer/internal/store"
)

// Line is one row of a dump.
type Line struct {
	Table                  *store.Table
	Partition, Sort, Value []byte
}

func (l Line) String() string {
	return fmt.Sprintf("%s %x %x = %x", l.Table.Name, l.Partition, l.Sort, l.Value)
}

// each visits all rows of the tables on one view, table by table in the given
// order. The slices of a line are valid until fn returns.
func each(ctx context.Context, e store.Engine, tables []*store.Table, fn func(Line)) error {
	return e.View(ctx, func(r store.Reader) error {
		for _, t := range tables {
			for row, err := range r.Walk(ctx, t, nil) {
				if err != nil {
					return fmt.Errorf("dump table %s: %w", t.Name, err)
				}
				fn(Line{t, row.Partition, row.Sort, row.Value})
			}
		}
		return nil
	})
}

// Dump returns all rows of the tables on one view, table by table, each in key
// order. The lease is no row.
func Dump(ctx context.Context, e store.Engine, tables []*store.Table) ([]Line, error) {
	var lines []Line
	err := each(ctx, e, tables, func(l Line) {
		l.Partition, l.Sort, l.Value = bytes.Clone(l.Partition), bytes.Clone(l.Sort), bytes.Clone(l.Value)
		lines = append(lines, l)
	})
	return lines, err
}

// Digest is a hash of what Dump returns, for stores too large to dump.
func Digest(ctx context.Context, e store.Engine, tables []*store.Table) ([32]byte, error) {
	h := sha256.New()
	var frame []byte
	err := each(ctx, e, tables, func(l Line) {
		frame = append(frame[:0], l.Table.ID)
		for _, part := range [][]byte{l.Partition, l.Sort, l.Value} {
			frame = store.AppendUint64(frame, uint64(len(part)))
			frame = append(frame, part...)
		}
		h.Write(frame)
	})
	return [32]byte(h.Sum(nil)), err
}

// Diff says where two stores differ: one text per row that is missing on a
// side or has another value, at most limit of them. Equal stores give none.
func Diff(ctx context.Context, a, b store.Engine, tables []*store.Table, limit int) ([]string, error) {
	left, err := Dump(ctx, a, tables)
	if err != nil {
		return nil, err
	}
	right, err := Dump(ctx, b, tables)
	if err != nil {
		return nil, err
	}
	place := make(map[*store.Table]int, len(tables))
	for i, t := range tables {
		place[t] = i
	}
	var diffs []string
	for len(left)+len(right) > 0 && len(diffs) < limit {
		order := 0
		switch {
		case len(left) == 0:
			order = 1
		case len(right) == 0:
			order = -1
		default:
			order = compareLines(left[0], right[0], place)
		}
		switch {
		case order < 0:
			diffs = append(diffs, "only in the first: "+left[0].String())
			left = left[1:]
		case order > 0:
			diffs = append(diffs, "only in the second: "+right[0].String())
			right = right[1:]
		default:
			if !bytes.Equal(left[0].Value, right[0].Value) {
				diffs = append(diffs, fmt.Sprintf("%v in the first, %x in the second", left[0], right[0].Value))
			}
			left, right = left[1:], right[1:]
		}
	}
	return diffs, nil
}

func compareLines(a, b Line, place map[*store.Table]int) int {
	if a.Table != b.Table {
		return place[a.Table] - place[b.Table]
	}
	if c := bytes.Compare(a.Partition, b.Partition); c != 0 {
		return c
	}
	return bytes.Compare(a.Sort, b.Sort)
}
