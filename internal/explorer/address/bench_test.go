package address_test

import (
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// BenchmarkBlock projects one crowded block of a simulated chain.
func BenchmarkBlock(b *testing.B) {
	var last *explorer.Block
	err := simnode.Generate(simnode.Config{Seed: 1, Blocks: 60, TxPerBlock: 50}, func(x *starknet.Block, su *starknet.StateUpdate) error {
		if last == nil || len(x.Transactions) > len(last.Transactions) {
			last = explorer.NewBlock(x, su)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	earlier := make([][]byte, len(address.Subject{}.Plan(last).Keys))
	b.Logf("%d transactions, %d addresses", len(last.Transactions), len(earlier))
	b.Run("project", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if err := (address.Subject{}).Project(last, &explorer.Rows{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			address.Subject{}.Plan(last)
		}
	})
	b.Run("plan and follow", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if err := (address.Subject{}).Plan(last).Follow(earlier, &explorer.Rows{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
