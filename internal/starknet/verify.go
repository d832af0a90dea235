package starknet

// Verification: does what a node claims follow from what it delivers?

import (
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/felt"
)

// What a MismatchError can be about.
const (
	WhatTransactionHash       = "transaction hash"
	WhatTransactionCommitment = "transaction commitment"
	WhatEventCommitment       = "event commitment"
	WhatReceiptCommitment     = "receipt commitment"
	WhatStateDiffCommitment   = "state diff commitment"
	WhatEventCount            = "event count"
	WhatTransactionCount      = "transaction count"
	WhatStateDiffLength       = "state diff length"
	WhatBlockHash             = "block hash"
	WhatStateUpdate           = "state update" // its block hash is not the block's
	WhatStateRoot             = "state root"   // it does not lead to the block's root
)

// MismatchError says that a node's claim does not follow from its data.
type MismatchError struct {
	Block    uint64
	What     string
	Index    int // of the transaction, or -1
	Claimed  felt.Felt
	Computed felt.Felt
}

func (e *MismatchError) Error() string {
	where := fmt.Sprintf("block %d", e.Block)
	if e.Index >= 0 {
		where = fmt.Sprintf("%s, transaction %d", where, e.Index)
	}
	return fmt.Sprintf("%s: %s is %s by the node and %s by its data", where, e.What, e.Claimed, e.Computed)
}

// Verify recomputes from a block's contents every hash that they determine,
// and compares it with what the node claims: the transaction hashes, the
// commitments and counts that the header names, and the block hash.
//
// It returns nil when all that could be computed agrees, a *MismatchError for
// the first that does not, and an error wrapping ErrUnknownRules when the
// block's version is newer than this program. su is the block's state update;
// without it the state diff commitment is taken from the header, and if that
// has none either, a block hash that needs it stays unchecked. Blocks before
// 0.13.2 do not commit to their state diff: there it is not checked.
//
// Transactions whose kind was hashed in ways that are not all public are not
// checked one by one; their claimed hashes still count towards the block hash.
func Verify(b *Block, su *StateUpdate, chainID felt.Felt) error {
	version, err := knownVersion(b.StarknetVersion)
	if err != nil {
		return fmt.Errorf("block %d: %w", b.Number, err)
	}
	v := verifier{block: b, version: version}
	if len(b.Transactions) != len(b.Receipts) {
		return v.mismatchedCount(WhatTransactionCount, uint64(len(b.Receipts)), uint64(len(b.Transactions)))
	}
	if su != nil {
		if su.BlockHash != b.Hash {
			return v.mismatch(WhatStateUpdate, -1, su.BlockHash, b.Hash)
		}
		if su.NewRoot != b.NewRoot {
			return v.mismatch(WhatStateRoot, -1, su.NewRoot, b.NewRoot)
		}
	}
	if err := v.counts(su); err != nil {
		return err
	}
	for i := range b.Transactions {
		if err := v.transaction(i, &chainID); err != nil {
			return err
		}
	}
	return v.commitments(su, chainID)
}

type verifier struct {
	block   *Block
	version protocolVersion
}

func (v *verifier) mismatch(what string, index int, claimed, computed felt.Felt) error {
	return &MismatchError{Block: v.block.Number, What: what, Index: index, Claimed: claimed, Computed: computed}
}

func (v *verifier) mismatchedCount(what string, claimed, computed uint64) error {
	return v.mismatch(what, -1, felt.FromUint64(claimed), felt.FromUint64(computed))
}

func (v *verifier) transaction(i int, chainID *felt.Felt) error {
	t, r := &v.block.Transactions[i], &v.block.Receipts[i]
	if t.Hash != r.TransactionHash {
		return v.mismatch(WhatTransactionHash, i, t.Hash, r.TransactionHash)
	}
	if v.version.before(v0_11_0) {
		return nil // hashed in too many ways; the block hash covers the claimed hashes
	}
	computed, err := t.checkHash(chainID, &r.ContractAddress)
	switch {
	case errors.Is(err, ErrUnknownRules):
		return nil
	case err != nil:
		return fmt.Errorf("block %d, transaction %d: %w", v.block.Number, i, err)
	case computed == t.Hash:
		return nil
	case t.anyForm():
		return nil
	case t.Type == Invoke && t.ProofFacts == nil && !v.version.before(v0_14_2):
		return nil // the node may have left out proof facts that were not asked for
	}
	return v.mismatch(WhatTransactionHash, i, t.Hash, computed)
}

// counts compares what the header counts; a zero may be a count left out, and
// the block hash covers the true ones anyway.
func (v *verifier) counts(su *StateUpdate) error {
	claimed := v.block.Commitments
	if claimed == nil {
		return nil
	}
	differs := func(claimed, computed uint64) bool { return claimed != 0 && claimed != computed }
	if n := uint64(len(v.block.Transactions)); differs(claimed.TransactionCount, n) {
		return v.mismatchedCount(WhatTransactionCount, claimed.TransactionCount, n)
	}
	if n := uint64(v.block.EventCount()); differs(claimed.EventCount, n) {
		return v.mismatchedCount(WhatEventCount, claimed.EventCount, n)
	}
	if su != nil && !v.version.before(v0_13_2) {
		if n := su.Diff.Length(); differs(claimed.StateDiffLength, n) {
			return v.mismatchedCount(WhatStateDiffLength, claimed.StateDiffLength, n)
		}
	}
	return nil
}

// commitments compares root by root, so that the error names the right one,
// and then the block hash. Nodes print a zero root when they do not know it,
// and for blocks before 0.13.2 they may print roots by later rules.
func (v *verifier) commitments(su *StateUpdate, chainID felt.Felt) error {
	b := v.block
	var diff *StateDiff
	if su != nil {
		diff = &su.Diff
	}
	computed, err := ComputeCommitments(b, diff)
	if err != nil {
		return fmt.Errorf("block %d: %w", b.Number, err)
	}
	if claimed := b.Commitments; claimed != nil && !v.version.before(v0_13_2) {
		for _, root := range []struct {
			what              string
			claimed, computed felt.Felt
		}{
			{WhatTransactionCommitment, claimed.Transactions, computed.Transactions},
			{WhatEventCommitment, claimed.Events, computed.Events},
			{WhatReceiptCommitment, claimed.Receipts, computed.Receipts},
			{WhatStateDiffCommitment, claimed.StateDiff, computed.StateDiff},
		} {
			if !root.claimed.IsZero() && root.claimed != root.computed {
				return v.mismatch(root.what, -1, root.claimed, root.computed)
			}
		}
	}
	if computed.StateDiff.IsZero() && !v.version.before(v0_13_2) {
		return nil // nobody told the state diff: the hash cannot be computed
	}
	hashes, err := blockHashes(&b.Header, &computed, chainID, v.version)
	if err != nil {
		return fmt.Errorf("block %d: %w", b.Number, err)
	}
	if !slices.Contains(hashes, b.Hash) {
		if b.Commitments == nil && !v.version.before(v0_14_1) {
			// Nodes that tell no commitments are of an interface version that
			// leaves out migrated classes, which the hash covers since 0.14.1.
			return fmt.Errorf("block %d: its node does not tell migrated classes: %w", b.Number, ErrUnknownRules)
		}
		return v.mismatch(WhatBlockHash, -1, b.Hash, hashes[0])
	}
	return nil
}
