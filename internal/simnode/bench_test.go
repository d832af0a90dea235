package simnode_test

import (
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

func BenchmarkGenerate(b *testing.B) {
	for _, load := range []struct {
		name string
		cfg  simnode.Config
	}{
		{"small", simnode.Config{TxPerBlock: 5}},
		{"heavy", simnode.Config{TxPerBlock: 50, EventsPerTx: 5.8}},
		{"real", simnode.Config{TxPerBlock: 5, RealHashes: true}},
	} {
		b.Run(load.name, func(b *testing.B) {
			cfg := load.cfg
			cfg.Blocks = b.N
			txs, events := 0, 0
			err := simnode.Generate(cfg, func(block *starknet.Block, _ *starknet.StateUpdate) error {
				txs += len(block.Transactions)
				events += block.EventCount()
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
			b.ReportMetric(float64(txs)/float64(b.N), "txs/block")
			b.ReportMetric(float64(events)/float64(b.N), "events/block")
		})
	}
}
