package starknet

// Encoding of state updates and classes.

import "chainexplorer/internal/felt"

// AppendStateUpdate appends a confirmed block's state update, as
// starknet_getStateUpdate gives it, to dst.
func AppendStateUpdate(dst []byte, su *StateUpdate, v SpecVersion) []byte {
	w := writer{append(dst, '{')}
	w.felt("block_hash", &su.BlockHash)
	w.felt("new_root", &su.NewRoot)
	w.felt("old_root", &su.OldRoot)
	w.key("state_diff")
	w.open('{')
	d := &su.Diff
	appendList(&w, "storage_diffs", d.Storage, func(s *StorageDiff) {
		w.felt("address", &s.Address)
		appendList(&w, "storage_entries", s.Entries, func(e *StorageEntry) { w.feltPair(&e.Key, &e.Value, entryFields) })
	})
	appendList(&w, "deployed_contracts", d.Deployed, func(c *DeployedContract) { w.feltPair(&c.Address, &c.ClassHash, deployedFields) })
	appendList(&w, "replaced_classes", d.Replaced, func(c *ReplacedClass) { w.feltPair(&c.Address, &c.ClassHash, replacedFields) })
	declared := func(c *DeclaredClass) { w.feltPair(&c.ClassHash, &c.CompiledClassHash, declaredFields) }
	appendList(&w, "declared_classes", d.Declared, declared)
	w.felts("deprecated_declared_classes", d.DeprecatedDeclared)
	appendList(&w, "nonces", d.Nonces, func(n *NonceUpdate) { w.feltPair(&n.Address, &n.Nonce, nonceFields) })
	if v >= V010 && len(d.Migrated) > 0 {
		appendList(&w, "migrated_compiled_classes", d.Migrated, declared)
	}
	w.close('}')
	w.close('}')
	return w.b
}

func (w *writer) feltPair(a, b *felt.Felt, names []string) {
	w.felt(names[0], a)
	w.felt(names[1], b)
}

// appendList writes a member that is a list of objects.
func appendList[T any](w *writer, name string, list []T, item func(*T)) {
	w.key(name)
	w.open('[')
	for i := range list {
		w.comma()
		w.open('{')
		item(&list[i])
		w.close('}')
	}
	w.close(']')
}

// AppendClass appends a class of either kind, as starknet_getClass gives it,
// to dst.
func AppendClass(dst []byte, c *Class) []byte {
	w := writer{append(dst, '{')}
	var points *EntryPoints
	index := func(p *EntryPoint) { w.number("function_idx", p.Index) }
	switch {
	case c.Sierra != nil:
		points = &c.Sierra.EntryPoints
		w.felts("sierra_program", c.Sierra.Program)
		w.word("contract_class_version", c.Sierra.ContractClassVersion)
		w.word("abi", c.Sierra.ABI)
	case c.Cairo0 != nil:
		points = &c.Cairo0.EntryPoints
		index = func(p *EntryPoint) { w.hexNumber("offset", p.Index) }
		w.word("program", c.Cairo0.Program)
		if c.Cairo0.ABI != nil {
			w.key("abi")
			w.b = append(w.b, c.Cairo0.ABI...)
		}
	default:
		points = &EntryPoints{}
	}
	w.key("entry_points_by_type")
	w.open('{')
	for _, kind := range []struct {
		name string
		list []EntryPoint
	}{{"CONSTRUCTOR", points.Constructor}, {"EXTERNAL", points.External}, {"L1_HANDLER", points.L1Handler}} {
		appendList(&w, kind.name, kind.list, func(p *EntryPoint) {
			index(p)
			w.felt("selector", &p.Selector)
		})
	}
	w.close('}')
	w.close('}')
	return w.b
}
