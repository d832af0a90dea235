package node

import "chainexplorer/internal/contractcall"

// readMethods are the methods that may be asked again without harm. A method
// that is not here is treated as a write: sent once.
var readMethods = set(
	"starknet_blockHashAndNumber",
	"starknet_blockNumber",
	"starknet_call",
	"starknet_chainId",
	"starknet_estimateFee",
	"starknet_estimateMessageFee",
	"starknet_getBlockTransactionCount",
	"starknet_getBlockWithReceipts",
	"starknet_getBlockWithTxHashes",
	"starknet_getBlockWithTxs",
	"starknet_getClass",
	"starknet_getClassAt",
	"starknet_getClassHashAt",
	"starknet_getCompiledCasm",
	"starknet_getEvents",
	"starknet_getMessagesStatus",
	"starknet_getNonce",
	"starknet_getStateUpdate",
	"starknet_getStorageAt",
	"starknet_getStorageProof",
	"starknet_getTransactionByBlockIdAndIndex",
	"starknet_getTransactionByHash",
	"starknet_getTransactionReceipt",
	"starknet_getTransactionStatus",
	"starknet_simulateTransactions",
	"starknet_specVersion",
	"starknet_syncing",
	"starknet_traceBlockTransactions",
	"starknet_traceTransaction",
)

// writeMethods change the chain.
var writeMethods = set(
	"starknet_addDeclareTransaction",
	"starknet_addDeployAccountTransaction",
	"starknet_addInvokeTransaction",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// Bounds of answers that are small by what is asked. Whatever asks for them counts
// on that: they are read beside everything else, and outside of the budget where
// they stay below freeBytes.
const (
	// fewBytes is for a number, a felt, a version, or a head.
	fewBytes = 64 << 10
	// someBytes is for a header: more than 120,000 hashes of transactions.
	someBytes = mediumBytes
)

// answerLimits are the methods whose answers have less than Config.MaxResponseBytes.
var answerLimits = map[string]int64{
	"starknet_blockHashAndNumber":       fewBytes,
	"starknet_blockNumber":              fewBytes,
	"starknet_chainId":                  fewBytes,
	"starknet_getBlockTransactionCount": fewBytes,
	"starknet_getClassHashAt":           fewBytes,
	"starknet_getNonce":                 fewBytes,
	"starknet_getStorageAt":             fewBytes,
	"starknet_specVersion":              fewBytes,
	"starknet_syncing":                  fewBytes,

	"starknet_call":                 contractcall.MaxAnswer,
	"starknet_getBlockWithTxHashes": someBytes,
}

// answerLimit is how many bytes the answer to the calls may have, put in one request.
func (p *Pool) answerLimit(calls ...call) (sum int64) {
	most := p.cfg.MaxResponseBytes
	for _, c := range calls {
		limit, ok := answerLimits[c.method]
		if !ok {
			return most
		}
		sum += limit
	}
	return min(sum, most)
}
