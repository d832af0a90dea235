package simnode

import (
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

func blockNumber(c *rpcCall) (any, error) {
	head := c.v.head()
	if head == nil {
		return nil, failure(codeNoBlocks)
	}
	return head.header.Number, nil
}

func blockHashAndNumber(c *rpcCall) (any, error) {
	head := c.v.head()
	if head == nil {
		return nil, failure(codeNoBlocks)
	}
	return struct {
		Hash   felt.Felt `json:"block_hash"`
		Number uint64    `json:"block_number"`
	}{head.header.Hash, head.header.Number}, nil
}

// told is a block as the node tells it: with its finality and its lies.
func (c *rpcCall) told(p place) *starknet.Block {
	return c.node.faults.spoil(c.method, c.node.chain.finalized(c.v, p.rec))
}

// proofFacts reads the response flags; only the newest version has them.
func (c *rpcCall) proofFacts() (bool, error) {
	flags, err := arg[[]string](c, "response_flags")
	if err != nil {
		return false, err
	}
	if len(flags) > 0 && c.node.cfg.Version < starknet.V010 {
		return false, failureWith(codeInvalidParams, "response_flags are not known in this version")
	}
	for _, f := range flags {
		if f != "INCLUDE_PROOF_FACTS" {
			return false, failureWith(codeInvalidParams, "unknown flag "+f)
		}
	}
	return len(flags) > 0, nil
}

// withProofFacts is a transaction with its proof facts, as a list even when
// there are none, or without.
func withProofFacts(tx starknet.Transaction, include bool) starknet.Transaction {
	version, _ := tx.PlainVersion()
	switch {
	case !include:
		tx.ProofFacts = nil
	case tx.Type == starknet.Invoke && version == 3 && tx.ProofFacts == nil:
		tx.ProofFacts = []felt.Felt{}
	}
	return tx
}

func blockWithTxHashes(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	if p.pending {
		return c.pendingBlock(p), nil
	}
	b := c.told(p)
	out := starknet.AppendHeader(nil, &b.Header, c.node.cfg.Version)
	out = append(out[:len(out)-1], `,"transactions":[`...)
	for i := range b.Transactions {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(b.Transactions[i].Hash.AppendHex(out), '"')
	}
	return raw(append(out, ']', '}')), nil
}

func blockWithTxs(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	include, err := c.proofFacts()
	if err != nil {
		return nil, err
	}
	if p.pending {
		return c.pendingBlock(p), nil
	}
	b := c.told(p)
	out := starknet.AppendHeader(nil, &b.Header, c.node.cfg.Version)
	out = append(out[:len(out)-1], `,"transactions":[`...)
	for i := range b.Transactions {
		if i > 0 {
			out = append(out, ',')
		}
		tx := withProofFacts(b.Transactions[i], include)
		out = starknet.AppendTransaction(out, &tx, c.node.cfg.Version)
	}
	return raw(append(out, ']', '}')), nil
}

func blockWithReceipts(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	include, err := c.proofFacts()
	if err != nil {
		return nil, err
	}
	if p.pending {
		return c.pendingBlock(p), nil
	}
	b := *c.told(p)
	if c.node.cfg.Version >= starknet.V010 {
		b.Transactions = slices.Clone(b.Transactions)
		for i := range b.Transactions {
			b.Transactions[i] = withProofFacts(b.Transactions[i], include)
		}
	}
	return raw(starknet.AppendBlock(nil, &b, c.node.cfg.Version)), nil
}

// pendingBlock is the block that is being built: nothing is in it yet.
func (c *rpcCall) pendingBlock(p place) any {
	h := &p.rec.header
	price := func(g starknet.GasPrice) map[string]felt.Felt {
		return map[string]felt.Felt{"price_in_fri": g.InFri, "price_in_wei": g.InWei}
	}
	out := map[string]any{
		"timestamp": h.Timestamp + uint64(c.node.chain.cfg.BlockTime.Seconds()), "sequencer_address": h.Sequencer,
		"l1_gas_price": price(h.L1GasPrice), "l1_data_gas_price": price(h.L1DataGasPrice), "l2_gas_price": price(h.L2GasPrice),
		"l1_da_mode": h.DAMode.String(), "starknet_version": h.StarknetVersion, "transactions": []any{},
	}
	if c.node.cfg.Version == starknet.V08 {
		out["parent_hash"] = h.Hash
	} else {
		out["block_number"] = h.Number + 1
	}
	return out
}

func blockTransactionCount(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	if p.pending {
		return 0, nil
	}
	return len(p.rec.callEnds), nil
}

func stateUpdate(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	only, err := arg[[]felt.Felt](c, "contract_addresses")
	if err != nil {
		return nil, err
	}
	if only != nil && c.node.cfg.Version < starknet.V010 {
		return nil, failureWith(codeInvalidParams, "contract_addresses is not known in this version")
	}
	if p.pending {
		return map[string]any{"old_root": p.rec.header.NewRoot, "state_diff": map[string]any{
			"storage_diffs": []any{}, "deployed_contracts": []any{}, "replaced_classes": []any{}, "declared_classes": []any{},
			"deprecated_declared_classes": []any{}, "nonces": []any{}}}, nil
	}
	u := p.rec.update()
	if len(only) > 0 {
		u = onlyContracts(u, only)
	}
	return raw(starknet.AppendStateUpdate(nil, u, c.node.cfg.Version)), nil
}

// onlyContracts leaves out what concerns other contracts; lists of classes
// concern no contract and stay.
func onlyContracts(u *starknet.StateUpdate, only []felt.Felt) *starknet.StateUpdate {
	cut := *u
	d := &cut.Diff
	d.Storage = keep(d.Storage, func(x starknet.StorageDiff) bool { return slices.Contains(only, x.Address) })
	d.Deployed = keep(d.Deployed, func(x starknet.DeployedContract) bool { return slices.Contains(only, x.Address) })
	d.Replaced = keep(d.Replaced, func(x starknet.ReplacedClass) bool { return slices.Contains(only, x.Address) })
	d.Nonces = keep(d.Nonces, func(x starknet.NonceUpdate) bool { return slices.Contains(only, x.Address) })
	return &cut
}

func keep[T any](list []T, want func(T) bool) []T {
	var out []T
	for _, x := range list {
		if want(x) {
			out = append(out, x)
		}
	}
	return out
}
