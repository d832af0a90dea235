package main

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"chainexplorer/internal/felt"
)

// What the node says, as far as it is compared.
type (
	nodeBlock struct {
		Number       uint64    `json:"block_number"`
		Hash         felt.Felt `json:"block_hash"`
		Parent       felt.Felt `json:"parent_hash"`
		Timestamp    int64     `json:"timestamp"`
		Version      string    `json:"starknet_version"`
		Transactions []struct {
			Receipt     nodeReceipt
			Transaction struct {
				Type   string
				Sender felt.Felt `json:"sender_address"`
				Nonce  felt.Felt
				Class  *felt.Felt `json:"class_hash"`
			}
		}
	}
	nodeReceipt struct {
		Hash      felt.Felt `json:"transaction_hash"`
		Type      string
		Execution string `json:"execution_status"`
		Reason    string `json:"revert_reason"`
		Fee       struct {
			Amount felt.Felt
			Unit   string
		} `json:"actual_fee"`
		Events []nodeEvent
	}
	nodeEvent struct {
		From felt.Felt `json:"from_address"`
		Keys []felt.Felt
		Data []felt.Felt
	}
	nodeDiff struct {
		Deployed []struct {
			Address felt.Felt
			Class   felt.Felt `json:"class_hash"`
		} `json:"deployed_contracts"`
		Declared []struct {
			Class    felt.Felt `json:"class_hash"`
			Compiled felt.Felt `json:"compiled_class_hash"`
		} `json:"declared_classes"`
	}
)

// same compares what the service says with what the node says.
func (l *local) same(what string, got, want any) {
	l.t.Helper()
	if !reflect.DeepEqual(got, want) {
		l.t.Errorf("%s: the service says %v, the node %v", what, got, want)
	}
}

// compare waits for the newest block and compares everything.
func (l *local) compare() {
	l.t.Helper()
	l.caughtUp()
	l.until("the contracts that were there before the first block", func() bool {
		var c struct{ Items []any }
		l.get("/search?q="+l.net.Accounts[0].Address.String(), &struct{}{})
		l.get("/contract/"+strk.String()+"/classes", &c)
		return len(c.Items) > 0
	})
	var head struct {
		Number uint64 `json:"block_number"`
	}
	l.net.Call(l.t, "starknet_blockHashAndNumber", map[string]any{}, &head)
	moved := map[felt.Felt]map[felt.Felt]*big.Int{}
	used := map[felt.Felt]bool{}
	for n := range head.Number + 1 {
		l.compareBlock(n, moved, used)
	}
	l.compareBalances(moved)
	l.compareContracts(used)
	l.compareEvents()
}

func (l *local) compareBlock(n uint64, moved map[felt.Felt]map[felt.Felt]*big.Int, used map[felt.Felt]bool) {
	l.t.Helper()
	at := map[string]any{"block_id": map[string]any{"block_number": n}}
	var want nodeBlock
	l.net.Call(l.t, "starknet_getBlockWithReceipts", at, &want)
	var update struct {
		Diff nodeDiff `json:"state_diff"`
	}
	l.net.Call(l.t, "starknet_getStateUpdate", at, &update)
	var got struct {
		BlockNumber, TxCount  uint64
		BlockHash, ParentHash felt.Felt
		StarknetVersion       string
		Transactions          []struct{ TxHash felt.Felt }
	}
	l.get(fmt.Sprintf("/block/%d?tx_limit=200", n), &got)
	name := fmt.Sprintf("block %d", n)
	l.same(name, []any{got.BlockNumber, got.BlockHash, got.ParentHash, got.StarknetVersion, int(got.TxCount), len(got.Transactions)},
		[]any{want.Number, want.Hash, want.Parent, want.Version, len(want.Transactions), len(want.Transactions)})
	for i := range want.Transactions {
		tx := &want.Transactions[i]
		l.compareTransaction(tx.Transaction.Type, tx.Transaction.Sender, &tx.Receipt, moved)
		used[tx.Transaction.Sender] = true
		for _, e := range tx.Receipt.Events {
			used[e.From] = true
		}
	}
	for _, d := range update.Diff.Declared {
		var class struct {
			ClassHash, CompiledClassHash felt.Felt
			DeclaredBlock                uint64
			AbiStatus                    string
		}
		l.get("/class/"+d.Class.String(), &class)
		l.same("class "+d.Class.String(), []any{class.ClassHash, class.CompiledClassHash, class.DeclaredBlock, class.AbiStatus}, []any{d.Class, d.Compiled, n, "fetched"})
	}
	for _, d := range update.Diff.Deployed {
		var c struct {
			DeploymentClassHash felt.Felt
			DeployedAtBlock     uint64
			DeployedByAddress   *felt.Felt
		}
		l.get("/contract/"+d.Address.String(), &c)
		l.same("deployment of "+d.Address.String(), []any{c.DeploymentClassHash, c.DeployedAtBlock, *c.DeployedByAddress}, []any{d.Class, n, l.net.Accounts[0].Address})
	}
}

var transferSelector = felt.Selector("Transfer")

// transferOf reads the event of a transfer, of both forms that the tokens here have.
func (e *nodeEvent) transferOf() (from, to felt.Felt, amount *big.Int, ok bool) {
	switch {
	case len(e.Keys) == 3 && e.Keys[0] == transferSelector && len(e.Data) == 2:
		return e.Keys[1], e.Keys[2], e.Data[0].Big(), true
	case len(e.Keys) == 1 && e.Keys[0] == transferSelector && len(e.Data) == 4:
		return e.Data[0], e.Data[1], e.Data[2].Big(), true
	}
	return from, to, nil, false
}

func (l *local) compareTransaction(kind string, sender felt.Felt, want *nodeReceipt, moved map[felt.Felt]map[felt.Felt]*big.Int) {
	l.t.Helper()
	var got struct {
		TxType, ExecutionStatus string
		FromAddress             felt.Felt
		DeclaredClassHash       *felt.Felt
		Receipt                 struct {
			ActualFeeAmount felt.Felt
			ActualFeeUnit   string
			RevertReason    *string
		}
		Logs []struct {
			Address    felt.Felt
			Keys, Data []felt.Felt
		}
		TokenTransfers []struct{ TokenAddress, FromAddress, ToAddress, Amount string }
	}
	l.get("/tx/"+want.Hash.String(), &got)
	name := "transaction " + want.Hash.String()
	reason := ""
	if got.Receipt.RevertReason != nil {
		reason = *got.Receipt.RevertReason
	}
	l.same(name, []any{got.TxType, got.ExecutionStatus, got.FromAddress, got.Receipt.ActualFeeAmount, got.Receipt.ActualFeeUnit, reason, len(got.Logs)},
		[]any{kind, want.Execution, sender, want.Fee.Amount, want.Fee.Unit, want.Reason, len(want.Events)})
	if class, declares := l.declared[want.Hash]; declares != (got.DeclaredClassHash != nil) || declares && *got.DeclaredClassHash != class {
		l.t.Errorf("%s declares %v, the service says %v", name, class, got.DeclaredClassHash)
	}
	transfers := [][4]string{}
	for i, e := range want.Events {
		l.same(fmt.Sprintf("%s, event %d", name, i), nodeEvent{got.Logs[i].Address, got.Logs[i].Keys, got.Logs[i].Data}, e)
		from, to, amount, ok := e.transferOf()
		if !ok {
			continue
		}
		transfers = append(transfers, [4]string{e.From.String(), from.String(), to.String(), amount.String()})
		if moved[e.From] == nil {
			moved[e.From] = map[felt.Felt]*big.Int{}
		}
		for _, p := range []struct {
			who  felt.Felt
			sign int64
		}{{from, -1}, {to, 1}} {
			if moved[e.From][p.who] == nil {
				moved[e.From][p.who] = new(big.Int)
			}
			moved[e.From][p.who].Add(moved[e.From][p.who], new(big.Int).Mul(amount, big.NewInt(p.sign)))
		}
	}
	shown := [][4]string{}
	for _, x := range got.TokenTransfers {
		shown = append(shown, [4]string{x.TokenAddress, x.FromAddress, x.ToAddress, x.Amount})
	}
	l.same(name+", transfers", shown, transfers)
}

// compareBalances asks for the balance of everybody who had a part in a transfer.
// What transfers add up to is shown for the token that began with nothing, and for
// those of the first block it is not: they began with balances that no event tells of.
func (l *local) compareBalances(moved map[felt.Felt]map[felt.Felt]*big.Int) {
	l.t.Helper()
	for token, holders := range moved {
		for holder, sum := range holders {
			if holder.IsZero() {
				continue
			}
			var want []felt.Felt
			err := l.net.Ask(l.t.Context(), "starknet_call", map[string]any{"block_id": "latest", "request": map[string]any{
				"contract_address": token, "entry_point_selector": felt.Selector("balance_of"), "calldata": []felt.Felt{holder}}}, &want)
			if err != nil {
				continue // the token was upgraded to something that has no balances
			}
			var got struct {
				BalanceRaw                      string
				IndexedBalance                  *struct{ BalanceRaw string }
				IndexedBalanceUnavailableReason *string
			}
			l.get("/token/"+token.String()+"/balance-of/"+holder.String(), &got)
			name := "balance of " + holder.String() + " in " + token.String()
			l.same(name, got.BalanceRaw, want[0].Big().String())
			switch {
			case token == l.token && (got.IndexedBalance == nil || got.IndexedBalance.BalanceRaw != sum.String() || got.IndexedBalanceUnavailableReason != nil):
				l.t.Errorf("%s: transfers add up to %s, the service says %+v", name, sum, got)
			case token != l.token && (got.IndexedBalance != nil || got.IndexedBalanceUnavailableReason == nil || *got.IndexedBalanceUnavailableReason != "genesis_state_without_events"):
				l.t.Errorf("%s: transfers do not explain it, the service says %+v", name, got)
			}
		}
	}
}

// compareContracts asks for the class of every contract that was used.
func (l *local) compareContracts(used map[felt.Felt]bool) {
	l.t.Helper()
	for address := range used {
		var want felt.Felt
		l.net.Call(l.t, "starknet_getClassHashAt", map[string]any{"block_id": "latest", "contract_address": address}, &want)
		var got struct{ ClassHash felt.Felt }
		l.get("/contract/"+address.String(), &got)
		l.same("class of "+address.String(), got.ClassHash, want)
		var class struct{ AbiStatus string }
		l.get("/class/"+want.String(), &class)
		l.same("ABI of class "+want.String(), class.AbiStatus, "fetched")
	}
}

// compareEvents lists the events of two contracts by the node's own search.
func (l *local) compareEvents() {
	l.t.Helper()
	for _, address := range []felt.Felt{strk, l.token} {
		var want struct{ Events []nodeEvent }
		l.net.Call(l.t, "starknet_getEvents", map[string]any{"filter": map[string]any{
			"from_block": map[string]any{"block_number": 0}, "to_block": "latest", "address": address, "chunk_size": 1000}}, &want)
		var got struct {
			Items []struct {
				Address    felt.Felt
				Keys, Data []felt.Felt
				EventName  *string
			}
			NextCursor *string
		}
		l.get("/contract/"+address.String()+"/events?limit=100", &got)
		events := []nodeEvent{}
		for _, e := range slices.Backward(got.Items) {
			events = append(events, nodeEvent{e.Address, e.Keys, e.Data})
			if e.EventName == nil {
				l.t.Errorf("an event of %s has no name: %v", address, e.Keys)
			}
		}
		l.same("events of "+address.String(), events, want.Events)
	}
}
