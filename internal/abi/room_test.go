package abi

import (
	"reflect"
	"testing"

	"chainexplorer/internal/felt"
)

// TestRecycledRoom reads events one after the other in one room, and finds in each what it finds without one.
func TestRecycledRoom(t *testing.T) {
	transfer := []felt.Felt{felt.Selector("Transfer")}
	batch := []felt.Felt{felt.Selector("TransferBatch"), felt.FromUint64(1), felt.FromUint64(2), felt.FromUint64(3)}
	room := &Room{}
	for round := range 6 {
		for n := range uint64(3 + 20*round) {
			data := []felt.Felt{felt.FromUint64(n), felt.Selector("to"), felt.FromUint64(n * n), {}}
			if n%3 == 0 { // two lists of n numbers
				data = nil
				for range 2 {
					data = append(data, felt.FromUint64(n))
					for i := range n {
						data = append(data, felt.FromUint64(i), felt.FromUint64(n))
					}
				}
			}
			keys, emitter := transfer, EmitterERC20
			if n%3 == 0 {
				keys, emitter = batch, EmitterERC1155
			}
			got, want := Attribute(&Evidence{Emitter: emitter, Room: room}, keys, data), Standard(emitter, keys, data)
			if want.Status != Decoded || !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d, event %d: %+v, want %+v", round, n, got, want)
			}
		}
		room.Recycle()
		if c := cap(room.fields); len(room.fields) > 0 || c > roomy || c < 4 {
			t.Fatalf("room for %d fields, of which %d are taken", c, len(room.fields))
		}
		for _, f := range room.fields[:cap(room.fields)] {
			if f.RawValues != nil || f.Label != "" {
				t.Fatalf("a recycled room remembers %+v", f)
			}
		}
	}
}
