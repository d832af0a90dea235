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
	return decodeUndo(b, tablesByID(subjects))
}

func decodeUndo(b []byte, tables *[256]*store.Table) ([]store.Op, error) {
	d := record.NewDecoder(b, undoVersion)
	ops := make([]store.Op, d.Len(3))
	arena := make([]byte, 0, len(b)) // all keys and values together are no longer
	cut := func(from int) []byte { return arena[from:len(arena):len(arena)] }
	for i := range ops {
		id := d.Byte()
		t := tables[id]
		if t == nil {
			return nil, fmt.Errorf("%w: undo record names table %d", record.ErrCorrupt, id)
		}
		ops[i].Table = t
		from := len(arena)
		if from+t.PartitionLen > cap(arena) {
			return nil, fmt.Errorf("%w: undo record ends early", record.ErrCorrupt)
		}
		arena = arena[:from+t.PartitionLen]
		d.Raw(arena[from:])
		ops[i].Partition = cut(from)
		from = len(arena)
		arena = d.AppendBlob(arena)
		ops[i].Sort = cut(from)
		switch d.Byte() {
		case 0:
			ops[i].Delete = true
		case 1:
			from = len(arena)
			arena = d.AppendBlob(arena)
			ops[i].Value = cut(from)
		default:
			return nil, fmt.Errorf("%w: undo record has an unknown mark", record.ErrCorrupt)
		}
	}
	return ops, d.Finish()
}

func tablesByID(subjects []explorer.Subject) *[256]*store.Table {
	m := &[256]*store.Table{}
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
