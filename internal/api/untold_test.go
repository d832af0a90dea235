package api_test

import (
	"fmt"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// TestUntold: what a block of the first years does not have, and nodes tell of as zero or nothing, is null.
func TestUntold(t *testing.T) {
	for _, c := range []struct {
		old   bool
		price uint64
	}{{true, 0}, {false, 7}} {
		w := newWorld(t, 12)
		number, at := uint64(0), 0
		for n := uint64(3); number == 0; n++ {
			for i := range w.Chain.BlockAt(n).Transactions {
				if w.Chain.BlockAt(n).Transactions[i].Type == starknet.Invoke {
					number, at = n, i
				}
			}
		}
		w.Rewrite(number, func(b *starknet.Block) {
			price := starknet.GasPrice{InWei: felt.FromUint64(c.price), InFri: felt.FromUint64(c.price)}
			b.L1GasPrice, b.L2GasPrice, b.L1DataGasPrice = price, price, price
			r := &b.Receipts[at]
			r.Execution, r.Resources.L2Gas, r.RevertReason = starknet.Reverted, 5, "because"
			if c.old {
				b.Sequencer, b.StarknetVersion, r.RevertReason = felt.Zero, "", ""
			}
		})
		var b api.Block
		w.Get(fmt.Sprintf("/block/%d", number), &b)
		var tx api.Tx
		w.Get("/tx/"+w.Chain.BlockAt(number).Transactions[at].Hash.String(), &tx)
		for name, missing := range map[string]bool{
			"sequencer": b.SequencerAddress == nil, "version": b.StarknetVersion == nil, "L1 gas in wei": b.L1GasPrice.PriceInWei == nil, "L2 gas in fri": b.L2GasPrice.PriceInFri == nil,
			"L1 data gas": b.L1DataGasPrice.PriceInFri == nil, "reason": tx.Receipt.RevertReason == nil, "price": tx.Receipt.EffectiveGasPrice == nil,
		} {
			if missing != c.old {
				t.Errorf("old %t: %s is null: %t", c.old, name, missing)
			}
		}
		if tx.Receipt.GasUsed == nil || *tx.Receipt.GasUsed != "5" || *tx.ExecutionStatus != "REVERTED" {
			t.Errorf("old %t: %+v", c.old, tx.Receipt)
		}
	}
}
