package starknet_test

import (
	"errors"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// knownBlock is a real block of 0.13.2 with its state update and all claims.
func knownBlock(t *testing.T) (*starknet.Block, *starknet.StateUpdate) {
	t.Helper()
	var fb feederBlock
	readJSON(t, feederPath(t, "sepolia-integration", "block", "35749.json"), &fb)
	var fu feederUpdate
	readJSON(t, feederPath(t, "sepolia-integration", "state_update", "35749.json"), &fu)
	b := fb.convert()
	if b.Commitments.Transactions.IsZero() {
		t.Fatal("block without claims")
	}
	return b, fu.convert()
}

// TestVerifyNamesTheLie changes one thing of a true block at a time.
func TestVerifyNamesTheLie(t *testing.T) {
	flip := func(f *felt.Felt) { f[31] ^= 1 }
	withEvents := func(b *starknet.Block) *starknet.Receipt {
		i := slices.IndexFunc(b.Receipts, func(r starknet.Receipt) bool { return len(r.Events) > 0 })
		return &b.Receipts[i]
	}
	withCalldata := func(b *starknet.Block) int {
		return slices.IndexFunc(b.Transactions, func(tx starknet.Transaction) bool { return tx.Type == starknet.Invoke && len(tx.Calldata) > 0 })
	}
	deployed := func(b *starknet.Block) int {
		return slices.IndexFunc(b.Transactions, func(tx starknet.Transaction) bool { return tx.Type == starknet.DeployAccount })
	}
	for _, c := range []struct {
		name, want string
		unclaimed  string // what is found when the header claims nothing
		change     func(*starknet.Block, *starknet.StateUpdate)
	}{
		{"nothing", "", "", func(*starknet.Block, *starknet.StateUpdate) {}},
		{"event data", starknet.WhatEventCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&withEvents(b).Events[0].Data[0]) }},
		{"event key", starknet.WhatEventCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&withEvents(b).Events[0].Keys[0]) }},
		{"event emitter", starknet.WhatEventCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&withEvents(b).Events[0].From) }},
		{"lost event", starknet.WhatEventCount, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			r := withEvents(b)
			r.Events = r.Events[1:]
		}},
		{"invented event", starknet.WhatEventCount, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			r := withEvents(b)
			r.Events = append(slices.Clone(r.Events), r.Events[0])
		}},
		{"calldata", starknet.WhatTransactionHash, starknet.WhatTransactionHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			flip(&b.Transactions[withCalldata(b)].Calldata[0])
		}},
		{"deployed address", starknet.WhatTransactionHash, starknet.WhatTransactionHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			flip(&b.Receipts[deployed(b)].ContractAddress)
		}},
		{"receipt of another transaction", starknet.WhatTransactionHash, starknet.WhatTransactionHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			flip(&b.Receipts[0].TransactionHash)
		}},
		{"signature", starknet.WhatTransactionCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			flip(&b.Transactions[withCalldata(b)].Signature[0])
		}},
		{"lost transaction", starknet.WhatTransactionCount, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			b.Transactions, b.Receipts = b.Transactions[1:], b.Receipts[1:]
			b.Commitments.EventCount = uint64(b.EventCount())
		}},
		{"lost receipt", starknet.WhatTransactionCount, starknet.WhatTransactionCount, func(b *starknet.Block, _ *starknet.StateUpdate) { b.Receipts = b.Receipts[1:] }},
		{"fee", starknet.WhatReceiptCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&b.Receipts[0].ActualFee) }},
		{"gas used", starknet.WhatReceiptCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { b.Receipts[0].Resources.L1DataGas++ }},
		{"reverted", starknet.WhatReceiptCommitment, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			b.Receipts[0].Execution, b.Receipts[0].RevertReason = starknet.Reverted, "no"
		}},
		{"storage", starknet.WhatStateDiffCommitment, starknet.WhatBlockHash, func(_ *starknet.Block, su *starknet.StateUpdate) { flip(&su.Diff.Storage[0].Entries[0].Value) }},
		{"lost nonce", starknet.WhatStateDiffLength, starknet.WhatBlockHash, func(_ *starknet.Block, su *starknet.StateUpdate) { su.Diff.Nonces = su.Diff.Nonces[1:] }},
		{"another state update", starknet.WhatStateUpdate, starknet.WhatStateUpdate, func(_ *starknet.Block, su *starknet.StateUpdate) { flip(&su.BlockHash) }},
		{"another state root", starknet.WhatStateRoot, starknet.WhatStateRoot, func(_ *starknet.Block, su *starknet.StateUpdate) { flip(&su.NewRoot) }},
		{"time", starknet.WhatBlockHash, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { b.Timestamp++ }},
		{"parent", starknet.WhatBlockHash, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&b.ParentHash) }},
		{"sequencer", starknet.WhatBlockHash, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&b.Sequencer) }},
		{"gas price", starknet.WhatBlockHash, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { flip(&b.L1DataGasPrice.InFri) }},
		{"data availability", starknet.WhatBlockHash, starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			b.DAMode = starknet.DACalldata + starknet.DABlob - b.DAMode
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, claims := range []bool{true, false} {
				b, su := knownBlock(t)
				c.change(b, su)
				want := c.want
				if !claims {
					b.Commitments, want = nil, c.unclaimed
				}
				err := starknet.Verify(b, su, starknet.ChainSepoliaIntegration)
				var mismatch *starknet.MismatchError
				switch {
				case want == "" && err == nil:
				case !errors.As(err, &mismatch) || mismatch.What != want:
					t.Errorf("with claims %v: %v, want a wrong %q", claims, err, want)
				case mismatch.Block != 35749 || (mismatch.Index >= 0) != (want == starknet.WhatTransactionHash) || mismatch.Claimed == mismatch.Computed:
					t.Errorf("with claims %v: %+v", claims, mismatch)
				}
			}
		})
	}
}

// reasonOf is why a block cannot be verified; empty for any other outcome.
func reasonOf(err error) string {
	var doubt *starknet.UnverifiedError
	if errors.As(err, &doubt) {
		return doubt.Reason
	}
	return ""
}

func TestVerifyWithoutStateUpdate(t *testing.T) {
	b, _ := knownBlock(t)
	if err := starknet.Verify(b, nil, starknet.ChainSepoliaIntegration); err != nil {
		t.Errorf("the claimed state diff commitment does not do: %v", err)
	}
	b.Timestamp++
	if starknet.Verify(b, nil, starknet.ChainSepoliaIntegration) == nil {
		t.Error("a wrong block hash passes with a claimed state diff commitment")
	}
	b.Commitments = nil
	if err := starknet.Verify(b, nil, starknet.ChainSepoliaIntegration); reasonOf(err) != starknet.StateDiffMissing {
		t.Errorf("a hash that cannot be computed: %v", err)
	}
}

// Nodes print a zero root, and leave counts out, when they do not know them.
func TestVerifyIgnoresUnknownClaims(t *testing.T) {
	b, su := knownBlock(t)
	b.Commitments = &starknet.Commitments{Events: b.Commitments.Events}
	if err := starknet.Verify(b, su, starknet.ChainSepoliaIntegration); err != nil {
		t.Error(err)
	}
}

// An L1 handler that lost its nonce, or anything else, is a lie: with the message
// hash left as it was, and with one that fits the lie.
func TestVerifyChecksL1Handlers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*starknet.Transaction)
		lie    bool
	}{
		"nothing":     {func(*starknet.Transaction) {}, false},
		"calldata":    {func(tx *starknet.Transaction) { tx.Calldata[1][31] ^= 1 }, true},
		"recipient":   {func(tx *starknet.Transaction) { tx.ContractAddress[31] ^= 1 }, true},
		"lost nonce":  {func(tx *starknet.Transaction) { tx.Nonce, tx.HasNonce = felt.Zero, false }, true},
		"other nonce": {func(tx *starknet.Transaction) { tx.Nonce[31] ^= 1 }, true},
	} {
		for _, fitting := range []bool{true, false} {
			var fb feederBlock
			readJSON(t, feederPath(t, "sepolia", "block", "6.json"), &fb)
			b := fb.convert()
			if b.Transactions[0].Type != starknet.L1Handler {
				t.Fatal("no L1 handler")
			}
			c.change(&b.Transactions[0])
			if fitting {
				b.Receipts[0].MessageHash = starknet.MessageToL2Hash(&b.Transactions[0])
			}
			if err := starknet.Verify(b, nil, starknet.ChainSepolia); (err != nil) != c.lie || reasonOf(err) != "" {
				t.Errorf("%s, message hash fits %v: %v", name, fitting, err)
			}
		}
	}
}

func TestVerifyUnknownRules(t *testing.T) {
	for version, known := range map[string]bool{
		"0.13.2": true, "0.14.9": true, "0.14.2.1": true, "0.15.0": false, "0.15": false, "1.0.0": false, "0.13.x": false, "garbage": false, "0.1.2.3.4": false,
		"a version that is longer than a felt can be": false, "\x000.13.2": false,
	} {
		b, su := knownBlock(t)
		b.StarknetVersion = version
		err := starknet.Verify(b, su, starknet.ChainSepoliaIntegration)
		if (reasonOf(err) == starknet.UnknownVersion) == known || err == nil && version != "0.13.2" {
			t.Errorf("version %q: %v", version, err)
		}
		if _, err := starknet.ComputeBlockHash(&b.Header, *b.Commitments); errors.Is(err, starknet.ErrUnknownRules) == known {
			t.Errorf("block hash of version %q: %v", version, err)
		}
	}
}

// A version that is not known keeps the newest rules: its name is in the hash.
func TestVerifyNewVersionOfTheSameRules(t *testing.T) {
	cfg := simnode.Config{Seed: 3, Blocks: 4, TxPerBlock: 3, RealHashes: true}
	err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		claimed := *b.Commitments
		h := b.Header
		h.StarknetVersion = "0.14.3" // rules as before
		hash, err := starknet.ComputeBlockHash(&h, claimed)
		if err != nil {
			return err
		}
		for version, want := range map[string]string{"0.14.3": "", "0.15.0": starknet.UnknownVersion} {
			lie, update := *b, *su
			lie.StarknetVersion, lie.Hash, update.BlockHash = version, hash, hash
			if err := starknet.Verify(&lie, &update, starknet.ChainSepolia); reasonOf(err) != want || want == "" && err != nil {
				t.Errorf("block %d as %s: %v", b.Number, version, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// signed is an invoke of version 3 with three bounds and its true hash.
func signed(t *testing.T, change func(*starknet.Transaction)) starknet.Transaction {
	t.Helper()
	tx := starknet.Transaction{
		Type: starknet.Invoke, Version: felt.FromUint64(3), Sender: felt.FromUint64(7), HasNonce: true,
		Calldata: felts("0x1", "0x2"), ResourceBounds: &starknet.ResourceBounds{HasL1DataGas: true},
	}
	change(&tx)
	hash, err := tx.ComputeHash(starknet.ChainMain)
	if err != nil {
		t.Fatal(err)
	}
	tx.Hash = hash
	return tx
}

func TestHashFormsOfVersion3(t *testing.T) {
	three := signed(t, func(*starknet.Transaction) {})
	two := signed(t, func(tx *starknet.Transaction) { tx.ResourceBounds.HasL1DataGas = false })
	if three.Hash == two.Hash {
		t.Fatal("the third bound does not count")
	}
	// A node that fills the third bound with zeros hides which was signed.
	two.ResourceBounds.HasL1DataGas = true
	for _, tx := range []*starknet.Transaction{&three, &two} {
		if ok, err := tx.HashMatches(starknet.ChainMain); !ok {
			t.Errorf("hash of a true transaction differs (%v)", err)
		}
	}
	two.ResourceBounds.L1DataGas.MaxAmount = 1
	if ok, _ := two.HashMatches(starknet.ChainMain); ok {
		t.Error("a third bound that was not signed passes")
	}
	if ok, _ := three.HashMatches(starknet.ChainSepolia); ok {
		t.Error("the chain does not count")
	}
}

func TestProofFacts(t *testing.T) {
	plain := signed(t, func(*starknet.Transaction) {})
	empty := signed(t, func(tx *starknet.Transaction) { tx.ProofFacts = []felt.Felt{} })
	proven := signed(t, func(tx *starknet.Transaction) { tx.ProofFacts = felts("0x5") })
	if plain.Hash != empty.Hash || plain.Hash == proven.Hash {
		t.Error("only proof facts that are there count")
	}
	// Old nodes leave proof facts out: the block may be true, or not.
	for _, c := range []struct {
		version string
		facts   []felt.Felt
		forge   bool
		reason  string
	}{
		{"0.14.2", nil, false, starknet.ProofFactsMissing},
		{"0.14.2", nil, true, starknet.ProofFactsMissing},
		{"0.14.1", nil, false, ""},
		{"0.14.2", []felt.Felt{}, false, ""},
	} {
		tx := proven
		tx.ProofFacts = c.facts
		if c.forge {
			tx.Sender = felt.FromUint64(666)
		}
		b := &starknet.Block{
			Header:       starknet.Header{StarknetVersion: c.version, DAMode: starknet.DABlob},
			Transactions: []starknet.Transaction{tx}, Receipts: []starknet.Receipt{{TransactionHash: tx.Hash, Type: tx.Type, FeeUnit: starknet.Fri}},
		}
		err := starknet.Verify(b, nil, starknet.ChainMain)
		var mismatch *starknet.MismatchError
		if reasonOf(err) != c.reason || errors.As(err, &mismatch) != (c.reason == "") {
			t.Errorf("version %s, facts %v, forged %v: %v", c.version, c.facts, c.forge, err)
		}
	}
}

func TestStateDiffCommitmentIgnoresOrder(t *testing.T) {
	_, su := knownBlock(t)
	want := su.Diff.Commitment()
	slices.Reverse(su.Diff.Storage)
	slices.Reverse(su.Diff.Nonces)
	for i := range su.Diff.Storage {
		slices.Reverse(su.Diff.Storage[i].Entries)
	}
	if su.Diff.Commitment() != want {
		t.Error("the order of the lists counts")
	}
	su.Diff.Sort()
	if su.Diff.Commitment() != want {
		t.Error("sorting changes the commitment")
	}
	if !slices.IsSortedFunc(su.Diff.Storage, func(a, b starknet.StorageDiff) int { return a.Address.Cmp(b.Address) }) {
		t.Error("Sort does not sort")
	}
}

// Some old blocks name no sequencer, but their hash does.
func TestVerifyOldBlockWithoutSequencer(t *testing.T) {
	b := &starknet.Block{Header: starknet.Header{Number: 2000, ParentHash: felt.FromUint64(1), DAMode: starknet.DACalldata}}
	b.Sequencer = felt.MustParse("0x021f4b90b0377c82bf330b7b5295820769e72d79d8acd0effa0ebde6e9988bc5")
	hash, err := starknet.ComputeBlockHash(&b.Header, starknet.Commitments{})
	if err != nil {
		t.Fatal(err)
	}
	b.Hash, b.Sequencer = hash, felt.Zero
	if err := starknet.Verify(b, nil, starknet.ChainMain); err != nil {
		t.Errorf("the sequencer of that time is not tried: %v", err)
	}
	b.Sequencer = felt.FromUint64(5)
	if err := starknet.Verify(b, nil, starknet.ChainMain); err == nil {
		t.Error("any sequencer passes")
	}
}
