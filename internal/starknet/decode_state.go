package starknet

// Decoding of state updates.

import "chainexplorer/internal/felt"

var updateFields = []string{"block_hash", "new_root", "old_root", "state_diff"}

// DecodeStateUpdate reads the result of starknet_getStateUpdate for a
// confirmed block; one of a block that is still being built gives
// ErrPreConfirmed. Nothing of the result points into data.
func DecodeStateUpdate(data []byte) (*StateUpdate, error) {
	const blockHash, newRoot, oldRoot, diff = 1, 2, 4, 8
	d := newDecoder(data)
	su := new(StateUpdate)
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		var field fieldSet
		switch string(key) {
		case "block_hash":
			d.feltInto(&su.BlockHash)
			field = blockHash
		case "new_root":
			d.feltInto(&su.NewRoot)
			field = newRoot
		case "old_root":
			d.feltInto(&su.OldRoot)
			field = oldRoot
		case "state_diff":
			su.Diff = StateDiff{}
			d.stateDiff(&su.Diff)
			field = diff
		default:
			d.s.Skip()
		}
		seen |= field
		if d.bad() && field != 0 {
			d.within(string(key))
			break
		}
	}
	if !d.bad() && seen&(blockHash|newRoot) == 0 && seen&diff != 0 {
		d.s.Fail(ErrPreConfirmed)
	}
	d.require(seen, blockHash|newRoot|oldRoot|diff, updateFields)
	if err := d.finish("state update"); err != nil {
		return nil, err
	}
	return su, nil
}

var diffFields = []string{
	"storage_diffs", "deployed_contracts", "replaced_classes", "declared_classes", "deprecated_declared_classes", "nonces",
}

func (d *decoder) stateDiff(diff *StateDiff) {
	const storage, deployed, replaced, declared, deprecated, nonces = 1, 2, 4, 8, 16, 32
	const migrated = 64 // since 0.10, and optional there
	var entries slab[StorageEntry]
	entries.hint(len(diffFields))
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		var field fieldSet
		switch string(key) {
		case "storage_diffs":
			diff.Storage = listOf(d, func(s *StorageDiff) { d.storageDiff(s, &entries) })
			field = storage
		case "deployed_contracts":
			diff.Deployed = listOf(d, func(c *DeployedContract) { d.feltPair(&c.Address, &c.ClassHash, deployedFields) })
			field = deployed
		case "replaced_classes":
			diff.Replaced = listOf(d, func(c *ReplacedClass) { d.feltPair(&c.Address, &c.ClassHash, replacedFields) })
			field = replaced
		case "declared_classes":
			diff.Declared = listOf(d, func(c *DeclaredClass) { d.feltPair(&c.ClassHash, &c.CompiledClassHash, declaredFields) })
			field = declared
		case "migrated_compiled_classes":
			diff.Migrated = listOf(d, func(c *DeclaredClass) { d.feltPair(&c.ClassHash, &c.CompiledClassHash, declaredFields) })
			field = migrated
		case "deprecated_declared_classes":
			diff.DeprecatedDeclared = d.feltList()
			field = deprecated
		case "nonces":
			diff.Nonces = listOf(d, func(n *NonceUpdate) { d.feltPair(&n.Address, &n.Nonce, nonceFields) })
			field = nonces
		default:
			d.s.Skip()
		}
		seen |= field
		if d.bad() && field != 0 {
			d.within(string(key))
			return
		}
	}
	d.require(seen, storage|deployed|replaced|declared|deprecated|nonces, diffFields)
}

// listOf reads an array of objects; an empty one is nil.
func listOf[T any](d *decoder, item func(*T)) []T {
	var list []T
	for ok := d.s.OpenArray(); ok; ok = d.s.NextElement() {
		var zero T
		list = append(list, zero)
		item(&list[len(list)-1])
		if d.bad() {
			d.withinIndex(len(list) - 1)
			return nil
		}
	}
	return list
}

var (
	deployedFields = []string{"address", "class_hash"}
	replacedFields = []string{"contract_address", "class_hash"}
	declaredFields = []string{"class_hash", "compiled_class_hash"}
	nonceFields    = []string{"contract_address", "nonce"}
	entryFields    = []string{"key", "value"}
	storageFields  = []string{"address", "storage_entries"}
)

// feltPair reads an object of two felts.
func (d *decoder) feltPair(a, b *felt.Felt, names []string) {
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		switch key := d.s.Key(); string(key) {
		case names[0]:
			d.feltInto(a)
			seen |= 1
		case names[1]:
			d.feltInto(b)
			seen |= 2
		default:
			d.s.Skip()
		}
	}
	d.require(seen, 3, names)
}

func (d *decoder) storageDiff(s *StorageDiff, entries *slab[StorageEntry]) {
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		switch string(key) {
		case "address":
			d.feltInto(&s.Address)
			seen |= 1
		case "storage_entries":
			list := entries.begin()
			for ok := d.s.OpenArray(); ok; ok = d.s.NextElement() {
				if len(list) == cap(list) {
					list = entries.grow(list)
				}
				list = list[:len(list)+1]
				e := &list[len(list)-1]
				d.feltPair(&e.Key, &e.Value, entryFields)
				if d.bad() {
					d.withinIndex(len(list) - 1)
					break
				}
			}
			s.Entries = entries.end(list)
			seen |= 2
		default:
			d.s.Skip()
			continue
		}
		if d.bad() {
			d.within(string(key))
			return
		}
	}
	d.require(seen, 3, storageFields)
}
