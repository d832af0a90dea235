package method

import (
	"slices"

	"chainexplorer/internal/starknet"
)

// Transactions: as they stand in blocks, and as they are sent.

// versions is the field of a transaction's version; query forms are only ever estimated.
func versions(values ...string) field { return must("version", words("Version.", values...)) }

func txType(value string) field { return must("type", words("Kind.", value)) }

// feeFields are those of transactions of version 3.
func feeFields() []field {
	return []field{
		must("resource_bounds", of("RESOURCE_BOUNDS")), must("tip", of("U64")), must("paymaster_data", of("FELTS")),
		must("nonce_data_availability_mode", of("DA_MODE")), must("fee_data_availability_mode", of("DA_MODE")),
	}
}

var (
	calldata = must("calldata", of("FELTS"))
	sig      = must("signature", of("FELTS"))
	deployed = must("account_deployment_data", of("FELTS"))
)

// What transactions of version 3 have beside feeFields, in a block and when sent.
func invoke3() []field {
	return slices.Concat([]field{txType("INVOKE")}, felts("sender_address", "nonce"), []field{calldata, sig, deployed}, feeFields())
}

func declare3() []field {
	return slices.Concat([]field{txType("DECLARE")}, felts("sender_address", "nonce", "compiled_class_hash"), []field{sig, deployed}, feeFields())
}

func deployAccount3() []field {
	return slices.Concat([]field{txType("DEPLOY_ACCOUNT")}, felts("nonce", "class_hash", "contract_address_salt"),
		[]field{must("constructor_calldata", of("FELTS")), sig}, feeFields())
}

// tx adds a version and some fields to those of a kind.
func tx(v starknet.SpecVersion, description string, version field, fields ...[]field) *Schema {
	return object(v, description, append([]field{version}, slices.Concat(fields...)...)...)
}

// txns are transactions of all kinds and versions, each with some more fields.
func txns(v starknet.SpecVersion, description string, more ...field) *Schema {
	kind := func(description string, version field, fields ...[]field) *Schema {
		return tx(v, description, version, append(fields, more)...)
	}
	constructor := []field{must("constructor_calldata", of("FELTS"))}
	invoke, declare, deployAccount := []field{txType("INVOKE"), calldata, sig}, []field{txType("DECLARE"), sig}, []field{txType("DEPLOY_ACCOUNT"), sig}
	return oneOf(description,
		kind("Invoke 0.", versions("0x0"), invoke, felts("contract_address", "entry_point_selector", "max_fee")),
		kind("Invoke 1.", versions("0x1"), invoke, felts("sender_address", "nonce", "max_fee")),
		kind("Invoke 3.", versions("0x3"), invoke3(), []field{may("proof_facts", of("FELTS")).from(starknet.V010)}),
		kind("Declare 0.", versions("0x0"), declare, felts("sender_address", "class_hash", "max_fee")),
		kind("Declare 1.", versions("0x1"), declare, felts("sender_address", "class_hash", "nonce", "max_fee")),
		kind("Declare 2.", versions("0x2"), declare, felts("sender_address", "class_hash", "compiled_class_hash", "nonce", "max_fee")),
		kind("Declare 3.", versions("0x3"), declare3(), felts("class_hash")),
		kind("Deploy.", must("version", of("FELT")), []field{txType("DEPLOY")}, felts("class_hash", "contract_address_salt"), constructor),
		kind("Deploy account 1.", versions("0x1"), deployAccount, felts("class_hash", "contract_address_salt", "nonce", "max_fee"), constructor),
		kind("Deploy account 3.", versions("0x3"), deployAccount3()),
		kind("Sent by L1.", versions("0x0"), []field{txType("L1_HANDLER"), must("nonce", of("HEX")), calldata}, felts("contract_address", "entry_point_selector")))
}

// sentVersion is the only one that can be sent. The second form is that of a query,
// which is signed but cannot be sent.
func sentVersion() field { return versions("0x3", "0x100000000000000000000000000000003") }

func init() {
	define(map[string]component{
		"RESOURCE_BOUNDS": func(v starknet.SpecVersion) *Schema {
			return object(v, "The most gas, and the highest price, that the sender pays.",
				must("l1_gas", of("RESOURCE_LIMIT")), must("l1_data_gas", of("RESOURCE_LIMIT")), must("l2_gas", of("RESOURCE_LIMIT")))
		},
		"RESOURCE_LIMIT": func(v starknet.SpecVersion) *Schema {
			return object(v, "Of one kind of gas.", must("max_amount", of("U64")), must("max_price_per_unit", of("U128")))
		},

		"TXN": func(v starknet.SpecVersion) *Schema { return txns(v, "A transaction, by its kind and version.") },
		"TXN_WITH_HASH": func(v starknet.SpecVersion) *Schema {
			return txns(v, "A transaction and its hash.", felts("transaction_hash")...)
		},

		"SENT_INVOKE": func(v starknet.SpecVersion) *Schema {
			return tx(v, "A signed invoke transaction.", sentVersion(), invoke3(), []field{
				may("proof_facts", of("FELTS")).from(starknet.V010), may("proof", text("A proof, as base64.")).from(starknet.V010)})
		},
		"SENT_DECLARE": func(v starknet.SpecVersion) *Schema {
			return tx(v, "A signed declare transaction with its class.", sentVersion(), declare3(), []field{must("contract_class", of("SIERRA_CLASS"))})
		},
		"SENT_DEPLOY_ACCOUNT": func(v starknet.SpecVersion) *Schema {
			return tx(v, "A signed transaction that deploys an account.", sentVersion(), deployAccount3())
		},
		"SENT_TXN":  same(oneOf("A transaction as it would be sent.", of("SENT_INVOKE"), of("SENT_DECLARE"), of("SENT_DEPLOY_ACCOUNT"))),
		"SENT_TXNS": same(listOf(of("SENT_TXN"))),

		"INVOKE_ACCEPTED": func(v starknet.SpecVersion) *Schema {
			return object(v, "The transaction was taken.", felts("transaction_hash")...)
		},
		"DECLARE_ACCEPTED": func(v starknet.SpecVersion) *Schema {
			return object(v, "The transaction was taken.", felts("transaction_hash", "class_hash")...)
		},
		"DEPLOY_ACCOUNT_ACCEPTED": func(v starknet.SpecVersion) *Schema {
			return object(v, "The transaction was taken.", felts("transaction_hash", "contract_address")...)
		},
	})
}
