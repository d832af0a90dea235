package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// An undo record lists the rows that a block wrote and that may have been there
// before, with the value that they had, or none. The other rows of the block are
// those of dated tables, which are new by their keys: the block is projected again
// to find them. Undoing the newest blocks, newest first, gives back the rows of an
// older block byte for byte; no subject has code for it.

const (
	undoVersion     = 2
	undoSpanVersion = 1
)

// UndoSpan is what undo records there are: those of blocks Floor..head are
// complete, rows from Oldest on may exist and are pruned up to Floor.
type UndoSpan struct {
	Floor  uint64
	Oldest uint64
}

// UndoKey is the address of a block's undo record.
func UndoKey(number uint64) store.Key {
	return store.Key{Table: catalog.Undo, Partition: explorer.Span(number), Sort: explorer.BlockKey(number)}
}

// encodeUndo makes the record of a block that wrote rows with these values before.
func encodeUndo(keys []store.Key, before [][]byte) []byte {
	var e record.Encoder
	e.Reset(undoVersion)
	e.Uint(uint64(len(keys)))
	for i, k := range keys {
		e.Byte(k.Table.ID)
		e.Raw(k.Partition)
		e.Blob(k.Sort)
		if before[i] == nil {
			e.Byte(0)
			continue
		}
		e.Byte(1)
		e.Blob(before[i])
	}
	return e.Bytes()
}

// DecodeUndo turns a record into the changes that undo its block, but for the
// rows of dated tables.
func DecodeUndo(b []byte, subjects []explorer.Subject) ([]store.Op, error) {
	tables := tablesByID(subjects)
	d := record.NewDecoder(b, undoVersion)
	ops := make([]store.Op, d.Len(3))
	for i := range ops {
		id := d.Byte()
		t := tables[id]
		if t == nil {
			return nil, fmt.Errorf("%w: undo record names table %d", record.ErrCorrupt, id)
		}
		ops[i].Table = t
		ops[i].Partition = make([]byte, t.PartitionLen)
		d.Raw(ops[i].Partition)
		ops[i].Sort = d.Blob()
		switch d.Byte() {
		case 0:
			ops[i].Delete = true
		case 1:
			ops[i].Value = d.Blob()
		default:
			return nil, fmt.Errorf("%w: undo record has an unknown mark", record.ErrCorrupt)
		}
	}
	return ops, d.Finish()
}

func tablesByID(subjects []explorer.Subject) map[byte]*store.Table {
	m := map[byte]*store.Table{}
	add := func(ts ...*store.Table) {
		for _, t := range ts {
			m[t.ID] = t
		}
	}
	add(chain.Meta, chain.Digests)
	for _, s := range subjects {
		add(s.Tables()...)
	}
	return m
}

func encodeUndoSpan(u UndoSpan) []byte {
	var e record.Encoder
	e.Reset(undoSpanVersion)
	e.Uint(u.Floor)
	e.Uint(u.Oldest)
	return e.Bytes()
}

// ReadUndoSpan returns what undo records there are.
func ReadUndoSpan(ctx context.Context, r store.Reader) (u UndoSpan, err error) {
	b, err := r.Get(ctx, chain.UndoKey)
	if errors.Is(err, store.ErrNotFound) {
		return u, nil
	}
	if err != nil {
		return u, fmt.Errorf("read undo span: %w", err)
	}
	d := record.NewDecoder(b, undoSpanVersion)
	u.Floor, u.Oldest = d.Uint(), d.Uint()
	return u, d.Finish()
}

// rollbackBytes ends a rollback's commit. A deeper fork is undone in several,
// each of which leaves the index at a block.
const rollbackBytes = 256 << 20

// rollback undoes all blocks above ancestor.
func (x *Indexer) rollback(ctx context.Context, ancestor uint64) error {
	if ancestor+1 < x.undo.Floor {
		return &DeepForkError{Head: x.state.Head.Number, Floor: x.undo.Floor}
	}
	old := x.state
	x.Logger.Warn("fork: going back", "head", old.Head.Number, "ancestor", ancestor, "depth", old.Head.Number-ancestor)
	for x.state.Head.Number > ancestor {
		b := &store.Batch{Epoch: x.lease.Epoch}
		reached, err := x.undoBlocks(ctx, ancestor, b)
		if err != nil {
			return err
		}
		fork := chain.Fork{
			Count: old.Fork.Count + 1, Ancestor: reached, Depth: old.Head.Number - reached, OldHead: old.Head.Hash,
			BelowL1: old.HasL1 && old.L1.Number > reached,
		}
		b.Put(chain.ForkKey, fork.Encode())
		if x.state.HasL1 && x.state.L1.Number > reached {
			if err := x.lowerL1(ctx, reached, b); err != nil {
				return err
			}
		}
		if err := x.Store.Commit(ctx, b); err != nil {
			return fmt.Errorf("commit rollback to block %d: %w", reached, err)
		}
		if err := x.load(ctx); err != nil {
			return err
		}
		x.Announce(Announcement{Head: x.state.Head, Fork: &fork})
	}
	x.Metrics.fork(old.Head.Number - ancestor)
	x.Metrics.head(x.state.Head)
	return nil
}
