package simnode

import "chainexplorer/internal/starknet"

// methods is the table of everything a node answers. It is filled in init
// because methods look into it themselves.
var methods map[string]method

func init() {
	byBlock := []string{"block_id"}
	withFlags := []string{"block_id", "response_flags"}
	byTx := []string{"transaction_hash"}
	methods = map[string]method{
		"starknet_specVersion":        {run: specVersion},
		"starknet_chainId":            {run: func(c *rpcCall) (any, error) { return c.node.chain.cfg.ChainID, nil }},
		"starknet_blockNumber":        {run: blockNumber},
		"starknet_blockHashAndNumber": {run: blockHashAndNumber},
		"starknet_syncing":            {run: func(*rpcCall) (any, error) { return false, nil }},

		"starknet_getBlockWithTxHashes":     {params: byBlock, required: 1, run: blockWithTxHashes},
		"starknet_getBlockWithTxs":          {params: withFlags, required: 1, run: blockWithTxs},
		"starknet_getBlockWithReceipts":     {params: withFlags, required: 1, run: blockWithReceipts},
		"starknet_getBlockTransactionCount": {params: byBlock, required: 1, run: blockTransactionCount},
		"starknet_getStateUpdate":           {params: []string{"block_id", "contract_addresses"}, required: 1, run: stateUpdate},

		"starknet_getTransactionByHash": {params: []string{"transaction_hash", "response_flags"}, required: 1, run: transactionByHash},
		"starknet_getTransactionByBlockIdAndIndex": {params: []string{"block_id", "index", "response_flags"}, required: 2,
			run: transactionByIndex},
		"starknet_getTransactionReceipt": {params: byTx, required: 1, run: transactionReceipt},
		"starknet_getTransactionStatus":  {params: byTx, required: 1, run: transactionStatus},
		"starknet_getMessagesStatus":     {params: byTx, required: 1, run: messagesStatus},
		"starknet_getEvents":             {params: []string{"filter"}, required: 1, run: getEvents},

		"starknet_getClass":        {params: []string{"block_id", "class_hash"}, required: 2, run: getClass},
		"starknet_getClassAt":      {params: []string{"block_id", "contract_address"}, required: 2, run: getClassAt},
		"starknet_getClassHashAt":  {params: []string{"block_id", "contract_address"}, required: 2, run: getClassHashAt},
		"starknet_getCompiledCasm": {params: []string{"class_hash"}, required: 1, run: getCompiledCasm},
		"starknet_getNonce":        {params: []string{"block_id", "contract_address"}, required: 2, run: getNonce},
		"starknet_getStorageAt": {params: []string{"contract_address", "key", "block_id", "response_flags"}, required: 3,
			run: getStorageAt},
		"starknet_getStorageProof": {params: []string{"block_id", "class_hashes", "contract_addresses", "contracts_storage_keys"}, required: 1,
			run: getStorageProof},
		"starknet_call": {params: []string{"request", "block_id"}, required: 2, run: callContract},

		"starknet_estimateFee":        {params: []string{"request", "simulation_flags", "block_id"}, required: 3, run: estimateFee},
		"starknet_estimateMessageFee": {params: []string{"message", "block_id"}, required: 2, run: estimateMessageFee},
		"starknet_simulateTransactions": {params: []string{"block_id", "transactions", "simulation_flags"}, required: 3,
			run: simulateTransactions},
		"starknet_traceTransaction":       {params: byTx, required: 1, run: traceTransaction},
		"starknet_traceBlockTransactions": {params: []string{"block_id", "trace_flags"}, required: 1, run: traceBlock},

		"starknet_addInvokeTransaction":        {params: []string{"invoke_transaction"}, required: 1, run: addInvoke},
		"starknet_addDeclareTransaction":       {params: []string{"declare_transaction"}, required: 1, run: addDeclare},
		"starknet_addDeployAccountTransaction": {params: []string{"deploy_account_transaction"}, required: 1, run: addDeployAccount},

		"starknet_subscribeNewHeads":          {params: byBlock, run: subscribeNewHeads, stream: true},
		"starknet_subscribeEvents":            {params: []string{"from_address", "keys", "block_id", "finality_status"}, run: subscribeEvents, stream: true},
		"starknet_subscribeTransactionStatus": {params: byTx, required: 1, run: subscribeStatus, stream: true},
		"starknet_subscribeNewTransactions": {params: []string{"finality_status", "sender_address", "tags"}, run: subscribeTransactions,
			since: starknet.V09, stream: true},
		"starknet_subscribeNewTransactionReceipts": {params: []string{"finality_status", "sender_address"}, run: subscribeReceipts,
			since: starknet.V09, stream: true},
		"starknet_subscribePendingTransactions": {params: []string{"transaction_details", "sender_address"}, run: subscribePending,
			until: starknet.V08, stream: true},
		"starknet_unsubscribe": {params: []string{"subscription_id"}, required: 1, run: unsubscribe, stream: true},
	}
}

// specVersion is the full number that nodes of each generation report.
func specVersion(c *rpcCall) (any, error) {
	switch c.node.cfg.Version {
	case starknet.V08:
		return "0.8.1", nil
	case starknet.V09:
		return "0.9.0", nil
	}
	return "0.10.2", nil
}
