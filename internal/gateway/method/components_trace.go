package method

import (
	"slices"

	"chainexplorer/internal/starknet"
)

// Estimates, simulations and traces.

func estimate(description, unit string) component {
	return func(v starknet.SpecVersion) *Schema {
		units := []string{unit}
		if v < starknet.V09 {
			units = []string{"WEI", "FRI"}
		}
		return object(v, description,
			must("l1_gas_consumed", of("HEX")), must("l1_gas_price", of("HEX")), must("l2_gas_consumed", of("HEX")), must("l2_gas_price", of("HEX")),
			must("l1_data_gas_consumed", of("HEX")), must("l1_data_gas_price", of("HEX")), must("overall_fee", of("HEX")), must("unit", words("What the fee is counted in.", units...)))
	}
}

// traceOf is the trace of a kind of transaction; its parts stand in front of what all have.
func traceOf(v starknet.SpecVersion, kind string, parts ...field) *Schema {
	return object(v, "Of "+kind+".", slices.Concat([]field{txType(kind)}, parts, []field{may("state_diff", of("STATE_DIFF")), must("execution_resources", of("EXECUTION_RESOURCES"))})...)
}

func init() {
	reverted := func(v starknet.SpecVersion) *Schema {
		return object(v, "It was reverted.", must("revert_reason", text("Why.")))
	}
	fee, validate := may("fee_transfer_invocation", of("INVOCATION")), may("validate_invocation", of("INVOCATION"))
	define(map[string]component{
		"FEE_ESTIMATE":         estimate("What a transaction would cost.", "FRI"),
		"FEE_ESTIMATES":        same(listOf(of("FEE_ESTIMATE"))),
		"MESSAGE_FEE_ESTIMATE": estimate("What a message would cost on L1.", "WEI"),
		"MSG_FROM_L1": func(v starknet.SpecVersion) *Schema {
			return object(v, "A message from L1.", must("from_address", of("L1_ADDRESS")), must("to_address", of("FELT")), must("entry_point_selector", of("FELT")), must("payload", of("FELTS")))
		},

		"TRACE": func(v starknet.SpecVersion) *Schema {
			// Version 0.8 knew no handlers that revert; the network has them, and nodes tell.
			run := anyOf("", of("INVOCATION"), reverted(v))
			return oneOf("How a transaction ran.",
				traceOf(v, "INVOKE", validate, must("execute_invocation", run), fee),
				traceOf(v, "DECLARE", validate, fee),
				traceOf(v, "DEPLOY_ACCOUNT", validate, must("constructor_invocation", of("INVOCATION")), fee),
				traceOf(v, "DEPLOY", must("constructor_invocation", of("INVOCATION"))), // of old blocks
				traceOf(v, "L1_HANDLER", must("function_invocation", run)))
		},
		"INVOCATION": func(v starknet.SpecVersion) *Schema {
			order := may("order", whole("When, among events and messages of the transaction."))
			return object(v, "A call, and the calls that it led to.",
				must("contract_address", of("FELT")), must("entry_point_selector", of("FELT")), must("calldata", of("FELTS")),
				must("caller_address", of("FELT")), must("class_hash", of("FELT")),
				must("entry_point_type", words("Kind of the entry point.", "EXTERNAL", "L1_HANDLER", "CONSTRUCTOR")),
				must("call_type", words("Kind of the call.", "CALL", "LIBRARY_CALL", "DELEGATE")),
				must("result", of("FELTS")), must("calls", listOf(of("INVOCATION"))),
				must("events", listOf(object(v, "", order, must("keys", of("FELTS")), must("data", of("FELTS"))))),
				must("messages", listOf(object(v, "", order, must("from_address", of("FELT")), must("to_address", of("HEX")), must("payload", of("FELTS"))))),
				must("execution_resources", object(v, "Gas of the call.", must("l1_gas", whole("")), must("l2_gas", whole("")))),
				must("is_reverted", flag("Whether the call was undone.")))
		},
		"BLOCK_TRACE": func(v starknet.SpecVersion) *Schema {
			return listOf(object(v, "A transaction of the block.", must("transaction_hash", of("FELT")), must("trace_root", of("TRACE"))))
		},
		"BLOCK_TRACE_RESULT": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V010 {
				return of("BLOCK_TRACE")
			}
			return anyOf("A list; with RETURN_INITIAL_READS an object.", of("BLOCK_TRACE"),
				object(v, "", must("traces", of("BLOCK_TRACE")), must("initial_reads", of("INITIAL_READS"))))
		},
		"SIMULATION": func(v starknet.SpecVersion) *Schema {
			return listOf(object(v, "A transaction that was run.", must("transaction_trace", of("TRACE")), must("fee_estimation", of("FEE_ESTIMATE"))))
		},
		"SIMULATION_RESULT": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V010 {
				return of("SIMULATION")
			}
			return anyOf("A list; with RETURN_INITIAL_READS an object.", of("SIMULATION"),
				object(v, "", must("simulated_transactions", of("SIMULATION")), must("initial_reads", of("INITIAL_READS"))))
		},
		"INITIAL_READS": func(v starknet.SpecVersion) *Schema {
			return object(v, "What was read before it was first written.",
				may("storage", listOf(object(v, "", felts("contract_address", "key", "value")...))),
				may("nonces", listOf(object(v, "", felts("contract_address", "nonce")...))),
				may("class_hashes", listOf(object(v, "", felts("contract_address", "class_hash")...))),
				may("declared_contracts", listOf(object(v, "", must("class_hash", of("FELT")), must("is_declared", flag(""))))))
		},

		// Subscriptions: what they take, and what is pushed.
		"SUBSCRIPTION_ID": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return anyOf("Names a subscription, as it was returned.", text(""), whole(""))
			}
			return text("Names a subscription, as it was returned.")
		},
		"EVENT_FINALITY":   same(words("From when on an event is told.", "PRE_CONFIRMED", "ACCEPTED_ON_L2")),
		"RECEIPT_FINALITY": same(listOf(words("From when on a receipt is told.", "PRE_CONFIRMED", "ACCEPTED_ON_L2"))),
		"TXN_STAGES":       same(listOf(words("At which stages a transaction is told.", "RECEIVED", "CANDIDATE", "PRE_CONFIRMED", "ACCEPTED_ON_L2"))),
		"PUSHED_EVENT": func(v starknet.SpecVersion) *Schema {
			return object(v, "An event.", append(emittedFields(), must("finality_status", of("TXN_FINALITY")).from(starknet.V09))...)
		},
		"PUSHED_STATUS": func(v starknet.SpecVersion) *Schema {
			return object(v, "A transaction and how far it has got.", must("transaction_hash", of("FELT")), must("status", of("TXN_STATUS_RESULT")))
		},
		"PUSHED_TXN": func(v starknet.SpecVersion) *Schema {
			return txns(v, "A transaction and its stage.", must("transaction_hash", of("FELT")), must("finality_status", of("TXN_STATUS")))
		},
		"PUSHED_PENDING_TXN": same(anyOf("A hash, or with transaction_details the transaction.", of("FELT"), of("TXN_WITH_HASH"))),
		"REORG": func(v starknet.SpecVersion) *Schema {
			return object(v, "Blocks that are gone, first and last of them.", must("starting_block_hash", of("FELT")), must("starting_block_number", of("BLOCK_NUMBER")),
				must("ending_block_hash", of("FELT")), must("ending_block_number", of("BLOCK_NUMBER")))
		},
	})
}
