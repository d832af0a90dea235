package fsck

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// tables counts every table and compares the replayed ones row by row.
func (c *checker) tables() error {
	c.expected[chain.Digests] = c.report.Blocks
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
	for _, t := range tables {
		var n uint64
		for _, err := range c.r.Walk(c.ctx, t, nil) {
			if err != nil {
				return fmt.Errorf("walk table %s: %w", t.Name, err)
			}
			n++
		}
		c.report.Rows[t.Name] = n
		switch {
		case t == chain.Meta:
		case t == catalog.Undo:
			if n != c.report.UndoRecords {
				if err := c.problem("table %s has %d rows, %d belong to blocks", t.Name, n, c.report.UndoRecords); err != nil {
					return err
				}
			}
		case followed[t]:
			if err := c.compareReplayed(t, n); err != nil {
				return err
			}
		case n != c.expected[t]:
			if err := c.problem("table %s has %d rows, the blocks explain %d", t.Name, n, c.expected[t]); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareReplayed holds a table of a follower against its replay. Rows that
// follow from one block alone were compared with the block already.
func (c *checker) compareReplayed(t *store.Table, rows uint64) error {
	var replayed uint64
	err := c.Scratch.View(c.ctx, func(s store.Reader) error {
		for e, err := range (counted{s, c}).Walk(c.ctx, t, nil) {
			if err != nil {
				return fmt.Errorf("walk the replay of table %s: %w", t.Name, err)
			}
			replayed++
			k := store.Key{Table: t, Partition: e.Partition, Sort: e.Sort}
			got, err := c.r.Get(c.ctx, k)
			switch {
			case errors.Is(err, store.ErrNotFound):
				err = c.problem("row %x of table %s is missing", keyBytes(k), t.Name)
			case err == nil && !bytes.Equal(got, e.Value):
				err = c.problem("row %x of table %s differs from its replay", keyBytes(k), t.Name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if want := replayed + c.expected[t]; rows != want {
		return c.problem("table %s has %d rows, the blocks explain %d", t.Name, rows, want)
	}
	return nil
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

// scratch holds the replayed rows of followers. Rows that are not written out
// yet are answered from memory.
type scratch struct {
	ctx    context.Context
	engine store.Engine
	lease  store.Lease
	batch  store.Batch
	fresh  map[string][]byte
}

const scratchBytes = 16 << 20

func newScratch(ctx context.Context, e store.Engine) (*scratch, error) {
	lease, err := e.Acquire(ctx, store.Writer, "fsck", time.Hour)
	if err != nil {
		return nil, fmt.Errorf("open the scratch store: %w", err)
	}
	return &scratch{ctx: ctx, engine: e, lease: lease, fresh: map[string][]byte{}}, nil
}

func scratchKey(k store.Key) string {
	return string(append(append([]byte{k.Table.ID}, k.Partition...), k.Sort...))
}

func (s *scratch) add(op *store.Op) error {
	if op.Delete {
		s.batch.Delete(op.Key)
		s.fresh[scratchKey(op.Key)] = nil
	} else {
		s.batch.Put(op.Key, op.Value)
		s.fresh[scratchKey(op.Key)] = append([]byte{}, op.Value...)
	}
	if s.batch.Bytes() < scratchBytes {
		return nil
	}
	return s.flush()
}

func (s *scratch) flush() error {
	s.batch.Epoch = s.lease.Epoch
	if err := s.engine.Commit(s.ctx, &s.batch); err != nil {
		return fmt.Errorf("write the scratch store: %w", err)
	}
	s.batch.Reset()
	clear(s.fresh)
	return nil
}

// GetMany answers the earlier rows of a replayed block.
func (s *scratch) GetMany(ctx context.Context, keys []store.Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		if v, ok := s.fresh[scratchKey(k)]; ok {
			out[i] = v
			continue
		}
		err := s.engine.View(ctx, func(r store.Reader) error {
			v, err := r.Get(ctx, k)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			out[i] = v
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
