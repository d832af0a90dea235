// Package places keeps lists of places in the chain, and reads them in either
// order. A list is a partition of a table with one row per block that has
// something of the list, and the row holds the places inside that block.
//
// Costs: a page of n places is one scan per list, of at most n+2 rows, however
// long the list is and however deep the page lies in it. The rows depend on the
// block alone.
//
// These are not the lists of package postings, although both hold places: what
// stands beside a transaction here is any number, such as the set of parts that an
// address has in it, and is written whole for every place. There it is the index of
// a log, written as a step from the one before. Their bytes differ, and what is
// stored stays as it is.
package places

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

const rowVersion = 1

// Spot is a place in a block: a transaction, and something of it. What Sub
// counts is the list's own matter.
type Spot struct{ Tx, Sub uint32 }

// Before reports whether s comes first in the block.
func (s Spot) Before(t Spot) bool { return s.Tx < t.Tx || s.Tx == t.Tx && s.Sub < t.Sub }

// In is the spot's place in the chain, for lists whose Sub is that of a log.
func (s Spot) In(block uint64) explorer.Place {
	return explorer.Place{Block: block, Tx: s.Tx, Log: s.Sub}
}

// Encode appends the row of a block: the version, then for every spot the
// step from the transaction before it and Sub. Spots must ascend.
func Encode(b []byte, spots []Spot) []byte {
	b = append(b, rowVersion)
	last := uint32(0)
	for _, s := range spots {
		b = binary.AppendUvarint(b, uint64(s.Tx-last))
		b = binary.AppendUvarint(b, uint64(s.Sub))
		last = s.Tx
	}
	return b
}

// Decode appends the spots of a row. It accepts nothing but what Encode writes.
func Decode(dst []Spot, b []byte) ([]Spot, error) {
	if len(b) < 3 || b[0] != rowVersion {
		return dst, fmt.Errorf("%w: list of places with %d bytes or of another version", record.ErrCorrupt, len(b))
	}
	b = b[1:]
	tx, first := uint64(0), true
	for len(b) > 0 {
		step, rest, ok := number(b)
		if !ok {
			return dst, errBadSpot
		}
		sub, rest, ok := number(rest)
		if tx += uint64(step); !ok || tx > math.MaxUint32 {
			return dst, errBadSpot
		}
		s := Spot{uint32(tx), sub}
		if !first && !dst[len(dst)-1].Before(s) {
			return dst, errBadSpot
		}
		dst, b, first = append(dst, s), rest, false
	}
	return dst, nil
}

var errBadSpot = fmt.Errorf("%w: list with a bad place", record.ErrCorrupt)

// number reads a uint32 in its shortest form.
func number(b []byte) (n uint32, rest []byte, ok bool) {
	v, rest, ok := postings.Number(b)
	if !ok || v > math.MaxUint32 {
		return 0, nil, false
	}
	return uint32(v), rest, true
}

// List names a list.
type List struct {
	Table     *store.Table
	Partition []byte
}

// Hit is a place and the list that it was found in.
type Hit struct {
	explorer.Place
	List int // index in Query.Lists
}

// Query asks for the newest places of one or more lists joined.
type Query struct {
	Lists []List
	// Before is where the page before ended; the page is strictly older.
	Before explorer.Place
	// From is the oldest block that counts.
	From  uint64
	Limit int
}

// Page returns up to q.Limit places, newest first, and whether there are more.
// A place that is in two lists comes twice.
func Page(ctx context.Context, r store.Reader, q Query) (hits []Hit, more bool, err error) {
	for i := range q.Lists {
		if hits, err = q.read(ctx, r, i, hits); err != nil {
			return nil, false, err
		}
	}
	if len(q.Lists) > 1 {
		slices.SortStableFunc(hits, func(a, b Hit) int {
			switch {
			case b.Place.Before(a.Place):
				return -1
			case a.Place.Before(b.Place):
				return 1
			}
			return a.List - b.List
		})
	}
	if len(hits) > q.Limit {
		return hits[:q.Limit], true, nil
	}
	return hits, false, nil
}

// read appends one place more than the page takes, if the list has as many.
func (q *Query) read(ctx context.Context, r store.Reader, i int, hits []Hit) ([]Hit, error) {
	want := len(hits) + q.Limit + 1
	way := Way{Past: &q.Before, From: q.From, Rows: q.Limit + 2} // the first row may have nothing older than Before
	_, err := Walk(ctx, r, q.Lists[i], way, func(block uint64, s Spot) bool {
		hits = append(hits, Hit{s.In(block), i})
		return len(hits) < want
	})
	return hits, err
}

// Way is how a list is walked.
type Way struct {
	// Ascending is oldest first.
	Ascending bool
	// Past is where a walk before ended; this one goes on strictly behind it. Nil
	// starts at the first place in the order.
	Past *explorer.Place
	// From is the oldest block that counts.
	From uint64
	// Rows bounds the rows that are read.
	Rows int
}

// Walk calls use with the spots of a list in order until it returns false, or
// the list ends, or the rows are spent: then stopped is behind the last row. One
// scan.
func Walk(ctx context.Context, r store.Reader, l List, w Way, use func(block uint64, s Spot) bool) (stopped *explorer.Place, err error) {
	rng := store.Range{Table: l.Table, Partition: l.Partition, From: explorer.BlockKey(w.From), Reverse: !w.Ascending, Limit: w.Rows}
	switch {
	case w.Past == nil:
	case w.Ascending:
		rng.From = explorer.BlockKey(max(w.From, w.Past.Block))
	case w.Past.Block != math.MaxUint64:
		rng.To = explorer.BlockKey(w.Past.Block + 1)
	}
	var spots []Spot
	rows, block := 0, uint64(0)
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", rng.Table.Name, err)
		}
		if len(row.Sort) != 8 {
			return nil, fmt.Errorf("%w: row of %s with a key of %d bytes", record.ErrCorrupt, rng.Table.Name, len(row.Sort))
		}
		rows++
		block = binary.BigEndian.Uint64(row.Sort)
		if spots, err = Decode(spots[:0], row.Value); err != nil {
			return nil, fmt.Errorf("%s of block %d: %w", rng.Table.Name, block, err)
		}
		if !w.Ascending {
			slices.Reverse(spots)
		}
		for _, s := range spots {
			p := s.In(block)
			if w.Past != nil && (w.Ascending && !w.Past.Before(p) || !w.Ascending && !p.Before(*w.Past)) {
				continue
			}
			if !use(block, s) {
				return nil, nil
			}
		}
	}
	if rows < w.Rows {
		return nil, nil
	}
	end := explorer.Place{Block: block}
	if w.Ascending {
		end = explorer.EndOf(block)
	}
	return &end, nil
}
