package node

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
