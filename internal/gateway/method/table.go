package method

import (
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/starknet"
)

// Discover is the method that describes all others. It is the gateway's own.
const Discover = "rpc.discover"

// Reorg is the method of the notification that blocks are gone, which every
// subscription may lead to.
const Reorg = "starknet_subscriptionReorg"

const (
	kib, mib = 1 << 10, 1 << 20

	// fewBytes is for a number, a felt or a version.
	fewBytes = 64 * kib
	// someBytes is for lists of felts and hashes.
	someBytes = 4 * mib
	// blockBytes is for a block with all that is in it: what a node may send at all.
	blockBytes = 96 * mib

	casmBytes  = 4 * mib  // of the contract
	traceBytes = 16 * mib // of the contract
	proofBytes = 1 * mib  // of the contract
)

const (
	quick  = 5 * time.Second
	steady = 15 * time.Second
	long   = 30 * time.Second
	// Longest is the most time that any method has.
	Longest = long
)

// Names of failures for answers that are larger than a method's are allowed to be.
const (
	ProofTooLarge    = "storage_proof_response_too_large"
	CasmTooLarge     = "compiled_casm_response_too_large"
	TraceTooLarge    = "trace_response_too_large"
	ResponseTooLarge = "response_too_large"
)

// light is a method without parameters.
func light(name, summary string, keep Keep, result *Schema, errors ...int) *Method {
	return &Method{Name: name, Class: ReadLight, Summary: summary, Keep: keep, MaxAnswer: fewBytes, Timeout: quick, Result: result, Errors: errors}
}

var (
	blockID   = Param{Name: "block_id", Required: true, Summary: "Number, hash or tag of a block.", Schema: of("BLOCK_ID")}
	startID   = Param{Name: "block_id", Summary: "From which block on; the newest unless given.", Schema: of("START_BLOCK_ID")}
	txFlags   = Param{Name: "response_flags", Since: starknet.V010, Summary: "INCLUDE_PROOF_FACTS adds proof facts to transactions.", Schema: of("TXN_FLAGS")}
	txHash    = Param{Name: "transaction_hash", Required: true, Summary: "Hash of a transaction.", Schema: of("FELT")}
	address   = Param{Name: "contract_address", Required: true, Summary: "Address of a contract.", Schema: of("FELT")}
	classHash = Param{Name: "class_hash", Required: true, Summary: "Hash of the class.", Schema: of("FELT")}
	senders   = Param{Name: "sender_address", Summary: "Only those of these senders.", Schema: of("FELTS")}
)

// blockAs is blockID where not every tag is taken.
func blockAs(component string) Param {
	p := blockID
	p.Schema = of(component)
	return p
}

// discover is larger than its likes.
func discover() *Method {
	m := light(Discover, "Describes every method of this endpoint as an OpenRPC document.", Never, of("OPENRPC"))
	m.MaxAnswer = mib
	return m
}

var table = []*Method{
	discover(),
	light("starknet_specVersion", "Version of the specification that is spoken here.", Never, text("Such as 0.10.2.")),
	light("starknet_chainId", "Id of the chain.", Always, of("CHAIN_ID")),
	light("starknet_blockNumber", "Number of the newest block.", Never, of("BLOCK_NUMBER"), 32),
	light("starknet_blockHashAndNumber", "Hash and number of the newest block.", Never, of("HASH_AND_NUMBER"), 32),
	light("starknet_syncing", "How far the node is with catching up; false when it has.", Never, of("SYNCING")),

	{Name: "starknet_call", Class: ReadState, Summary: "Runs a function of a contract without a transaction.", Keep: OfBlock, MaxAnswer: someBytes, Timeout: steady,
		Errors: []int{20, 21, 40, 24}, Result: of("FELTS"), Params: []Param{{Name: "request", Required: true, Summary: "Contract, selector and calldata.", Schema: of("FUNCTION_CALL")}, blockID}},
	{Name: "starknet_getStorageAt", Class: ReadState, Summary: "Value of a storage cell.", Keep: OfBlock, MaxAnswer: fewBytes, Timeout: quick,
		Errors: []int{20, 24}, Result: of("STORAGE_RESULT"), Params: []Param{address, {Name: "key", Required: true, Summary: "Address of the cell.", Schema: of("FELT")}, blockID,
			{Name: "response_flags", Since: starknet.V010, Summary: "INCLUDE_LAST_UPDATE_BLOCK tells when the cell changed.", Schema: of("STORAGE_FLAGS")}}},
	{Name: "starknet_getStorageProof", Class: ReadState, Summary: "Merkle proofs of classes, contracts and storage cells.", Keep: OfBlock, Cost: 5, MaxAnswer: proofBytes, TooLarge: ProofTooLarge, Timeout: long,
		Errors: []int{24, 42}, Result: of("STORAGE_PROOF"), Params: []Param{blockAs("PROVEN_BLOCK_ID"), {Name: "class_hashes", Summary: "Classes to prove.", Schema: of("PROOF_CLASSES")}, {Name: "contract_addresses", Summary: "Contracts to prove.", Schema: of("PROOF_CONTRACTS")},
			{Name: "contracts_storage_keys", Summary: "Storage cells to prove, by contract.", Schema: of("PROOF_KEYS")}}},
	{Name: "starknet_getClass", Class: ReadState, Summary: "A class by its hash.", Keep: OfClass, MaxAnswer: 16 * mib, Timeout: steady,
		Errors: []int{24, 28}, Result: of("CLASS"), Params: []Param{blockID, classHash}},
	{Name: "starknet_getClassHashAt", Class: ReadState, Summary: "Hash of the class of a contract.", Keep: OfBlock, MaxAnswer: fewBytes, Timeout: quick,
		Errors: []int{24, 20}, Result: of("FELT"), Params: []Param{blockID, address}},
	{Name: "starknet_getClassAt", Class: ReadState, Summary: "The class of a contract.", Keep: OfBlock, MaxAnswer: 16 * mib, Timeout: steady,
		Errors: []int{24, 20}, Result: of("CLASS"), Params: []Param{blockID, address}},
	{Name: "starknet_getCompiledCasm", Class: ReadState, Summary: "The compiled form of a class.", Keep: OfClass, MaxAnswer: casmBytes, TooLarge: CasmTooLarge, Timeout: long,
		Errors: []int{100, 28}, Result: of("CASM"), Params: []Param{classHash}},
	{Name: "starknet_getNonce", Class: ReadState, Summary: "Nonce of an account.", Keep: OfBlock, MaxAnswer: fewBytes, Timeout: quick,
		Errors: []int{24, 20}, Result: of("FELT"), Params: []Param{blockID, address}},

	{Name: "starknet_getBlockWithTxHashes", Class: ReadHistory, Summary: "A block with the hashes of its transactions.", Keep: OfBlockStatus, MaxAnswer: someBytes, Timeout: steady,
		Errors: []int{24}, Result: of("BLOCK_WITH_TX_HASHES"), Params: []Param{blockID}},
	{Name: "starknet_getBlockWithTxs", Class: ReadHistory, Summary: "A block with its transactions.", Keep: OfBlockStatus, MaxAnswer: blockBytes, Timeout: long,
		Errors: []int{24}, Result: of("BLOCK_WITH_TXS"), Params: []Param{blockID, txFlags}},
	{Name: "starknet_getBlockWithReceipts", Class: ReadHistory, Summary: "A block with its transactions and their receipts.", Keep: OfBlockStatus, MaxAnswer: blockBytes, Timeout: long,
		Errors: []int{24}, Result: of("BLOCK_WITH_RECEIPTS"), Params: []Param{blockID, txFlags}},
	{Name: "starknet_getBlockTransactionCount", Class: ReadHistory, Summary: "How many transactions a block has.", Keep: OfBlock, MaxAnswer: fewBytes, Timeout: quick,
		Errors: []int{24}, Result: whole("How many."), Params: []Param{blockID}},
	{Name: "starknet_getTransactionByBlockIdAndIndex", Class: ReadHistory, Summary: "A transaction by its place in a block.", Keep: OfBlock, MaxAnswer: someBytes, Timeout: quick,
		Errors: []int{24, 27}, Result: of("TXN_WITH_HASH"), Params: []Param{blockID, {Name: "index", Required: true, Summary: "Place in the block, from 0.", Schema: whole("From 0.")}, txFlags}},
	{Name: "starknet_getTransactionByHash", Class: ReadHistory, Summary: "A transaction by its hash.", Keep: OfTransaction, MaxAnswer: someBytes, Timeout: quick,
		Errors: []int{29}, Result: of("TXN_WITH_HASH"), Params: []Param{txHash, txFlags}},
	{Name: "starknet_getTransactionReceipt", Class: ReadHistory, Summary: "Receipt of a transaction.", Keep: OfTransactionStatus, MaxAnswer: 16 * mib, Timeout: quick,
		Errors: []int{29}, Result: of("RECEIPT_WITH_BLOCK"), Params: []Param{txHash}},
	{Name: "starknet_getTransactionStatus", Class: ReadHistory, Summary: "How far a transaction has got.", Keep: Never, MaxAnswer: someBytes, Timeout: quick,
		Errors: []int{29}, Result: of("TXN_STATUS_RESULT"), Params: []Param{txHash}},
	{Name: "starknet_getMessagesStatus", Class: ReadHistory, Summary: "What became of the messages of an L1 transaction.", Keep: Never, MaxAnswer: someBytes, Timeout: steady,
		Errors: []int{29}, Result: of("MESSAGE_STATUSES"), Params: []Param{{Name: "transaction_hash", Required: true, Summary: "Hash of a transaction on L1.", Schema: of("L1_TXN_HASH")}}},
	{Name: "starknet_getStateUpdate", Class: ReadHistory, Summary: "What a block changed.", Keep: OfBlock, MaxAnswer: blockBytes, Timeout: long,
		Errors: []int{24}, Result: of("STATE_UPDATE"), Params: []Param{blockID, {Name: "contract_addresses", Since: starknet.V010, Summary: "Only changes of these contracts.", Schema: of("FELTS")}}},
	{Name: "starknet_getEvents", Class: ReadHistory, Summary: "Events by block range, emitter and keys.", Keep: Never, Cost: 5, MaxAnswer: 64 * mib, Timeout: long,
		Errors: []int{31, 33, 24, 34}, Result: of("EVENT_PAGE"), Params: []Param{{Name: "filter", Required: true, Summary: "What to look for, and where to go on.", Schema: of("EVENT_FILTER")}}},

	{Name: "starknet_simulateTransactions", Class: Simulation, Summary: "Runs transactions without sending them.", Keep: Never, MaxAnswer: traceBytes, TooLarge: TraceTooLarge, Timeout: long,
		Errors: []int{24, 41}, Result: of("SIMULATION_RESULT"), Params: []Param{blockID, {Name: "transactions", Required: true, Summary: "In the order in which they run.", Schema: of("SENT_TXNS")}, {Name: "simulation_flags", Required: true, Summary: "SKIP_VALIDATE and SKIP_FEE_CHARGE leave something out; RETURN_INITIAL_READS, since 0.10, adds what was read.", Schema: of("SIMULATION_FLAGS")}}},
	{Name: "starknet_estimateFee", Class: Simulation, Summary: "What transactions would cost.", Keep: Never, MaxAnswer: someBytes, Timeout: long,
		Errors: []int{20, 41, 24}, Result: of("FEE_ESTIMATES"), Params: []Param{{Name: "request", Required: true, Summary: "In the order in which they run.", Schema: of("SENT_TXNS")}, {Name: "simulation_flags", Required: true, Summary: "SKIP_VALIDATE.", Schema: of("ESTIMATE_FLAGS")}, blockID}},
	{Name: "starknet_estimateMessageFee", Class: Simulation, Summary: "What a message from L1 would cost.", Keep: Never, MaxAnswer: someBytes, Timeout: long,
		Errors: []int{20, 40, 24}, Result: of("MESSAGE_FEE_ESTIMATE"), Params: []Param{{Name: "message", Required: true, Summary: "The message.", Schema: of("MSG_FROM_L1")}, blockID}},

	{Name: "starknet_addInvokeTransaction", Class: Write, Scope: account.Write, Summary: "Sends a signed invoke transaction.", MaxAnswer: fewBytes, Timeout: long,
		Errors: []int{54, 53, 52, 64, 65, 55, 58, 59, 61, 69, 63}, Result: of("INVOKE_ACCEPTED"), Params: []Param{{Name: "invoke_transaction", Required: true, Summary: "Signed, of version 3.", Schema: of("SENT_INVOKE")}}},
	{Name: "starknet_addDeclareTransaction", Class: Write, Scope: account.Write, Summary: "Sends a signed declare transaction.", MaxAnswer: fewBytes, Timeout: long,
		Errors: []int{51, 56, 60, 54, 53, 52, 64, 65, 55, 58, 59, 57, 61, 62, 63}, Result: of("DECLARE_ACCEPTED"), Params: []Param{{Name: "declare_transaction", Required: true, Summary: "Signed, of version 3, with its class.", Schema: of("SENT_DECLARE")}}},
	{Name: "starknet_addDeployAccountTransaction", Class: Write, Scope: account.Write, Summary: "Sends a signed transaction that deploys an account.", MaxAnswer: fewBytes, Timeout: long,
		Errors: []int{54, 53, 52, 64, 65, 55, 58, 28, 59, 61, 63}, Result: of("DEPLOY_ACCOUNT_ACCEPTED"), Params: []Param{{Name: "deploy_account_transaction", Required: true, Summary: "Signed, of version 3.", Schema: of("SENT_DEPLOY_ACCOUNT")}}},

	{Name: "starknet_traceTransaction", Class: Trace, Scope: account.Trace, Summary: "How a transaction ran.", Keep: OfTransaction, Cost: 5, MaxAnswer: traceBytes, TooLarge: TraceTooLarge, Timeout: long,
		Errors: []int{29, 10}, Result: of("TRACE"), Params: []Param{txHash}},
	{Name: "starknet_traceBlockTransactions", Class: Trace, Scope: account.Trace, Summary: "How the transactions of a block ran.", Keep: OfBlock, Cost: 10, MaxAnswer: traceBytes, TooLarge: TraceTooLarge, Timeout: long,
		Errors: []int{24}, Result: of("BLOCK_TRACE_RESULT"), Params: []Param{blockAs("TRACED_BLOCK_ID"), {Name: "trace_flags", Since: starknet.V010, Summary: "RETURN_INITIAL_READS adds what the block read.", Schema: of("TRACE_FLAGS")}}},

	{Name: "starknet_subscribeNewHeads", Class: WebSocket, Summary: "New heads of the chain.", Push: "starknet_subscriptionNewHeads", MaxAnswer: fewBytes,
		Errors: []int{68, 24}, Result: of("SUBSCRIPTION_ID"), Pushed: of("BLOCK_HEADER"), Params: []Param{startID}},
	{Name: "starknet_subscribeEvents", Class: WebSocket, Summary: "Events as they happen.", Push: "starknet_subscriptionEvents", MaxAnswer: fewBytes,
		Errors: []int{34, 68, 24}, Result: of("SUBSCRIPTION_ID"), Pushed: of("PUSHED_EVENT"), Params: []Param{{Name: "from_address", Summary: "Emitter, or in 0.10 a list of them.", Schema: of("EMITTERS")}, {Name: "keys", Summary: "Values by position.", Schema: of("KEY_FILTER")}, startID,
			{Name: "finality_status", Since: starknet.V09, Summary: "PRE_CONFIRMED or ACCEPTED_ON_L2.", Schema: of("EVENT_FINALITY")}}},
	{Name: "starknet_subscribeTransactionStatus", Class: WebSocket, Summary: "How far a transaction gets.", Push: "starknet_subscriptionTransactionStatus", MaxAnswer: fewBytes,
		Result: of("SUBSCRIPTION_ID"), Pushed: of("PUSHED_STATUS"), Params: []Param{txHash}},
	{Name: "starknet_subscribeNewTransactionReceipts", Class: WebSocket, Summary: "Receipts of new transactions.", Push: "starknet_subscriptionNewTransactionReceipts", Since: starknet.V09, MaxAnswer: fewBytes,
		Errors: []int{67}, Result: of("SUBSCRIPTION_ID"), Pushed: of("RECEIPT_WITH_BLOCK"), Params: []Param{{Name: "finality_status", Summary: "PRE_CONFIRMED, ACCEPTED_ON_L2.", Schema: of("RECEIPT_FINALITY")}, senders}},
	{Name: "starknet_subscribeNewTransactions", Class: WebSocket, Summary: "New transactions.", Push: "starknet_subscriptionNewTransaction", Since: starknet.V09, MaxAnswer: fewBytes,
		Errors: []int{67}, Result: of("SUBSCRIPTION_ID"), Pushed: of("PUSHED_TXN"), Params: []Param{{Name: "finality_status", Summary: "RECEIVED, CANDIDATE, PRE_CONFIRMED, ACCEPTED_ON_L2.", Schema: of("TXN_STAGES")}, senders,
			{Name: "tags", Since: starknet.V010, Summary: "INCLUDE_PROOF_FACTS adds proof facts.", Schema: of("TXN_FLAGS")}}},
	{Name: "starknet_subscribePendingTransactions", Class: WebSocket, Summary: "Transactions of the pending block.", Push: "starknet_subscriptionPendingTransactions", Until: starknet.V08, MaxAnswer: fewBytes,
		Errors: []int{67}, Result: of("SUBSCRIPTION_ID"), Pushed: of("PUSHED_PENDING_TXN"), Params: []Param{{Name: "transaction_details", Summary: "Whole transactions instead of hashes.", Schema: flag("")}, senders}},
	{Name: "starknet_unsubscribe", Class: WebSocket, Summary: "Ends a subscription.", MaxAnswer: fewBytes,
		Errors: []int{66}, Result: flag("true"), Params: []Param{{Name: "subscription_id", Required: true, Summary: "As the subscription returned it.", Schema: of("SUBSCRIPTION_ID")}}},
}

var byName = func() map[string]*Method {
	m := make(map[string]*Method, len(table))
	for _, e := range table {
		if e.Cost == 0 {
			e.Cost = 1
		}
		if e.TooLarge == "" {
			e.TooLarge = ResponseTooLarge
		}
		m[e.Name] = e
	}
	return m
}()
