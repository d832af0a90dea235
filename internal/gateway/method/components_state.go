package method

import "chainexplorer/internal/starknet"

// State: storage, classes, changes and proofs.

// entryPoints are those of a class, by kind.
func entryPoints(v starknet.SpecVersion, point *Schema) *Schema {
	return object(v, "Entry points by kind.", must("CONSTRUCTOR", listOf(point)), must("EXTERNAL", listOf(point)), must("L1_HANDLER", listOf(point)))
}

func init() {
	define(map[string]component{
		"FUNCTION_CALL": func(v starknet.SpecVersion) *Schema {
			return object(v, "A call.", must("contract_address", of("FELT")), must("entry_point_selector", of("FELT")), must("calldata", of("FELTS")))
		},
		"STORAGE_RESULT": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V010 {
				return of("FELT")
			}
			return anyOf("The value; with INCLUDE_LAST_UPDATE_BLOCK also when it was written.", of("FELT"),
				object(v, "The value, and the block that wrote it; 0 when none did.", must("value", of("FELT")), must("last_update_block", of("BLOCK_NUMBER"))))
		},

		"CLASS": same(anyOf("A class; those of Cairo 0 have program instead of sierra_program.", of("SIERRA_CLASS"), of("CAIRO0_CLASS"))),
		"SIERRA_CLASS": func(v starknet.SpecVersion) *Schema {
			point := object(v, "", must("selector", of("FELT")), must("function_idx", whole("Which function.")))
			return object(v, "A class of Cairo 1 and later.", must("sierra_program", of("FELTS")), must("contract_class_version", text("Form of the class.")),
				must("entry_points_by_type", entryPoints(v, point)), may("abi", text("The ABI: JSON inside a string.")))
		},
		"CAIRO0_CLASS": func(v starknet.SpecVersion) *Schema {
			point := object(v, "", must("offset", of("HEX")), must("selector", of("FELT")))
			return object(v, "A class of Cairo 0.", must("program", text("The program: JSON, compressed by gzip, as base64.")),
				must("entry_points_by_type", entryPoints(v, point)), may("abi", &Schema{Description: "The ABI.", Type: "array"}))
		},
		"CASM": func(v starknet.SpecVersion) *Schema {
			point := object(v, "", must("offset", whole("")), must("selector", of("FELT")), must("builtins", listOf(text("Name of a builtin."))))
			return object(v, "A compiled class.", must("prime", of("HEX")), must("compiler_version", text("")), must("bytecode", of("FELTS")),
				must("hints", &Schema{Description: "Hints by offset.", Type: "array"}), must("entry_points_by_type", entryPoints(v, point)),
				may("bytecode_segment_lengths", &Schema{Description: "Lengths of the segments."}))
		},

		"STATE_UPDATE": func(v starknet.SpecVersion) *Schema {
			old := must("old_root", of("FELT"))
			old.optional = v >= starknet.V010
			return anyOf("What a block changed.",
				object(v, "By a finished block.", must("block_hash", of("FELT")), must("old_root", of("FELT")), must("new_root", of("FELT")), must("state_diff", of("STATE_DIFF"))),
				object(v, "By the block that is being made.", old, must("state_diff", of("STATE_DIFF"))))
		},
		"STATE_DIFF": func(v starknet.SpecVersion) *Schema {
			pair := func(names ...string) *Schema { return listOf(object(v, "", felts(names...)...)) }
			return object(v, "Changes. Their order has no meaning.",
				must("storage_diffs", listOf(object(v, "", must("address", of("FELT")), must("storage_entries", pair("key", "value"))))),
				must("deployed_contracts", pair("address", "class_hash")),
				must("replaced_classes", pair("contract_address", "class_hash")),
				must("declared_classes", pair("class_hash", "compiled_class_hash")),
				must("deprecated_declared_classes", of("FELTS")),
				must("nonces", pair("contract_address", "nonce")),
				may("migrated_compiled_classes", pair("class_hash", "compiled_class_hash")).from(starknet.V010))
		},

		"PROOF_KEYS": func(v starknet.SpecVersion) *Schema {
			return atMost(MaxProofContracts, listOf(object(v, "Cells of one contract.", must("contract_address", of("FELT")), must("storage_keys", atMost(MaxProofKeys, listOf(of("FELT")))))))
		},
		"PROOF_CLASSES":   same(atMost(MaxProofClasses, listOf(of("FELT")))),
		"PROOF_CONTRACTS": same(atMost(MaxProofContracts, listOf(of("FELT")))),
		"PROOF_NODES": func(v starknet.SpecVersion) *Schema {
			return listOf(object(v, "", must("node_hash", of("FELT")), must("node", anyOf("A fork, or an edge.",
				object(v, "", felts("left", "right")...),
				object(v, "", must("path", of("HEX")), must("length", whole("Bits of the path.")), must("child", of("FELT")))))))
		},
		"STORAGE_PROOF": func(v starknet.SpecVersion) *Schema {
			return object(v, "Nodes of the tries from the roots to what was asked. The order of contracts_storage_proofs is the node's.",
				must("classes_proof", of("PROOF_NODES")),
				must("contracts_proof", object(v, "", must("nodes", of("PROOF_NODES")), must("contract_leaves_data",
					listOf(object(v, "", must("nonce", of("FELT")), must("class_hash", of("FELT")), may("storage_root", of("FELT"))))))),
				must("contracts_storage_proofs", listOf(of("PROOF_NODES"))),
				must("global_roots", object(v, "", felts("contracts_tree_root", "classes_tree_root", "block_hash")...)))
		},
	})
}
