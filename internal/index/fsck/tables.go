package fsck

import (
	"encoding/binary"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// tables adds every table up, and looks for what is wrong where the sum is not that of the
// blocks.
func (c *checker) tables() error {
	if err := c.scratch.flush(); err != nil {
		return err
	}
	followed := map[*store.Table]bool{}
	for _, s := range c.Subjects {
		if _, ok := s.(explorer.Follower); ok {
			for _, t := range s.Tables() {
				followed[t] = true
			}
		}
	}
	tables := []*store.Table{chain.Meta, chain.Digests, catalog.Undo}
	for _, s := range c.Subjects {
		tables = append(tables, s.Tables()...)
	}
	var wrong []difference
	for _, t := range tables {
		stored, err := c.sumOf(c.r, t)
		if err != nil {
			return err
		}
		c.report.Rows[t.Name] = stored.rows
		switch t {
		case chain.Meta:
			continue
		case chain.Digests: // which were held against their blocks
			err = c.sameCount(t, stored.rows, c.report.Blocks, "the blocks explain %d")
		case catalog.Undo:
			err = c.sameCount(t, stored.rows, c.report.UndoRecords, "%d belong to blocks")
		default:
			want := c.expected[t]
			if followed[t] {
				err = c.Scratch.View(c.ctx, func(s store.Reader) error {
					replayed, err := c.sumOf(counted{s, c}, t)
					want.add(replayed)
					return err
				})
			}
			if stored != want {
				wrong = append(wrong, difference{t, followed[t], stored.rows, want.rows})
			}
		}
		if err != nil {
			return err
		}
	}
	return c.locate(wrong)
}

// sumOf walks a table.
func (c *checker) sumOf(r store.Reader, t *store.Table) (total sum, err error) {
	for e, err := range r.Walk(c.ctx, t, nil) {
		if err != nil {
			return total, fmt.Errorf("walk table %s: %w", t.Name, err)
		}
		total.add(c.adder.row(t.ID, e.Partition, e.Sort, e.Value))
	}
	return total, nil
}

// sameCount compares how many rows a table has with how many it should have.
func (c *checker) sameCount(t *store.Table, rows, want uint64, should string) error {
	if rows == want {
		return nil
	}
	return c.problem("table %s has %d rows, "+should, t.Name, rows, want)
}

// undo checks that every block that may be undone has a record that undoes it.
func (c *checker) undo(state *chain.State) error {
	span, err := index.ReadUndoSpan(c.ctx, c.r)
	if err != nil {
		return c.problem("%v", err)
	}
	if span.Floor > state.Head.Number+1 || span.Oldest > span.Floor {
		return c.problem("undo records are said to start at %d and to be complete from %d, the head is %d", span.Oldest, span.Floor, state.Head.Number)
	}
	for e, err := range c.r.Walk(c.ctx, catalog.Undo, nil) {
		if err != nil {
			return fmt.Errorf("walk undo records: %w", err)
		}
		if len(e.Sort) != 8 {
			if err := c.problem("undo record with a key of %d bytes", len(e.Sort)); err != nil {
				return err
			}
			continue
		}
		n := binary.BigEndian.Uint64(e.Sort)
		if n < span.Oldest || n > state.Head.Number {
			if err := c.problem("undo record of block %d, which is not between %d and the head", n, span.Oldest); err != nil {
				return err
			}
			continue
		}
		c.report.UndoRecords++
		if err := c.undoRecord(n, e.Value); err != nil {
			return err
		}
	}
	for n := span.Floor; n <= state.Head.Number; n++ {
		if _, err := c.r.Get(c.ctx, index.UndoKey(n)); errors.Is(err, store.ErrNotFound) {
			if err := c.problem("block %d has no undo record", n); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// undoRecord takes a block back in thought: its record must answer what the block
// asks, and give the digest that the index has of it.
func (c *checker) undoRecord(n uint64, rec []byte) error {
	blk, _, err := index.LoadBlock(c.ctx, c.r, n)
	if err != nil {
		return c.problem("%v", err)
	}
	back, err := c.replay.TakeBack(c.ctx, blk, rec)
	if err != nil {
		return c.problem("block %d cannot be undone: %v", n, err)
	}
	stored, _, err := chain.DigestAt(c.ctx, c.r, n)
	if err != nil {
		return c.problem("%v", err)
	}
	if back.Head.Digest != stored {
		return c.problem("block %d has digest %x, its undo record gives %x", n, stored, back.Head.Digest)
	}
	return nil
}
