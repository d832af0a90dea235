package starknet

import "chainexplorer/internal/felt"

// StateUpdate is the answer of starknet_getStateUpdate for a confirmed block.
type StateUpdate struct {
	BlockHash felt.Felt
	NewRoot   felt.Felt
	OldRoot   felt.Felt
	Diff      StateDiff
}

// StateDiff is what a block changed. Nodes order its lists as they like, even
// between two calls: Sort makes two of them comparable.
type StateDiff struct {
	Storage            []StorageDiff
	Deployed           []DeployedContract
	Replaced           []ReplacedClass
	Declared           []DeclaredClass // Sierra
	DeprecatedDeclared []felt.Felt     // Cairo 0
	Nonces             []NonceUpdate
	Migrated           []DeclaredClass // compiled class hash changed, since 0.10
}

// StorageDiff is the new values of one contract's storage.
type StorageDiff struct {
	Address felt.Felt
	Entries []StorageEntry
}

// StorageEntry is one storage cell's new value.
type StorageEntry struct {
	Key   felt.Felt
	Value felt.Felt
}

// DeployedContract is a contract that came to be in the block.
type DeployedContract struct {
	Address   felt.Felt
	ClassHash felt.Felt
}

// ReplacedClass is a contract whose class changed in the block.
type ReplacedClass struct {
	Address   felt.Felt
	ClassHash felt.Felt
}

// DeclaredClass pairs a Sierra class with its compiled form.
type DeclaredClass struct {
	ClassHash         felt.Felt
	CompiledClassHash felt.Felt
}

// NonceUpdate is an account's new nonce.
type NonceUpdate struct {
	Address felt.Felt
	Nonce   felt.Felt
}

// Length is the number of single changes: the chain's state_diff_length.
func (d *StateDiff) Length() uint64 {
	n := len(d.Deployed) + len(d.Replaced) + len(d.Declared) + len(d.DeprecatedDeclared) + len(d.Nonces) + len(d.Migrated)
	for i := range d.Storage {
		n += len(d.Storage[i].Entries)
	}
	return uint64(n)
}
