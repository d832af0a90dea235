package starknet

// Order and commitment of state diffs.

import (
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// Sort orders every list of the diff by address, class hash or storage key.
func (d *StateDiff) Sort() {
	arrange.By(d.Storage, compareStorage)
	for i := range d.Storage {
		slices.SortFunc(d.Storage[i].Entries, compareEntry) // of every contract
	}
	arrange.By(d.Deployed, func(a, b DeployedContract) int { return a.Address.Cmp(b.Address) })
	arrange.By(d.Replaced, func(a, b ReplacedClass) int { return a.Address.Cmp(b.Address) })
	arrange.By(d.Declared, compareDeclared)
	arrange.By(d.DeprecatedDeclared, felt.Felt.Cmp)
	arrange.By(d.Nonces, compareNonce)
	arrange.By(d.Migrated, compareDeclared)
}

func compareStorage(a, b StorageDiff) int      { return a.Address.Cmp(b.Address) }
func compareEntry(a, b StorageEntry) int       { return a.Key.Cmp(b.Key) }
func compareDeclared(a, b DeclaredClass) int   { return a.ClassHash.Cmp(b.ClassHash) }
func compareNonce(a, b NonceUpdate) int        { return a.Address.Cmp(b.Address) }
func compareUpdated(a, b DeployedContract) int { return a.Address.Cmp(b.Address) }

// sorted returns list in order without touching it.
func sorted[T any](list []T, compare func(a, b T) int) []T {
	if slices.IsSortedFunc(list, compare) {
		return list
	}
	list = slices.Clone(list)
	arrange.By(list, compare)
	return list
}

// stateDiffPrefix starts the state diff commitment.
var stateDiffPrefix = felt.MustShortString("STARKNET_STATE_DIFF0")

// Commitment is the state diff commitment of blocks from version 0.13.2 on.
// It does not depend on the order of the lists and leaves them as they are.
func (d *StateDiff) Commitment() felt.Felt {
	var p poseidon
	d.addTo(&p)
	return p.sumFelt()
}

// addTo adds what the commitment covers.
func (d *StateDiff) addTo(p *poseidon) {
	p.add(&stateDiffPrefix)

	updated := make([]DeployedContract, 0, len(d.Deployed)+len(d.Replaced))
	updated = append(updated, d.Deployed...)
	for _, r := range d.Replaced {
		updated = append(updated, DeployedContract(r))
	}
	p.addUint64(uint64(len(updated)))
	for _, u := range sorted(updated, compareUpdated) {
		p.add(&u.Address)
		p.add(&u.ClassHash)
	}

	declared := slices.Concat(d.Declared, d.Migrated)
	p.addUint64(uint64(len(declared)))
	for _, c := range sorted(declared, compareDeclared) {
		p.add(&c.ClassHash)
		p.add(&c.CompiledClassHash)
	}

	p.addUint64(uint64(len(d.DeprecatedDeclared)))
	p.addAll(sorted(d.DeprecatedDeclared, felt.Felt.Cmp))

	p.addUint64(1) // number of data availability modes,
	p.addUint64(0) // of which the only one is L1

	p.addUint64(uint64(len(d.Storage)))
	for _, s := range sorted(d.Storage, compareStorage) {
		p.add(&s.Address)
		p.addUint64(uint64(len(s.Entries)))
		for _, e := range sorted(s.Entries, compareEntry) {
			p.add(&e.Key)
			p.add(&e.Value)
		}
	}

	p.addUint64(uint64(len(d.Nonces)))
	for _, n := range sorted(d.Nonces, compareNonce) {
		p.add(&n.Address)
		p.add(&n.Nonce)
	}
}
