package event

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/store"
)

// walker walks the blocks that hold events of a list, or of several lists
// joined, in the search's order. It starts in front of its first block and
// never goes back.
type walker interface {
	// Seek moves to the first block at or behind a block, and stays if it is
	// there already. False is the end or an error.
	Seek(block uint64) bool
	// At is the block it stands on.
	At() uint64
	// Spots appends the places in that block, ascending.
	Spots(dst []postings.Spot) ([]postings.Spot, error)
	// Err is why Seek returned false; nil at the end.
	Err() error
}

// Order is the order of a search.
type Order uint8

// The orders. Newest first is the usual one.
const (
	Desc Order = iota
	Asc
)

// behind reports whether block a comes after block b in this order.
func (o Order) behind(a, b uint64) bool {
	if o == Asc {
		return a > b
	}
	return a < b
}

// next is the block behind b, false when there is none.
func (o Order) next(b uint64) (uint64, bool) {
	if o == Asc {
		return b + 1, b != math.MaxUint64
	}
	return b - 1, b != 0
}

// Work counts what a search read.
type Work struct {
	Seeks  int // scans of a list
	Rows   int // rows of lists
	Events int // transactions read for their events
}

// Budget bounds the work of one page. Zero fields take the default.
type Budget Work

// DefaultBudget is about 50 ms of one core when everything is in memory.
var DefaultBudget = Budget{Seeks: 3000, Rows: 60_000, Events: 2000}

func (b Budget) withDefaults() Budget {
	for _, f := range []struct{ v, def *int }{
		{&b.Seeks, &DefaultBudget.Seeks}, {&b.Rows, &DefaultBudget.Rows}, {&b.Events, &DefaultBudget.Events},
	} {
		if *f.v <= 0 {
			*f.v = *f.def
		}
	}
	return b
}

// errBudget ends a page early.
var errBudget = errors.New("the budget of the page is spent")

// meter is shared by all iterators of a search.
type meter struct {
	work   Work
	budget Budget
	// armed is set when the search has got anywhere. Before that the budget
	// does not count: a page that makes no progress would come again for ever.
	// What it takes to make some is bounded by the number of lists.
	armed bool
}

func (m *meter) spent() bool {
	return m.armed && (m.work.Seeks >= m.budget.Seeks || m.work.Rows >= m.budget.Rows)
}

// A list is read in chunks. A scan costs as much as reading some twenty rows, so
// a chunk of which at least every sixteenth row was wanted is followed by one
// twice as long; one that was jumped out of at once, by a short one.
const (
	firstChunk = 16 // the look-ahead by which lists are compared
	minChunk   = 8
	maxChunk   = 256
	wasted     = 16
	chunkBytes = 64 << 10 // ends a chunk of huge rows
)

// leaf reads one list.
type leaf struct {
	ctx   context.Context
	r     store.Reader
	meter *meter
	list  list
	order Order
	last  uint64 // the block behind which the search ends

	rows []leafRow // the chunk
	mem  []byte    // its values
	at   int       // the row it stands on; -1 in front of the chunk
	used int       // rows of the chunk it stood on
	more bool      // there may be rows behind the chunk
	size int       // rows of the chunk, as asked for
	err  error
}

type leafRow struct {
	block    uint64
	from, to int // in mem
}

var _ walker = (*leaf)(nil)

// newLeaf reads nothing yet.
func newLeaf(ctx context.Context, r store.Reader, m *meter, l list, o Order, last uint64) *leaf {
	return &leaf{ctx: ctx, r: r, meter: m, list: l, order: o, last: last, at: -1, more: true}
}

// load replaces the chunk by the one that starts at block from.
func (l *leaf) load(from uint64) bool {
	if l.order.behind(from, l.last) {
		l.more = false
	}
	if !l.more || l.err != nil {
		l.rows, l.at = l.rows[:0], 0
		return false
	}
	if l.meter.spent() {
		l.err = errBudget
		return false
	}
	switch {
	case l.size == 0:
		l.size = firstChunk
	case l.used > 1 && wasted*l.used >= l.size:
		l.size = min(2*l.size, maxChunk)
	default:
		l.size = minChunk
	}
	l.rows, l.mem, l.at, l.used = l.rows[:0], l.mem[:0], -1, 0
	l.meter.work.Seeks++
	l.more = false
	for row, err := range l.r.Scan(l.ctx, l.scan(from)) {
		if err != nil {
			l.err = fmt.Errorf("read event list: %w", err)
			return false
		}
		block, err := blockOf(row.Sort)
		if err != nil {
			l.err = err
			return false
		}
		l.meter.work.Rows++
		start := len(l.mem)
		l.mem = append(l.mem, row.Value...)
		l.rows = append(l.rows, leafRow{block, start, len(l.mem)})
		if l.more = len(l.rows) == l.size || len(l.mem) >= chunkBytes; l.more {
			break
		}
	}
	return len(l.rows) > 0
}

// scan is the range from a block to the end of the search.
func (l *leaf) scan(from uint64) store.Range {
	lo, hi := from, l.last
	if l.order == Desc {
		lo, hi = l.last, from
	}
	rng := store.Range{
		Table: l.list.table, Partition: []byte(l.list.partition),
		From: explorer.BlockKey(lo), Reverse: l.order == Desc, Limit: l.size,
	}
	if hi != math.MaxUint64 {
		rng.To = explorer.BlockKey(hi + 1)
	}
	return rng
}

func (l *leaf) Seek(block uint64) bool {
	if l.at >= 0 && l.at < len(l.rows) && !l.order.behind(block, l.rows[l.at].block) {
		return true
	}
	n, _ := slices.BinarySearchFunc(l.rows[min(l.at+1, len(l.rows)):], block, func(r leafRow, block uint64) int {
		if l.order.behind(block, r.block) {
			return -1
		}
		return 1
	})
	l.at += n
	if l.at+1 >= len(l.rows) && !l.load(block) {
		return false
	}
	l.at++
	l.used++
	return true
}

func (l *leaf) At() uint64 { return l.rows[l.at].block }

func (l *leaf) Err() error { return l.err }

func (l *leaf) Spots(dst []postings.Spot) ([]postings.Spot, error) {
	b, err := l.places(l.at)
	if err != nil {
		return dst, err
	}
	out, err := postings.Plain.Decode(dst, b)
	if err != nil {
		return dst, l.rows[l.at].bad(err)
	}
	return out, nil
}

// places are those of a row of the chunk, as they are kept.
func (l *leaf) places(i int) ([]byte, error) {
	row := l.rows[i]
	b, err := placesOf(l.mem[row.from:row.to])
	if err != nil {
		return nil, row.bad(err)
	}
	return b, nil
}

// bad is the error of a row that cannot be read.
func (r leafRow) bad(err error) error { return fmt.Errorf("event list of block %d: %w", r.block, err) }

// glimpse is what the first chunk of a list tells.
type glimpse struct {
	events      int
	first, last uint64 // blocks of its first and last row
	all         bool   // the list has no more rows in the search's range
}

// peek reads the first chunk.
func (l *leaf) peek(first uint64) (g glimpse, err error) {
	if !l.load(first) {
		return glimpse{all: true}, l.err
	}
	for i := range l.rows {
		places, err := l.places(i)
		if err != nil {
			return g, err
		}
		for _, err := range postings.Plain.All(places) {
			if err != nil {
				return g, l.rows[i].bad(err)
			}
			g.events++
		}
	}
	g.first, g.last, g.all = l.rows[0].block, l.rows[len(l.rows)-1].block, !l.more
	return g, nil
}
