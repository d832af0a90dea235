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

// An undo record holds what a block found when it was indexed, and nothing that the
// block tells: the answers that its followers were given, and the values of the
// other rows that it wrote and that may have been there before. No row is named. A
// block that is projected again upon the same answers asks for the same rows, and
// writes the same, in the same order; its digest says whether it did. Rows of dated
// tables are new by their keys. Undoing the newest blocks, newest first, gives back
// the rows of an older block byte for byte; no subject has code for it.

const (
	undoVersion     = 3
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
	return store.Key{Table: catalog.Undo, Partition: explorer.Stretch(number), Sort: explorer.BlockKey(number)}
}

// found is what a block finds of earlier rows.
type found struct {
	keys   register
	at     []int    // number of the row's value, by the row's
	values [][]byte // nil for a row that was not there
}

// reset is for the next block. It keeps the memory of keys.
func (f *found) reset() {
	f.keys.reset()
	f.at = f.at[:0]
	f.values = make([][]byte, 0, len(f.values)+len(f.values)/8)
}

// asked notes the answers to a question. Keys are looked at now: followers may use
// their memory again.
func (f *found) asked(keys []store.Key, values [][]byte) {
	var buf [96]byte
	for i := range keys {
		if _, twice := f.keys.number(overlayKey(buf[:0], keys[i])); !twice {
			f.at = append(f.at, len(f.values)+i)
		}
	}
	f.values = append(f.values, values...)
}

// others are the rows among those that a block writes which may have been there and
// were not asked for. Their values are to be noted next, in this order.
func (f *found) others(dated *[256]bool, lists ...*store.Changes) (keys []store.Key) {
	for _, changes := range lists {
		list := changes.List()
		for i := range list {
			if dated[list[i].ID] {
				continue
			}
			if _, known := f.keys.number(changes.Key(&list[i])); !known {
				keys = append(keys, changes.Op(&list[i]).Key)
			}
		}
	}
	return keys
}

// encodeUndo makes the record of a block that found this, upon this parent if it
// has one. It is there until the encoder makes another.
func encodeUndo(e *record.Encoder, parent *chain.Head, values [][]byte) []byte {
	e.Reset(undoVersion)
	var head []byte
	if parent != nil {
		head = parent.Encode()
	}
	e.Uint(uint64(len(values)))
	putEarlier(e, head)
	for _, v := range values {
		putEarlier(e, v)
	}
	return e.Bytes()
}

// putEarlier appends a value that a row had, or that it was not there.
func putEarlier(e *record.Encoder, value []byte) {
	if value == nil {
		e.Byte(0)
		return
	}
	e.Byte(1)
	e.Blob(value)
}

// undoRecord is what an undo record says.
type undoRecord struct {
	parent *chain.Head // nil for a first block
	values [][]byte
}

func decodeUndo(rec []byte) (u undoRecord, err error) {
	d := record.NewDecoder(rec, undoVersion)
	values := make([][]byte, 1+d.Len(1))
	arena := make([]byte, 0, len(rec)) // all values together are no longer
	for i := range values {
		switch d.Byte() {
		case 0:
		case 1:
			from := len(arena)
			arena = d.AppendBlob(arena)
			values[i] = arena[from:len(arena):len(arena)]
		default:
			return u, fmt.Errorf("%w: undo record has an unknown mark", record.ErrCorrupt)
		}
	}
	if err := d.Finish(); err != nil {
		return u, err
	}
	if values[0] != nil {
		head, err := chain.DecodeHead(values[0])
		if err != nil {
			return u, err
		}
		u.parent = &head
	}
	u.values = values[1:]
	return u, nil
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
