package simnode

// The protocol's error codes.
const (
	codeNoTrace             = 10
	codeContractNotFound    = 20
	codeEntryPointNotFound  = 21
	codeBlockNotFound       = 24
	codeInvalidTxIndex      = 27
	codeClassHashNotFound   = 28
	codeTxHashNotFound      = 29
	codePageSizeTooBig      = 31
	codeNoBlocks            = 32
	codeInvalidToken        = 33
	codeTooManyKeys         = 34
	codeContractError       = 40
	codeExecutionError      = 41
	codeProofNotSupported   = 42
	codeClassDeclared       = 51
	codeInvalidNonce        = 52
	codeInsufficientBalance = 54
	codeCompilationFailed   = 56
	codeNonAccount          = 58
	codeDuplicateTx         = 59
	codeUnsupportedVersion  = 61
	codeUnexpected          = 63
	codeInvalidSubscription = 66
	codeTooManyAddresses    = 67
	codeTooManyBlocksBack   = 68
	codeCompilationError    = 100

	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// rpcError is an error as JSON-RPC sends it.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

var errorTexts = map[int]string{
	codeNoTrace: "No trace available for transaction", codeContractNotFound: "Contract not found",
	codeEntryPointNotFound: "Requested entry point does not exist in the contract", codeBlockNotFound: "Block not found",
	codeInvalidTxIndex: "Invalid transaction index in a block", codeClassHashNotFound: "Class hash not found",
	codeTxHashNotFound: "Transaction hash not found", codePageSizeTooBig: "Requested page size is too big",
	codeNoBlocks: "There are no blocks", codeInvalidToken: "The supplied continuation token is invalid or unknown",
	codeTooManyKeys: "Too many keys provided in a filter", codeContractError: "Contract error",
	codeExecutionError: "Transaction execution error", codeProofNotSupported: "The node doesn't support storage proofs for blocks that are too far in the past",
	codeClassDeclared: "Class already declared", codeInvalidNonce: "Invalid transaction nonce",
	codeInsufficientBalance: "Account balance is smaller than the transaction's maximal fee (calculated as the sum of each resource's limit x max price)",
	codeCompilationFailed:   "Compilation failed", codeNonAccount: "Sender address is not an account contract",
	codeDuplicateTx: "A transaction with the same hash already exists in the mempool", codeUnsupportedVersion: "The transaction version is not supported",
	codeUnexpected: "An unexpected error occurred", codeInvalidSubscription: "Invalid subscription id",
	codeTooManyAddresses: "Too many addresses in filter sender_address filter", codeTooManyBlocksBack: "Cannot go back more than 1024 blocks",
	codeCompilationError: "Failed to compile the contract", codeParse: "Parse error", codeInvalidRequest: "Invalid Request",
	codeNoMethod: "Method not found", codeInvalidParams: "Invalid Params", codeInternal: "Internal Error",
}

func failure(code int) *rpcError { return &rpcError{Code: code, Message: errorTexts[code]} }

func failureWith(code int, data any) *rpcError {
	return &rpcError{Code: code, Message: errorTexts[code], Data: data}
}
