package chain_test

import (
	"errors"
	"testing"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestFind: every way to say which block is meant.
func TestFind(t *testing.T) {
	e := pebbletest.Open(t, catalog.Tables())
	c := simnode.New(simnode.Config{Seed: 3, Blocks: 12})
	head, _ := c.Head()
	if err := simsource.Follow(t.Context(), e, c, head); err != nil {
		t.Fatal(err)
	}
	ref := func(n uint64) block.Ref { return block.Ref{Number: n, Hash: c.BlockAt(n).Hash} }
	seven, beyond, nowhere := uint64(7), head+1, felt.FromUint64(1)
	accepted := chain.L1(ref(5))
	for _, x := range []struct {
		name string
		l1   *chain.L1
		pin  chain.Pin
		want block.Ref
		err  error
	}{
		{"the newest", nil, chain.Pin{}, ref(head), nil},
		{"a number", nil, chain.Pin{Number: &seven}, ref(7), nil},
		{"a number above the head", nil, chain.Pin{Number: &beyond}, block.Ref{}, block.ErrNotFound},
		{"a hash", nil, chain.Pin{Hash: &c.BlockAt(3).Hash}, ref(3), nil},
		{"a hash that no block has", nil, chain.Pin{Hash: &nowhere}, block.Ref{}, block.ErrNotFound},
		{"what L1 accepted", &accepted, chain.Pin{L1: true}, ref(5), nil},
		{"nothing is accepted", nil, chain.Pin{L1: true}, block.Ref{}, chain.ErrNoL1},
	} {
		err := e.View(t.Context(), func(r store.Reader) error {
			state, err := chain.Read(t.Context(), r)
			if err != nil {
				return err
			}
			if state.HasL1 = x.l1 != nil; x.l1 != nil {
				state.L1 = *x.l1
			}
			got, err := state.Find(t.Context(), r, x.pin)
			if err == nil && got != x.want {
				t.Errorf("%s: %v, want %v", x.name, got, x.want)
			}
			return err
		})
		if !errors.Is(err, x.err) {
			t.Errorf("%s: %v, want %v", x.name, err, x.err)
		}
	}
}
