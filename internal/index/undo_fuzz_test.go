package index

import (
	"bytes"
	"errors"
	"testing"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store/record"
)

// FuzzDecodeUndo: what decodes as an undo record survives another round, and
// what does not is called corrupt.
func FuzzDecodeUndo(f *testing.F) {
	f.Add(encodeUndo(&record.Encoder{}, &chain.Head{Number: 7}, [][]byte{[]byte("before"), nil, {}}))
	f.Add(encodeUndo(&record.Encoder{}, nil, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		undo, err := decodeUndo(b)
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := decodeUndo(encodeUndo(&record.Encoder{}, undo.parent, undo.values))
		if err != nil || len(again.values) != len(undo.values) || (again.parent == nil) != (undo.parent == nil) ||
			undo.parent != nil && *again.parent != *undo.parent {
			t.Fatalf("second round: %d values upon %v, %v", len(again.values), again.parent, err)
		}
		for i, v := range undo.values {
			if w := again.values[i]; (v == nil) != (w == nil) || !bytes.Equal(v, w) {
				t.Fatalf("value %d is %x, was %x", i, w, v)
			}
		}
	})
}
