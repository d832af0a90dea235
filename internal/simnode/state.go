package simnode

import (
	"sort"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

func getClass(c *rpcCall) (any, error) {
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	h, err := arg[felt.Felt](c, "class_hash")
	if err != nil {
		return nil, err
	}
	class, ok := c.node.chain.ClassByHash(h, p.number())
	if !ok {
		return nil, failure(codeClassHashNotFound)
	}
	return raw(starknet.AppendClass(nil, &class.Class)), nil
}

// contract finds the class of the contract that the call is about.
func (c *rpcCall) contract() (felt.Felt, *contracts.Class, place, error) {
	p, err := c.block("block_id")
	if err != nil {
		return felt.Zero, nil, p, err
	}
	a, err := arg[felt.Felt](c, "contract_address")
	if err != nil {
		return felt.Zero, nil, p, err
	}
	class, ok := c.node.chain.ClassAt(a, p.number())
	if !ok {
		return a, nil, p, failure(codeContractNotFound)
	}
	return a, class, p, nil
}

func getClassAt(c *rpcCall) (any, error) {
	_, class, _, err := c.contract()
	if err != nil {
		return nil, err
	}
	return raw(starknet.AppendClass(nil, &class.Class)), nil
}

func getClassHashAt(c *rpcCall) (any, error) {
	_, class, _, err := c.contract()
	if err != nil {
		return nil, err
	}
	return class.Hash, nil
}

// getCompiledCasm knows the classes, but nothing here is ever compiled.
func getCompiledCasm(c *rpcCall) (any, error) {
	h, err := arg[felt.Felt](c, "class_hash")
	if err != nil {
		return nil, err
	}
	head := c.v.head()
	if head == nil {
		return nil, failure(codeClassHashNotFound)
	}
	if _, ok := c.node.chain.ClassByHash(h, head.header.Number); !ok {
		return nil, failure(codeClassHashNotFound)
	}
	return nil, failureWith(codeCompilationError, map[string]string{"compilation_error": "simulated classes have no code"})
}

func getNonce(c *rpcCall) (any, error) {
	a, _, p, err := c.contract()
	if err != nil {
		return nil, err
	}
	n, _ := c.node.chain.NonceAt(a, p.number())
	return felt.FromUint64(n), nil
}

func getStorageAt(c *rpcCall) (any, error) {
	a, err := arg[felt.Felt](c, "contract_address")
	if err != nil {
		return nil, err
	}
	key, err := arg[felt.Felt](c, "key")
	if err != nil {
		return nil, err
	}
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	flags, err := arg[[]string](c, "response_flags")
	if err != nil {
		return nil, err
	}
	system := a == felt.FromUint64(1) || a == felt.FromUint64(2)
	if _, ok := c.node.chain.ClassAt(a, p.number()); !ok && !system {
		return nil, failure(codeContractNotFound)
	}
	value, block := c.v.storageAt(a, key, p.number())
	if len(flags) == 0 {
		return value, nil
	}
	if c.node.cfg.Version < starknet.V010 || len(flags) > 1 || flags[0] != "INCLUDE_LAST_UPDATE_BLOCK" {
		return nil, failureWith(codeInvalidParams, "response_flags")
	}
	return map[string]any{"value": value, "last_update_block": block}, nil
}

// storageAt looks through the state diffs, newest first: storage is not held
// anywhere else.
func (v *view) storageAt(contract, key felt.Felt, block uint64) (value felt.Felt, updated uint64) {
	for n := int(block); n >= 0; n-- {
		diffs := v.blocks[n].update().Diff.Storage
		i := sort.Search(len(diffs), func(i int) bool { return diffs[i].Address.Cmp(contract) >= 0 })
		if i == len(diffs) || diffs[i].Address != contract {
			continue
		}
		entries := diffs[i].Entries
		j := sort.Search(len(entries), func(j int) bool { return entries[j].Key.Cmp(key) >= 0 })
		if j < len(entries) && entries[j].Key == key {
			return entries[j].Value, uint64(n)
		}
	}
	return felt.Zero, 0
}

// getStorageProof never has a proof: the chain has no tries.
func getStorageProof(c *rpcCall) (any, error) {
	if _, err := c.block("block_id"); err != nil {
		return nil, err
	}
	return nil, failure(codeProofNotSupported)
}
