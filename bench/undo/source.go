package main

import (
	"context"
	"fmt"
	"os"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// branches is a source that holds a chain and a branch that forks off it, one
// block longer, in a file.
type branches struct {
	file    *os.File
	at      [2][]place
	classes map[felt.Felt][]byte
	chainID felt.Felt
	forked  bool   // the branch is shown
	asked   moment // when the last question was answered
}

type place struct {
	hash          felt.Felt
	offset        int64
	block, update int
}

// record makes the blocks. Those of the branch have other hashes and the same
// transactions: nothing is verified here.
func record(path string, o settings) (*branches, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	c := &branches{file: f, chainID: felt.MustShortString("SN_SEPOLIA"), classes: map[felt.Felt][]byte{}}
	var end int64
	write := func(branch int, b *starknet.Block, su *starknet.StateUpdate) error {
		block := starknet.AppendBlock(nil, b, starknet.V010)
		update := starknet.AppendStateUpdate(nil, su, starknet.V010)
		c.at[branch] = append(c.at[branch], place{b.Hash, end, len(block), len(update)})
		end += int64(len(block) + len(update))
		_, err := f.Write(append(block, update...))
		return err
	}
	declared := 0
	var parent felt.Felt // on the branch
	cfg := simnode.Config{Seed: 1, Blocks: o.base + o.depth + 1, TxPerBlock: o.tx, EventsPerTx: o.events, ChainID: c.chainID}
	err = simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		declared += len(su.Diff.Declared) + len(su.Diff.DeprecatedDeclared)
		b.Status = starknet.AcceptedOnL2
		number := int(b.Number)
		if number < o.base+o.depth {
			if err := write(0, b, su); err != nil {
				return err
			}
		}
		if number < o.base {
			c.at[1] = append(c.at[1], c.at[0][number])
			parent = b.Hash
			return nil
		}
		other, diff := *b, *su
		other.ParentHash = parent
		other.Hash = b.Hash
		other.Hash[31] ^= 1
		diff.BlockHash, parent = other.Hash, other.Hash
		return write(1, &other, &diff)
	})
	if err != nil {
		return nil, err
	}
	keep := func(classes ...*contracts.Class) {
		for _, class := range classes {
			c.classes[class.Hash] = starknet.AppendClass(nil, &class.Class)
		}
	}
	keep(contracts.Classes().All()...)
	for i := range declared {
		keep(contracts.Variant(i), contracts.OldVariant(i))
	}
	return c, nil
}

func (c *branches) blocks() []place {
	if c.forked {
		return c.at[1]
	}
	return c.at[0]
}

func (c *branches) ref(n int) index.BlockRef {
	return index.BlockRef{Number: uint64(n), Hash: c.blocks()[n].hash}
}

// ChainID names the chain.
func (c *branches) ChainID(context.Context) (felt.Felt, error) { return c.chainID, nil }

// Head is the newest block.
func (c *branches) Head(context.Context) (index.BlockRef, error) {
	return c.ref(len(c.blocks()) - 1), nil
}

// Fetch reads a block of the file.
func (c *branches) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	if n >= uint64(len(c.blocks())) {
		return index.Raw{}, index.ErrNotFound
	}
	p := c.blocks()[n]
	buf := make([]byte, p.block+p.update)
	if _, err := c.file.ReadAt(buf, p.offset); err != nil {
		return index.Raw{}, fmt.Errorf("read block %d: %w", n, err)
	}
	return index.Raw{Block: buf[:p.block], StateUpdate: buf[p.block:], Node: "file"}, nil
}

// HashAt is the hash of a block.
func (c *branches) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	defer func() { c.asked = now() }()
	if n >= uint64(len(c.blocks())) {
		return felt.Felt{}, index.ErrNotFound
	}
	return c.blocks()[n].hash, nil
}

// L1Accepted is none.
func (c *branches) L1Accepted(context.Context) (index.BlockRef, error) {
	return index.BlockRef{}, index.ErrNotFound
}

// Class is a class of the simulated chain.
func (c *branches) Class(_ context.Context, _ uint64, hash felt.Felt) ([]byte, string, error) {
	raw, ok := c.classes[hash]
	if !ok {
		return nil, "", index.ErrNotFound
	}
	return raw, "file", nil
}

// Heads signals nothing.
func (c *branches) Heads(context.Context) <-chan struct{} { return nil }
