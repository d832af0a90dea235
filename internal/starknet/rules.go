package starknet

import (
	"slices"

	"chainexplorer/internal/felt"
)

// Rules are a set of rules by which blocks are hashed. Which ones hold says what
// of a block its hash covers.
type Rules uint8

// The rules so far. Their values are stored.
const (
	RulesFirst     Rules = 1 // before 0.7: number, state root, parent, transactions
	RulesUnsettled Rules = 2 // since 0.7: time, sequencer and events as well
	RulesPedersen  Rules = 3 // since transaction hashes have one form: their types as well
	RulesPedersen2 Rules = 4 // since 0.11.1: signatures of all transactions, not only of invokes
	RulesPoseidon  Rules = 5 // since 0.13.2: everything but what Uncovered names
	RulesPoseidon2 Rules = 6 // since 0.13.4: the price of L2 gas as well
)

// RulesOf are the rules by which Verify recomputes a block.
func RulesOf(h *Header, chainID felt.Felt) Rules {
	version, _ := rulesOf(h.StarknetVersion)
	switch {
	case !version.before(v0_13_4):
		return RulesPoseidon2
	case !version.before(v0_13_2):
		return RulesPoseidon
	case h.Number < histories[chainID].first07:
		return RulesFirst
	case !version.before(v0_11_1):
		return RulesPedersen2
	case unsettled(h.Number, version, &chainID):
		return RulesUnsettled
	default:
		return RulesPedersen
	}
}

// Parts of a block, as Covered and Uncovered name them.
const (
	PartTransactions = "transactions"
	PartTypes        = "transaction_types" // an unsigned invoke and a handler of a message had the same hash
	PartSignatures   = "signatures"
	PartEvents       = "events"
	PartEventOwners  = "event_transactions" // which transaction emitted an event
	PartReceipts     = "receipts"           // fees, messages, outcome, gas
	PartState        = "state"              // what changed: nonces, classes, contracts, storage
	PartTime         = "time"
	PartSequencer    = "sequencer"
	PartGasPrices    = "gas_prices"
	PartL2GasPrice   = "l2_gas_price"
	PartVersion      = "starknet_version"
	PartL2GasUsed    = "l2_gas_used" // of each transaction
	PartStatus       = "status"      // acceptance on L1
)

var allParts = []string{
	PartTransactions, PartTypes, PartSignatures, PartEvents, PartEventOwners, PartReceipts, PartState, PartTime, PartSequencer, PartGasPrices,
	PartL2GasPrice, PartVersion, PartL2GasUsed, PartStatus,
}

var uncovered = map[Rules][]string{
	RulesFirst: {
		PartTypes, PartSignatures, PartEvents, PartEventOwners, PartReceipts, PartState, PartTime, PartSequencer, PartGasPrices, PartL2GasPrice,
		PartVersion, PartL2GasUsed, PartStatus,
	},
	RulesUnsettled: {
		PartTypes, PartSignatures, PartEventOwners, PartReceipts, PartState, PartGasPrices, PartL2GasPrice, PartVersion, PartL2GasUsed, PartStatus,
	},
	RulesPedersen:  {PartSignatures, PartEventOwners, PartReceipts, PartState, PartGasPrices, PartL2GasPrice, PartVersion, PartL2GasUsed, PartStatus},
	RulesPedersen2: {PartEventOwners, PartReceipts, PartState, PartGasPrices, PartL2GasPrice, PartVersion, PartL2GasUsed, PartStatus},
	RulesPoseidon:  {PartL2GasPrice, PartL2GasUsed, PartStatus},
	RulesPoseidon2: {PartL2GasUsed, PartStatus},
}

// Uncovered are the parts of a block that its hash says nothing about: of a
// verified block they are the node's word. It is nil for rules that do not exist.
func (r Rules) Uncovered() []string { return uncovered[r] }

// Covered are the parts of a verified block that its hash proves.
func (r Rules) Covered() []string {
	without := uncovered[r]
	if without == nil {
		return nil
	}
	var out []string
	for _, p := range allParts {
		if !slices.Contains(without, p) {
			out = append(out, p)
		}
	}
	return out
}
