package main

import (
	"context"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// memory is a source that holds a chain as the node would print it.
type memory struct {
	raw     []index.Raw
	hashes  []felt.Felt
	classes map[felt.Felt][]byte
	chainID felt.Felt
	length  int
	events  uint64
	txs     uint64
	bytes   uint64
}

// generate makes a chain, and shows each block to also, if there is anybody to see.
func generate(blocks, tx int, events float64, real bool, also func(*starknet.Block) error) (*memory, error) {
	m := &memory{chainID: felt.MustShortString("SN_SEPOLIA"), classes: map[felt.Felt][]byte{}}
	declared := 0
	cfg := simnode.Config{Seed: 1, Blocks: blocks, TxPerBlock: tx, EventsPerTx: events, RealHashes: real, ChainID: m.chainID}
	err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		// A chain that is caught up with is accepted on L1: no undo records.
		b.Status = starknet.AcceptedOnL1
		raw := index.Raw{
			Block:       starknet.AppendBlock(nil, b, starknet.V010),
			StateUpdate: starknet.AppendStateUpdate(nil, su, starknet.V010),
			Node:        "memory",
		}
		if also != nil {
			if err := also(b); err != nil {
				return err
			}
		}
		m.raw = append(m.raw, raw)
		m.hashes = append(m.hashes, b.Hash)
		declared += len(su.Diff.Declared) + len(su.Diff.DeprecatedDeclared)
		m.events += uint64(b.EventCount())
		m.txs += uint64(len(b.Transactions))
		m.bytes += uint64(len(raw.Block) + len(raw.StateUpdate))
		return nil
	})
	m.length = len(m.raw)
	m.keep(contracts.Classes().All()...)
	for i := range declared { // no more than this of either kind
		m.keep(contracts.Variant(i), contracts.OldVariant(i))
	}
	return m, err
}

func (m *memory) keep(classes ...*contracts.Class) {
	for _, c := range classes {
		m.classes[c.Hash] = starknet.AppendClass(nil, &c.Class)
	}
}

func (m *memory) Class(_ context.Context, _ uint64, hash felt.Felt) ([]byte, string, error) {
	raw, ok := m.classes[hash]
	if !ok {
		return nil, "", index.ErrNotFound
	}
	return raw, "memory", nil
}

func (m *memory) ChainID(context.Context) (felt.Felt, error) { return m.chainID, nil }

func (m *memory) Head(context.Context) (index.BlockRef, error) { return m.ref(m.length - 1), nil }

func (m *memory) ref(n int) index.BlockRef {
	return index.BlockRef{Number: uint64(n), Hash: m.hashes[n]}
}

func (m *memory) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	if n >= uint64(m.length) {
		return index.Raw{}, index.ErrNotFound
	}
	return m.raw[n], nil
}

func (m *memory) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	if n >= uint64(m.length) {
		return felt.Felt{}, index.ErrNotFound
	}
	return m.hashes[n], nil
}

func (m *memory) L1Accepted(context.Context) (index.BlockRef, error) { return m.ref(m.length - 1), nil }

func (m *memory) Heads(context.Context) <-chan struct{} { return nil }
