package postings_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/explorer/postings"
)

// TestBuilder gathers lists side by side, block after block, and holds them
// against each written alone.
func TestBuilder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var b postings.Builder
	for block := range 50 {
		lists := make([]postings.List, 8)
		want := make([][]postings.Spot, len(lists))
		for tx := range uint32(20) {
			for log := range uint32(rng.IntN(6)) {
				for n := range lists[1:] { // the last stays empty
					for range rng.IntN(3) { // an event may be added twice
						s := tagged(tx, log, uint8(1+rng.IntN(3)))
						b.Add(&lists[n], s)
						if m := len(want[n]); m > 0 && want[n][m-1].Tx == tx && want[n][m-1].Log == log {
							want[n][m-1].Tag |= s.Tag
						} else {
							want[n] = append(want[n], s)
						}
					}
				}
			}
		}
		for n, l := range lists {
			if l.Empty() != (len(want[n]) == 0) {
				t.Fatalf("block %d: list %d with %d places says empty: %t", block, n, len(want[n]), l.Empty())
			}
			if l.Empty() {
				continue
			}
			got := b.Append([]byte{9}, postings.Tagged, l)
			if alone := postings.Tagged.Encode([]byte{9}, want[n]...); !bytes.Equal(got, alone) {
				t.Fatalf("block %d: list %d is %x, want %x", block, n, got, alone)
			}
		}
		if !b.Reset() {
			t.Fatal("a usual block is huge")
		}
	}
}

// TestBuilderLetsGo: one huge block does not hold memory for ever.
func TestBuilderLetsGo(t *testing.T) {
	var b postings.Builder
	var l postings.List
	for n := range uint32(1<<16 + 1) {
		b.Add(&l, at(0, n))
	}
	if b.Reset() {
		t.Error("the memory of a huge block was kept")
	}
	l = postings.List{}
	b.Add(&l, at(2, 1))
	if got := b.Append(nil, postings.Plain, l); !bytes.Equal(got, []byte{4, 1}) {
		t.Errorf("behind a huge block the list is %x", got)
	}
	if !b.Reset() {
		t.Error("a small block behind a huge one is huge")
	}
}

// TestBuilderReuses: a block like the one before it allocates nothing.
func TestBuilderReuses(t *testing.T) {
	var b postings.Builder
	var buf []byte
	fill := func() {
		b.Reset()
		var l postings.List
		for n := range uint32(300) {
			b.Add(&l, at(n, n))
		}
		buf = b.Append(buf[:0], postings.Plain, l)
	}
	fill()
	if n := testing.AllocsPerRun(20, fill); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
