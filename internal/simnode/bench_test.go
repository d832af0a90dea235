package simnode_test

import (
	"fmt"
	"runtime"
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

// BenchmarkServe is how fast a node answers what an indexer asks for.
func BenchmarkServe(b *testing.B) {
	chain := simnode.New(simnode.Config{Blocks: 200, TxPerBlock: 50, EventsPerTx: 5.8})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	size := 0
	for i := range b.N {
		id := fmt.Sprintf(`{"block_number":%d}`, 2+i%198)
		resp := post(n, `[{"jsonrpc":"2.0","id":1,"method":"starknet_getBlockWithReceipts","params":{"block_id":`+id+`}},`+
			`{"jsonrpc":"2.0","id":2,"method":"starknet_getStateUpdate","params":{"block_id":`+id+`}}]`)
		size += int(resp.ContentLength)
	}
	b.SetBytes(int64(size / b.N))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
}

var kept *simnode.Chain

// BenchmarkKept is what a kept chain costs in memory.
func BenchmarkKept(b *testing.B) {
	for name, compact := range map[string]bool{"loose": false, "compact": true} {
		b.Run(name, func(b *testing.B) {
			kept = nil
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			kept = simnode.New(simnode.Config{Blocks: b.N, TxPerBlock: 50, EventsPerTx: 5.8, Compact: compact})
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "held-bytes/block")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
		})
	}
}
