package fsck

import (
	"context"
	"iter"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
)

// Progress is how far a check has come: first over the blocks, whose number is
// known, and then over the rows of every table, which nobody has counted before. Where
// these differ, blocks are searched for the rows by which they do.
type Progress struct {
	// Blocks of BlocksTotal were replayed.
	Blocks, BlocksTotal uint64
	// Rows were read since, of which those of Table now. Tables of TablesTotal are
	// done; all are when the check ends.
	Rows                uint64
	Table               string
	Tables, TablesTotal int
	// Searched blocks of SearchTotal, which is 0 unless something is wrong.
	Searched, SearchTotal uint64
}

// Walking says that the blocks are done.
func (p *Progress) Walking() bool { return p.TablesTotal > 0 }

// tellEvery is how many rows are read between two signs of progress.
const tellEvery = 4096

// begin goes on to a table, some of which are walked twice.
func (c *checker) begin(t *store.Table) {
	if !c.walked[t] {
		c.at.Tables = len(c.walked)
		c.walked[t] = true
	}
	c.at.Table, c.at.TablesTotal = t.Name, len(catalog.Tables())
	c.Progress(c.at)
}

// read counts rows.
func (c *checker) read(n uint64) {
	before := c.at.Rows / tellEvery
	if c.at.Rows += n; c.at.Rows/tellEvery != before {
		c.Progress(c.at)
	}
}

// counted is a reader whose walks are told of.
type counted struct {
	store.Reader
	c *checker
}

// Walk is that of the reader within.
func (r counted) Walk(ctx context.Context, t *store.Table, after *store.Key) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		r.c.begin(t)
		for e, err := range r.Reader.Walk(ctx, t, after) {
			r.c.read(1)
			if !yield(e, err) {
				return
			}
		}
	}
}
