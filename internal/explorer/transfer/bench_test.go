package transfer_test

import (
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// BenchmarkProject is the cost on the write path, per block of 50 transactions
// and 290 events.
func BenchmarkProject(b *testing.B) {
	var blocks []*explorer.Block
	err := simnode.Generate(simnode.Config{Seed: 1, Blocks: 200, TxPerBlock: 50, EventsPerTx: 5.78},
		func(blk *starknet.Block, su *starknet.StateUpdate) error {
			if blk.Number >= 100 {
				blocks = append(blocks, explorer.NewBlock(blk, su))
			}
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := (transfer.Subject{}).Project(blocks[i%len(blocks)], &explorer.Rows{}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
