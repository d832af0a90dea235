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
	WhatStateUpdate           = "state update"     // its block hash is not the block's
	WhatStateRoot             = "state root"       // it does not lead to the block's root
	WhatContractAddress       = "contract address" // that a deploy made
	WhatMessageHash           = "message hash"     // of an L1 handler; shown without its first five bits
	WhatFeeUnit               = "fee unit"         // 1 is wei, 2 is fri
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

// Why a block cannot be verified, as an UnverifiedError names it.
const (
	UnknownVersion    = "unknown_version"     // its rules are newer than this program
	UnknownNetwork    = "unknown_network"     // its rules depend on the past of a network that is not known
	ProofFactsMissing = "proof_facts_missing" // the node does not tell what a transaction's hash covers
	MigrationsMissing = "migrations_missing"  // the node does not tell which classes were migrated
	StateDiffMissing  = "state_diff_missing"  // nobody told the state diff
)

// UnverifiedError says that a block's data cannot be held against its hash: the
// node did not deliver all that the hash covers, or the rules are not known. The
// block may be true, and it may be forged.
type UnverifiedError struct {
	Block  uint64
	Reason string // one of the constants above
	Detail string
}

func (e *UnverifiedError) Error() string {
	return fmt.Sprintf("block %d cannot be verified: %s", e.Block, e.Detail)
}

// Unwrap makes it an ErrUnknownRules.
func (e *UnverifiedError) Unwrap() error { return ErrUnknownRules }

// Verify recomputes from a block's contents every hash that they determine,
// and compares it with what the node claims: the transaction hashes, the
// commitments and counts that the header names, and the block hash.
//
// It returns nil when the block's hash and those of all transactions follow from
// the contents, a *MismatchError for the first thing that contradicts them, and
// an *UnverifiedError when they can neither be shown to follow nor not to. su is
// the block's state update; without it the state diff commitment is taken from
// the header. What of a block its hash covers is told by RulesOf.
func Verify(b *Block, su *StateUpdate, chainID felt.Felt) error {
	version, known := rulesOf(b.StarknetVersion)
	v := verifier{block: b, version: version}
	err := v.verify(su, chainID)
	var mismatch *MismatchError
	if !known && errors.As(err, &mismatch) {
		return v.unverified(UnknownVersion, fmt.Sprintf("the rules of starknet version %.40q are not known to this program", b.StarknetVersion))
	}
	return err
}

func (v *verifier) verify(su *StateUpdate, chainID felt.Felt) error {
	b := v.block
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
	var doubt error // what cannot be verified, where nothing is wrong
	usual := usualHashes(b, &chainID)
	for i := range b.Transactions {
		err := v.transaction(i, &chainID, &usual[i])
		if errors.Is(err, ErrUnknownRules) {
			if doubt == nil {
				doubt = err
			}
		} else if err != nil {
			return err
		}
	}
	err := v.commitments(su, chainID)
	if doubt != nil && (err == nil || errors.Is(err, ErrUnknownRules)) {
		return doubt
	}
	return err
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

func (v *verifier) unverified(reason, detail string) error {
	return &UnverifiedError{Block: v.block.Number, Reason: reason, Detail: detail}
}

// unsettled says that a block is from the time when transactions were hashed in
// several ways. A version proves nothing there, because those blocks' hashes do
// not cover it.
func unsettled(number uint64, version protocolVersion, chainID *felt.Felt) bool {
	past, known := histories[*chainID]
	return version.before(v0_10_0) && (!known || number < past.settled)
}

// transaction checks one.
func (v *verifier) transaction(i int, chainID *felt.Felt, usual *usualHash) error {
	t, r := &v.block.Transactions[i], &v.block.Receipts[i]
	if t.Hash != r.TransactionHash {
		return v.mismatch(WhatTransactionHash, i, t.Hash, r.TransactionHash)
	}
	if err := v.receipt(i); err != nil {
		return err
	}
	ancient := unsettled(v.block.Number, v.version, chainID)
	computed, err := t.checkHash(chainID, &r.ContractAddress, usual, ancient)
	switch {
	case t.Type == L1Handler && !t.HasNonce && !ancient:
		return fmt.Errorf("block %d, transaction %d: an L1 handler without nonce", v.block.Number, i)
	case errors.Is(err, ErrUnknownRules):
		return v.unverified(UnknownVersion, fmt.Sprintf("transaction %d: %v", i, err))
	case err != nil:
		return fmt.Errorf("block %d, transaction %d: %w", v.block.Number, i, err)
	case computed == t.Hash:
		return nil
	case t.Type == Invoke && t.ResourceBounds != nil && t.ProofFacts == nil && !v.version.before(v0_14_2):
		return v.unverified(ProofFactsMissing, fmt.Sprintf("the hash of transaction %d follows from its data only with proof facts, "+
			"which the node does not tell: nodes of interface 0.10.1 and later do", i))
	}
	return v.mismatch(WhatTransactionHash, i, t.Hash, computed)
}

// receipt checks what no hash covers and what follows from the transaction.
func (v *verifier) receipt(i int) error {
	t, r := &v.block.Transactions[i], &v.block.Receipts[i]
	unit := Wei
	if t.ResourceBounds != nil {
		unit = Fri
	}
	if r.FeeUnit != unit {
		return v.mismatch(WhatFeeUnit, i, felt.FromUint64(uint64(r.FeeUnit)), felt.FromUint64(uint64(unit)))
	}
	switch t.Type {
	case Deploy:
		if made := t.deployedAddress(nil); r.ContractAddress != made {
			return v.mismatch(WhatContractAddress, i, r.ContractAddress, made)
		}
	case L1Handler:
		hash := MessageToL2Hash(t)
		if r.MessageHash != hash && t.HasNonce && t.Nonce.IsZero() { // filled in for a message that had none
			u := *t
			u.HasNonce = false
			hash = MessageToL2Hash(&u)
		}
		if r.MessageHash != hash {
			claimed, computed := felt.Felt(r.MessageHash), felt.Felt(hash)
			claimed[0], computed[0] = claimed[0]&7, computed[0]&7 // 256 bits do not fit
			return v.mismatch(WhatMessageHash, i, claimed, computed)
		}
	}
	return nil
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
	computed := computeCommitments(b, diff, v.version)
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
		return v.unverified(StateDiffMissing, "its state diff is not known")
	}
	hashes, known := blockHashes(&b.Header, &computed, chainID, v.version)
	if !known {
		return v.unverified(UnknownNetwork, fmt.Sprintf("the rules for blocks without a version are not known for chain %s", chainID))
	}
	if slices.Contains(hashes, b.Hash) {
		return nil
	}
	if b.Commitments == nil && !v.version.before(v0_14_1) {
		// Nodes that tell no commitments are of an interface version that
		// leaves out migrated classes, which the hash covers since 0.14.1.
		return v.unverified(MigrationsMissing, "its hash does not follow from its data; the node is of an interface before 0.10, "+
			"which does not tell migrated classes")
	}
	return v.mismatch(WhatBlockHash, -1, b.Hash, hashes[0])
}
