package preview_test

import (
	"math/big"
	"testing"

	"chainexplorer/internal/explorer/preview"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// TestDeed holds what is said of every transaction of a chain against its blocks.
func TestDeed(t *testing.T) {
	w := newWorld(t)
	seen := map[preview.Kind]int{}
	var paid, several int
	for n := range w.head + 1 {
		b := w.chain.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			p := w.of(t, false, tx.Hash)[0]
			d := p.Deed(w.known)
			seen[d.Kind]++
			if d.Failed != (r.Execution == starknet.Reverted) || (d.Who == nil) != (tx.Type == starknet.L1Handler || tx.Type == starknet.Deploy) {
				t.Errorf("block %d, transaction %d: %+v", n, i, d)
			}
			if want := map[starknet.TxType]preview.Kind{starknet.Declare: preview.Declared, starknet.DeployAccount: preview.AccountDeployed, starknet.Deploy: preview.Deployed}; tx.Type != starknet.Invoke && tx.Type != starknet.L1Handler && d.Kind != want[tx.Type] {
				t.Errorf("block %d, transaction %d: a %s is %d", n, i, tx.Type, d.Kind)
			}
			if fee := p.FeeTransfer(); (fee >= 0) != (!r.ActualFee.IsZero()) {
				t.Errorf("block %d, transaction %d: the fee is at %d", n, i, fee)
			} else if fee >= 0 {
				paid++
			}
			if tx.Type != starknet.Invoke || d.Failed {
				if d.Given != nil || d.Got != nil {
					t.Errorf("block %d, transaction %d moves %v for %v", n, i, d.Given, d.Got)
				}
				continue
			}
			if d.More > 0 {
				several++
			}
			checkNets(t, n, i, b, &d)
			calls, _ := starknet.AccountCalls(tx.Calldata)
			if p.ByAccount && len(calls) == 1 && calls[0].Selector == contracts.SelFnTransfer && calls[0].To == contracts.STRK {
				if d.Kind != preview.Sent || d.To == nil || *d.To != calls[0].Calldata[0] || d.Others != 0 || d.More != 0 ||
					d.Given[0].Amount.Cmp(new(big.Int).SetBytes(calls[0].Calldata[1][:])) != 0 {
					t.Errorf("block %d, transaction %d: %+v", n, i, d)
				}
			}
		}
	}
	for _, kind := range []preview.Kind{preview.Called, preview.Sent, preview.Swapped, preview.Declared, preview.AccountDeployed, preview.Deposited, preview.Withdrawn} {
		if seen[kind] == 0 {
			t.Errorf("the chain has nothing of kind %d: %v", kind, seen)
		}
	}
	if paid == 0 || several == 0 {
		t.Errorf("%d fees, %d with several calls", paid, several)
	}
}

// checkNets adds the signer's transfers up by itself, the fee left out.
func checkNets(t *testing.T, n uint64, i int, b *starknet.Block, d *preview.Deed) {
	t.Helper()
	if d.Kind != preview.Called && d.Kind != preview.Swapped && (d.Kind != preview.Sent || d.To != nil) {
		return
	}
	events := b.Receipts[i].Events
	sums := map[felt.Felt]*big.Int{}
	for k := range events {
		if k == len(events)-1 && !b.Receipts[i].ActualFee.IsZero() {
			break
		}
		list, _ := transfer.Decode(&events[k])
		for _, x := range list {
			if sums[x.Token] == nil {
				sums[x.Token] = new(big.Int)
			}
			value := new(big.Int).SetBytes(x.Value[:])
			if x.From == *d.Who {
				sums[x.Token].Sub(sums[x.Token], value)
			}
			if x.To == *d.Who {
				sums[x.Token].Add(sums[x.Token], value)
			}
		}
	}
	for _, s := range d.Given {
		if s.Amount != nil && s.ID == nil && s.Amount.BitLen() > 8 && new(big.Int).Neg(s.Amount).Cmp(sums[s.Token]) != 0 {
			t.Errorf("block %d, transaction %d: gave %v of %s, not %v", n, i, s.Amount, s.Token, sums[s.Token])
		}
	}
	for _, s := range d.Got {
		if s.Amount != nil && s.Amount.BitLen() > 8 && s.Amount.Cmp(sums[s.Token]) != 0 {
			t.Errorf("block %d, transaction %d: got %v of %s, not %v", n, i, s.Amount, s.Token, sums[s.Token])
		}
	}
	if d.Kind == preview.Swapped && (len(d.Given) != 1 || len(d.Got) != 1) {
		t.Errorf("block %d, transaction %d: swapped %v for %v", n, i, d.Given, d.Got)
	}
}
