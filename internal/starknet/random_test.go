package starknet_test

// Blocks and state updates of any content, from a seed.

import (
	"math/rand/v2"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

func randomFelt(r *rand.Rand) (f felt.Felt) {
	switch r.IntN(4) {
	case 0:
		return felt.FromUint64(r.Uint64() >> r.IntN(64))
	case 1:
		return felt.Felt{}
	}
	for i := range f {
		f[i] = byte(r.Uint32())
	}
	f[0] &= 0x07
	return f
}

func randomFelts(r *rand.Rand) (fs []felt.Felt) {
	for range r.IntN(6) {
		fs = append(fs, randomFelt(r))
	}
	return fs
}

var txKinds = []struct {
	kind    starknet.TxType
	version uint64
}{
	{starknet.Invoke, 0}, {starknet.Invoke, 1}, {starknet.Invoke, 3}, {starknet.Declare, 0}, {starknet.Declare, 1}, {starknet.Declare, 2},
	{starknet.Declare, 3}, {starknet.Deploy, 0}, {starknet.Deploy, 1}, {starknet.DeployAccount, 1}, {starknet.DeployAccount, 3}, {starknet.L1Handler, 0},
}

func randomTransaction(r *rand.Rand, i int) starknet.Transaction {
	kind := txKinds[i%len(txKinds)]
	v3 := kind.version == 3
	t := starknet.Transaction{Hash: randomFelt(r), Type: kind.kind, Version: felt.FromUint64(kind.version)}
	if r.IntN(5) == 0 {
		t.Version[15] |= 1 // meant for estimation only
	}
	if kind.kind != starknet.Deploy && kind.kind != starknet.L1Handler {
		t.Signature = randomFelts(r)
		if !v3 {
			t.MaxFee = randomFelt(r)
		}
		if kind.version > 0 {
			t.Nonce, t.HasNonce = randomFelt(r), true
		}
	}
	switch kind.kind {
	case starknet.Invoke:
		t.Calldata = randomFelts(r)
		if kind.version == 0 {
			t.ContractAddress, t.EntryPointSelector = randomFelt(r), randomFelt(r)
		} else {
			t.Sender = randomFelt(r)
		}
		if v3 && r.IntN(2) == 0 {
			t.ProofFacts = append([]felt.Felt{}, randomFelts(r)...)
		}
	case starknet.Declare:
		t.Sender, t.ClassHash = randomFelt(r), randomFelt(r)
		if kind.version >= 2 {
			t.CompiledClassHash = randomFelt(r)
		}
	case starknet.Deploy, starknet.DeployAccount:
		t.ClassHash, t.ContractAddressSalt, t.ConstructorCalldata = randomFelt(r), randomFelt(r), randomFelts(r)
	case starknet.L1Handler:
		t.ContractAddress, t.EntryPointSelector, t.Calldata = randomFelt(r), randomFelt(r), randomFelts(r)
		if t.HasNonce = r.IntN(2) == 0; t.HasNonce {
			t.Nonce = randomFelt(r)
		}
	}
	if v3 {
		bound := func() starknet.ResourceBound {
			return starknet.ResourceBound{MaxAmount: r.Uint64(), MaxPricePerUnit: felt.FromUint128(r.Uint64(), r.Uint64())}
		}
		t.ResourceBounds = &starknet.ResourceBounds{L1Gas: bound(), L2Gas: bound()}
		if r.IntN(2) == 0 {
			t.ResourceBounds.L1DataGas, t.ResourceBounds.HasL1DataGas = bound(), true
		}
		t.Tip, t.PaymasterData = r.Uint64(), randomFelts(r)
		t.NonceDAMode, t.FeeDAMode = starknet.TxDAMode(r.IntN(2)), starknet.TxDAMode(r.IntN(2))
		if kind.kind != starknet.DeployAccount {
			t.AccountDeploymentData = randomFelts(r)
		}
	}
	return t
}

func randomReceipt(r *rand.Rand, t *starknet.Transaction) starknet.Receipt {
	rc := starknet.Receipt{
		TransactionHash: t.Hash, Type: t.Type, ActualFee: randomFelt(r), FeeUnit: starknet.FeeUnit(1 + r.IntN(2)),
		Finality: starknet.BlockStatus(1 + r.IntN(2)), Execution: starknet.ExecutionStatus(1 + r.IntN(2)),
		Resources: starknet.ExecutionResources{L1Gas: r.Uint64(), L1DataGas: r.Uint64(), L2Gas: r.Uint64()},
	}
	if rc.Execution == starknet.Reverted {
		rc.RevertReason = []string{"", "plain", "a \"quoted\" \\ line\n\ttab \x01 \u00e9 \U0001f600 </script>"}[r.IntN(3)]
	}
	for range r.IntN(4) {
		rc.Events = append(rc.Events, starknet.Event{From: randomFelt(r), Keys: randomFelts(r), Data: randomFelts(r)})
	}
	for range r.IntN(3) {
		rc.MessagesSent = append(rc.MessagesSent, starknet.MessageToL1{From: randomFelt(r), To: randomFelt(r), Payload: randomFelts(r)})
	}
	switch t.Type {
	case starknet.Deploy, starknet.DeployAccount:
		rc.ContractAddress = randomFelt(r)
	case starknet.L1Handler:
		for i := range rc.MessageHash {
			rc.MessageHash[i] = byte(r.Uint32())
		}
	}
	return rc
}

func randomBlock(r *rand.Rand, txs int) *starknet.Block {
	price := func() starknet.GasPrice { return starknet.GasPrice{InFri: randomFelt(r), InWei: randomFelt(r)} }
	b := &starknet.Block{Header: starknet.Header{
		Status: starknet.BlockStatus(1 + r.IntN(2)), Hash: randomFelt(r), ParentHash: randomFelt(r), Number: r.Uint64(), NewRoot: randomFelt(r),
		Timestamp: r.Uint64() % (1 << 37), Sequencer: randomFelt(r), L1GasPrice: price(), L1DataGasPrice: price(), L2GasPrice: price(),
		DAMode: starknet.DAMode(1 + r.IntN(2)), StarknetVersion: "0.14.1",
		Commitments: &starknet.Commitments{
			Transactions: randomFelt(r), Events: randomFelt(r), Receipts: randomFelt(r), StateDiff: randomFelt(r),
			TransactionCount: r.Uint64(), EventCount: r.Uint64(), StateDiffLength: r.Uint64(),
		},
	}}
	for i := range txs {
		t := randomTransaction(r, i)
		b.Transactions = append(b.Transactions, t)
		b.Receipts = append(b.Receipts, randomReceipt(r, &t))
	}
	return b
}

func randomUpdate(r *rand.Rand) *starknet.StateUpdate {
	su := &starknet.StateUpdate{BlockHash: randomFelt(r), NewRoot: randomFelt(r), OldRoot: randomFelt(r)}
	for range r.IntN(4) {
		d := &su.Diff
		s := starknet.StorageDiff{Address: randomFelt(r)}
		for range r.IntN(20) {
			s.Entries = append(s.Entries, starknet.StorageEntry{Key: randomFelt(r), Value: randomFelt(r)})
		}
		d.Storage = append(d.Storage, s)
		d.Deployed = append(d.Deployed, starknet.DeployedContract{Address: randomFelt(r), ClassHash: randomFelt(r)})
		d.Replaced = append(d.Replaced, starknet.ReplacedClass{Address: randomFelt(r), ClassHash: randomFelt(r)})
		d.Declared = append(d.Declared, starknet.DeclaredClass{ClassHash: randomFelt(r), CompiledClassHash: randomFelt(r)})
		d.Migrated = append(d.Migrated, starknet.DeclaredClass{ClassHash: randomFelt(r), CompiledClassHash: randomFelt(r)})
		d.DeprecatedDeclared = append(d.DeprecatedDeclared, randomFelt(r))
		d.Nonces = append(d.Nonces, starknet.NonceUpdate{Address: randomFelt(r), Nonce: randomFelt(r)})
	}
	return su
}
