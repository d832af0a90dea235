package starknet_test

import (
	"errors"
	"testing"

	"chainexplorer/internal/starknet"
)

func TestRealBlocks(t *testing.T) {
	for network := range feederNetworks {
		for _, rb := range feederBlocks(t, network) {
			err := starknet.Verify(rb.block, rb.update, rb.chainID)
			ok, unk, bad := 0, 0, 0
			for i := range rb.block.Transactions {
				tx := &rb.block.Transactions[i]
				m, err := tx.HashMatches(rb.chainID)
				switch {
				case errors.Is(err, starknet.ErrUnknownRules):
					unk++
					t.Logf("  unknown %v %s", tx.Type, tx.Version)
				case m:
					ok++
				default:
					t.Logf("  bad %v %s", tx.Type, tx.Version)
					bad++
				}
			}
			t.Logf("%s %q txs ok %d unknown %d bad %d: verify %v", rb.name, rb.block.StarknetVersion, ok, unk, bad, err)
		}
	}
}
