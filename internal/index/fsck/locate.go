package fsck

import (
	"bytes"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// difference is a table whose rows do not add up to those that blocks explain.
type difference struct {
	table        *store.Table
	followed     bool // some of its rows build on earlier ones
	stored, want uint64
}

// locate names the rows by which tables differ from what the blocks explain: one read for
// each row of those tables. Of a list that builds on earlier rows it can say no more than
// that it differs.
func (c *checker) locate(wrong []difference) error {
	if len(wrong) == 0 {
		return nil
	}
	named := map[*store.Table]bool{} // of those that differ
	for _, d := range wrong {
		named[d.table] = false
	}
	for _, d := range wrong {
		if d.followed {
			if err := c.compareReplayed(d.table, named); err != nil {
				return err
			}
		}
	}
	if err := c.compareBlocks(named); err != nil {
		return err
	}
	for _, d := range wrong {
		var err error
		if d.stored != d.want {
			err = c.sameCount(d.table, d.stored, d.want, "the blocks explain %d")
		} else if !named[d.table] {
			err = c.problem("table %s has as many rows as the blocks explain, and not all of them are the same", d.table.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareReplayed holds the rows of a table that build on earlier ones against their replay.
func (c *checker) compareReplayed(t *store.Table, named map[*store.Table]bool) error {
	return c.Scratch.View(c.ctx, func(s store.Reader) error {
		for e, err := range (counted{s, c}).Walk(c.ctx, t, nil) {
			if err != nil {
				return fmt.Errorf("walk the replay of table %s: %w", t.Name, err)
			}
			k := store.Key{Table: t, Partition: e.Partition, Sort: e.Sort}
			got, err := c.r.Get(c.ctx, k)
			switch {
			case errors.Is(err, store.ErrNotFound):
				named[t] = true
				err = c.problem("row %x of table %s is missing", keyBytes(k), t.Name)
			case err == nil && !bytes.Equal(got, e.Value):
				named[t] = true
				err = c.problem("row %x of table %s differs from its replay", keyBytes(k), t.Name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// compareBlocks holds the rows of some tables that follow from one block alone against the
// blocks, as far as they could be read.
func (c *checker) compareBlocks(named map[*store.Table]bool) error {
	for n := range c.report.Blocks {
		if n%256 == 0 {
			c.at.Searched, c.at.SearchTotal = n, c.report.Blocks
			c.Progress(c.at)
		}
		b, _, err := index.LoadBlock(c.ctx, c.r, n)
		if err != nil {
			return c.unread(n, err)
		}
		if err := c.compareBlock(b, named); err != nil {
			return err
		}
	}
	c.at.Searched = c.report.Blocks
	c.Progress(c.at)
	return nil
}

func (c *checker) compareBlock(b *explorer.Block, named map[*store.Table]bool) error {
	begun, err := c.replay.Begin(b)
	if err != nil {
		return nil //nolint:nilerr // it was told of when the block was replayed
	}
	var keys []store.Key
	var want [][]byte
	for _, op := range begun.Own().Ops() {
		if _, wrong := named[op.Table]; wrong {
			keys, want = append(keys, op.Key), append(want, op.Value)
		}
	}
	values, err := c.r.GetMany(c.ctx, keys)
	if err != nil {
		return err
	}
	for i, k := range keys {
		switch {
		case values[i] == nil:
			named[k.Table] = true
			err = c.problem("block %d: row %x of table %s is missing", b.Number, keyBytes(k), k.Table.Name)
		case !bytes.Equal(values[i], want[i]):
			named[k.Table] = true
			err = c.problem("block %d: row %x of table %s differs from the block", b.Number, keyBytes(k), k.Table.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
