package api_test

import (
	"fmt"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// What the chain says of the transactions of addresses, from blocks, receipts and
// state diffs alone.

// spawned are the contracts that a universal deployer deployed in a transaction,
// which the block's state diff must have, too.
func (o *oracle) spawned(b *starknet.Block, tx int) (out []felt.Felt) {
	diff := o.Chain.StateUpdateAt(b.Number).Diff
	for _, e := range b.Receipts[tx].Events {
		if len(e.Keys) != 1 || e.Keys[0] != contracts.SelContractDeployed || len(e.Data) == 0 {
			continue
		}
		if !slices.Contains([]felt.Felt{contracts.LegacyUDC, contracts.MiddleUDC, contracts.CurrentUDC}, e.From) {
			continue
		}
		if slices.ContainsFunc(diff.Deployed, func(d starknet.DeployedContract) bool { return d.Address == e.Data[0] }) {
			out = append(out, e.Data[0])
		}
	}
	return out
}

// moveKind is how an address sees a transfer.
func moveKind(a felt.Felt, m *moved) string {
	switch {
	case m.from == m.to:
		return "transfer_self"
	case m.to == a:
		return "transfer_in"
	}
	return "transfer_out"
}

// transactionsOf joins what an address did by transaction, in the order of deeds.
func transactionsOf(a felt.Felt, deeds []deed) (out []deed) {
	for i := range deeds {
		d := &deeds[i]
		if n := len(out); n == 0 || out[n-1].b != d.b || out[n-1].tx != d.tx {
			out = append(out, deed{b: d.b, tx: d.tx})
		}
		last := &out[len(out)-1]
		if d.moved == nil {
			last.parts = append(slices.Clone(d.parts), last.parts...)
		} else if kind := moveKind(a, d.moved); !slices.Contains(last.parts, kind) {
			last.parts = append(last.parts, kind)
		}
	}
	order := append(slices.Clone(kindNames), "transfer_in", "transfer_out", "transfer_self")
	for i := range out {
		slices.SortFunc(out[i].parts, func(x, y string) int { return slices.Index(order, x) - slices.Index(order, y) })
	}
	return out
}

// ordered compares a list in both orders, whole and under every type.
func (o *oracle) ordered(op, path string, want []object, field string, types []string) {
	o.T.Helper()
	up := slices.Clone(want)
	slices.Reverse(up)
	limit := 100
	if len(want) <= 200 {
		limit = 7
	}
	o.sameList(path+" oldest first", up, o.pages(op, path+"?order=asc", limit, nil))
	for _, kind := range types {
		keep := func(list []object) []object {
			out := []object{}
			for _, row := range list {
				if row[field] == kind {
					out = append(out, row)
				}
			}
			return out
		}
		o.sameList(path+" "+kind, keep(want), o.pages(op, path+"?type="+kind, 100, nil))
		o.sameList(path+" oldest first "+kind, keep(up), o.pages(op, path+"?order=asc&type="+kind, limit, nil))
	}
}

// addressOrders compares the lists of an address in both orders and by type.
func (o *oracle) addressOrders(path string, activity, txs, transfers []object) {
	o.T.Helper()
	o.ordered("listAddressActivity", path+"/activity", activity, "kind",
		append(slices.Clone(kindNames), "transfer_in", "transfer_out", "transfer_self"))
	o.ordered("listAddressTransactions", path+"/transactions", txs, "txType", []string{"INVOKE", "DECLARE", "DEPLOY", "DEPLOY_ACCOUNT", "L1_HANDLER"})
	o.ordered("listAddressTransfers", path+"/transfers", transfers, "standard", []string{"erc20", "erc721", "erc1155"})
	if n := len(transfers); n > 0 {
		block := transfers[n/2]["blockNumber"].(uint64)
		want := slices.DeleteFunc(slices.Clone(transfers), func(t object) bool { return t["blockNumber"].(uint64) > block })
		slices.Reverse(want)
		o.sameList(path+" up to a block", want, o.pages("listAddressTransfers", fmt.Sprintf("%s/transfers?order=asc&to_block=%d", path, block), 100, nil))
	}
}
