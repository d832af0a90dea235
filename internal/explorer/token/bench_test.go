package token_test

import (
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/simnode"
)

// BenchmarkFollow is the serial part of a block of 290 events.
func BenchmarkFollow(b *testing.B) {
	c := simnode.New(simnode.Config{Seed: 1, Blocks: 12, TxPerBlock: 50, EventsPerTx: 5.78})
	n := uint64(2)
	for c.BlockAt(n).EventCount() < 250 {
		n++
	}
	blk := explorer.NewBlock(c.BlockAt(n), c.StateUpdateAt(n))
	b.ReportAllocs()
	for b.Loop() {
		plan := token.Subject{}.Plan(blk)
		if err := plan.Follow(make([][]byte, len(plan.Keys)), &explorer.Rows{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(blk.EventCount()), "events")
}
