package api_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

func (o *oracle) registryTokens() map[felt.Felt]registry.Token {
	out := map[felt.Felt]registry.Token{}
	for _, t := range o.Registry.Tokens() {
		out[t.Address] = t
	}
	return out
}

// wantContract is what the chain's diffs, transactions and deployer events say of
// a contract that exists.
func (o *oracle) wantContract(a felt.Felt) object {
	out := object{"chainId": chainID, "address": a, "deployedByAddress": nil, "deployedAtTx": nil, "classHashFinality": nil, "alias": nil, "isToken": nil,
		"tokenKind": nil, "metadataCompleteness": true, "source": "indexed_read_model"}
	for n := range o.head() + 1 {
		b, diff := o.Chain.BlockAt(n), o.Chain.StateUpdateAt(n).Diff
		for _, d := range diff.Deployed {
			if d.Address == a {
				o.born(out, a, b, d.ClassHash)
			}
		}
		for _, r := range diff.Replaced {
			if r.Address == a {
				out["classHash"], out["currentClassHash"], out["classHashSource"] = r.ClassHash, r.ClassHash, "state_diff_replaced_class"
				out["classHashAsOfBlock"], out["classHashAsOfBlockHash"] = n, b.Hash
			}
		}
	}
	if o.tier(out["classHashAsOfBlock"].(uint64)) == "finalized" {
		out["classHashFinality"] = "finalized"
	}
	unproven(out)
	c, _ := o.Chain.ClassAt(a, o.head())
	out["isAccount"] = class.Materialize(&c.Class).Account
	o.wantKind(out, a, out["isAccount"])
	if kind := o.tokenKind(a); kind != nil {
		out["isToken"], out["tokenKind"] = true, kind
		if t, ok := o.Registry.Token(a); ok {
			out["alias"] = t.Name
		} else if k := o.tokensByAddress()[a]; k != nil {
			out["alias"], _, _ = o.wantNames(k)
		} else {
			out["alias"] = anything
		}
	}
	return out
}

// tokenKind is the standard of a contract that is a token. Those that the chain
// does not count among its tokens are told by their class.
func (o *oracle) tokenKind(a felt.Felt) any {
	if k := o.tokensByAddress()[a]; k != nil {
		return standardNames[k.Standard]
	}
	c, ok := o.Chain.ClassAt(a, o.head())
	if !ok {
		return nil
	}
	name, ok := map[abi.Emitter]string{abi.EmitterERC20: "erc20", abi.EmitterERC721: "erc721", abi.EmitterERC1155: "erc1155"}[class.Materialize(&c.Class).Token]
	if !ok {
		return nil
	}
	return name
}

// untouched says that a token never moved.
func (o *oracle) untouched(a felt.Felt) bool {
	return len(o.Chain.Events(simnode.EventFilter{To: o.head(), Addresses: []felt.Felt{a}, Keys: [][]felt.Felt{{felt.Selector("Transfer"), felt.Selector("TransferSingle"), felt.Selector("TransferBatch")}}})) == 0
}

// born fills in what the block of the deployment tells.
func (o *oracle) born(out object, a felt.Felt, b *starknet.Block, classHash felt.Felt) {
	out["deploymentClassHash"], out["classHash"], out["currentClassHash"] = classHash, classHash, classHash
	out["classHashSource"], out["classHashAsOfBlock"], out["classHashAsOfBlockHash"] = "state_diff_deployed_contract", b.Number, b.Hash
	out["deployedAtBlock"], out["createdOnIso"] = b.Number, iso(b.Timestamp)
	p := object{"status": "unavailable", "reasonCode": "transaction_trace_not_certified", "evidenceSource": "starknet_state_diff_boundary",
		"deployedAtBlock": b.Number, "deployedAtBlockHash": b.Hash, "transactionHash": nil, "deploymentKind": nil, "originAddress": nil, "factoryAddress": nil, "originDependent": nil}
	out["deploymentProvenance"] = p
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		if (t.Type == starknet.DeployAccount || t.Type == starknet.Deploy) && r.ContractAddress == a {
			p["status"], p["transactionHash"] = "not_applicable", t.Hash
			p["deploymentKind"], p["reasonCode"] = "deploy_account", "deploy_account_has_no_external_deployer"
			if t.Type == starknet.Deploy {
				p["deploymentKind"], p["reasonCode"] = "legacy_deploy", "legacy_deploy_has_no_external_deployer"
			}
			out["deployedAtTx"] = t.Hash
		}
		for _, e := range r.Events {
			if len(e.Keys) != 1 || e.Keys[0] != contracts.SelContractDeployed || e.Data[0] != a {
				continue
			}
			p["status"], p["reasonCode"] = "known", "deployer_event"
			p["transactionHash"], p["deploymentKind"], p["originAddress"], p["factoryAddress"] = t.Hash, "invoke_factory", t.Sender, e.From
			out["deployedAtTx"], out["deployedByAddress"] = t.Hash, e.Data[1]
			p["originDependent"] = o.dependent(&e)
		}
	}
}

// dependent computes the address both ways: only one of them can be right,
// whatever the flag of the event means.
func (o *oracle) dependent(e *starknet.Event) bool {
	calldata, salt := e.Data[5:len(e.Data)-1], e.Data[len(e.Data)-1]
	if starknet.ComputeContractAddress(felt.Zero, salt, e.Data[3], calldata) == e.Data[0] {
		return false
	}
	mixed := starknet.Pedersen(e.Data[1], salt)
	if e.From == contracts.MiddleUDC {
		mixed = starknet.PoseidonArray(e.Data[1], salt)
	}
	if starknet.ComputeContractAddress(e.From, mixed, e.Data[3], calldata) != e.Data[0] {
		o.T.Fatal("the deployer's event does not explain the address")
	}
	return true
}

// contracts compares every contract of the chain.
func (o *oracle) contracts() {
	o.T.Helper()
	seen := map[felt.Felt]bool{}
	for n := range o.head() + 1 {
		for _, d := range o.Chain.StateUpdateAt(n).Diff.Deployed {
			if !seen[d.Address] {
				seen[d.Address] = true
				o.same("getContract", chainID+"/contract/"+d.Address.String(), o.wantContract(d.Address))
				if len(seen)%7 == 0 {
					o.same("search", chainID+"/search?q="+d.Address.String(), object{"blocks": []object{}, "transactions": []object{}, "addresses": []felt.Felt{d.Address}, "classes": []object{}, "tokens": []object{}})
					o.same("search", chainID+"/search?q="+d.ClassHash.String(), object{"blocks": []object{}, "transactions": []object{}, "addresses": []object{}, "classes": []felt.Felt{d.ClassHash}, "tokens": []object{}})
				}
			}
		}
	}
	for _, a := range []string{"0x1", "0x2", "0x77"} { // written to, but never deployed
		o.missing("getContract", chainID+"/contract/"+a)
	}
	o.missing("getContractVerification", chainID+"/contract/"+contracts.STRK.String()+"/verification")
	o.bridgeSignals()
}

// meaning is what a message of a simulated bridge means.
func (o *oracle) meaning(m *simnode.Message) (bridge *registry.Bridge, out object) {
	l2, l1 := m.To, m.From
	if m.ToL1 {
		l2, l1 = m.From, m.To
	}
	for _, b := range o.Chain.Network().Registry().Bridges {
		if b.L2 == l2 && b.L1 == l1 {
			bridge = &b
		}
	}
	if bridge == nil {
		return nil, nil
	}
	p := m.Payload
	n := len(p)
	low, high := p[n-2].Big(), p[n-1].Big()
	raw := new(big.Int).Add(low, new(big.Int).Lsh(high, 128))
	out = object{"protocol": "StarkGate", "kind": "token_transfer", "action": "deposit", "summary": anything, "source": "reviewed_protocol_adapter",
		"matchRule": anything, "token": nil, "amountRaw": raw.String(), "amount": nil, "sender": nil, "recipient": p[0], "factHash": nil, "mocked": nil}
	switch {
	case m.ToL1:
		out["action"], out["recipient"] = "withdrawal", p[1]
	case n == 5:
		out["sender"], out["recipient"] = p[1], p[2]
	}
	if bridge.Token != nil {
		t, _ := o.Registry.Token(*bridge.Token)
		out["token"] = object{"symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
		amount := new(big.Rat).SetFrac(raw, unit).FloatString(int(t.Decimals))
		if strings.Contains(amount, ".") {
			amount = strings.TrimRight(strings.TrimRight(amount, "0"), ".")
		}
		out["amount"] = amount
	}
	return bridge, out
}

// bridgeSignals compares the movements over bridges.
func (o *oracle) bridgeSignals() {
	o.T.Helper()
	all := o.allMessages()
	for _, b := range o.Chain.Network().Registry().Bridges {
		want := []object{}
		for i := range all {
			m := &all[i]
			if m.From != b.L2 && m.To != b.L2 {
				continue
			}
			shown := o.wantMessage(&m.Message, m.index)
			meaning := shown["interpretation"].(object)
			row := object{"transferIndex": 0, "direction": "inbound", "tokenAddress": nil, "tokenSymbol": nil, "tokenDecimals": nil, "amountRaw": meaning["amountRaw"],
				"fromAddress": meaning["sender"], "toAddress": meaning["recipient"], "pairingConfidence": "unpaired_l2_only"}
			for _, same := range []string{"id", "blockNumber", "timestampIso", "txIndex", "logIndex", "txHash", "status", "messageHash", "l1Hash", "l2Hash", "l1ContractAddress", "l2ContractAddress", "sourceTier", "sourceTierBasis"} {
				row[same] = shown[same]
			}
			if m.ToL1 {
				row["direction"] = "outbound"
			}
			if b.Token != nil {
				t, _ := o.Registry.Token(*b.Token)
				row["tokenAddress"], row["tokenSymbol"], row["tokenDecimals"] = *b.Token, t.Symbol, t.Decimals
			}
			want = append(want, row)
		}
		path := "contract/" + b.L2.String() + "/bridge-signals"
		o.sameList(path, want, o.pages("listBridgeSignals", path, 4, nil))
	}
	path := "contract/" + contracts.CurrentUDC.String() + "/bridge-signals"
	o.sameList(path, []object{}, o.pages("listBridgeSignals", path, 4, nil))
}

func wantNoPreview(hash felt.Felt) object {
	return object{"known": false, "chainId": chainID, "timestampIso": nil, "blockNumber": nil, "txIndex": nil, "txHash": hash, "txCursor": nil, "fromAddress": nil,
		"toAddress": nil, "executionStatus": nil, "finalityStatus": nil, "txType": nil, "signedCallTargets": []object{}, "primaryMethod": nil, "primaryMethodSource": nil,
		"accountCallCount": nil, "accountCalls": []object{}, "transferCount": nil, "tokenTransfersTruncated": nil,
		"tokenTransfers": []object{}, "exchangeCalls": []object{}, "exchangeCallsTruncated": nil, "hasBurnToZero": nil, "hasMintFromZero": nil, "bridgeIntent": nil,
		"logCount": nil, "logsTruncated": nil}
}

// wantPreview is the preview of a transaction with three logs and exchange calls.
func (o *oracle) wantPreview(b *starknet.Block, i int) object {
	t, r := &b.Transactions[i], &b.Receipts[i]
	from, to := ends(t, r)
	out := wantNoPreview(t.Hash)
	with(out, object{"known": true, "timestampIso": iso(b.Timestamp), "blockNumber": b.Number, "txIndex": i, "txCursor": fmt.Sprintf("%d:%d", b.Number, i),
		"fromAddress": from, "toAddress": to, "executionStatus": r.Execution.String(), "finalityStatus": b.Status.String(), "txType": t.Type.String(),
		"logCount": len(r.Events), "logsTruncated": len(r.Events) > 3, "exchangeCallsTruncated": false, "hasBurnToZero": false, "hasMintFromZero": false})
	targets, exchange := []string{}, []object{}
	calls, signed := o.called(b, i)
	o.wantPrimary(out, b, i, o.wantPreviewed)
	if rows := []object{}; signed {
		for k := range calls[:min(len(calls), 8)] {
			rows = append(rows, o.wantPreviewed(b.Number, &calls[k]))
		}
		out["accountCallCount"], out["accountCalls"] = len(calls), rows
	} else {
		calls = nil
	}
	for k := range calls {
		c := &calls[k]
		name := c.to.String()
		if !slices.Contains(targets, name) {
			targets = append(targets, name)
		}
		if l, ok := o.Registry.Label(felt.MustParse(name)); ok && l.Kind == "dex" && len(exchange) < 16 {
			exchange = append(exchange, object{"contractAddress": name, "callIndex": k, "entryPointSelector": c.selector, "methodName": o.wantMethod(b.Number, c)["methodName"]})
		}
	}
	out["signedCallTargets"], out["exchangeCalls"] = targets, exchange
	logs := []object{}
	for j := range r.Events[:min(3, len(r.Events))] {
		logs = append(logs, object{"logIndex": j, "address": r.Events[j].From, "topic0": r.Events[j].Keys[0]})
	}
	transfers := o.wantTxTransfers(b, i)
	n := len(transfers)
	for _, m := range movesOf(o.tokensByAddress(), b, i) {
		if m.from.IsZero() {
			out["hasMintFromZero"] = true
		}
		if m.to.IsZero() {
			out["hasBurnToZero"] = true
		}
	}
	out["logs"] = logs
	out["transferCount"], out["tokenTransfersTruncated"], out["tokenTransfers"] = n, n > 25, transfers[:min(25, n)]
	bridges := []felt.Felt{}
	for _, m := range o.Chain.Messages(b.Number, b.Number) {
		if m.TxIndex != i {
			continue
		}
		if bridge, meaning := o.meaning(&m); bridge != nil && !slices.Contains(bridges, bridge.L2) {
			if bridges = append(bridges, bridge.L2); len(bridges) == 1 {
				kind := map[string]string{"deposit": "deposit", "withdrawal": "withdraw"}[meaning["action"].(string)]
				out["bridgeIntent"] = object{"kind": kind, "protocol": "StarkGate", "confidence": "high", "reasons": anything}
			}
		}
	}
	out["bridgeSignalContracts"] = bridges
	return out
}
