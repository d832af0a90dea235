// Package memory is a source of blocks for benchmarks: a simulated chain as a node would
// print it, in memory, so that neither the network nor the node is measured.
package memory

import (
	"context"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// Source holds the chain.
type Source struct {
	Raw    []index.Raw
	Length int
	Events uint64
	Txs    uint64
	Bytes  uint64 // of JSON

	hashes  []felt.Felt
	classes map[felt.Felt][]byte
	chainID felt.Felt
}

// Generate makes a chain, and shows each block to also, if there is anybody to see.
func Generate(blocks, tx int, events float64, real bool, also func(*starknet.Block) error) (*Source, error) {
	m := &Source{chainID: felt.MustShortString("SN_SEPOLIA"), classes: map[felt.Felt][]byte{}}
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
		m.Raw = append(m.Raw, raw)
		m.hashes = append(m.hashes, b.Hash)
		declared += len(su.Diff.Declared) + len(su.Diff.DeprecatedDeclared)
		m.Events += uint64(b.EventCount())
		m.Txs += uint64(len(b.Transactions))
		m.Bytes += uint64(len(raw.Block) + len(raw.StateUpdate))
		return nil
	})
	m.Length = len(m.Raw)
	m.keep(contracts.Classes().All()...)
	for i := range declared { // no more than this of either kind
		m.keep(contracts.Variant(i), contracts.OldVariant(i))
	}
	return m, err
}

func (m *Source) keep(classes ...*contracts.Class) {
	for _, c := range classes {
		m.classes[c.Hash] = starknet.AppendClass(nil, &c.Class)
	}
}

// Class serves index.Source.
func (m *Source) Class(_ context.Context, _ uint64, hash felt.Felt) ([]byte, string, error) {
	raw, ok := m.classes[hash]
	if !ok {
		return nil, "", index.ErrNotFound
	}
	return raw, "memory", nil
}

// ChainID serves index.Source.
func (m *Source) ChainID(context.Context) (felt.Felt, error) { return m.chainID, nil }

// Head serves index.Source.
func (m *Source) Head(context.Context) (index.BlockRef, error) { return m.ref(m.Length - 1), nil }

func (m *Source) ref(n int) index.BlockRef {
	return index.BlockRef{Number: uint64(n), Hash: m.hashes[n]}
}

// Fetch serves index.Source.
func (m *Source) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	if n >= uint64(m.Length) {
		return index.Raw{}, index.ErrNotFound
	}
	return m.Raw[n], nil
}

// HashAt serves index.Source.
func (m *Source) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	if n >= uint64(m.Length) {
		return felt.Felt{}, index.ErrNotFound
	}
	return m.hashes[n], nil
}

// L1Accepted serves index.Source.
func (m *Source) L1Accepted(context.Context) (index.BlockRef, error) { return m.ref(m.Length - 1), nil }

// Heads serves index.Source.
func (m *Source) Heads(context.Context) <-chan struct{} { return nil }
