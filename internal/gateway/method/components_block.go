package method

import (
	"slices"

	"chainexplorer/internal/starknet"
)

// Blocks, receipts and events.

// settingFields are what a block has from its beginning on.
func settingFields() []field {
	return []field{
		must("timestamp", whole("Seconds since 1970.")),
		must("sequencer_address", of("FELT")),
		must("l1_gas_price", of("RESOURCE_PRICE")),
		must("l2_gas_price", of("RESOURCE_PRICE")),
		must("l1_data_gas_price", of("RESOURCE_PRICE")),
		must("l1_da_mode", words("How the block's data goes to L1.", "BLOB", "CALLDATA")),
		must("starknet_version", text("Version of the network; empty in the oldest blocks.")),
	}
}

// headerFields are those of a block that is finished.
func headerFields() []field {
	return slices.Concat([]field{
		must("block_hash", of("FELT")), must("parent_hash", of("FELT")), must("block_number", of("BLOCK_NUMBER")), must("new_root", of("FELT")),
	}, settingFields(), []field{
		must("event_commitment", of("FELT")).from(starknet.V010),
		must("transaction_commitment", of("FELT")).from(starknet.V010),
		must("receipt_commitment", of("FELT")).from(starknet.V010),
		must("state_diff_commitment", of("FELT")).from(starknet.V010),
		must("event_count", whole("Events of the block.")).from(starknet.V010),
		must("transaction_count", whole("Transactions of the block.")).from(starknet.V010),
		must("state_diff_length", whole("Changes of the block.")).from(starknet.V010),
	})
}

// blockWith is a block with its transactions in some form.
func blockWith(description string, item *Schema) component {
	return func(v starknet.SpecVersion) *Schema {
		transactions := must("transactions", listOf(item))
		finished := object(v, "A finished block.", slices.Concat([]field{must("status", of("BLOCK_STATUS"))}, headerFields(), []field{transactions})...)
		began := []field{must("parent_hash", of("FELT")).upTo(starknet.V08), must("block_number", of("BLOCK_NUMBER")).from(starknet.V09)}
		return anyOf(description, finished, object(v, "The block that is being made.", slices.Concat(began, settingFields(), []field{transactions})...))
	}
}

// receiptFields are those of all receipts.
func receiptFields() []field {
	return []field{
		must("type", of("TXN_TYPE")),
		must("transaction_hash", of("FELT")),
		must("actual_fee", of("FEE_PAYMENT")),
		must("finality_status", of("TXN_FINALITY")),
		must("execution_status", of("EXECUTION_STATUS")),
		may("revert_reason", text("Why it was reverted.")),
		must("messages_sent", listOf(of("MSG_TO_L1"))),
		must("events", listOf(of("EVENT"))),
		must("execution_resources", of("EXECUTION_RESOURCES")),
		may("contract_address", of("FELT")),
		may("message_hash", of("HEX")),
	}
}

func emittedFields() []field {
	return []field{
		must("from_address", of("FELT")), must("keys", of("FELTS")), must("data", of("FELTS")),
		may("block_hash", of("FELT")), may("block_number", of("BLOCK_NUMBER")), must("transaction_hash", of("FELT")),
		must("transaction_index", whole("Place of the transaction in its block.")).from(starknet.V010),
		must("event_index", whole("Place of the event in its transaction.")).from(starknet.V010),
	}
}

func init() {
	define(map[string]component{
		"RESOURCE_PRICE": func(v starknet.SpecVersion) *Schema {
			return object(v, "Price of a unit of gas.", felts("price_in_fri", "price_in_wei")...)
		},
		"BLOCK_HEADER": func(v starknet.SpecVersion) *Schema {
			return object(v, "A block without its transactions.", headerFields()...)
		},
		"BLOCK_WITH_TX_HASHES": blockWith("A block with the hashes of its transactions.", of("FELT")),
		"BLOCK_WITH_TXS":       blockWith("A block with its transactions.", of("TXN_WITH_HASH")),
		"BLOCK_WITH_RECEIPTS":  blockWith("A block with its transactions and receipts.", of("TXN_AND_RECEIPT")),
		"TXN_AND_RECEIPT": func(v starknet.SpecVersion) *Schema {
			return object(v, "A transaction, whose hash stands in its receipt.", must("transaction", of("TXN")), must("receipt", of("RECEIPT")))
		},
		"RECEIPT": func(v starknet.SpecVersion) *Schema {
			return object(v, "What became of a transaction. contract_address is there when it deployed one, message_hash when L1 sent it.", receiptFields()...)
		},
		"RECEIPT_WITH_BLOCK": func(v starknet.SpecVersion) *Schema {
			number := must("block_number", of("BLOCK_NUMBER"))
			number.optional = v < starknet.V09
			return object(v, "A receipt and its block; block_hash is missing while the block is being made.",
				slices.Concat(receiptFields(), []field{may("block_hash", of("FELT")), number})...)
		},
		"FEE_PAYMENT": func(v starknet.SpecVersion) *Schema {
			return object(v, "A fee that was paid.", must("amount", of("FELT")), must("unit", of("PRICE_UNIT")))
		},
		"MSG_TO_L1": func(v starknet.SpecVersion) *Schema {
			return object(v, "A message to L1.", must("from_address", of("FELT")), must("to_address", of("HEX")), must("payload", of("FELTS")))
		},
		"EXECUTION_RESOURCES": func(v starknet.SpecVersion) *Schema {
			return object(v, "Gas that was used.", must("l1_gas", whole("")), must("l1_data_gas", whole("")), must("l2_gas", whole("")))
		},
		"EVENT": func(v starknet.SpecVersion) *Schema {
			return object(v, "An event.", must("from_address", of("FELT")), must("keys", of("FELTS")), must("data", of("FELTS")))
		},
		"EMITTED_EVENT": func(v starknet.SpecVersion) *Schema {
			return object(v, "An event and where it happened; the block's hash is missing while the block is being made.", emittedFields()...)
		},
		"EVENT_FILTER": func(v starknet.SpecVersion) *Schema {
			return object(v, "Which events. keys names values by position: an empty list stands for any value.",
				may("from_block", of("BLOCK_ID")), may("to_block", of("BLOCK_ID")), may("address", of("EMITTERS")), may("keys", of("KEY_FILTER")),
				may("continuation_token", text("Where to go on, as the page before told.")), must("chunk_size", whole("Most events of a page.")))
		},
		"EVENT_PAGE": func(v starknet.SpecVersion) *Schema {
			return object(v, "A page of events; the last has no continuation_token.",
				must("events", listOf(of("EMITTED_EVENT"))), may("continuation_token", text("Where to go on.")))
		},
		"TXN_STATUS_RESULT": func(v starknet.SpecVersion) *Schema {
			return object(v, "How far a transaction has got.", must("finality_status", of("TXN_STATUS")), may("execution_status", of("EXECUTION_STATUS")),
				may("failure_reason", text("Why it was reverted.")))
		},
		"MESSAGE_STATUSES": func(v starknet.SpecVersion) *Schema {
			execution := may("execution_status", of("EXECUTION_STATUS"))
			execution.optional = v < starknet.V09
			return listOf(object(v, "A message, by the transaction that handled it.", must("transaction_hash", of("FELT")),
				must("finality_status", of("TXN_STATUS")), execution, may("failure_reason", text("Why it was reverted."))))
		},
	})
}
