package api_test

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// poolEvent is an event of the simulated pool with what the simulation meant by it.
type poolEvent struct {
	simnode.EventRef
	fact  simnode.PoolFact
	class felt.Felt // in force when it was emitted
	told  bool      // the chain and the registry together tell that it was
	fees  []object  // of its transaction
}

// poolEvents are all events of the simulated pool, oldest first.
func (o *oracle) poolEvents() (out []poolEvent) {
	o.T.Helper()
	pool, head := o.Chain.Pool(), o.head()
	facts := o.Chain.PoolFacts(0, head)
	refs := o.Chain.Events(simnode.EventFilter{To: head, Addresses: []felt.Felt{pool}})
	if len(facts) != len(refs) {
		o.T.Fatalf("%d facts of %d events", len(facts), len(refs))
	}
	paid := o.poolFees()
	var class felt.Felt
	told := true
	for i, ref := range refs {
		if i == 0 || ref.Block.Number != refs[i-1].Block.Number {
			before := ref.Block.Number
			if before > 0 {
				before--
			}
			c, ok := o.Chain.ClassAt(pool, before)
			if !ok {
				o.T.Fatalf("the pool has no class in block %d", before)
			}
			class, told = c.Hash, true
		}
		if f := &facts[i]; f.Block != ref.Block.Number || f.TxIndex != ref.TxIndex || f.EventIndex != ref.Index {
			o.T.Fatalf("fact %d is not of its event", i)
		}
		out = append(out, poolEvent{ref, facts[i], class, told, paid[[2]uint64{ref.Block.Number, uint64(ref.TxIndex)}]})
		if ref.Event.Keys[0] == contracts.SelImplementationReplaced {
			told = told && o.knownPoolClass(class) // an unknown class is not believed
			class = ref.Event.Data[0]
		}
	}
	return out
}

// poolFees follows the settings of the simulated pool through the chain and finds the
// transfers that paid for its calls, by transaction.
func (o *oracle) poolFees() map[[2]uint64][]object {
	type setting struct {
		value felt.Felt
		at    [3]uint64
		some  bool
	}
	var fee, collector setting
	out := map[[2]uint64][]object{}
	for n := range o.head() + 1 {
		b := o.Chain.BlockAt(n)
		for tx := range b.Receipts {
			called := false
			var last *object
			for log := range b.Receipts[tx].Events {
				e := &b.Receipts[tx].Events[log]
				at := [3]uint64{n, uint64(tx), uint64(log)}
				switch {
				case e.From == contracts.STRK && e.Keys[0] == contracts.SelTransfer:
					to, amount := transferOf(e)
					if fee.some && collector.some && !fee.value.IsZero() && to == collector.value && amount == fee.value {
						last = &object{"tokenAddress": contracts.STRK, "amountRaw": dec(amount), "collectorAddress": to, "transferLogIndex": log, "transferIndex": 0,
							"feeCollectorConfigBlockNumber": collector.at[0], "feeCollectorConfigTxIndex": collector.at[1], "feeCollectorConfigLogIndex": collector.at[2],
							"feeAmountConfigBlockNumber": fee.at[0], "feeAmountConfigTxIndex": fee.at[1], "feeAmountConfigLogIndex": fee.at[2]}
					}
				case e.From != o.Chain.Pool():
				case e.Keys[0] == contracts.SelFeeAmountSet:
					fee = setting{e.Data[0], at, true}
				case e.Keys[0] == contracts.SelFeeCollectorSet:
					collector = setting{e.Data[0], at, true}
				case poolNames[e.Keys[0]].action && !called:
					if called = true; last != nil {
						out[[2]uint64{n, uint64(tx)}] = []object{*last}
					}
				}
			}
		}
	}
	return out
}

// transferOf reads a Transfer of a small amount in either layout.
func transferOf(e *starknet.Event) (to, amount felt.Felt) {
	if len(e.Keys) == 3 {
		return e.Keys[2], e.Data[0]
	}
	return e.Data[1], e.Data[2]
}

// poolNames is what the events of the simulated pool are to be called.
var poolNames = map[felt.Felt]struct {
	name, group, visibility string
	hidden                  []string
	action                  bool
}{
	contracts.SelViewingKeySet:            {"viewing_key_set", "registration", "partial", []string{"privateViewingKey"}, true},
	contracts.SelDeposit:                  {"deposit", "value_in", "public", []string{"fundedNotes"}, true},
	contracts.SelWithdrawal:               {"withdrawal", "value_out", "partial", []string{"withdrawingAddress", "spentNotes"}, true},
	contracts.SelOpenNoteCreated:          {"open_note_created", "commitment", "partial", []string{"recipientAddress"}, true},
	contracts.SelOpenNoteDeposited:        {"open_note_deposited", "value_in", "public", []string{"noteOwner"}, true},
	contracts.SelEncNoteCreated:           {"enc_note_created", "commitment", "hidden_by_design", []string{"token", "amount", "sender", "recipient"}, true},
	contracts.SelNoteUsed:                 {"note_used", "nullifier", "hidden_by_design", []string{"note", "token", "amount", "owner"}, true},
	contracts.SelExternalContractInvoked:  {"external_contract_invoked", "interaction", "public", []string{}, true},
	contracts.SelAuditorPublicKeySet:      {"auditor_public_key_set", "config", "public", []string{}, false},
	contracts.SelScreenerPublicKeySet:     {"screener_public_key_set", "config", "public", []string{}, false},
	contracts.SelFeeAmountSet:             {"fee_amount_set", "config", "public", []string{}, false},
	contracts.SelFeeCollectorSet:          {"fee_collector_set", "config", "public", []string{}, false},
	contracts.SelProofValidityBlocksSet:   {"proof_validity_blocks_set", "config", "public", []string{}, false},
	contracts.SelOpenNoteDepositorBlocked: {"open_note_depositor_block_set", "config", "public", []string{}, false},
	contracts.SelScreeningPolicySet:       {"open_note_screening_policy_set", "config", "public", []string{}, false},
	contracts.SelPaused:                   {"paused", "config", "public", []string{}, false},
	contracts.SelUnpaused:                 {"unpaused", "config", "public", []string{}, false},
	contracts.SelImplementationAdded:      {"implementation_added", "governance", "public", []string{}, false},
	contracts.SelImplementationReplaced:   {"implementation_replaced", "governance", "public", []string{}, false},
	contracts.SelRoleGranted:              {"role_granted", "governance", "public", []string{}, false},
}

// readable says whether the service can read an event.
func (o *oracle) readable(e *poolEvent) bool { return e.told && o.knownPoolClass(e.class) }

// knownPoolClass says whether the registry that the service is asked with knows a class.
func (o *oracle) knownPoolClass(class felt.Felt) bool {
	for _, p := range o.Registry.PrivacyPools() {
		if _, ok := p.Generation(class); ok && p.Address == o.Chain.Pool() {
			return true
		}
	}
	return false
}

// wantPoolEvent is a row of the list of events.
func (o *oracle) wantPoolEvent(e *poolEvent) object {
	ev := e.Event
	meant := poolNames[ev.Keys[0]]
	at := func(list []felt.Felt, n int) any {
		if n < len(list) {
			return list[n]
		}
		return nil
	}
	fields := object{"visibility": meant.visibility, "actorAddress": nil, "toAddress": nil, "token": nil, "amountRaw": nil, "noteId": nil, "nullifier": nil,
		"auditorPublicKey": nil, "publicViewingKey": nil, "targetAddress": nil, "targetSelector": nil, "configValue": nil}
	row := object{"contractAddress": ev.From, "classHash": e.class, "topic0": ev.Keys[0], "eventName": meant.name, "eventGroup": meant.group, "decodingStatus": "decoded",
		"key1": at(ev.Keys, 1), "key2": at(ev.Keys, 2), "data0": at(ev.Data, 0), "data1": at(ev.Data, 1), "data2": at(ev.Data, 2), "keys": felts(ev.Keys), "data": felts(ev.Data),
		"publicFields": fields, "hiddenFields": meant.hidden, "privacyFees": e.fees}
	if e.fees == nil {
		row["privacyFees"] = []object{}
	}
	o.poolPlace(row, e)
	if !e.told {
		row["classHash"] = nil
	}
	if !o.readable(e) {
		row["decodingStatus"] = "name_only"
		if meant.action {
			row["privacyFees"] = nil
		}
		return row
	}
	if !e.fact.Token.IsZero() {
		t, _ := o.Registry.Token(e.fact.Token)
		fields["token"] = object{"address": e.fact.Token, "symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals}
	}
	switch e.fact.Kind {
	case simnode.PoolViewingKeySet:
		fields["actorAddress"], fields["publicViewingKey"], fields["auditorPublicKey"] = e.fact.Party, e.fact.ID, o.Chain.Network().PoolAuditorKey
	case simnode.PoolDeposit:
		fields["actorAddress"], fields["amountRaw"] = e.fact.Party, e.fact.Amount.String()
	case simnode.PoolWithdrawal:
		fields["toAddress"], fields["amountRaw"], fields["auditorPublicKey"] = e.fact.Party, e.fact.Amount.String(), o.Chain.Network().PoolAuditorKey
	case simnode.PoolOpenNoteCreated:
		fields["noteId"], fields["auditorPublicKey"] = e.fact.ID, o.Chain.Network().PoolAuditorKey
	case simnode.PoolOpenNoteDeposited:
		fields["actorAddress"], fields["noteId"], fields["amountRaw"] = e.fact.Party, e.fact.ID, e.fact.Amount.String()
	case simnode.PoolEncNoteCreated:
		fields["noteId"] = e.fact.ID
	case simnode.PoolNoteUsed:
		fields["nullifier"] = e.fact.ID
	case simnode.PoolExternalInvoked:
		fields["targetAddress"], fields["targetSelector"] = e.fact.Party, e.fact.ID
	case simnode.PoolConfigured:
		o.wantPoolSetting(fields, ev)
	}
	return row
}

// wantPoolSetting is what an event about the simulated pool itself says.
func (o *oracle) wantPoolSetting(fields object, ev *starknet.Event) {
	switch ev.Keys[0] {
	case contracts.SelFeeAmountSet:
		fields["amountRaw"] = dec(ev.Data[0])
	case contracts.SelAuditorPublicKeySet:
		fields["auditorPublicKey"] = ev.Data[0]
	case contracts.SelPaused, contracts.SelUnpaused:
		fields["actorAddress"] = ev.Data[0]
	case contracts.SelRoleGranted:
		fields["configValue"], fields["toAddress"], fields["actorAddress"] = ev.Data[0], ev.Data[1], ev.Data[2]
	case contracts.SelOpenNoteDepositorBlocked, contracts.SelScreeningPolicySet:
		fields["targetAddress"], fields["configValue"] = ev.Keys[1], ev.Data[0]
	default:
		fields["configValue"] = ev.Data[0]
	}
}

// poolPlace says where an event stands.
func (o *oracle) poolPlace(row object, e *poolEvent) {
	row["blockNumber"], row["timestampIso"], row["txIndex"], row["logIndex"] = e.Block.Number, iso(e.Block.Timestamp), e.TxIndex, e.Index
	row["txHash"] = e.Block.Transactions[e.TxIndex].Hash
	row["sourceTier"], row["sourceTierBasis"] = o.wantTier(e.Block.Number)
}

// wantPoolEvidence is what rows of facts have in common.
func (o *oracle) wantPoolEvidence(e *poolEvent) object {
	meant := poolNames[e.Event.Keys[0]]
	row := object{"poolContractAddress": e.Event.From, "eventName": meant.name, "visibility": meant.visibility, "decodingStatus": "decoded", "keys": felts(e.Event.Keys), "data": felts(e.Event.Data)}
	o.poolPlace(row, e)
	if !o.readable(e) {
		row["decodingStatus"] = "name_only"
	}
	return row
}

// wantCommitments and wantNullifiers are the lists of facts, newest first.
func (o *oracle) wantCommitments(events []poolEvent) []object {
	out := []object{}
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.fact.Kind != simnode.PoolEncNoteCreated && e.fact.Kind != simnode.PoolOpenNoteCreated {
			continue
		}
		row := o.wantPoolEvidence(e)
		row["commitmentHash"], row["tokenAddress"], row["amountRaw"] = nil, nil, nil
		if o.readable(e) {
			row["commitmentHash"] = e.fact.ID
			if e.fact.Kind == simnode.PoolOpenNoteCreated {
				row["tokenAddress"] = e.fact.Token
				for _, other := range events {
					if other.fact.Kind == simnode.PoolOpenNoteDeposited && other.fact.ID == e.fact.ID {
						row["amountRaw"] = other.fact.Amount.String()
					}
				}
			}
		}
		out = append(out, row)
	}
	return out
}

func (o *oracle) wantNullifiers(events []poolEvent) []object {
	out := []object{}
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.fact.Kind != simnode.PoolNoteUsed {
			continue
		}
		row := o.wantPoolEvidence(e)
		row["nullifierHash"] = nil
		if o.readable(e) {
			row["nullifierHash"] = e.fact.ID
		}
		out = append(out, row)
	}
	return out
}
