package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// invocation is one call in a trace.
type invocation struct {
	Contract  felt.Felt    `json:"contract_address"`
	Selector  felt.Felt    `json:"entry_point_selector"`
	Calldata  []felt.Felt  `json:"calldata"`
	Caller    felt.Felt    `json:"caller_address"`
	Class     felt.Felt    `json:"class_hash"`
	PointType string       `json:"entry_point_type"`
	CallType  string       `json:"call_type"`
	Result    []felt.Felt  `json:"result"`
	Calls     []invocation `json:"calls"`
	Events    []tracedItem `json:"events"`
	Messages  []tracedItem `json:"messages"`
	Resources struct {
		L1Gas uint64 `json:"l1_gas"`
		L2Gas uint64 `json:"l2_gas"`
	} `json:"execution_resources"`
	Reverted bool `json:"is_reverted"`
}

// tracedItem is an event or a message with its place among its kind. Lists of the
// other kind are nil and not told; its own are, even when they are empty.
type tracedItem struct {
	Order   int         `json:"order"`
	Keys    []felt.Felt `json:"keys,omitzero"`
	Data    []felt.Felt `json:"data,omitzero"`
	From    *felt.Felt  `json:"from_address,omitempty"`
	To      *felt.Felt  `json:"to_address,omitempty"`
	Payload []felt.Felt `json:"payload,omitzero"`
}

// listed is a list that is told even when it is empty.
func listed(l []felt.Felt) []felt.Felt {
	if l == nil {
		return []felt.Felt{}
	}
	return l
}

// tracer rebuilds who called whom from what a block keeps: the calldata, the
// events and where each call's events end.
type tracer struct {
	chain *Chain
	block uint64
	tx    *starknet.Transaction
	r     *starknet.Receipt
	ends  []uint16
}

func (t *tracer) invocation(contract, selector, caller felt.Felt, calldata []felt.Felt) invocation {
	inv := invocation{
		Contract: contract, Selector: selector, Calldata: listed(calldata), Caller: caller, PointType: "EXTERNAL", CallType: "CALL",
		Result: []felt.Felt{}, Calls: []invocation{}, Events: []tracedItem{}, Messages: []tracedItem{},
	}
	if class, ok := t.chain.ClassAt(contract, t.block); ok {
		inv.Class = class.Hash
	}
	inv.Resources.L2Gas = 50_000
	return inv
}

// emits puts a range of events into a call: its own directly, each of the
// others into a call that the contract made.
func (t *tracer) emits(inv *invocation, from, to int) {
	for k := from; k < to; k++ {
		e := &t.r.Events[k]
		item := tracedItem{Order: k - from, Keys: listed(e.Keys), Data: listed(e.Data)}
		if e.From == inv.Contract {
			inv.Events = append(inv.Events, item)
			continue
		}
		selector := contracts.SelFnEmit
		if len(e.Keys) > 0 && e.Keys[0] == contracts.SelTransfer {
			selector = contracts.SelFnTransferFrom
		}
		inner := t.invocation(e.From, selector, inv.Contract, nil)
		inner.Events = append(inner.Events, item)
		inv.Calls = append(inv.Calls, inner)
	}
}

func (t *tracer) sends(inv *invocation) {
	for k := range t.r.MessagesSent {
		m := &t.r.MessagesSent[k]
		if m.From == inv.Contract {
			inv.Messages = append(inv.Messages, tracedItem{Order: k, From: &m.From, To: &m.To, Payload: listed(m.Payload)})
		}
	}
}

// execute is an account's __execute__ with the calls of its multicall.
func (t *tracer) execute(sender felt.Felt, last int) invocation {
	root := t.invocation(sender, contracts.SelExecute, felt.Zero, t.tx.Calldata)
	calls, _ := decodeMulticall(t.tx.Calldata)
	start := 0
	for i, c := range calls {
		inv := t.invocation(c.to, c.selector, sender, c.args)
		if i < len(t.ends) {
			t.emits(&inv, start, int(t.ends[i]))
			start = int(t.ends[i])
		}
		t.sends(&inv)
		root.Calls = append(root.Calls, inv)
	}
	t.emits(&root, start, last)
	return root
}

// trace is the answer for one transaction.
func (t *tracer) trace() map[string]any {
	tx, r := t.tx, t.r
	out := map[string]any{"type": tx.Type.String(), "execution_resources": map[string]uint64{
		"l1_gas": r.Resources.L1Gas, "l1_data_gas": r.Resources.L1DataGas, "l2_gas": r.Resources.L2Gas}}
	sender, last := tx.Sender, len(r.Events)
	if sender.IsZero() {
		sender = tx.ContractAddress
	}
	if tx.Type == starknet.DeployAccount {
		sender = r.ContractAddress
	}
	if !r.ActualFee.IsZero() && last > 0 {
		last--
		token := r.Events[last].From
		fee := t.invocation(token, contracts.SelFnTransfer, sender, []felt.Felt{contracts.Sequencer, r.ActualFee, felt.Zero})
		t.emits(&fee, last, last+1)
		out["fee_transfer_invocation"] = fee
	}
	switch tx.Type {
	case starknet.Invoke:
		out["validate_invocation"] = t.invocation(sender, contracts.SelValidate, felt.Zero, tx.Calldata)
		if r.Execution == starknet.Reverted {
			out["execute_invocation"] = map[string]string{"revert_reason": r.RevertReason}
		} else {
			out["execute_invocation"] = t.execute(sender, last)
		}
	case starknet.Declare:
		out["validate_invocation"] = t.invocation(sender, contracts.SelValidateDecl, felt.Zero, []felt.Felt{tx.ClassHash})
	case starknet.DeployAccount, starknet.Deploy:
		inv := t.invocation(r.ContractAddress, contracts.SelConstructor, felt.Zero, tx.ConstructorCalldata)
		inv.PointType = "CONSTRUCTOR"
		t.emits(&inv, 0, last)
		out["constructor_invocation"] = inv
	case starknet.L1Handler:
		if r.Execution == starknet.Reverted {
			out["function_invocation"] = map[string]string{"revert_reason": r.RevertReason}
			break
		}
		inv := t.invocation(tx.ContractAddress, tx.EntryPointSelector, felt.Zero, tx.Calldata)
		inv.PointType = "L1_HANDLER"
		t.emits(&inv, 0, last)
		out["function_invocation"] = inv
	}
	return out
}

func (c *rpcCall) tracer(b *starknet.Block, ends [][]uint16, i int) *tracer {
	return &tracer{c.node.chain, b.Number, &b.Transactions[i], &b.Receipts[i], ends[i]}
}

func traceTransaction(c *rpcCall) (any, error) {
	h, err := arg[felt.Felt](c, "transaction_hash")
	if err != nil {
		return nil, err
	}
	ref, ok := c.node.chain.transaction(c.v, h)
	if !ok {
		if _, waits := c.node.chain.txStatus(c.v, h); waits {
			return nil, failureWith(codeNoTrace, map[string]string{"status": "RECEIVED"})
		}
		return nil, failure(codeTxHashNotFound)
	}
	return c.tracer(ref.Block, c.v.at(ref.Block.Number).callEnds, ref.Index).trace(), nil
}

func traceBlock(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	flags, err := arg[[]string](c, "trace_flags")
	if err != nil {
		return nil, err
	}
	if p.pending && c.node.cfg.Version >= starknet.V09 || len(flags) > 0 && c.node.cfg.Version < starknet.V010 {
		return nil, failure(codeInvalidParams)
	}
	traces := []any{}
	if !p.pending {
		b := p.rec.block()
		for i := range b.Transactions {
			traces = append(traces, map[string]any{
				"transaction_hash": b.Transactions[i].Hash, "trace_root": c.tracer(b, p.rec.callEnds, i).trace()})
		}
	}
	if len(flags) > 0 {
		return map[string]any{"traces": traces, "initial_reads": map[string]any{}}, nil
	}
	return traces, nil
}
