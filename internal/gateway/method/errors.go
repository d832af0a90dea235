package method

import (
	"slices"

	"chainexplorer/internal/starknet"
)

// NodeError is an error of the specification. Nodes answer with it; the gateway passes
// it on as it is, or gives it itself where it answers from the index.
type NodeError struct {
	Code    int
	Name    string
	Meaning string
	// Message is what error.message has where the gateway gives it, in the words of the
	// specification; empty where nodes alone do.
	Message string
	Data    string               // what error.data has; empty: nothing that is promised
	Since   starknet.SpecVersion // zero: all versions
}

// nodeErrors are all errors of the specification.
var nodeErrors = []NodeError{
	{Code: 1, Name: "FAILED_TO_RECEIVE_TXN", Meaning: "The transaction could not be taken. No method gives it."},
	{Code: 10, Name: "NO_TRACE_AVAILABLE", Meaning: "The transaction has not run yet, so that there is no trace.", Data: "status"},
	{Code: 20, Name: "CONTRACT_NOT_FOUND", Meaning: "No contract has this address at that block."},
	{Code: 21, Name: "ENTRYPOINT_NOT_FOUND", Meaning: "The contract has no function with this selector."},
	{Code: 24, Name: "BLOCK_NOT_FOUND", Message: "Block not found", Meaning: "There is no such block."},
	{Code: 27, Name: "INVALID_TXN_INDEX", Message: "Invalid transaction index in a block", Meaning: "The block has fewer transactions."},
	{Code: 28, Name: "CLASS_HASH_NOT_FOUND", Meaning: "No class with this hash is declared at that block."},
	{Code: 29, Name: "TXN_HASH_NOT_FOUND", Meaning: "No transaction with this hash is known."},
	{Code: 31, Name: "PAGE_SIZE_TOO_BIG", Message: "Requested page size is too big", Meaning: "chunk_size is larger than is allowed: ask for 1,024 or fewer."},
	{Code: 32, Name: "NO_BLOCKS", Meaning: "The node has no block yet."},
	{Code: 33, Name: "INVALID_CONTINUATION_TOKEN", Message: "The supplied continuation token is invalid or unknown", Meaning: "The token does not belong to this query: begin again without it."},
	{Code: 34, Name: "TOO_MANY_KEYS_IN_FILTER", Message: "Too many keys provided in a filter", Meaning: "The filter has more keys than the node allows: use at most 16 positions.", Data: "the node's own"},
	{Code: 40, Name: "CONTRACT_ERROR", Meaning: "The contract refused the call.", Data: "revert_error"},
	{Code: 41, Name: "TRANSACTION_EXECUTION_ERROR", Meaning: "A transaction failed while it was run.", Data: "transaction_index, execution_error"},
	{Code: 42, Name: "STORAGE_PROOF_NOT_SUPPORTED", Meaning: "The node keeps no tries of a block that old."},
	{Code: 51, Name: "CLASS_ALREADY_DECLARED", Meaning: "The class is declared already."},
	{Code: 52, Name: "INVALID_TRANSACTION_NONCE", Meaning: "The nonce is not the account's next one.", Data: "text, since 0.9"},
	{Code: 53, Name: "INSUFFICIENT_RESOURCES_FOR_VALIDATE", Meaning: "The bounds do not pay for checking the signature: raise them."},
	{Code: 54, Name: "INSUFFICIENT_ACCOUNT_BALANCE", Meaning: "The account cannot pay the fee."},
	{Code: 55, Name: "VALIDATION_FAILURE", Meaning: "The account refused the transaction, most often for its signature.", Data: "text"},
	{Code: 56, Name: "COMPILATION_FAILED", Meaning: "The class does not compile.", Data: "text"},
	{Code: 57, Name: "CONTRACT_CLASS_SIZE_IS_TOO_LARGE", Meaning: "The class is too large."},
	{Code: 58, Name: "NON_ACCOUNT", Meaning: "The sender is not an account."},
	{Code: 59, Name: "DUPLICATE_TX", Meaning: "The transaction is known already: it was sent before."},
	{Code: 60, Name: "COMPILED_CLASS_HASH_MISMATCH", Meaning: "compiled_class_hash is not that of the class."},
	{Code: 61, Name: "UNSUPPORTED_TX_VERSION", Meaning: "The network takes no transactions of this version."},
	{Code: 62, Name: "UNSUPPORTED_CONTRACT_CLASS_VERSION", Meaning: "The network takes no classes of this version."},
	{Code: 63, Name: "UNEXPECTED_ERROR", Meaning: "The sequencer failed in a way that has no name.", Data: "text"},
	{Code: 64, Name: "REPLACEMENT_TRANSACTION_UNDERPRICED", Meaning: "A transaction with this nonce waits already, and this one does not pay enough to take its place.", Since: starknet.V09},
	{Code: 65, Name: "FEE_BELOW_MINIMUM", Meaning: "The bounds are below what the network takes.", Since: starknet.V09},
	{Code: 66, Name: "INVALID_SUBSCRIPTION_ID", Message: "Invalid subscription id", Meaning: "There is no such subscription on this connection."},
	{Code: 67, Name: "TOO_MANY_ADDRESSES_IN_FILTER", Message: "Too many addresses in filter sender_address filter", Meaning: "sender_address names too many."},
	{Code: 68, Name: "TOO_MANY_BLOCKS_BACK", Message: "Cannot go back more than 1024 blocks", Meaning: "block_id is more than 1,024 blocks back."},
	{Code: 69, Name: "INVALID_PROOF", Meaning: "The proof of the transaction does not hold.", Data: "text", Since: starknet.V010},
	{Code: 100, Name: "COMPILATION_ERROR", Meaning: "The class could not be compiled.", Data: "compilation_error"},
}

// ErrorOf is an error of the specification by its code.
func ErrorOf(code int) (NodeError, bool) {
	i := slices.IndexFunc(nodeErrors, func(e NodeError) bool { return e.Code == code })
	if i < 0 {
		return NodeError{}, false
	}
	return nodeErrors[i], true
}

// NodeErrors are all errors of the specification, by code.
func NodeErrors() []NodeError { return slices.Clone(nodeErrors) }

// later are errors that a method gives only since a version that is newer than the
// error itself.
var later = map[string]map[int]starknet.SpecVersion{
	"starknet_estimateFee":        {20: starknet.V010},
	"starknet_estimateMessageFee": {20: starknet.V010},
}

// ErrorsIn are the errors that the method may be answered with in a version, in the
// order of the table.
func (m *Method) ErrorsIn(v starknet.SpecVersion) (out []NodeError) {
	for _, code := range m.Errors {
		e, _ := ErrorOf(code)
		if max(e.Since, later[m.Name][code]) <= v {
			out = append(out, e)
		}
	}
	return out
}
