package index

import (
	"bytes"
	"errors"
	"testing"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// FuzzDecodeUndo: what decodes as an undo record survives another round, and
// what does not is called corrupt.
func FuzzDecodeUndo(f *testing.F) {
	keys := []store.Key{chain.HeadKey, block.Key(7), chain.DigestKey(7)}
	f.Add(encodeUndo(keys, [][]byte{[]byte("before"), nil, {}}))
	f.Add(encodeUndo(nil, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		ops, err := DecodeUndo(b, catalog.Subjects())
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		var keys []store.Key
		var before [][]byte
		for _, op := range ops {
			keys = append(keys, op.Key)
			if op.Delete {
				before = append(before, nil)
			} else {
				before = append(before, append([]byte{}, op.Value...))
			}
		}
		again, err := DecodeUndo(encodeUndo(keys, before), catalog.Subjects())
		if err != nil || len(again) != len(ops) {
			t.Fatalf("second round: %d changes, %v", len(again), err)
		}
		for i := range ops {
			a, b := &ops[i], &again[i]
			if a.Table != b.Table || a.Delete != b.Delete || !bytes.Equal(a.Partition, b.Partition) || !bytes.Equal(a.Sort, b.Sort) || !bytes.Equal(a.Value, b.Value) {
				t.Fatalf("change %d is %+v, was %+v", i, b, a)
			}
		}
	})
}
