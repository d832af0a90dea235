package starknet_test

import (
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// TestOldInterfaceIsUnverified: a node of an older interface leaves out what
// new blocks' hashes cover; such blocks are unverified there, and never wrong.
func TestOldInterfaceIsUnverified(t *testing.T) {
	seen := 0
	cfg := simnode.Config{Seed: 3, Blocks: 80, TxPerBlock: 2, RealHashes: true, StarknetVersion: "0.14.1"}
	err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		if len(su.Diff.Migrated) == 0 {
			return nil
		}
		seen++
		block, err := starknet.DecodeBlock(starknet.AppendBlock(nil, b, starknet.V09))
		if err != nil {
			return err
		}
		update, err := starknet.DecodeStateUpdate(starknet.AppendStateUpdate(nil, su, starknet.V09))
		if err != nil {
			return err
		}
		if err := starknet.Verify(block, update, starknet.ChainSepolia); reasonOf(err) != starknet.MigrationsMissing {
			t.Errorf("block %d through 0.9: %v", b.Number, err)
		}
		if err := starknet.Verify(b, su, starknet.ChainSepolia); err != nil {
			t.Errorf("block %d through 0.10: %v", b.Number, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("the chain has no block with migrated classes")
	}
}
