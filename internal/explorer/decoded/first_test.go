package decoded_test

import (
	"reflect"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// TestFirstCall: it is the first of all calls, whatever the transaction, and keeps nothing of it.
func TestFirstCall(t *testing.T) {
	kinds, without := map[starknet.TxType]int{}, 0
	err := simnode.Generate(simnode.Config{Seed: 9, Blocks: 120}, func(b *starknet.Block, _ *starknet.StateUpdate) error {
		for i := range b.Transactions {
			rec := &transaction.Record{Position: explorer.Position{Block: b.Number, Index: uint32(i)}, Transaction: b.Transactions[i], Receipt: b.Receipts[i]}
			all, _ := decoded.CallsOf(rec)
			var want decoded.Call
			if len(all) > 0 {
				want = all[0]
				if want.Calldata = nil; want.Class != nil {
					class := *want.Class
					want.Class = &class
				}
			}
			got, some := decoded.FirstCall(rec)
			*rec = transaction.Record{} // as a page does, whose records are one
			if some != (len(all) > 0) || some && !reflect.DeepEqual(got, want) {
				t.Errorf("transaction %d of block %d: %+v, %t, want %+v of %d", i, b.Number, got, some, want, len(all))
			}
			if kinds[b.Transactions[i].Type]++; !some {
				without++
			}
		}
		return nil
	})
	if err != nil || len(kinds) < 4 || without == 0 {
		t.Errorf("%v: %v, %d without a call", err, kinds, without)
	}
}
