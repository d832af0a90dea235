// Code generated from the API's OpenAPI document by internal/clientgen. DO NOT EDIT.

package client

import (
	"encoding/json"
	"time"
)

// ABIParam is an object of the API.
type ABIParam struct {
	// Name; null when there is none.
	Name *string `json:"name"`
	// Type of the value.
	Type string `json:"type"`
}

// ABIType is an object of the API.
type ABIType struct {
	// What kind of thing this is.
	Kind string `json:"kind"`
	// Fields of the struct, or variants of the enum.
	Members []ABIParam `json:"members"`
	// Name; null when there is none.
	Name string `json:"name"`
}

// AccountCall is an object of the API.
type AccountCall struct {
	// Class of the contract when it was called; null when the block does not tell, and when
	// there was no contract.
	CallTimeClassHash *string `json:"callTimeClassHash"`
	// Authoritative, whatever was decoded. All calls of a transaction show 1,024 felts together,
	// the first ones.
	Calldata []string `json:"calldata"`
	// How many felts of calldata the call has.
	CalldataLen int64 `json:"calldataLen"`
	// The transaction has more calldata than is shown.
	CalldataTruncated bool `json:"calldataTruncated"`
	// Official name of the class in the registry.
	ClassAlias *string `json:"classAlias"`
	// Name of the contract in the registry; never what a contract calls itself.
	ContractAlias *string `json:"contractAlias"`
	// In the order of the function's arguments; their source is data, and originIndexes are
	// places in this call's calldata. Null unless decodingStatus is decoded.
	DecodedArguments []DecodedField `json:"decodedArguments"`
	// Null unless decoded.
	DecodedArgumentsSource *string `json:"decodedArgumentsSource"`
	// Null when decoded. decoding_budget_exhausted: the calls in front of it filled the answer.
	DecodedArgumentsUnavailableReason *string `json:"decodedArgumentsUnavailableReason"`
	// decoded: name and fields are certain; name_only: only the name is; unknown: neither.
	DecodingStatus string `json:"decodingStatus"`
	// The function; certain, because the selector is its hash.
	MethodName *string `json:"methodName"`
	// class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise
	// the selector alone tells the name.
	MethodNameSource *string `json:"methodNameSource"`
	// Why there is no name, when it is that the class that ran cannot be told.
	MethodNameUnavailableReason *string `json:"methodNameUnavailableReason"`
	// Selector of the function.
	Selector string `json:"selector"`
	// The contract that is called.
	To string `json:"to"`
}

// ActionContext is an object of the API.
type ActionContext struct {
	// What kind of action the transaction is, as far as the index can tell.
	ActionKind string `json:"actionKind"`
	// The same in words for people.
	ActionLabel string `json:"actionLabel"`
	// How sure the service is.
	Confidence string `json:"confidence"`
	// When the index learned of it; null when it did not note the time.
	IndexedAt *time.Time `json:"indexedAt"`
	// Whether the transfers only route between contracts of one protocol.
	IsInternalRouting bool `json:"isInternalRouting"`
	// The called function in words; null when it is not known.
	MethodLabel *string `json:"methodLabel"`
	// Name of the protocol; null when none is known.
	ProtocolName *string `json:"protocolName"`
	// Short name of the protocol; null when none is known.
	ProtocolSlug *string `json:"protocolSlug"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Where the facts come from.
	Source string `json:"source"`
}

// ActivityCoverage is an object of the API.
type ActivityCoverage struct {
	// Where the evidence comes from.
	EvidenceSource string `json:"evidenceSource"`
	// First block that is counted.
	FromBlock *int64 `json:"fromBlock"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Newest indexed block.
	SourceWatermarkBlock *int64 `json:"sourceWatermarkBlock"`
	// Felt: lower-case hex without leading zeros.
	SourceWatermarkHash *string `json:"sourceWatermarkHash"`
	// partial: a total of successful transactions alone is not kept, the one here has reverted
	// ones. stale: the index may be old.
	Status string `json:"status"`
	// Last block that is counted.
	ThroughBlock *int64 `json:"throughBlock"`
}

// ActivityItem is an object of the API.
type ActivityItem struct {
	// Decimal; 1 of an NFT; null for a transaction, and when the standard is unknown.
	Amount *string `json:"amount"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// Of a transfer the other side; of a transaction as in the list of transactions.
	Counterparty *string `json:"counterparty"`
	// Of a transaction, the first that holds.
	Kind string `json:"kind"`
	// Null for a transaction.
	LogIndex *int `json:"logIndex"`
	// Function of the first call, or the entry point that the protocol runs: a constructor, a
	// handler of L1 messages. Null when nothing names it.
	PrimaryMethod *string `json:"primaryMethod"`
	// class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise
	// the selector alone tells the name.
	PrimaryMethodSource *string `json:"primaryMethodSource"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Address of the token's contract, which is its identity.
	TokenAddress *string `json:"tokenAddress"`
	// Decimal.
	TokenID *string `json:"tokenId"`
	// Null for a transaction.
	TransferIndex *int `json:"transferIndex"`
	// block:tx
	TxCursor string `json:"txCursor"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// ActivityPage is an object of the API.
type ActivityPage struct {
	// The rows of this page, in order.
	Items []ActivityItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// AddressBatchBody is an object of the API.
type AddressBatchBody struct {
	// 1 to 128 addresses. Each is answered, in order, also when it is named twice.
	Addresses []string `json:"addresses"`
}

// AddressIntelligence is an object of the API.
type AddressIntelligence struct {
	// Family of the account's class in the registry, such as argent or openzeppelin. Null for
	// what is no account, for classes that the registry does not have, and for proxies.
	AccountKind *string `json:"accountKind"`
	// Exact through the block that activityCoverage names.
	ActivityCountExact *bool `json:"activityCountExact"`
	// What the counts of activity include, and what they leave out.
	ActivityCoverage ActivityCoverage `json:"activityCoverage"`
	// A contract or account address.
	Address string `json:"address"`
	// The newest indexed class, or that of the deployment.
	ClassHash *string `json:"classHash"`
	// The block whose state diff set the class.
	ClassHashAsOfBlock *int64 `json:"classHashAsOfBlock"`
	// Felt: lower-case hex without leading zeros.
	ClassHashAsOfBlockHash *string `json:"classHashAsOfBlockHash"`
	// Null while that block is not finalized.
	ClassHashFinality *string `json:"classHashFinality"`
	// What told the class: the deployment or a replacement in a state diff.
	ClassHashSource *string `json:"classHashSource"`
	// Official name of the class.
	ClassLabel *string `json:"classLabel"`
	// Who gave the class its name; null without one.
	ClassLabelSource *string `json:"classLabelSource"`
	// Time of the deployment's block.
	CreatedOnISO *time.Time `json:"createdOnIso"`
	// The class that the contract has at the indexed head.
	CurrentClassHash *string `json:"currentClassHash"`
	// Felt: lower-case hex without leading zeros.
	DeployedAtTxHash *string `json:"deployedAtTxHash"`
	// Felt: lower-case hex without leading zeros.
	DeployedByAddress *string `json:"deployedByAddress"`
	// The class that the contract was deployed with.
	DeploymentClassHash *string `json:"deploymentClassHash"`
	// What is known of the deployment and from where; null when nothing is.
	DeploymentProvenance *DeploymentProvenance `json:"deploymentProvenance"`
	// The address is the recipient of an indexed token transfer.
	HasReceivedFunds bool `json:"hasReceivedFunds"`
	// Null when it is not known.
	IsAccount *bool `json:"isAccount"`
	// Whether a contract is deployed at the address.
	IsDeployed bool `json:"isDeployed"`
	// False when the index has no trace of the address and nobody named it.
	Known bool `json:"known"`
	// A name that somebody vouches for; never what a contract calls itself.
	Label *string `json:"label"`
	// The operator's own labels count as the registry's.
	LabelSource *string `json:"labelSource"`
	// Newest block in which the address has a part; null when there is none.
	LatestActivityBlock *int64 `json:"latestActivityBlock"`
	// The protocol that the address belongs to; null when none is known.
	Protocol *Protocol `json:"protocol"`
	// Where the facts come from.
	Source string `json:"source"`
	// As in the address's summary: reverted transactions count, too.
	TotalActivityCount *int64 `json:"totalActivityCount"`
	// system: the protocol keeps the address for itself.
	TypeLabel *string `json:"typeLabel"`
	// Null unless the class, or a transaction that it sent, tells that it is an account.
	TypeLabelSource *string `json:"typeLabelSource"`
}

// AddressIntelligenceList is an object of the API.
type AddressIntelligenceList struct {
	// Version of the form of this answer.
	ContractVersion string `json:"contractVersion"`
	// The rows of this page, in order.
	Items []AddressIntelligence `json:"items"`
	// Version of the form of the facts that the answer is made of.
	SourceContractVersion string `json:"sourceContractVersion"`
}

// AddressSummaries is an object of the API.
type AddressSummaries struct {
	// The rows of this page, in order.
	Items []AddressSummary `json:"items"`
}

// AddressSummary is an object of the API.
type AddressSummary struct {
	// Family of the account's class in the registry, such as argent or openzeppelin. Null for
	// what is no account, for classes that the registry does not have, and for proxies.
	AccountKind *string `json:"accountKind"`
	// Whether totalActivityCount is exact; otherwise it is a lower bound or null.
	ActivityCountExact bool `json:"activityCountExact"`
	// A contract or account address.
	Address string `json:"address"`
	// Hash of the class.
	ClassHash *string `json:"classHash"`
	// Official name of the class.
	ClassLabel *string `json:"classLabel"`
	// Who gave the class its name; null without one.
	ClassLabelSource *string `json:"classLabelSource"`
	// Only for an address without a contract; null for those that the protocol keeps for itself,
	// 0x0 to 0x3, and while no block is finalized.
	ContractExistence *ContractExistence `json:"contractExistence"`
	// Time of the block in which the contract was deployed; null when no deployment is known.
	CreatedOnISO *time.Time `json:"createdOnIso"`
	// Felt: lower-case hex without leading zeros.
	DeployedAtTxHash *string `json:"deployedAtTxHash"`
	// Felt: lower-case hex without leading zeros.
	DeployedByAddress *string `json:"deployedByAddress"`
	// What is known of the deployment and from where; null when nothing is.
	DeploymentProvenance *DeploymentProvenance `json:"deploymentProvenance"`
	// Oldest block in which the address has a part; null when there is none.
	FirstActivityBlock *int64 `json:"firstActivityBlock"`
	// Whether the contract is an account; null when it cannot be told.
	IsAccount *bool `json:"isAccount"`
	// False when the index has no trace of the address.
	Known bool `json:"known"`
	// Newest block in which the address has a part; null when there is none.
	LatestActivityBlock *int64 `json:"latestActivityBlock"`
	// Transactions that the address has a part in, and token transfers from or to it, one to
	// itself once: the items of its activity.
	TotalActivityCount *int64 `json:"totalActivityCount"`
	// Transactions that the address has a part in or that move tokens from or to it: the rows of
	// its transactions.
	TransactionCount *int64 `json:"transactionCount"`
	// Token transfers from or to the address, one to itself once.
	TransferCount *int64 `json:"transferCount"`
	// system: the protocol keeps the address for itself.
	TypeLabel *string `json:"typeLabel"`
	// Null unless the class, or a transaction that it sent, tells that it is an account.
	TypeLabelSource *string `json:"typeLabelSource"`
}

// AddressTx is an object of the API.
type AddressTx struct {
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// Null when the calldata is not a list of calls.
	CallCount *int64 `json:"callCount"`
	// Of a sender toAddress, otherwise fromAddress; null when that is the address itself, or not
	// known.
	Counterparty *string `json:"counterparty"`
	// SUCCEEDED or REVERTED; null when the node does not tell.
	ExecutionStatus *string `json:"executionStatus"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus *string `json:"finalityStatus"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// The parts that the address has, the weightiest first: sender, deployed, called,
	// l1_handler, and of token transfers transfer_in, transfer_out, transfer_self.
	Kinds []string `json:"kinds"`
	// Whether the calls of the transaction name different functions; null when they are not
	// known.
	MethodsDiffer *bool `json:"methodsDiffer"`
	// Function of the first call, or the entry point that the protocol runs: a constructor, a
	// handler of L1 messages. Null when nothing names it.
	PrimaryMethod *string `json:"primaryMethod"`
	// class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise
	// the selector alone tells the name.
	PrimaryMethodSource *string `json:"primaryMethodSource"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// Decimal; 1 of an NFT; null when the standard is unknown.
	TopTransferAmount *string `json:"topTransferAmount"`
	// Standard of that transfer's token; null without one.
	TopTransferStandard *string `json:"topTransferStandard"`
	// Of the one with the largest amount, in smallest units whatever the token; the first of
	// equals.
	TopTransferTokenAddress *string `json:"topTransferTokenAddress"`
	// Transfers of the transaction from or to the address.
	TransferCount *int64 `json:"transferCount"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
	// INVOKE, DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER; null when it is not known.
	TxType *string `json:"txType"`
}

// AddressTxPage is an object of the API.
type AddressTxPage struct {
	// The rows of this page, in order.
	Items []AddressTx `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// Asset is an object of the API.
type Asset struct {
	// What makes the service name this token.
	Evidence []AssetEvidence `json:"evidence"`
	// What the token says of itself, and what the registry says of it.
	Metadata AssetMetadata `json:"metadata"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
}

// AssetCoverage is an object of the API.
type AssetCoverage struct {
	// Whether every candidate within the declared scope is listed.
	CompleteWithinScope bool `json:"completeWithinScope"`
	// Newest block that the candidates take into account.
	CoveredThroughBlock *int64 `json:"coveredThroughBlock"`
	// The scope that completeness is about.
	DeclaredScope string `json:"declaredScope"`
	// Always false: a token may move balances without events.
	GloballyComplete bool `json:"globallyComplete"`
	// seed_incomplete, source_truncated, tail_stale, unsupported_nonstandard
	ReasonCodes []string `json:"reasonCodes"`
	// Newest block whose transfers were looked at; null when there is none.
	TailObservedThroughBlock *int64 `json:"tailObservedThroughBlock"`
	// Null when no node told lately how far the chain is.
	TargetThroughBlock *int64 `json:"targetThroughBlock"`
}

// AssetEvidence is an object of the API.
type AssetEvidence struct {
	// At least so many observations; null when they are not counted.
	EvidenceCountLowerBound *int64 `json:"evidenceCountLowerBound"`
	// Newest block with such an observation; null when it is not noted.
	LastObservedBlock *int64 `json:"lastObservedBlock"`
	// Where the facts come from.
	Source string `json:"source"`
	// How settled the newest observation is.
	Tier string `json:"tier"`
}

// AssetMetadata is an object of the API.
type AssetMetadata struct {
	// Digits behind the point when an amount is shown; null when the contract does not say.
	Decimals *int64 `json:"decimals"`
	// Name that the contract gives itself; null when it gives none.
	Name *string `json:"name"`
	// Where the facts come from.
	Source string `json:"source"`
	// Whether the registry warns of the token; unknown tokens are not called good.
	SpamStatus string `json:"spamStatus"`
	// Symbol that the contract gives itself: for display alone, the address is the identity.
	Symbol *string `json:"symbol"`
	// Whether the registry knows the token as genuine.
	Trusted bool `json:"trusted"`
}

// AssetPage is an object of the API.
type AssetPage struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// What the answer covers, and what it does not.
	Coverage AssetCoverage `json:"coverage"`
	// Whether there are more candidates than this page shows.
	HasMore bool `json:"hasMore"`
	// The rows of this page, in order.
	Items []Asset `json:"items"`
	// Works for five minutes after page one.
	NextCursor *string `json:"nextCursor"`
	// Whose balances are asked for.
	OwnerAddress string `json:"ownerAddress"`
	// Version of this answer's form.
	SchemaVersion string `json:"schemaVersion"`
	// What the answer set out to cover.
	Scope string `json:"scope"`
	// block:hash; all pages of one walk have the same.
	SnapshotID string `json:"snapshotId"`
}

// Attribution is an object of the API.
type Attribution struct {
	// Felt: lower-case hex without leading zeros.
	CanonicalAddress string `json:"canonicalAddress"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// none unless somebody vouches for the label without reserve.
	Confidence string `json:"confidence"`
	// Whether anything is known of the address.
	Known bool `json:"known"`
	// Name for people; null when nobody gave one.
	Label *string `json:"label"`
	// How sure whoever gave the label is.
	LabelConfidence *string `json:"labelConfidence"`
	// Who says so.
	LabelSource *string `json:"labelSource"`
	// The protocol that the address belongs to; null when none is known.
	Protocol *Protocol `json:"protocol"`
	// The caller's own text.
	RequestedAddress string `json:"requestedAddress"`
	// What a token calls itself. Anybody can choose any name: it says nothing of who it is.
	SelfReportedName *string `json:"selfReportedName"`
	// Where the facts come from.
	Source string `json:"source"`
}

// Audit is an object of the API.
type Audit struct {
	// How often it came to the finalized block.
	CompletedPasses int64 `json:"completedPasses"`
	// The first block that it ever looked at.
	CoveredFromBlock int64 `json:"coveredFromBlock"`
	// The last block that it ever looked at.
	CoveredThroughBlock int64 `json:"coveredThroughBlock"`
	// All blocks at which something contradicts the index as far as is known, disputed ones too:
	// the lowest 64.
	Findings []AuditMismatch `json:"findings"`
	// How often this pass found more than findings has room for.
	FindingsOmitted int64 `json:"findingsOmitted"`
	// The lowest block at which something contradicts the index, those that are disputed aside;
	// null when nothing is known to. Nothing is repaired.
	LastMismatch *AuditMismatch `json:"lastMismatch"`
	// How often something contradicted the index.
	Mismatches int64 `json:"mismatches"`
	// The block that it looks at next; those before it were looked at in this pass.
	NextBlockNumber int64 `json:"nextBlockNumber"`
	// When it last looked at a block.
	ObservedAt time.Time `json:"observedAt"`
	// Samples that agree with a node at their block, of all passes together.
	SamplesChecked AuditedSamples `json:"samplesChecked"`
	// current: it found nothing and looked within the hour. stale: it has not looked for longer.
	// disputed: a node contradicts the index and another agrees with it. mismatch: something
	// contradicts the index. damaged: a part of the index cannot be read.
	Status string `json:"status"`
	// Samples that no node could tell of.
	UnansweredSamples int64 `json:"unansweredSamples"`
	// Blocks that could not be held against their hashes, of all passes together.
	UnprovedBlocks int64 `json:"unprovedBlocks"`
	// Balances that differ of tokens whose transfers nobody found to tell all: no mismatch,
	// because the index does not claim them.
	UnqualifiedDifferences int64 `json:"unqualifiedDifferences"`
	// Recomputed blocks that agree with their hashes, of all passes together.
	VerifiedBlocks int64 `json:"verifiedBlocks"`
}

// AuditMismatch is an object of the API.
type AuditMismatch struct {
	// The block at which the index is contradicted.
	BlockNumber int64 `json:"blockNumber"`
	// What differs: the block from its hash, or a sample from what a node says.
	Kind string `json:"kind"`
	// In what it differs.
	Reason string `json:"reason"`
	// How sure it is. false: the block's hash proves it, or two nodes say so and none agrees
	// with the index. one_node: the word of one node, and there was no other to ask. disputed:
	// another node agrees with the index. damaged: what is stored cannot be read.
	Standing string `json:"standing"`
}

// AuditedSamples is an object of the API.
type AuditedSamples struct {
	// Balances, as the token's contract tells them.
	Balances int64 `json:"balances"`
	// Classes that contracts had.
	ClassHashes int64 `json:"classHashes"`
	// Declared classes that exist.
	Classes int64 `json:"classes"`
	// Nonces that senders had.
	Nonces int64 `json:"nonces"`
}

// BalanceOf is an object of the API.
type BalanceOf struct {
	// Decimal, in the token's smallest unit, as the contract tells it.
	BalanceRaw string `json:"balanceRaw"`
	// Only for pending: the block that the one being built stands on, where it is known.
	BasedOn *BasedOn `json:"basedOn"`
	// What the call was pinned to; null for the block that is being built, which has none yet.
	BlockHash *string `json:"blockHash"`
	// The block that the call was made at.
	BlockNumber *int64 `json:"blockNumber"`
	// The caller's own text.
	BlockTag string `json:"blockTag"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// What indexed transfers add up to at the same block; null where that says nothing:
	// indexedBalanceUnavailableReason tells why.
	IndexedBalance *IndexedBalance `json:"indexedBalance"`
	// genesis_state_without_events: the token was there before the first block, and no event
	// tells of the balances that it began with. negative_balance: more was sent than came, so
	// that some of it came without an event; always of the zero address, which sends what is
	// minted. Null when indexedBalance is set.
	IndexedBalanceUnavailableReason *string `json:"indexedBalanceUnavailableReason"`
	// Whose balance this is.
	OwnerAddress string `json:"ownerAddress"`
	// Where the facts come from.
	Source string `json:"source"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// The caller's own token_id; null without one.
	TokenID *string `json:"tokenId"`
}

// BasedOn is an object of the API.
type BasedOn struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
}

// BatchLimits is an object of the API.
type BatchLimits struct {
	// Of address/summaries and address/intelligence.
	AddressesPerRequest int64 `json:"addressesPerRequest"`
	// When a batch ran out of time: wait, and send fewer.
	RetryAfterSeconds int64 `json:"retryAfterSeconds"`
	// Of tx/previews.
	TransactionsPerRequest int64 `json:"transactionsPerRequest"`
	// Of query/wallet-state.
	WalletTokensPerRequest int64 `json:"walletTokensPerRequest"`
}

// Block is an object of the API.
type Block struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Events of all transactions of the block.
	EventCount int64 `json:"eventCount"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// CALLDATA or BLOB: how the block's data was published on L1.
	L1DataAvailabilityMode *string `json:"l1DataAvailabilityMode"`
	// Price of L1 data gas in this block; null when the node does not tell.
	L1DataGasPrice *GasPrice `json:"l1DataGasPrice"`
	// Price of L1 gas in this block; null when the node does not tell.
	L1GasPrice *GasPrice `json:"l1GasPrice"`
	// Price of L2 gas in this block; null before L2 gas existed.
	L2GasPrice *GasPrice `json:"l2GasPrice"`
	// Hash of the block before.
	ParentHash string `json:"parentHash"`
	// Names the stored block: chain/block/number/hash.
	RawObjectKey string `json:"rawObjectKey"`
	// Null in blocks that name none: nodes tell of 0x0.
	SequencerAddress *string `json:"sequencerAddress"`
	// Version of the protocol that made the block; null for blocks of before versions were
	// written.
	StarknetVersion *string `json:"starknetVersion"`
	// Felt: lower-case hex without leading zeros.
	StateRoot *string `json:"stateRoot"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO time.Time `json:"timestampIso"`
	// The block's first transactions, in order.
	Transactions []TxPreview `json:"transactions"`
	// Transactions of the block.
	TxCount int64 `json:"txCount"`
	// Whether the block's hashes were recomputed from its data, and what they prove.
	Verification BlockVerification `json:"verification"`
}

// BlockAtTimestamp is an object of the API.
type BlockAtTimestamp struct {
	// The block that was asked for.
	Block TimedBlock `json:"block"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Oldest block at or after the moment.
	NextBlock *TimedBlock `json:"nextBlock"`
	// Newest block at or before the moment.
	PreviousBlock *TimedBlock `json:"previousBlock"`
	// What was asked for, as the service understood it.
	Query Moment `json:"query"`
	// Where the facts come from.
	Source string `json:"source"`
}

// BlockItem is an object of the API.
type BlockItem struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// Hash of the block before.
	ParentHash string `json:"parentHash"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO time.Time `json:"timestampIso"`
	// Transactions of the block.
	TxCount int64 `json:"txCount"`
}

// BlockPage is an object of the API.
type BlockPage struct {
	// The rows of this page, in order.
	Items []BlockItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// BlockVerification is an object of the API.
type BlockVerification struct {
	// Parts of the block that its hash proves; empty unless verified.
	Covered []string `json:"covered"`
	// Parts that the hash says nothing about: the node's word. Empty unless verified.
	NotCovered []string `json:"notCovered"`
	// Why the block is unverified.
	Reason *string `json:"reason"`
	// verified: the block's hash was recomputed from its data and agrees. unverified: it could
	// be shown neither to agree nor to differ, for the reason given. not_checked: it was not
	// recomputed. unknown: the index does not say.
	Status string `json:"status"`
}

// BridgeCoverage is an object of the API.
type BridgeCoverage struct {
	// Newest indexed block.
	LatestIndexedBlockNumber int64 `json:"latestIndexedBlockNumber"`
	// The same in words.
	Message string `json:"message"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Where the facts come from.
	Source string `json:"source"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// BridgeIntent is an object of the API.
type BridgeIntent struct {
	// How sure the service is.
	Confidence string `json:"confidence"`
	// What kind of thing this is.
	Kind string `json:"kind"`
	// The bridge; null when it is not known.
	Protocol *string `json:"protocol"`
	// What the claim rests on.
	Reasons []string `json:"reasons"`
}

// BridgeSignal is an object of the API.
type BridgeSignal struct {
	// Decimal; null when the message has no layout that is known.
	AmountRaw *string `json:"amountRaw"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// From L1 to L2, or from L2 to L1; null when it cannot be told.
	Direction *string `json:"direction"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// block:tx:message
	ID string `json:"id"`
	// Felt: lower-case hex without leading zeros.
	L1ContractAddress *string `json:"l1ContractAddress"`
	// Null: L1 is not indexed.
	L1Hash *string `json:"l1Hash"`
	// Felt: lower-case hex without leading zeros.
	L2ContractAddress *string `json:"l2ContractAddress"`
	// Felt: lower-case hex without leading zeros.
	L2Hash *string `json:"l2Hash"`
	// Place among the transaction's messages.
	LogIndex int `json:"logIndex"`
	// Hash of the message; null when it is not known.
	MessageHash *string `json:"messageHash"`
	// How sure it is that the two sides belong together.
	PairingConfidence string `json:"pairingConfidence"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// The token on this layer, where the bridge moves only one.
	TokenAddress *string `json:"tokenAddress"`
	// Decimals of the token; null when they are not known.
	TokenDecimals *int64 `json:"tokenDecimals"`
	// Symbol that the contract gives itself; null when it is not known.
	TokenSymbol *string `json:"tokenSymbol"`
	// 0: a message moves one amount.
	TransferIndex int `json:"transferIndex"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// BridgeSignalPage is an object of the API.
type BridgeSignalPage struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// What the answer covers, and what it does not.
	Coverage BridgeCoverage `json:"coverage"`
	// The rows of this page, in order.
	Items []BridgeSignal `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// CallerBudgets is an object of the API.
type CallerBudgets struct {
	// Requests of the class batch in a window of 60 seconds.
	BatchPerMinute int64 `json:"batchPerMinute"`
	// Whose budget limitPerMinute is: the workspace's, or the key's own when that is smaller.
	BucketScope string `json:"bucketScope"`
	// How many requests of a class may come at once; after that they are taken evenly.
	Burst int64 `json:"burst"`
	// Requests of the class heavy in a window of 60 seconds.
	HeavyPerMinute int64 `json:"heavyPerMinute"`
	// Requests of the class light in a window of 60 seconds.
	LightPerMinute int64 `json:"lightPerMinute"`
	// Size of the budget that this request drew on.
	LimitPerMinute int64 `json:"limitPerMinute"`
	// The class of this request.
	LoadClass string `json:"loadClass"`
	// What is left of the budget.
	Remaining int64 `json:"remaining"`
	// How long to wait when nothing remains, null while something does.
	RetryAfterSeconds *int64 `json:"retryAfterSeconds"`
}

// CallerFacts is an object of the API.
type CallerFacts struct {
	// How the caller was recognised.
	AuthType string `json:"authType"`
	// Whether the caller was recognised.
	Authenticated bool `json:"authenticated"`
	// live or test, as the key's prefix says.
	KeyClass *string `json:"keyClass"`
	// The caller's budgets; null in the public copy of this document.
	RateLimit *CallerBudgets `json:"rateLimit"`
	// Which families are listed.
	RouteFamilyDisclosure string `json:"routeFamilyDisclosure"`
	// Which scopes are listed.
	ScopeDisclosure string `json:"scopeDisclosure"`
	// What the key may do.
	Scopes []string `json:"scopes"`
	// Plan of the caller's workspace.
	WorkspacePlan *string `json:"workspacePlan"`
}

// Capabilities is an object of the API.
type Capabilities struct {
	// Whether keys can be made and revoked, and by whom.
	APIKeyLifecycle FeatureStatus `json:"apiKeyLifecycle"`
	// The header that takes the key.
	AuthHeader string `json:"authHeader"`
	// The most items that batch requests may have.
	BatchLimits BatchLimits `json:"batchLimits"`
	// What the service knows of the key that asks.
	Caller CallerFacts `json:"caller"`
	// The first chain that is served.
	DefaultChain string `json:"defaultChain"`
	// Where the contract is published.
	Documentation Documentation `json:"documentation"`
	// What event search can do for the calling key.
	EventSearch EventSearchFacts `json:"eventSearch"`
	// The same for every chain that is served, the default one first.
	EventSearchByChain []EventSearchFacts `json:"eventSearchByChain"`
	// What paths of the API begin with.
	ExternalBasePath string `json:"externalBasePath"`
	// Good requests to begin with.
	FirstCalls []FirstCall `json:"firstCalls"`
	// What to send when something is wrong.
	IssueReportContract IssueReportRule `json:"issueReportContract"`
	// Names the document.
	Kind string `json:"kind"`
	// Rules that keep a client right.
	OperatingRules []string `json:"operatingRules"`
	// How budgets work.
	RateLimit RateLimitRules `json:"rateLimit"`
	// The operations, grouped by purpose.
	RouteFamilies []RouteFamily `json:"routeFamilies"`
	// The JSON-RPC gateway: where it is, its methods by class, its limits.
	RPC RPCFacts `json:"rpc"`
	// The JSON-RPC gateway, as a wallet or a library looks it up.
	RPCProvider RPCProvider `json:"rpcProvider"`
	// Version of this answer's form.
	SchemaVersion string `json:"schemaVersion"`
	// Whether sessions can be managed here.
	SessionControl FeatureStatus `json:"sessionControl"`
	// Whether wallets can sign through this service.
	WalletInteraction WalletInteraction `json:"walletInteraction"`
}

// ChainEntry is an object of the API.
type ChainEntry struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Path of the chain's status.
	StatusPath string `json:"statusPath"`
	// The same with a place for the chain.
	StatusPathTemplate string `json:"statusPathTemplate"`
}

// ChainList is an object of the API.
type ChainList struct {
	// The chains that are served; the first is the default.
	Chains []ChainEntry `json:"chains"`
	// The first chain that is served.
	DefaultChain string `json:"defaultChain"`
	// Names the document.
	Kind string `json:"kind"`
	// Version of this answer's form.
	SchemaVersion string `json:"schemaVersion"`
	// How a chain is chosen.
	SelectionRule string `json:"selectionRule"`
}

// ChangeWebhookRequest is an object of the API.
type ChangeWebhookRequest struct {
	// What its owner calls it.
	Description *string `json:"description,omitzero"`
	// Whether messages are sent.
	State *string `json:"state,omitzero"`
	// Where to, from now on.
	URL *string `json:"url,omitzero"`
}

// Checked is an object of the API.
type Checked struct {
	// What the auditor recomputed since; null where none ran.
	Audit *Audit `json:"audit"`
	// Neither it nor any later block is called finalized.
	FirstUnverifiedBlockNumber *int64 `json:"firstUnverifiedBlockNumber"`
	// Blocks that were not recomputed.
	NotCheckedBlocks int64 `json:"notCheckedBlocks"`
	// Blocks of which nothing is recorded.
	UnknownBlocks int64 `json:"unknownBlocks"`
	// Blocks that could not be held against their hash and were stored all the same.
	UnverifiedBlocks int64 `json:"unverifiedBlocks"`
	// Blocks whose hash followed from their data when they were indexed.
	VerifiedBlocks int64 `json:"verifiedBlocks"`
}

// ClassDetail is an object of the API.
type ClassDetail struct {
	// What is there of the ABI. What an unverified class was served with does not have its hash
	// and is not used.
	ABIStatus string `json:"abiStatus"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Hash of the class.
	ClassHash string `json:"classHash"`
	// Null while the class has neither been declared nor fetched.
	ClassKind *string `json:"classKind"`
	// As first declared; null for Cairo 0.
	CompiledClassHash *string `json:"compiledClassHash"`
	// Time of the block that declared the class; null when the declaration is not indexed.
	DeclaredAtISO *time.Time `json:"declaredAtIso"`
	// First block that declared it; null for classes that came with their contracts.
	DeclaredBlock *int64 `json:"declaredBlock"`
	// How often a block gave a contract the class. Null as instanceCount is.
	EverInstanceCount *int64 `json:"everInstanceCount"`
	// Contracts that have the class now, as blocks tell: exact, but for contracts that were
	// there before the first block. Null for a class that only those have.
	InstanceCount *int64 `json:"instanceCount"`
	// Contracts that have this class.
	Instances InstancePage `json:"instances"`
	// The class executes and validates; null while it is not fetched.
	IsAccount *bool `json:"isAccount"`
	// The class has an entry point for whatever it does not define.
	IsProxy *bool `json:"isProxy"`
	// Time of the first block that names the class.
	OriginAtISO time.Time `json:"originAtIso"`
	// First block that names the class.
	OriginBlock int64 `json:"originBlock"`
	// By the entry points, if exactly one standard fits.
	TokenKind *string `json:"tokenKind"`
	// How many receipts of the class count; the fields beside it are of the first.
	VerificationClaimCount *int64 `json:"verificationClaimCount"`
	// SHA-256 of the receipt's canonical form. Its hex digits name the proof that the receipt is
	// in the transparency log: /receipt-log/proof/{digits}.
	VerificationEvidenceDigest *string `json:"verificationEvidenceDigest"`
	// When the receipt was issued.
	VerificationObservedAtISO *time.Time `json:"verificationObservedAtIso"`
	// Who verified it: service is this one.
	VerificationProvider *string `json:"verificationProvider"`
	// receipt: a signed receipt of this service. Null unless verified_exact, as all that
	// follows.
	VerificationSource *string `json:"verificationSource"`
	// verified_exact: a source was rebuilt to exactly this class, and the receipt of it counts.
	// abi_declared: the declared ABI is known, no source was proven. unverified: not even that.
	// The other tiers are not given.
	VerificationTier string `json:"verificationTier"`
}

// ClassInstance is an object of the API.
type ClassInstance struct {
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// The block that gave it the class.
	SinceBlock int64 `json:"sinceBlock"`
	// Time of the block from which on the contract has this class.
	SinceISO time.Time `json:"sinceIso"`
}

// ClassItem is an object of the API.
type ClassItem struct {
	// What is there of the ABI. What an unverified class was served with does not have its hash
	// and is not used.
	ABIStatus string `json:"abiStatus"`
	// Hash of the class.
	ClassHash string `json:"classHash"`
	// Null while the class has neither been declared nor fetched.
	ClassKind *string `json:"classKind"`
	// Time of the block that declared the class; null when the declaration is not indexed.
	DeclaredAtISO *time.Time `json:"declaredAtIso"`
	// First block that declared it; null for classes that came with their contracts.
	DeclaredBlock *int64 `json:"declaredBlock"`
	// How often a block gave a contract the class. Null as instanceCount is.
	EverInstanceCount *int64 `json:"everInstanceCount"`
	// Contracts that have the class now, as blocks tell: exact, but for contracts that were
	// there before the first block. Null for a class that only those have.
	InstanceCount *int64 `json:"instanceCount"`
	// The class executes and validates; null while it is not fetched.
	IsAccount *bool `json:"isAccount"`
	// The class has an entry point for whatever it does not define.
	IsProxy *bool `json:"isProxy"`
	// Time of the first block that names the class.
	OriginAtISO time.Time `json:"originAtIso"`
	// First block that names the class.
	OriginBlock int64 `json:"originBlock"`
	// By the entry points, if exactly one standard fits.
	TokenKind *string `json:"tokenKind"`
	// How many receipts of the class count; the fields beside it are of the first.
	VerificationClaimCount *int64 `json:"verificationClaimCount"`
	// SHA-256 of the receipt's canonical form. Its hex digits name the proof that the receipt is
	// in the transparency log: /receipt-log/proof/{digits}.
	VerificationEvidenceDigest *string `json:"verificationEvidenceDigest"`
	// When the receipt was issued.
	VerificationObservedAtISO *time.Time `json:"verificationObservedAtIso"`
	// Who verified it: service is this one.
	VerificationProvider *string `json:"verificationProvider"`
	// receipt: a signed receipt of this service. Null unless verified_exact, as all that
	// follows.
	VerificationSource *string `json:"verificationSource"`
	// verified_exact: a source was rebuilt to exactly this class, and the receipt of it counts.
	// abi_declared: the declared ABI is known, no source was proven. unverified: not even that.
	// The other tiers are not given.
	VerificationTier string `json:"verificationTier"`
}

// ClassPage is an object of the API.
type ClassPage struct {
	// The rows of this page, in order.
	Items []ClassItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// ClassUsage is an object of the API.
type ClassUsage struct {
	// Those that were answered with an error.
	FailureCount int64 `json:"failureCount"`
	// Which budget.
	LoadClass string `json:"loadClass"`
	// Those that were answered without an error.
	SuccessCount int64 `json:"successCount"`
	// Requests of the class.
	TotalRequests int64 `json:"totalRequests"`
}

// Contract is an object of the API.
type Contract struct {
	// Family of the account's class in the registry, such as argent or openzeppelin. Null for
	// what is no account, for classes that the registry does not have, and for proxies.
	AccountKind *string `json:"accountKind"`
	// A contract or account address.
	Address string `json:"address"`
	// Name of a token.
	Alias *string `json:"alias"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// The newest indexed class, or that of the deployment.
	ClassHash *string `json:"classHash"`
	// The block whose state diff set the class; no later indexed one changed it.
	ClassHashAsOfBlock *int64 `json:"classHashAsOfBlock"`
	// Felt: lower-case hex without leading zeros.
	ClassHashAsOfBlockHash *string `json:"classHashAsOfBlockHash"`
	// Null while that block is not finalized.
	ClassHashFinality *string `json:"classHashFinality"`
	// node_class_hash_at: no state diff deployed the contract, it was there before the first
	// block, and the node names its class.
	ClassHashSource *string `json:"classHashSource"`
	// Official name of the class.
	ClassLabel *string `json:"classLabel"`
	// Who gave the class its name; null without one.
	ClassLabelSource *string `json:"classLabelSource"`
	// Time of the deployment's block; first activity is never a creation date.
	CreatedOnISO *time.Time `json:"createdOnIso"`
	// The class that the contract has at the indexed head.
	CurrentClassHash *string `json:"currentClassHash"`
	// Block in which the contract was deployed.
	DeployedAtBlock *int64 `json:"deployedAtBlock"`
	// Null when only the state diff tells of the deployment.
	DeployedAtTx *string `json:"deployedAtTx"`
	// Who called the universal deployer; null when nobody did or it is not known.
	DeployedByAddress *string `json:"deployedByAddress"`
	// The class that the contract was deployed with.
	DeploymentClassHash *string `json:"deploymentClassHash"`
	// What is known of the deployment and from where; null when nothing is.
	DeploymentProvenance *DeploymentProvenance `json:"deploymentProvenance"`
	// Null when the class is not known and the address never sent a transaction.
	IsAccount *bool `json:"isAccount"`
	// True, or null when the contract is not identified as a token.
	IsToken *bool `json:"isToken"`
	// The class and the deployment's block are both known.
	MetadataCompleteness bool `json:"metadataCompleteness"`
	// Where the facts come from.
	Source string `json:"source"`
	// Which standard the token follows; null when the contract is not identified as a token.
	TokenKind *string `json:"tokenKind"`
	// system: the protocol keeps the address for itself.
	TypeLabel *string `json:"typeLabel"`
	// Null unless the class, or a transaction that it sent, tells that it is an account.
	TypeLabelSource *string `json:"typeLabelSource"`
	// How many receipts of the class count; the fields beside it are of the first.
	VerificationClaimCount *int64 `json:"verificationClaimCount"`
	// SHA-256 of the receipt's canonical form. Its hex digits name the proof that the receipt is
	// in the transparency log: /receipt-log/proof/{digits}.
	VerificationEvidenceDigest *string `json:"verificationEvidenceDigest"`
	// When the receipt was issued.
	VerificationObservedAtISO *time.Time `json:"verificationObservedAtIso"`
	// Who verified it: service is this one.
	VerificationProvider *string `json:"verificationProvider"`
	// receipt: a signed receipt of this service. Null unless verified_exact, as all that
	// follows.
	VerificationSource *string `json:"verificationSource"`
	// verified_exact: a source was rebuilt to exactly this class, and the receipt of it counts.
	// abi_declared: the declared ABI is known, no source was proven. unverified: not even that.
	// The other tiers are not given.
	VerificationTier string `json:"verificationTier"`
}

// ContractClass is an object of the API.
type ContractClass struct {
	// What is there of the ABI. What an unverified class was served with does not have its hash
	// and is not used.
	ABIStatus string `json:"abiStatus"`
	// How the contract got it. genesis: it was there before the first block, and the node names
	// its class.
	Change string `json:"change"`
	// Hash of the class.
	ClassHash string `json:"classHash"`
	// Whether the contract has this class now.
	Current bool `json:"current"`
	// First block, inclusive.
	FromBlock int64 `json:"fromBlock"`
	// Time of the first block with this class.
	FromISO time.Time `json:"fromIso"`
	// The class executes and validates; null while it is not fetched.
	IsAccount *bool `json:"isAccount"`
	// The class has an entry point for whatever it does not define.
	IsProxy *bool `json:"isProxy"`
	// The block that replaced it; null for the current one.
	ToBlock *int64 `json:"toBlock"`
	// Time of the block that replaced the class; null while the contract has it.
	ToISO *time.Time `json:"toIso"`
	// By the entry points, if exactly one standard fits.
	TokenKind *string `json:"tokenKind"`
	// How many receipts of the class count; the fields beside it are of the first.
	VerificationClaimCount *int64 `json:"verificationClaimCount"`
	// SHA-256 of the receipt's canonical form. Its hex digits name the proof that the receipt is
	// in the transparency log: /receipt-log/proof/{digits}.
	VerificationEvidenceDigest *string `json:"verificationEvidenceDigest"`
	// When the receipt was issued.
	VerificationObservedAtISO *time.Time `json:"verificationObservedAtIso"`
	// Who verified it: service is this one.
	VerificationProvider *string `json:"verificationProvider"`
	// receipt: a signed receipt of this service. Null unless verified_exact, as all that
	// follows.
	VerificationSource *string `json:"verificationSource"`
	// verified_exact: a source was rebuilt to exactly this class, and the receipt of it counts.
	// abi_declared: the declared ABI is known, no source was proven. unverified: not even that.
	// The other tiers are not given.
	VerificationTier string `json:"verificationTier"`
}

// ContractClassPage is an object of the API.
type ContractClassPage struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// The rows of this page, in order.
	Items []ContractClass `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// ContractExistence is an object of the API.
type ContractExistence struct {
	// Where the evidence comes from.
	EvidenceSource string `json:"evidenceSource"`
	// Null: it holds for that block for good.
	ExpiresAtISO *string `json:"expiresAtIso"`
	// Felt: lower-case hex without leading zeros.
	ObservedBlockHash string `json:"observedBlockHash"`
	// The newest finalized block. No state diff up to it, nor up to the indexed head, gave the
	// address a class.
	ObservedBlockNumber int64 `json:"observedBlockNumber"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// ContractRead is an object of the API.
type ContractRead struct {
	// Only for pending: the block that the one being built stands on, where it is known.
	BasedOn *BasedOn `json:"basedOn"`
	// What the call was pinned to; null for the block that is being built, which has none yet.
	BlockHash *string `json:"blockHash"`
	// The block that the call was made at.
	BlockNumber *int64 `json:"blockNumber"`
	// The caller's own text.
	BlockTag string `json:"blockTag"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// At most 10,000 felts.
	Result []string `json:"result"`
	// How many felts the function returned.
	ResultLength int64 `json:"resultLength"`
	// The function returned more than is shown.
	ResultTruncated bool `json:"resultTruncated"`
	// Selector of the function.
	Selector string `json:"selector"`
}

// ContractVerification is an object of the API.
type ContractVerification struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// The class that the contract has now, which the job is about.
	ClassHash *string `json:"classHash"`
	// Always null: the job does not keep it.
	CompilerVersion *string `json:"compilerVersion"`
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// cairo.
	Language *string `json:"language"`
	// Where there is more to read.
	Metadata VerificationMetadata `json:"metadata"`
	// When the job was created.
	RequestedAtISO time.Time `json:"requestedAtIso"`
	// Always null: sources are not published.
	SourceRef *string `json:"sourceRef"`
	// When the job got into its state.
	UpdatedAtISO time.Time `json:"updatedAtIso"`
	// Of one that failed: its code, such as class_hash_mismatch, or that it was cancelled or has
	// expired.
	VerificationError *string `json:"verificationError"`
	// pending: the job has not ended. failed: it has, without a receipt. This route never tells
	// of a verification: verificationTier of the class does.
	VerificationStatus string `json:"verificationStatus"`
	// Always null.
	VerifiedAtISO *time.Time `json:"verifiedAtIso"`
}

// ControlEvidence is an object of the API.
type ControlEvidence struct {
	// Felt: lower-case hex without leading zeros.
	Account *string `json:"account"`
	// Null for what the class itself tells.
	BlockNumber *int64 `json:"blockNumber"`
	// Hash of the class.
	ClassHash *string `json:"classHash"`
	// What kind of thing this is.
	Kind string `json:"kind"`
	// Of events.
	LogIndex *int `json:"logIndex"`
	// The power that an entry point gives.
	Name *string `json:"name"`
	// Felt: lower-case hex without leading zeros.
	Role *string `json:"role"`
	// Of events.
	TxHash *string `json:"txHash"`
}

// ControlRole is an object of the API.
type ControlRole struct {
	// Felt: lower-case hex without leading zeros.
	Account string `json:"account"`
	// Block in which the role was given.
	GrantedAtBlock int64 `json:"grantedAtBlock"`
	// Null when the role is not the hash of a known name.
	Name *string `json:"name"`
	// Felt: lower-case hex without leading zeros.
	Role string `json:"role"`
}

// ControlsSnapshot is an object of the API.
type ControlsSnapshot struct {
	// The block that the facts hold at.
	AsOfBlock int64 `json:"asOfBlock"`
	// Hash of that block.
	AsOfBlockHash string `json:"asOfBlockHash"`
	// Time of that block.
	AsOfTimestampISO time.Time `json:"asOfTimestampIso"`
	// Hash of the class.
	ClassHash string `json:"classHash"`
	// What the facts follow from, newest first: events, classes, entry points.
	Evidence []ControlEvidence `json:"evidence"`
	// More evidence exists than is listed.
	EvidenceTruncated bool `json:"evidenceTruncated"`
	// When this process first saw the index at asOfBlock: what the snapshot is made of had been
	// written by then.
	IndexedAtISO time.Time `json:"indexedAtIso"`
	// Who may change what the token says of itself.
	MetadataAdmin MetadataAdmin `json:"metadataAdmin"`
	// As last announced; null when nothing was.
	Paused *bool `json:"paused"`
	// Roles that were granted and not revoked since.
	Roles []ControlRole `json:"roles"`
	// Where the facts come from.
	Source string `json:"source"`
	// Who may change the supply.
	SupplyControl SupplyControl `json:"supplyControl"`
	// Who may stop transfers.
	TransferControl TransferControl `json:"transferControl"`
	// Who may replace the token's code.
	UpgradeControl UpgradeControl `json:"upgradeControl"`
}

// Coverage is an object of the API.
type Coverage struct {
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// CreateInputBody is an object of the API.
type CreateInputBody struct {
	// What its owner calls it: characters that print.
	Description *string `json:"description,omitzero"`
	// What is told.
	Filter WebhookFilter `json:"filter"`
	// The first block that is told of; unless given, the one after the newest.
	FromBlock *int64 `json:"fromBlock,omitzero"`
	// Where to: https, without a user, a password or a fragment. It must resolve to public
	// addresses whenever a message is sent.
	URL string `json:"url"`
}

// CreatedWebhook is an object of the API.
type CreatedWebhook struct {
	// What messages are signed with: whsec_ and base64. It is shown this once; null where the
	// same request had made the webhook before. Rotate it when it was lost.
	Secret *string `json:"secret"`
	// The webhook.
	Webhook Webhook `json:"webhook"`
}

// DecodedField is an object of the API.
type DecodedField struct {
	// Felt: lower-case hex without leading zeros.
	AddressValue *string `json:"addressValue"`
	// The value of a bool; null for other kinds.
	BoolValue *bool `json:"boolValue"`
	// The value as people read it.
	DisplayValue string `json:"displayValue"`
	// Which of the typed values is set.
	Kind string `json:"kind"`
	// Name of the field in the schema.
	Label string `json:"label"`
	// Decimal.
	NumericValue *string `json:"numericValue"`
	// Places in keys or data.
	OriginIndexes []int64 `json:"originIndexes"`
	// The felts that the value was decoded from.
	RawValues []string `json:"rawValues"`
	// Whether the field was read from the keys or from the data.
	Source string `json:"source"`
	// Whether the value was decoded as a whole, in part, or is raw.
	Status string `json:"status"`
	// The value of a text; null for other kinds.
	TextValue *string `json:"textValue"`
	// Type of the value.
	Type *string `json:"type"`
}

// DeletedWebhook is an object of the API.
type DeletedWebhook struct {
	// The webhook that is gone, with its dead letters and what was under way.
	WebhookID string `json:"webhookId"`
}

// DeploymentProvenance is an object of the API.
type DeploymentProvenance struct {
	// Block in which the contract was deployed.
	DeployedAtBlock int64 `json:"deployedAtBlock"`
	// Hash of that block.
	DeployedAtBlockHash string `json:"deployedAtBlockHash"`
	// How the contract came to be; null when only the state diff tells of it.
	DeploymentKind *string `json:"deploymentKind"`
	// Traces are not read, so that it is always starknet_state_diff_boundary: the state diff of
	// the block, beside which reasonCode names what tells the deployer.
	EvidenceSource string `json:"evidenceSource"`
	// The universal deployer.
	FactoryAddress *string `json:"factoryAddress"`
	// Sender of the transaction.
	OriginAddress *string `json:"originAddress"`
	// Whether the address depends on the deployer's caller. Null unless a universal deployer was
	// used.
	OriginDependent *bool `json:"originDependent"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
	// Hash of the transaction.
	TransactionHash *string `json:"transactionHash"`
}

// Documentation is an object of the API.
type Documentation struct {
	// Which version of OpenAPI the document is in.
	OpenapiFormat string `json:"openapiFormat"`
	// Where the OpenAPI document is on this host.
	OpenapiPath string `json:"openapiPath"`
	// Full address of the OpenAPI document, where the service knows how it is reached.
	OpenapiURL string `json:"openapiUrl"`
	// How to find an operation in the document.
	OperationLookup string `json:"operationLookup"`
	// The form of references to operations.
	OperationReferenceFormat string `json:"operationReferenceFormat"`
}

// Entrypoint is an object of the API.
type Entrypoint struct {
	// What the entry point takes, in order.
	Inputs []ABIParam `json:"inputs"`
	// Null when the ABI does not name it.
	Name *string `json:"name"`
	// What the entry point returns, in order.
	Outputs []ABIParam `json:"outputs"`
	// Selector of the function.
	Selector string `json:"selector"`
	// view or external; null when the ABI does not say.
	StateMutability *string `json:"stateMutability"`
}

// Entrypoints is an object of the API.
type Entrypoints struct {
	// Structs and enums that the inputs and outputs name.
	ABITypes []ABIType `json:"abiTypes"`
	// More types exist than are listed.
	ABITypesTruncated bool `json:"abiTypesTruncated"`
	// Number of the block whose class is described.
	BlockNumber int64 `json:"blockNumber"`
	// Hash of the block that the tag stands for.
	BlockTag string `json:"blockTag"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Hash of the class.
	ClassHash string `json:"classHash"`
	// Entry points that run when a contract of this class is deployed.
	Constructor []Entrypoint `json:"constructor"`
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// Entry points that anybody can call.
	External []Entrypoint `json:"external"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// Entry points that only messages from L1 can call.
	L1Handler []Entrypoint `json:"l1Handler"`
	// The block as the caller named it.
	RequestedBlockTag string `json:"requestedBlockTag"`
}

// EventBounded is an object of the API.
type EventBounded struct {
	// Whether this part of the service can be used.
	Enabled bool `json:"enabled"`
	// The most blocks that a search may span, both ends included.
	MaximumBlocksInclusive int64 `json:"maximumBlocksInclusive"`
}

// EventFullRange is an object of the API.
type EventFullRange struct {
	// Whether wide ranges can be searched now.
	CoverageAvailability string `json:"coverageAvailability"`
	// What the listed coverage promises.
	CoverageContract string `json:"coverageContract"`
	// The calling key's workspace may search wide ranges.
	Entitled bool `json:"entitled"`
	// The plan that may search wide ranges.
	RequiredWorkspacePlan string `json:"requiredWorkspacePlan"`
	// For which keys wide ranges are ready, and how far.
	SelectorCoverage []SelectorCoverage `json:"selectorCoverage"`
	// What a wide search is answered when its coverage is not ready.
	UnavailableResponse string `json:"unavailableResponse"`
	// What a wide search for undeclared keys is answered.
	UnsupportedResponse string `json:"unsupportedResponse"`
}

// EventPage is an object of the API.
type EventPage struct {
	// The lookup that attributes names failed for this answer; single events are not unknown
	// because of it.
	EventDecodingDegraded bool `json:"eventDecodingDegraded"`
	// The rows of this page, in order.
	Items []EventRow `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
	// Only on searches over more than 10,000 blocks.
	RangeCoverage *RangeCoverage `json:"rangeCoverage,omitzero"`
}

// EventPositions is an object of the API.
type EventPositions struct {
	// The highest key position that can be filtered.
	Maximum int64 `json:"maximum"`
	// The lowest key position that can be filtered.
	Minimum int64 `json:"minimum"`
}

// EventRow is an object of the API.
type EventRow struct {
	// A contract or account address.
	Address string `json:"address"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// Official name of the class in the registry.
	ClassAlias *string `json:"classAlias"`
	// Name of the contract in the registry; never what a contract calls itself.
	ContractAlias *string `json:"contractAlias"`
	// Authoritative, whatever was decoded.
	Data []string `json:"data"`
	// There whenever decodingStatus is decoded, empty for an event without members, and only
	// then.
	DecodedFields []DecodedField `json:"decodedFields,omitzero"`
	// Where the schema of the fields comes from.
	DecodedFieldsSource *string `json:"decodedFieldsSource"`
	// Why there are no decoded fields; null when there are.
	DecodedFieldsUnavailableReason *string `json:"decodedFieldsUnavailableReason"`
	// decoded: name and fields are certain; name_only: only the name is; unknown: neither.
	DecodingStatus string `json:"decodingStatus"`
	// Name of the event; null when none is certain.
	EventName *string `json:"eventName"`
	// What the name rests on; null without a name.
	EventNameSource *string `json:"eventNameSource"`
	// Why no name can be given; null when one is, or when none is known.
	EventNameUnavailableReason *string `json:"eventNameUnavailableReason"`
	// Class of the contract when it emitted the event; null when the block does not tell.
	EventTimeClassHash *string `json:"eventTimeClassHash"`
	// All keys.
	Keys []string `json:"keys"`
	// The event's index in its transaction.
	LogIndex int `json:"logIndex"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO time.Time `json:"timestampIso"`
	// First key, by which most events are told apart; null when there is none.
	Topic0 *string `json:"topic0"`
	// Second key; null when there is none.
	Topic1 *string `json:"topic1"`
	// Third key; null when there is none.
	Topic2 *string `json:"topic2"`
	// Fourth key; null when there is none.
	Topic3 *string `json:"topic3"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// EventSearchFacts is an object of the API.
type EventSearchFacts struct {
	// Search within a bounded range of blocks, which every key may use.
	Bounded EventBounded `json:"bounded"`
	// The chain that the facts are about.
	Chain string `json:"chain"`
	// Search over any range, for coverage that is ready.
	FullRange EventFullRange `json:"fullRange"`
	// How large pages and filters may be.
	Limits EventSearchLimit `json:"limits"`
	// Which key positions can be filtered.
	Positions EventPositions `json:"positions"`
}

// EventSearchLimit is an object of the API.
type EventSearchLimit struct {
	// The most events of a page.
	PageSize int64 `json:"pageSize"`
	// How many blocks on each side of a certificate a wide search may read beyond it.
	RawExtensionBlocks int64 `json:"rawExtensionBlocks"`
	// The most values of one key position.
	ValuesPerPosition int64 `json:"valuesPerPosition"`
	// The most values of a request.
	ValuesPerRequest int64 `json:"valuesPerRequest"`
}

// ExchangeCall is an object of the API.
type ExchangeCall struct {
	// Place of the call among the account's calls.
	CallIndex int64 `json:"callIndex"`
	// Address of the contract.
	ContractAddress string `json:"contractAddress"`
	// Felt: lower-case hex without leading zeros.
	EntryPointSelector *string `json:"entryPointSelector"`
	// The function; certain, because the selector is its hash.
	MethodName *string `json:"methodName"`
}

// FamilyOperation is an object of the API.
type FamilyOperation struct {
	// HTTP method.
	Method string `json:"method"`
	// The method as the document spells it.
	OpenapiMethod string `json:"openapiMethod"`
	// Points to the operation in the document.
	OpenapiOperationRef string `json:"openapiOperationRef"`
	// The path as the document spells it.
	OpenapiPath string `json:"openapiPath"`
	// Path of the route.
	Path string `json:"path"`
	// The class that the operation draws on.
	RateLimitClass string `json:"rateLimitClass"`
	// What it does, in a sentence.
	Summary string `json:"summary"`
}

// FeatureStatus is an object of the API.
type FeatureStatus struct {
	// Whether this part of the service can be used.
	Enabled bool `json:"enabled"`
	// How the part stands.
	Status string `json:"status"`
}

// FirstCall is an object of the API.
type FirstCall struct {
	// HTTP method.
	Method string `json:"method"`
	// Path of the route.
	Path string `json:"path"`
	// What the request is good for.
	Purpose string `json:"purpose"`
}

// GasPrice is an object of the API.
type GasPrice struct {
	// Null where the block has none, such as one from before fees in STRK: nodes tell of 0.
	PriceInFri *string `json:"priceInFri"`
	// Null where the block has none: nodes tell of 0.
	PriceInWei *string `json:"priceInWei"`
}

// HolderAnalytics is an object of the API.
type HolderAnalytics struct {
	// Whether the rows are certified, against what, and since when.
	Certification HolderCertification `json:"certification"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Whether the list holds every holder, and why not if it does not.
	Completeness HolderCompleteness `json:"completeness"`
	// When the numbers were computed; null when there are none.
	ComputedAt *time.Time `json:"computedAt"`
	// Since the generation before; null when there is none.
	Growth *HolderGrowth `json:"growth"`
	// 0 with null metrics is a withheld list, not an empty one: see certification.
	HolderCount int64 `json:"holderCount"`
	// Null when the generation is withheld, or nobody holds anything.
	Metrics *HolderMetrics `json:"metrics"`
	// The generation that the rows belong to.
	Snapshot HolderSnapshot `json:"snapshot"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// What the balances were compared with; null when they were not.
	ValidatedAgainst *string `json:"validatedAgainst"`
}

// HolderCertification is an object of the API.
type HolderCertification struct {
	// When the check was made; null when none was.
	CheckedAt *time.Time `json:"checkedAt"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// How many balances were compared with the contract.
	SampledBalances int64 `json:"sampledBalances"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
	// What the contract reports at asOfBlockHash.
	TotalSupplyRaw *string `json:"totalSupplyRaw"`
	// Supply and sampled balances were asked of the contract at asOfBlockHash.
	ValidatedAgainst *string `json:"validatedAgainst"`
}

// HolderCompleteness is an object of the API.
type HolderCompleteness struct {
	// Whether the rows are the exact balances of the block.
	Exact bool `json:"exact"`
	// Every holder is there.
	PopulationComplete bool `json:"populationComplete"`
	// Why the population is complete, or why that is not proven.
	PopulationReasonCode string `json:"populationReasonCode"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Whether rows were left out.
	Truncated bool `json:"truncated"`
}

// HolderGrowth is an object of the API.
type HolderGrowth struct {
	// Decimal with a sign.
	HolderBalanceTotalChangeRaw string `json:"holderBalanceTotalChangeRaw"`
	// Holders more than in the generation before; negative for fewer.
	HolderCountChange int64 `json:"holderCountChange"`
	// Of the count before, rounded towards zero; null when that was zero.
	HolderCountChangeBps *int64 `json:"holderCountChangeBps"`
	// The block that the generation before holds at.
	PreviousAsOfBlock int64 `json:"previousAsOfBlock"`
	// Number of the generation before.
	PreviousGenerationID int64 `json:"previousGenerationId"`
	// Holders in the generation before.
	PreviousHolderCount int64 `json:"previousHolderCount"`
}

// HolderItem is an object of the API.
type HolderItem struct {
	// A contract or account address.
	Address string `json:"address"`
	// Balance in the token's smallest unit, decimal.
	BalanceRaw string `json:"balanceRaw"`
	// Newest block with a transfer of the holder, be it of nothing.
	LastUpdatedBlock int64 `json:"lastUpdatedBlock"`
	// Time of that block; null when it is not known.
	LastUpdatedTimestampISO *time.Time `json:"lastUpdatedTimestampIso"`
	// From 1: by balance, most first, then by address.
	Rank int64 `json:"rank"`
}

// HolderMetrics is an object of the API.
type HolderMetrics struct {
	// Gini coefficient of the balances in millionths, rounded down: 0 is all the same.
	GiniScorePpm int64 `json:"giniScorePpm"`
	// Sum of all balances of the generation, decimal.
	HolderBalanceTotalRaw string `json:"holderBalanceTotalRaw"`
	// Holders of more than one percent.
	HoldersAbove1Percent int64 `json:"holdersAbove1Percent"`
	// The fewest holders who together have more than half.
	Nakamoto50Count *int64 `json:"nakamoto50Count"`
	// How many holders have at least one percent, a tenth, a hundredth.
	ThresholdCounts []HolderThreshold `json:"thresholdCounts"`
	// Holders by the size of their share.
	TierDistribution []HolderTier `json:"tierDistribution"`
	// What the 100 largest holders have together, decimal.
	Top100BalanceRaw string `json:"top100BalanceRaw"`
	// Their share, in hundredths of a percent.
	Top100ShareBps int64 `json:"top100ShareBps"`
	// What the 10 largest holders have together, decimal.
	Top10BalanceRaw string `json:"top10BalanceRaw"`
	// Their share, in hundredths of a percent.
	Top10ShareBps int64 `json:"top10ShareBps"`
	// What the 5 largest holders have together, decimal.
	Top5BalanceRaw string `json:"top5BalanceRaw"`
	// Their share, in hundredths of a percent.
	Top5ShareBps int64 `json:"top5ShareBps"`
	// Holders of one percent or more.
	WhaleCount int64 `json:"whaleCount"`
	// Share of all holders of one percent or more, in hundredths of a percent.
	WhaleShareBps int64 `json:"whaleShareBps"`
}

// HolderPage is an object of the API.
type HolderPage struct {
	// Whether the rows are certified, against what, and since when.
	Certification HolderCertification `json:"certification"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Whether the list holds every holder, and why not if it does not.
	Completeness HolderCompleteness `json:"completeness"`
	// Sum of all balances of the generation, decimal.
	HolderBalanceTotalRaw *string `json:"holderBalanceTotalRaw"`
	// 0 with a null total is a withheld list, not an empty one: see certification.
	HolderCount int64 `json:"holderCount"`
	// The rows of this page, in order.
	Items []HolderItem `json:"items"`
	// How much a page may hold, and for whom.
	Limits PartnerPage `json:"limits"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
	// The generation that the rows belong to.
	Snapshot HolderSnapshot `json:"snapshot"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
}

// HolderSnapshot is an object of the API.
type HolderSnapshot struct {
	// A finalized block: balances are those after it.
	AsOfBlock int64 `json:"asOfBlock"`
	// Hash of that block.
	AsOfBlockHash string `json:"asOfBlockHash"`
	// Until then cursors into this generation work.
	ExpiresAt time.Time `json:"expiresAt"`
	// Which kind of snapshot this is.
	Freshness string `json:"freshness"`
	// Number of the immutable generation that the rows belong to.
	GenerationID int64 `json:"generationId"`
	// How far the indexed head is above asOfBlock.
	LagBlocks int64 `json:"lagBlocks"`
	// SHA-256, in hex, of all rows in the order of their ranks, each as the line
	// rank,address,balanceRaw,lastUpdatedBlock and a line feed.
	RowDigest string `json:"rowDigest"`
	// Where the facts come from.
	Source string `json:"source"`
	// When the generation was published.
	UpdatedAt time.Time `json:"updatedAt"`
}

// HolderThreshold is an object of the API.
type HolderThreshold struct {
	// Holders with at least this share.
	HolderCount int64 `json:"holderCount"`
	// The threshold in words.
	Label string `json:"label"`
	// The share, in hundredths of a percent.
	ThresholdBps int64 `json:"thresholdBps"`
}

// HolderTier is an object of the API.
type HolderTier struct {
	// Holders in this tier.
	HolderCount int64 `json:"holderCount"`
	// Smallest share of the tier, in hundredths of a percent.
	MinShareBps int64 `json:"minShareBps"`
	// What they have together.
	ShareBps int64 `json:"shareBps"`
	// Which tier it belongs to.
	Tier string `json:"tier"`
}

// IndexedBalance is an object of the API.
type IndexedBalance struct {
	// Whether the two balances are the same.
	Agrees bool `json:"agrees"`
	// Decimal.
	BalanceRaw string `json:"balanceRaw"`
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Newest indexed block, at which this balance holds.
	BlockNumber int64 `json:"blockNumber"`
	// The newest block up to that one with a transfer of the address; null when there is none.
	LastChangedBlock *int64 `json:"lastChangedBlock"`
	// Where the facts come from.
	Source string `json:"source"`
}

// Indexing is an object of the API.
type Indexing struct {
	// The same for people; null when current.
	Reason *string `json:"reason"`
	// Why it is not current, for programs.
	ReasonCode *string `json:"reasonCode"`
	// stalled: nobody vouches for the index any more, so that it may be old. degraded: something
	// stopped it, or holds it up, that a person must look at.
	Status string `json:"status"`
}

// InstancePage is an object of the API.
type InstancePage struct {
	// The rows of this page, in order.
	Items []ClassInstance `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// Interval is an object of the API.
type Interval struct {
	// First block, inclusive.
	FromBlock int64 `json:"fromBlock"`
	// Last block, inclusive.
	ToBlock int64 `json:"toBlock"`
}

// IssueReportRule is an object of the API.
type IssueReportRule struct {
	// What a report must have.
	RequiredFields []string `json:"requiredFields"`
	// What a report must not have.
	Rule string `json:"rule"`
}

// IssuedKey is an object of the API.
type IssuedKey struct {
	// Whether the key took the place of another.
	Action string `json:"action"`
	// Everything else about the key.
	APIKey Key `json:"apiKey"`
	// The key. It is shown this once: only a digest of it is stored.
	PlaintextKey string `json:"plaintextKey"`
	// The keys whose place it took. They are refused from now on, by every process within a
	// second.
	RevokedPublicIDs []string `json:"revokedPublicIds"`
}

// Key is an object of the API.
type Key struct {
	// Web origins from which the key may be used; none are all.
	AllowedOrigins []string `json:"allowedOrigins"`
	// When the key was made.
	CreatedAt time.Time `json:"createdAt"`
	// What the key is meant for.
	Environment string `json:"environment"`
	// When the key ends by itself; null for one that does not.
	ExpiresAt *time.Time `json:"expiresAt"`
	// Name by which people know the key.
	Label string `json:"label"`
	// When the key was last used, to the minute or so; null for one that never was.
	LastUsedAt *time.Time `json:"lastUsedAt"`
	// The key's prefix and hint, for people to tell keys apart.
	MaskedKey string `json:"maskedKey"`
	// Names the key, such as key_0123456789abcdef. It is no secret.
	PublicID string `json:"publicId"`
	// How much may be asked with the key.
	RateLimitPolicy Policy `json:"rateLimitPolicy"`
	// When the key was revoked; null for one that was not.
	RevokedAt *time.Time `json:"revokedAt"`
	// What the key may do.
	Scopes []string `json:"scopes"`
	// The last characters of the key.
	SecretHint string `json:"secretHint"`
	// A revoked key is refused for good. One that has expired is still called active: expiresAt
	// tells.
	Status string `json:"status"`
}

// KeyList is an object of the API.
type KeyList struct {
	// The keys of the workspace, newest first, revoked ones too.
	Items []Key `json:"items"`
	// There are older keys than those listed.
	Truncated bool `json:"truncated"`
}

// KeyUsage is an object of the API.
type KeyUsage struct {
	// The key, without its secret.
	APIKey Key `json:"apiKey"`
	// Those that were answered with an error.
	FailureCount int64 `json:"failureCount"`
	// Null when there was none in the window.
	LastFailureAt *time.Time `json:"lastFailureAt"`
	// Null when there was none in the window.
	LastRequestAt *time.Time `json:"lastRequestAt"`
	// What the key was told of its budget last; null when it was told nothing in the window.
	LatestRateLimitState *RateLimitState `json:"latestRateLimitState"`
	// Those that were answered without an error.
	SuccessCount int64 `json:"successCount"`
	// Requests with the key.
	TotalRequests int64 `json:"totalRequests"`
}

// L1Finality is an object of the API.
type L1Finality struct {
	// When L1 endpoints last disagreed; null: none is asked.
	LastDivergenceAt *string `json:"lastDivergenceAt"`
	// Agreement of L1 endpoints.
	Quorum Quorum `json:"quorum"`
	// Age of that block.
	WatermarkAgeSeconds *int64 `json:"watermarkAgeSeconds"`
	// Newest block that is reported as accepted on L1; null while there is none.
	WatermarkBlockNumber *int64 `json:"watermarkBlockNumber"`
}

// LastFork is an object of the API.
type LastFork struct {
	// Newest block that both branches share.
	AncestorBlock int64 `json:"ancestorBlock"`
	// It undid blocks that had been reported as accepted on L1.
	BelowL1 bool `json:"belowL1"`
	// Forks so far.
	Count int64 `json:"count"`
	// How many blocks were undone.
	DepthBlocks int64 `json:"depthBlocks"`
}

// Log is an object of the API.
type Log struct {
	// A contract or account address.
	Address string `json:"address"`
	// Official name of the class in the registry.
	ClassAlias *string `json:"classAlias"`
	// Name of the contract in the registry; never what a contract calls itself.
	ContractAlias *string `json:"contractAlias"`
	// Authoritative, whatever was decoded.
	Data []string `json:"data"`
	// There whenever decodingStatus is decoded, empty for an event without members, and only
	// then.
	DecodedFields []DecodedField `json:"decodedFields,omitzero"`
	// Where the schema of the fields comes from.
	DecodedFieldsSource *string `json:"decodedFieldsSource"`
	// Why there are no decoded fields; null when there are.
	DecodedFieldsUnavailableReason *string `json:"decodedFieldsUnavailableReason"`
	// decoded: name and fields are certain; name_only: only the name is; unknown: neither.
	DecodingStatus string `json:"decodingStatus"`
	// Name of the event; null when none is certain.
	EventName *string `json:"eventName"`
	// What the name rests on; null without a name.
	EventNameSource *string `json:"eventNameSource"`
	// Why no name can be given; null when one is, or when none is known.
	EventNameUnavailableReason *string `json:"eventNameUnavailableReason"`
	// Class of the contract when it emitted the event; null when the block does not tell.
	EventTimeClassHash *string `json:"eventTimeClassHash"`
	// All keys.
	Keys []string `json:"keys"`
	// Index of the event in its transaction.
	LogIndex int64 `json:"logIndex"`
	// First key, by which most events are told apart; null when there is none.
	Topic0 *string `json:"topic0"`
	// Second key; null when there is none.
	Topic1 *string `json:"topic1"`
	// Third key; null when there is none.
	Topic2 *string `json:"topic2"`
	// Fourth key; null when there is none.
	Topic3 *string `json:"topic3"`
}

// MarketItem is an object of the API.
type MarketItem struct {
	// Block in which the pool was made.
	CreatedAtBlock int64 `json:"createdAtBlock"`
	// Index of the event that made it.
	CreatedAtLogIndex int `json:"createdAtLogIndex"`
	// Felt: lower-case hex without leading zeros.
	CreatedAtTx string `json:"createdAtTx"`
	// Name of the exchange.
	Dex string `json:"dex"`
	// Null unless the symbols of both tokens are known.
	DisplayName *string `json:"displayName"`
	// Rounded to four decimals; null when the event does not tell it.
	FeeBps *float64 `json:"feeBps"`
	// Newest block with a trade; null: trades are not followed.
	LastTradeBlock *int64 `json:"lastTradeBlock"`
	// Exchange and pool: unique on the chain.
	MarketID string `json:"marketId"`
	// Whether the pool is a contract of its own or lives in a shared one.
	MarketKind string `json:"marketKind"`
	// Felt: lower-case hex without leading zeros.
	PairedTokenAddress string `json:"pairedTokenAddress"`
	// Symbol of the other token; null when it is not known.
	PairedTokenSymbol *string `json:"pairedTokenSymbol"`
	// The pool's own contract, or the one that it lives in.
	PoolAddress string `json:"poolAddress"`
	// The pool's contract, or what tells pools of one contract apart, joined by colons.
	PoolKey string `json:"poolKey"`
	// How the pool prices; null when it is not known.
	PoolType *string `json:"poolType"`
	// Price in US dollars; null: prices are not part of this service.
	PriceUSD *string `json:"priceUsd"`
	// Name of the protocol; null when none is known.
	ProtocolName string `json:"protocolName"`
	// Short name of the protocol; null when none is known.
	ProtocolSlug string `json:"protocolSlug"`
	// The indexed block that the facts hold at.
	SnapshotBlock int64 `json:"snapshotBlock"`
	// Where the facts come from.
	Source string `json:"source"`
	// Traders of the last day; null: trades are not followed.
	Traders24h *int64 `json:"traders24h"`
	// Trades of the last day; null: trades are not followed.
	Trades24h *int64 `json:"trades24h"`
	// Value of the pool; null: prices are not part of this service.
	TVLUSD *string `json:"tvlUsd"`
	// When the index learned of it.
	UpdatedAtISO time.Time `json:"updatedAtIso"`
	// Change of the volume; null: trades are not followed.
	Volume24hChangeBps *int64 `json:"volume24hChangeBps"`
	// Volume of the day before; null: trades are not followed.
	Volume24hPrevUSD *string `json:"volume24hPrevUsd"`
	// Volume of the last day; null: trades are not followed.
	Volume24hUSD *string `json:"volume24hUsd"`
	// End of the window of volumes; null: trades are not followed.
	VolumeWindowEndUnix *int64 `json:"volumeWindowEndUnix"`
	// Start of the window of volumes; null: trades are not followed.
	VolumeWindowStartUnix *int64 `json:"volumeWindowStartUnix"`
}

// Message is an object of the API.
type Message struct {
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// The contract on this layer, if it is a known bridge.
	BridgeContractAddress *string `json:"bridgeContractAddress"`
	// From L1 to L2, or from L2 to L1; null when it cannot be told.
	Direction string `json:"direction"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// block:tx:message
	ID string `json:"id"`
	// What a known bridge means by it; null for others.
	Interpretation *MessageInterpretation `json:"interpretation"`
	// Null: L1 is not indexed.
	L1BlockNumber *int64 `json:"l1BlockNumber"`
	// Null for a message to L1: L1 is not indexed.
	L1ConsumedCount *int64 `json:"l1ConsumedCount"`
	// Felt: lower-case hex without leading zeros.
	L1ContractAddress *string `json:"l1ContractAddress"`
	// Null: it was paid on L1, which is not indexed.
	L1Fee *string `json:"l1Fee"`
	// Null: L1 is not indexed.
	L1Hash *string `json:"l1Hash"`
	// How often L1 sent it. Null when this layer does not tell.
	L1SentCount *int64 `json:"l1SentCount"`
	// Felt: lower-case hex without leading zeros.
	L2ContractAddress *string `json:"l2ContractAddress"`
	// The same as txHash.
	L2Hash *string `json:"l2Hash"`
	// How often L2 sent a message with this hash, as far as the chain is indexed.
	L2SentCount *int64 `json:"l2SentCount"`
	// Place among the transaction's messages.
	LogIndex int `json:"logIndex"`
	// 0x and 64 hex digits.
	MessageHash string `json:"messageHash"`
	// Nonce of the message; null when it has none.
	Nonce *string `json:"nonce"`
	// At most 256 felts.
	Payload []string `json:"payload"`
	// The message carries more than is shown.
	PayloadTruncated bool `json:"payloadTruncated"`
	// Null when this layer does not tell.
	PendingCount *int64 `json:"pendingCount"`
	// Selector of the function.
	Selector *string `json:"selector"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// How far the chain tells: a handler took it in, or was reverted; L2 sent it, and its block
	// is not accepted on L1 yet, or is and L1 may or may not have consumed it.
	Status string `json:"status"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// The transaction on this layer.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// MessageInterpretation is an object of the API.
type MessageInterpretation struct {
	// What the message does, such as a deposit or a withdrawal.
	Action string `json:"action"`
	// In units of the token; null when its decimals are not known.
	Amount *string `json:"amount"`
	// Decimal.
	AmountRaw *string `json:"amountRaw"`
	// Felt: lower-case hex without leading zeros.
	FactHash *string `json:"factHash"`
	// What kind of thing this is.
	Kind string `json:"kind"`
	// Which layout of the bridge the message has.
	MatchRule string `json:"matchRule"`
	// Whether the bridge's token is a stand-in; null when it is not known.
	Mocked *bool `json:"mocked"`
	// The bridge that gives the message its meaning.
	Protocol string `json:"protocol"`
	// Felt: lower-case hex without leading zeros.
	Recipient *string `json:"recipient"`
	// Felt: lower-case hex without leading zeros.
	Sender *string `json:"sender"`
	// Where the facts come from.
	Source string `json:"source"`
	// What it does, in a sentence.
	Summary string `json:"summary"`
	// The token that the message moves; null when it moves none or it is not known.
	Token *MessageToken `json:"token"`
}

// MessagePage is an object of the API.
type MessagePage struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Address of the contract.
	ContractAddress *string `json:"contractAddress"`
	// What the answer covers, and what it does not.
	Coverage MessagesCoverage `json:"coverage"`
	// The rows of this page, in order.
	Items []Message `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// MessageToken is an object of the API.
type MessageToken struct {
	// Digits behind the point when an amount is shown; null when the contract does not say.
	Decimals *int64 `json:"decimals"`
	// Name of the token; null when it is not known.
	Name *string `json:"name"`
	// Symbol that the contract gives itself: for display alone, the address is the identity.
	Symbol *string `json:"symbol"`
}

// MessagesCoverage is an object of the API.
type MessagesCoverage struct {
	// The same in words.
	Message string `json:"message"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Where the facts come from.
	Source string `json:"source"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// MetadataAdmin is an object of the API.
type MetadataAdmin struct {
	// Who holds the power; null when nobody is known to.
	Actor *string `json:"actor"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// Moment is an object of the API.
type Moment struct {
	// Which side of the moment was asked for.
	Closest string `json:"closest"`
	// The moment that was asked for, RFC 3339 in UTC.
	TimestampISO time.Time `json:"timestampIso"`
	// The same in seconds since 1970.
	TimestampUnix int64 `json:"timestampUnix"`
}

// PartnerPage is an object of the API.
type PartnerPage struct {
	// The most rows of a page.
	MaxPageSize int64 `json:"maxPageSize"`
	// The tier that may read this.
	Tier string `json:"tier"`
}

// Policy is an object of the API.
type Policy struct {
	// Requests a minute of the class batch.
	BatchPerMinute int64 `json:"batchPerMinute"`
	// Requests at once.
	Burst int64 `json:"burst"`
	// Requests a minute of the class heavy.
	HeavyPerMinute int64 `json:"heavyPerMinute"`
	// Requests a minute of the class light.
	LightPerMinute int64 `json:"lightPerMinute"`
	// How many active keys the workspace may have.
	MaxActiveKeys int64 `json:"maxActiveKeys"`
	// What people call it.
	PolicyDisplayName string `json:"policyDisplayName"`
	// Names the policy.
	PolicyKey string `json:"policyKey"`
}

// PoolCoverage is an object of the API.
type PoolCoverage struct {
	// Every pool that the exchanges of the registry announced up to snapshotBlock is counted.
	Exact bool `json:"exact"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
}

// PreviewCall is an object of the API.
type PreviewCall struct {
	// Class of the contract when it was called; null when its class was replaced since, and when
	// there was no contract. The transaction itself tells more.
	CallTimeClassHash *string `json:"callTimeClassHash"`
	// How many felts of calldata the call has.
	CalldataLen int64 `json:"calldataLen"`
	// Official name of the class in the registry.
	ClassAlias *string `json:"classAlias"`
	// Name of the contract in the registry; never what a contract calls itself.
	ContractAlias *string `json:"contractAlias"`
	// The function; certain, because the selector is its hash.
	MethodName *string `json:"methodName"`
	// class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise
	// the selector alone tells the name.
	MethodNameSource *string `json:"methodNameSource"`
	// Why there is no name, when it is that the class that ran cannot be told.
	MethodNameUnavailableReason *string `json:"methodNameUnavailableReason"`
	// Selector of the function.
	Selector string `json:"selector"`
	// The contract that is called.
	To string `json:"to"`
}

// PreviewLog is an object of the API.
type PreviewLog struct {
	// A contract or account address.
	Address string `json:"address"`
	// Index of the event in its transaction.
	LogIndex int64 `json:"logIndex"`
	// First key, by which most events are told apart; null when there is none.
	Topic0 *string `json:"topic0"`
}

// PreviewRequest is an object of the API.
type PreviewRequest struct {
	// 1 to 100 transaction hashes. Each is answered, in order, also when it is named twice.
	Hashes []string `json:"hashes"`
	// True, unless given.
	IncludeBridgeSignals *bool `json:"includeBridgeSignals,omitzero"`
	// Ask for calls to known exchanges.
	IncludeExchangeCalls *bool `json:"includeExchangeCalls,omitzero"`
	// As includeLogs, unless given.
	IncludeLogCounts *bool `json:"includeLogCounts,omitzero"`
	// Ask for the events.
	IncludeLogs *bool `json:"includeLogs,omitzero"`
	// 64 unless given, at most 256.
	LogLimitPerTx *int64 `json:"logLimitPerTx,omitzero"`
}

// PrivacyActivity is an object of the API.
type PrivacyActivity struct {
	// What the numbers are not.
	Caveat string `json:"caveat"`
	// Why nothing is counted.
	CoverageReasonCode *string `json:"coverageReasonCode"`
	// Always unavailable.
	CoverageStatus string `json:"coverageStatus"`
	// Always empty while coverageStatus is unavailable.
	Metrics []PrivacyActivityOf `json:"metrics"`
	// How many metrics are listed at most.
	MetricsLimit int64 `json:"metricsLimit"`
	// More metrics exist than are listed.
	MetricsTruncated bool `json:"metricsTruncated"`
	// Where the facts come from.
	Source string `json:"source"`
	// What it was counted from; null while nothing is counted.
	SourceProvenance *PrivacyProvenance `json:"sourceProvenance"`
	// Null while coverageStatus is unavailable.
	TotalHelperWithdrawalEventCount *int64 `json:"totalHelperWithdrawalEventCount"`
	// Null while coverageStatus is unavailable.
	TotalNoteUsedEventCount *int64 `json:"totalNoteUsedEventCount"`
	// Null while coverageStatus is unavailable.
	TotalOpenNoteDepositedEventCount *int64 `json:"totalOpenNoteDepositedEventCount"`
	// Null while coverageStatus is unavailable.
	TotalPrivateActionTxCount *int64 `json:"totalPrivateActionTxCount"`
}

// PrivacyActivityOf is an object of the API.
type PrivacyActivityOf struct {
	// How many.
	Count int64 `json:"count"`
	// What is counted, or is not.
	Metric string `json:"metric"`
}

// PrivacyAnalytics is an object of the API.
type PrivacyAnalytics struct {
	// The block that the totals are as of.
	AsOf PrivacyAsOf `json:"asOf"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Pools that had an event.
	ContractCount *int64 `json:"contractCount"`
	// By name.
	EventBreakdown []PrivacyCount `json:"eventBreakdown"`
	// Block of the last event up to asOf, read or not.
	LatestEventBlock *int64 `json:"latestEventBlock"`
	// Movements whose amount could not be read.
	MissingAmountEventCount *int64 `json:"missingAmountEventCount"`
	// Private actions by kind, which public events alone do not tell.
	PrivateActivity PrivacyActivity `json:"privateActivity"`
	// As of the current snapshot. When unavailable all counts are null.
	Status string `json:"status"`
	// Whether strkBTC moved; null where the registry does not know it.
	StrkbtcObserved *bool `json:"strkbtcObserved"`
	// Always 0: the flows are those of all history.
	TokenFlowSourceEventLimit int64 `json:"tokenFlowSourceEventLimit"`
	// Always false.
	TokenFlowSourceEventsTruncated bool `json:"tokenFlowSourceEventsTruncated"`
	// Most events first, then by address.
	TokenFlows []PrivacyTokenFlow `json:"tokenFlows"`
	// How many tokens are listed at most.
	TokenFlowsLimit int64 `json:"tokenFlowsLimit"`
	// There are more tokens than that.
	TokenFlowsTruncated bool `json:"tokenFlowsTruncated"`
	// Of the pools, whether they could be read or not.
	TotalEvents *int64 `json:"totalEvents"`
	// What public events do not tell.
	UnavailableMetrics []PrivacyUnavailability `json:"unavailableMetrics"`
	// With an event of a pool. Calls without any are not among them.
	UniqueTransactionCount *int64 `json:"uniqueTransactionCount"`
	// Tokens that moved and whose symbol is not known.
	UnknownTokenCount *int64 `json:"unknownTokenCount"`
	// How much events tell: most frequent first.
	VisibilityBreakdown []PrivacyVisibility `json:"visibilityBreakdown"`
}

// PrivacyAsOf is an object of the API.
type PrivacyAsOf struct {
	// Hash of the block.
	BlockHash *string `json:"blockHash"`
	// The finalized block that the ledger reaches.
	BlockNumber *int64 `json:"blockNumber"`
	// Time of that block.
	BlockTimestamp *time.Time `json:"blockTimestamp"`
	// When the ledger was brought up to that block.
	MaterializedAt *time.Time `json:"materializedAt"`
}

// PrivacyAsset is an object of the API.
type PrivacyAsset struct {
	// What went in, in the token's smallest unit, decimal.
	DepositAmountRaw string `json:"depositAmountRaw"`
	// Deposits and funded open notes.
	DepositEventCount int64 `json:"depositEventCount"`
	// Movements whose amount could not be read.
	MissingAmountEventCount int64 `json:"missingAmountEventCount"`
	// Pools that it moved through.
	PoolContractCount int64 `json:"poolContractCount"`
	// Price of the token; this service has none.
	Price PrivacyPrice `json:"price"`
	// The same in units of the token, for display. Null when its decimals are not known, or the
	// amount is incomplete or negative.
	ProtectedAmount *string `json:"protectedAmount"`
	// depositAmountRaw minus withdrawalAmountRaw, exactly.
	ProtectedAmountRaw string `json:"protectedAmountRaw"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Consume only complete ones.
	Status string `json:"status"`
	// The token.
	Token PrivacyToken `json:"token"`
	// Movements in front of which the token had no Transfer of the same amount between the same
	// parties: those of tokens that charge for transfers, say.
	UnreconciledEventCount int64 `json:"unreconciledEventCount"`
	// Always null: there is no price source.
	ValueUSD *string `json:"valueUsd"`
	// What came out, in the token's smallest unit, decimal.
	WithdrawalAmountRaw string `json:"withdrawalAmountRaw"`
	// Withdrawals.
	WithdrawalEventCount int64 `json:"withdrawalEventCount"`
}

// PrivacyBucket is an object of the API.
type PrivacyBucket struct {
	// How long a bucket is.
	BucketGranularity string `json:"bucketGranularity"`
	// When the bucket began, in UTC. Weeks begin on Mondays.
	BucketStartISO time.Time `json:"bucketStartIso"`
	// The ledger reaches beyond the bucket. One that is not closed still grows.
	Closed bool `json:"closed"`
	// Accounts that had set theirs by its end.
	CumulativeViewingKeyWallets int64 `json:"cumulativeViewingKeyWallets"`
	// The last block of the bucket with an event of a pool, in a series of amounts with one that
	// it sums; null when there is none.
	LatestBlockNumber *int64 `json:"latestBlockNumber"`
	// Accounts that set their viewing key in the bucket.
	NewViewingKeyWallets int64 `json:"newViewingKeyWallets"`
	// Notes that were used in the bucket.
	NoteUsedEvents int64 `json:"noteUsedEvents"`
	// degraded from the first event on that could not be read, or that the protocol rules out.
	Status string `json:"status"`
	// Deposits and funded open notes.
	VisibleDeposits int64 `json:"visibleDeposits"`
	// Withdrawals in the bucket.
	VisibleWithdrawals int64 `json:"visibleWithdrawals"`
}

// PrivacyBuckets is an object of the API.
type PrivacyBuckets struct {
	// How long a bucket is.
	BucketGranularity string `json:"bucketGranularity"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Oldest first, up to the day that the ledger is in, from that of the first event on. A day
	// without events is there with zeros.
	Items []PrivacyBucket `json:"items"`
	// As of the current snapshot. When unavailable there are no items, and that is not zero.
	Status string `json:"status"`
}

// PrivacyCommitment is an object of the API.
type PrivacyCommitment struct {
	// Of an open note: what its own transaction paid into it; decimal, in base units. Null for
	// an encrypted one, and where the transaction does not tell.
	AmountRaw *string `json:"amountRaw"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// The note's id; null when the event could not be read.
	CommitmentHash *string `json:"commitmentHash"`
	// All data: evidence, whatever was decoded.
	Data []string `json:"data"`
	// decoded when the layout of the pool's class in force used the event up exactly. Otherwise
	// what was not read is null.
	DecodingStatus string `json:"decodingStatus"`
	// Name of the event; null when none is certain.
	EventName string `json:"eventName"`
	// All keys: evidence, whatever was decoded.
	Keys []string `json:"keys"`
	// The event's index in its transaction.
	LogIndex int `json:"logIndex"`
	// Felt: lower-case hex without leading zeros.
	PoolContractAddress string `json:"poolContractAddress"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Of an open note; what an encrypted one holds is hidden by design.
	TokenAddress *string `json:"tokenAddress"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
	// How much of what happened an event of this name tells.
	Visibility string `json:"visibility"`
}

// PrivacyCommitmentPage is an object of the API.
type PrivacyCommitmentPage struct {
	// The rows of this page, in order.
	Items []PrivacyCommitment `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// PrivacyCount is an object of the API.
type PrivacyCount struct {
	// How many.
	Count int64 `json:"count"`
	// Name; null when there is none.
	Name string `json:"name"`
}

// PrivacyCoverage is an object of the API.
type PrivacyCoverage struct {
	// Whether L1 is known to have accepted the block of asOf; null without evidence.
	AsOfL1Accepted *bool `json:"asOfL1Accepted"`
	// How far the ledger is behind the finalized block.
	DecodedEventLagBlocks *int64 `json:"decodedEventLagBlocks"`
	// Whether the ledger is near the finalized block of an index that is current. Publish only
	// when true; null when that cannot be told.
	DecodedMaterializationFresh *bool `json:"decodedMaterializationFresh"`
	// What finalized means here.
	FinalityBasis string `json:"finalityBasis"`
	// Always true: the finalized tier of this index, by depth below the head. It is not
	// settlement on L1.
	FinalizedOnly bool `json:"finalizedOnly"`
	// Where the first of the pools was deployed.
	FromBlockNumber *int64 `json:"fromBlockNumber"`
	// Of the last public movement.
	LatestEventBlockNumber *int64 `json:"latestEventBlockNumber"`
	// The last public movement, as block:tx:log. It is a watermark, not a cursor of a list.
	LatestEventCursor *string `json:"latestEventCursor"`
	// Null without evidence.
	LatestL1AcceptedBlockNumber *int64 `json:"latestL1AcceptedBlockNumber"`
	// Movements whose amount could not be read. Publish only when it is 0; null when there is no
	// ledger.
	MissingAmountEventCount *int64 `json:"missingAmountEventCount"`
	// Pools that had an event.
	PoolContractCount *int64 `json:"poolContractCount"`
	// Why; the route status tells the reasons of an incomplete ledger one by one.
	ReasonCode string `json:"reasonCode"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
	// The block of asOf.
	ThroughBlockNumber *int64 `json:"throughBlockNumber"`
	// Tokens with a public movement.
	TokenCount *int64 `json:"tokenCount"`
}

// PrivacyDashboard is an object of the API.
type PrivacyDashboard struct {
	// As the route analytics answers.
	Analytics PrivacyAnalytics `json:"analytics"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// As the route metric-buckets answers, of 30 days.
	MetricBuckets PrivacyBuckets `json:"metricBuckets"`
	// The newest events up to the head, newest first.
	RecentEvents []PrivacyEvent `json:"recentEvents"`
	// The state in a word; reasonCode or reason tells why.
	Status PrivacyStatus `json:"status"`
	// As the route tvl answers.
	TVL PrivacySnapshot `json:"tvl"`
}

// PrivacyEvent is an object of the API.
type PrivacyEvent struct {
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// The pool's class in force at the event; null when the block replaced it and does not tell
	// where.
	ClassHash *string `json:"classHash"`
	// The pool.
	ContractAddress string `json:"contractAddress"`
	// All data: evidence, whatever was decoded.
	Data []string `json:"data"`
	// Of data; null when there is none.
	Data0 *string `json:"data0"`
	// Of data; null when there is none.
	Data1 *string `json:"data1"`
	// Of data; null when there is none.
	Data2 *string `json:"data2"`
	// decoded when the layout of the pool's class in force used the event up exactly. Otherwise
	// what was not read is null.
	DecodingStatus string `json:"decodingStatus"`
	// Null when the selector is not known.
	EventGroup *string `json:"eventGroup"`
	// In snake_case; protocol_event when the selector is not known.
	EventName string `json:"eventName"`
	// What an event of this name leaves out by design.
	HiddenFields []string `json:"hiddenFields"`
	// Of keys; null when there is none.
	Key1 *string `json:"key1"`
	// Of keys; null when there is none.
	Key2 *string `json:"key2"`
	// All keys: evidence, whatever was decoded.
	Keys []string `json:"keys"`
	// The event's index in its transaction.
	LogIndex int `json:"logIndex"`
	// Transfers of the fee in force to the collector in force that paid for the transaction's
	// calls of pools: the same on all events of a transaction. Empty when there are none; null
	// when a setting in force, or the class, is not known.
	PrivacyFees []PrivacyFee `json:"privacyFees"`
	// What the event says in public; what it does not say, or what was not read, is null.
	PublicFields PrivacyFields `json:"publicFields"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// First key, by which most events are told apart; null when there is none.
	Topic0 *string `json:"topic0"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// PrivacyEventPage is an object of the API.
type PrivacyEventPage struct {
	// The rows of this page, in order.
	Items []PrivacyEvent `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// PrivacyFee is an object of the API.
type PrivacyFee struct {
	// Decimal, in base units.
	AmountRaw string `json:"amountRaw"`
	// Felt: lower-case hex without leading zeros.
	CollectorAddress string `json:"collectorAddress"`
	// Where the fee in force was set.
	FeeAmountConfigBlockNumber int64 `json:"feeAmountConfigBlockNumber"`
	// Of that setting's event in its transaction.
	FeeAmountConfigLogIndex int `json:"feeAmountConfigLogIndex"`
	// Of that setting's transaction in its block.
	FeeAmountConfigTxIndex int `json:"feeAmountConfigTxIndex"`
	// Where the collector in force was set.
	FeeCollectorConfigBlockNumber int64 `json:"feeCollectorConfigBlockNumber"`
	// Of that setting's event in its transaction.
	FeeCollectorConfigLogIndex int `json:"feeCollectorConfigLogIndex"`
	// Of that setting's transaction in its block.
	FeeCollectorConfigTxIndex int `json:"feeCollectorConfigTxIndex"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// The transfer's index in its event.
	TransferIndex int `json:"transferIndex"`
	// The Transfer event's index in the transaction.
	TransferLogIndex int `json:"transferLogIndex"`
}

// PrivacyFeeItem is an object of the API.
type PrivacyFeeItem struct {
	// How long a bucket is.
	BucketGranularity string `json:"bucketGranularity"`
	// When the bucket began, in UTC. Weeks begin on Mondays.
	BucketStartISO time.Time `json:"bucketStartIso"`
	// The ledger reaches beyond the bucket. One that is not closed still grows.
	Closed bool `json:"closed"`
	// By its end.
	CumulativeFeeAmountRaw string `json:"cumulativeFeeAmountRaw"`
	// In the bucket.
	FeeAmountRaw string `json:"feeAmountRaw"`
	// In the bucket.
	FeeTransferCount int64 `json:"feeTransferCount"`
	// The last block of the bucket with an event of a pool, in a series of amounts with one that
	// it sums; null when there is none.
	LatestBlockNumber *int64 `json:"latestBlockNumber"`
	// degraded from the first event on that could not be read, or that the protocol rules out.
	Status string `json:"status"`
	// What the fee is paid in.
	TokenAddress string `json:"tokenAddress"`
}

// PrivacyFields is an object of the API.
type PrivacyFields struct {
	// Who deposited, registered, paused, or gave a role.
	ActorAddress *string `json:"actorAddress"`
	// Decimal, in base units; of fee_amount_set the new fee.
	AmountRaw *string `json:"amountRaw"`
	// What the event hides is encrypted for this key.
	AuditorPublicKey *string `json:"auditorPublicKey"`
	// The new setting, the role, or the class.
	ConfigValue *string `json:"configValue"`
	// Felt: lower-case hex without leading zeros.
	NoteID *string `json:"noteId"`
	// Felt: lower-case hex without leading zeros.
	Nullifier *string `json:"nullifier"`
	// Felt: lower-case hex without leading zeros.
	PublicViewingKey *string `json:"publicViewingKey"`
	// The contract that was called, or that a setting is about.
	TargetAddress *string `json:"targetAddress"`
	// Felt: lower-case hex without leading zeros.
	TargetSelector *string `json:"targetSelector"`
	// Who was paid, or was given a role.
	ToAddress *string `json:"toAddress"`
	// The token of the event; null when it names none.
	Token *PrivacyToken `json:"token"`
	// How much of what happened an event of this name tells.
	Visibility string `json:"visibility"`
}

// PrivacyFlows is an object of the API.
type PrivacyFlows struct {
	// What went in, in the token's smallest unit, decimal.
	DepositAmountRaw string `json:"depositAmountRaw"`
	// Deposits and funded open notes.
	DepositEventCount int64 `json:"depositEventCount"`
	// Movements whose amount could not be read.
	MissingAmountEventCount int64 `json:"missingAmountEventCount"`
	// Pools that it moved through.
	PoolContractCount int64 `json:"poolContractCount"`
	// The same in units of the token, for display. Null when its decimals are not known, or the
	// amount is incomplete or negative.
	ProtectedAmount *string `json:"protectedAmount"`
	// depositAmountRaw minus withdrawalAmountRaw, exactly.
	ProtectedAmountRaw string `json:"protectedAmountRaw"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Consume only complete ones.
	Status string `json:"status"`
	// The token.
	Token PrivacyToken `json:"token"`
	// Always null: there is no price source.
	ValueUSD *string `json:"valueUsd"`
	// What came out, in the token's smallest unit, decimal.
	WithdrawalAmountRaw string `json:"withdrawalAmountRaw"`
	// Withdrawals.
	WithdrawalEventCount int64 `json:"withdrawalEventCount"`
}

// PrivacyHour is an object of the API.
type PrivacyHour struct {
	// How the amounts were made: store it with every point.
	AccountingMethod string `json:"accountingMethod"`
	// The block that the point is as of.
	AsOf PrivacyHourAsOf `json:"asOf"`
	// Tokens whose amount is not zero, and those whose amount is incomplete, by address. Known
	// zeros are left out.
	Assets []PrivacyFlows `json:"assets"`
	// Movements up to there whose amount could not be read. Consume only when it is 0.
	MissingAmountEventCount int64 `json:"missingAmountEventCount"`
	// Pools that had an event.
	PoolContractCount int64 `json:"poolContractCount"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Consume only complete ones.
	Status string `json:"status"`
	// When the hour began, in UTC.
	Timestamp time.Time `json:"timestamp"`
	// Tokens with a public movement up to there.
	TokenCount int64 `json:"tokenCount"`
	// Sum of values; this service has no prices.
	Valuation PrivacyValuation `json:"valuation"`
}

// PrivacyHourAsOf is an object of the API.
type PrivacyHourAsOf struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// The last block up to the end of the hour.
	BlockNumber int64 `json:"blockNumber"`
	// Time of that block.
	BlockTimestamp time.Time `json:"blockTimestamp"`
	// The last public movement up to there, as block:tx:log.
	LatestEventCursor *string `json:"latestEventCursor"`
	// When the row was written.
	MaterializedAt time.Time `json:"materializedAt"`
}

// PrivacyHours is an object of the API.
type PrivacyHours struct {
	// What the numbers are not.
	Caveat string `json:"caveat"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// The first hour that was asked for.
	From time.Time `json:"from"`
	// There are points of hours alone.
	Granularity string `json:"granularity"`
	// Oldest first. An hour that is missing is not known: it is not zero.
	Items []PrivacyHour `json:"items"`
	// At most how many hours the page may hold.
	Limit int64 `json:"limit"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
	// Oldest first.
	Order string `json:"order"`
	// Version of this answer's form.
	SchemaVersion string `json:"schemaVersion"`
	// What the answer set out to cover.
	Scope string `json:"scope"`
	// The last hour that was asked for.
	To time.Time `json:"to"`
}

// PrivacyNoteState is an object of the API.
type PrivacyNoteState struct {
	// What the numbers are not.
	Caveat string `json:"caveat"`
	// Notes that were created.
	CommitmentCount int64 `json:"commitmentCount"`
	// Encrypted notes that were created.
	EncNoteCreatedCount int64 `json:"encNoteCreatedCount"`
	// Notes that were used.
	NoteUsedCount int64 `json:"noteUsedCount"`
	// Nullifiers: as many as notes were used.
	NullifierCount int64 `json:"nullifierCount"`
	// Open notes that were created.
	OpenNoteCreatedCount int64 `json:"openNoteCreatedCount"`
	// Open notes that were funded.
	OpenNoteDepositedCount int64 `json:"openNoteDepositedCount"`
	// Where the facts come from.
	Source string `json:"source"`
	// The same as nullifierCount.
	SpentNoteProxyCount int64 `json:"spentNoteProxyCount"`
	// commitmentCount minus nullifierCount, at least 0. Notes can be empty: it is no count of
	// notes with a value, and no anonymity set.
	UnspentNoteProxyCount int64 `json:"unspentNoteProxyCount"`
}

// PrivacyNullifier is an object of the API.
type PrivacyNullifier struct {
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// All data: evidence, whatever was decoded.
	Data []string `json:"data"`
	// decoded when the layout of the pool's class in force used the event up exactly. Otherwise
	// what was not read is null.
	DecodingStatus string `json:"decodingStatus"`
	// Name of the event; null when none is certain.
	EventName string `json:"eventName"`
	// All keys: evidence, whatever was decoded.
	Keys []string `json:"keys"`
	// The event's index in its transaction.
	LogIndex int `json:"logIndex"`
	// Null when the event could not be read. Which note it belongs to is hidden by design.
	NullifierHash *string `json:"nullifierHash"`
	// Felt: lower-case hex without leading zeros.
	PoolContractAddress string `json:"poolContractAddress"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
	// How much of what happened an event of this name tells.
	Visibility string `json:"visibility"`
}

// PrivacyNullifierPage is an object of the API.
type PrivacyNullifierPage struct {
	// The rows of this page, in order.
	Items []PrivacyNullifier `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// PrivacyPool is an object of the API.
type PrivacyPool struct {
	// A contract or account address.
	Address string `json:"address"`
	// Felt: lower-case hex without leading zeros.
	AuditorPublicKey *string `json:"auditorPublicKey"`
	// Of the class in force at the head; null when the contract is not there.
	ClassHash *string `json:"classHash"`
	// Whether events of that class can be read.
	ClassKnown *bool `json:"classKnown"`
	// As the registry has it.
	DeployedAtBlock int64 `json:"deployedAtBlock"`
	// Null while no event set the amount or the collector.
	Fee *PrivacyPoolFee `json:"fee"`
	// What the registry calls it.
	Name *string `json:"name"`
	// As last announced up to asOf; null when nothing was.
	Paused *bool `json:"paused"`
	// The generation of that class; null when it is not known.
	PoolVersion *string `json:"poolVersion"`
	// Likewise, as are the next two and the fee.
	ProofValidityBlocks *int64 `json:"proofValidityBlocks"`
	// Felt: lower-case hex without leading zeros.
	ScreenerPublicKey *string `json:"screenerPublicKey"`
}

// PrivacyPoolFee is an object of the API.
type PrivacyPoolFee struct {
	// Where the amount was set.
	AmountConfigBlockNumber *int64 `json:"amountConfigBlockNumber"`
	// Raw amount in the token's smallest unit, decimal.
	AmountRaw *string `json:"amountRaw"`
	// Felt: lower-case hex without leading zeros.
	CollectorAddress *string `json:"collectorAddress"`
	// Where the collector was set.
	CollectorConfigBlockNumber *int64 `json:"collectorConfigBlockNumber"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
}

// PrivacyPrice is an object of the API.
type PrivacyPrice struct {
	// How sure the service is.
	Confidence *string `json:"confidence"`
	// How old a price may be; null without one.
	MaxAgeSeconds *int64 `json:"maxAgeSeconds"`
	// When it was observed; null when it was not.
	ObservedAt *time.Time `json:"observedAt"`
	// Time of the price; null without one.
	PriceTimestamp *time.Time `json:"priceTimestamp"`
	// Price in US dollars; null: prices are not part of this service.
	PriceUSD *string `json:"priceUsd"`
	// Who gave the price; null without one.
	Provider *string `json:"provider"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Where the facts come from.
	Source *string `json:"source"`
	// Always unavailable.
	Status string `json:"status"`
}

// PrivacyProvenance is an object of the API.
type PrivacyProvenance struct {
	// Which definition of private actions was counted by.
	DefinitionFingerprint string `json:"definitionFingerprint"`
	// Which count it is.
	Generation int64 `json:"generation"`
	// Which state of the index was counted.
	SourceCommitSeq int64 `json:"sourceCommitSeq"`
	// Digest of what was counted.
	SourceRangeDigest string `json:"sourceRangeDigest"`
	// Hash of that block.
	TerminalBlockHash string `json:"terminalBlockHash"`
	// The last block that was counted.
	TerminalBlockNumber int64 `json:"terminalBlockNumber"`
}

// PrivacyReason is an object of the API.
type PrivacyReason struct {
	// What is wrong.
	Code string `json:"code"`
	// How often it was found: by events, and of unknown_pool_class also once for each class that
	// the pool got.
	EventCount int64 `json:"eventCount"`
	// The first such event, as block:tx:log.
	FirstCursor string `json:"firstCursor"`
}

// PrivacySeries is an object of the API.
type PrivacySeries struct {
	// How long a bucket is.
	BucketGranularity string `json:"bucketGranularity"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Fees that are evident: transfers of the fee in force to the collector in force, in
	// transactions with an event of the pool. Calls without any event pay a fee too, and are not
	// counted.
	PrivacyFeeSeries []PrivacyFeeItem `json:"privacyFeeSeries"`
	// The range that was asked for.
	Range string `json:"range"`
	// Public movements of the token, and what is left of them. Empty when it never moved.
	ShieldedSupplySeries []PrivacySupplyItem `json:"shieldedSupplySeries"`
	// As of the current snapshot. When unavailable the series are empty, and that is not zero.
	Status string `json:"status"`
	// Whose supply is shown; null when none was asked for and the registry knows no BTC token.
	Token *PrivacyToken `json:"token"`
	// Accounts that set a viewing key.
	WalletSeries []PrivacyWalletItem `json:"walletSeries"`
}

// PrivacySnapshot is an object of the API.
type PrivacySnapshot struct {
	// How the amounts were made: store it with every point.
	AccountingMethod string `json:"accountingMethod"`
	// The block that the snapshot is as of.
	AsOf PrivacyAsOf `json:"asOf"`
	// One entry for each token that moved, by address. A token that all came out of stays with
	// an amount of 0.
	Assets []PrivacyAsset `json:"assets"`
	// What the numbers are not.
	Caveat string `json:"caveat"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// What the answer covers, and what it does not.
	Coverage PrivacyCoverage `json:"coverage"`
	// Version of this answer's form.
	SchemaVersion string `json:"schemaVersion"`
	// What the answer set out to cover.
	Scope string `json:"scope"`
	// Only complete can be published.
	Status string `json:"status"`
	// Kept for compatibility; there is no price source.
	Valuation PrivacyValuation `json:"valuation"`
}

// PrivacyStatus is an object of the API.
type PrivacyStatus struct {
	// The block that the ledger is as of.
	AsOf PrivacyAsOf `json:"asOf"`
	// Events that set the auditor's key.
	AuditorPublicKeySetCount *int64 `json:"auditorPublicKeySetCount"`
	// The ledger has not caught up with the chain since it was begun.
	BackfillInProgress bool `json:"backfillInProgress"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Deposits of accounts.
	DepositCount *int64 `json:"depositCount"`
	// Encrypted notes that were created.
	EncNoteCreatedCount *int64 `json:"encNoteCreatedCount"`
	// By name.
	EventBreakdown []PrivacyCount `json:"eventBreakdown"`
	// latestRawEventBlock minus latestDecodedEventBlock.
	EventLagBlocks *int64 `json:"eventLagBlocks"`
	// The newest block of the finalized tier; null while there is none.
	FinalizedBlockNumber *int64 `json:"finalizedBlockNumber"`
	// The newest indexed block.
	HeadBlockNumber int64 `json:"headBlockNumber"`
	// Of the last event in the ledger that could be read.
	LatestDecodedEventBlock *int64 `json:"latestDecodedEventBlock"`
	// block:tx:log.
	LatestDecodedEventCursor *string `json:"latestDecodedEventCursor"`
	// Its place among the events of the transaction.
	LatestDecodedEventLogIndex *int `json:"latestDecodedEventLogIndex"`
	// Its transaction's place in the block.
	LatestDecodedEventTxIndex *int `json:"latestDecodedEventTxIndex"`
	// The same as latestDecodedEventBlock, as are the next three.
	LatestEventBlock *int64 `json:"latestEventBlock"`
	// block:tx:log.
	LatestEventCursor *string `json:"latestEventCursor"`
	// Its place among the events of the transaction.
	LatestEventLogIndex *int `json:"latestEventLogIndex"`
	// Its transaction's place in the block.
	LatestEventTxIndex *int `json:"latestEventTxIndex"`
	// Of the last event in finalized blocks, whether it is in the ledger or not.
	LatestRawEventBlock *int64 `json:"latestRawEventBlock"`
	// block:tx:log.
	LatestRawEventCursor *string `json:"latestRawEventCursor"`
	// Its place among the events of the transaction.
	LatestRawEventLogIndex *int `json:"latestRawEventLogIndex"`
	// Its transaction's place in the block.
	LatestRawEventTxIndex *int `json:"latestRawEventTxIndex"`
	// As coverage.decodedMaterializationFresh of the current snapshot.
	MaterializationFresh *bool `json:"materializationFresh"`
	// Movements whose amount could not be read.
	MissingAmountEventCount *int64 `json:"missingAmountEventCount"`
	// What events tell of notes; null when there is no ledger.
	NoteState *PrivacyNoteState `json:"noteState"`
	// Notes that were used.
	NoteUsedCount *int64 `json:"noteUsedCount"`
	// Open notes that were created.
	OpenNoteCreatedCount *int64 `json:"openNoteCreatedCount"`
	// Open notes that were funded.
	OpenNoteDepositedCount *int64 `json:"openNoteDepositedCount"`
	// The contracts of the registry.
	Pools []PrivacyPool `json:"pools"`
	// Always false: events are found by their contracts, all of them.
	RawEventFilterTruncated bool `json:"rawEventFilterTruncated"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Why the ledger is incomplete, in the order in which it became so. It stays so until the
	// operator has it made anew, for instance with a class that the registry lacked.
	Reasons []PrivacyReason `json:"reasons"`
	// The registry has other classes than the ledger was made with; another one is being made
	// beside it.
	RebuildInProgress bool `json:"rebuildInProgress"`
	// Accounts that set a viewing key.
	RegisteredUserCount *int64 `json:"registeredUserCount"`
	// unavailable while there is no ledger: not yet, or not any more since a fork. All counts
	// are null then.
	Status string `json:"status"`
	// Of the pools, whether they could be read or not.
	TotalEvents *int64 `json:"totalEvents"`
	// Events of a class that the registry does not know.
	UnknownClassEventCount *int64 `json:"unknownClassEventCount"`
	// Events that the class in force is not known to have.
	UnknownSelectorEventCount *int64 `json:"unknownSelectorEventCount"`
	// Viewing keys that were set.
	ViewingKeySetCount *int64 `json:"viewingKeySetCount"`
	// Withdrawals.
	WithdrawalCount *int64 `json:"withdrawalCount"`
}

// PrivacySupplyItem is an object of the API.
type PrivacySupplyItem struct {
	// How long a bucket is.
	BucketGranularity string `json:"bucketGranularity"`
	// When the bucket began, in UTC. Weeks begin on Mondays.
	BucketStartISO time.Time `json:"bucketStartIso"`
	// The ledger reaches beyond the bucket. One that is not closed still grows.
	Closed bool `json:"closed"`
	// In the bucket.
	DepositedRaw string `json:"depositedRaw"`
	// The last block of the bucket with an event of a pool, in a series of amounts with one that
	// it sums; null when there is none.
	LatestBlockNumber *int64 `json:"latestBlockNumber"`
	// All that went in by the end of the bucket, minus all that came out.
	ShieldedSupplyRaw string `json:"shieldedSupplyRaw"`
	// degraded from the first event on that could not be read, or that the protocol rules out.
	Status string `json:"status"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// In the bucket.
	WithdrawnRaw string `json:"withdrawnRaw"`
}

// PrivacyToken is an object of the API.
type PrivacyToken struct {
	// The identity of the token.
	Address string `json:"address"`
	// Null when they are not known.
	Decimals *int64 `json:"decimals"`
	// For display; null when it is not known.
	Name *string `json:"name"`
	// For display; null when it is not known.
	Symbol *string `json:"symbol"`
}

// PrivacyTokenFlow is an object of the API.
type PrivacyTokenFlow struct {
	// Deposits and funded open notes.
	DepositEventCount int64 `json:"depositEventCount"`
	// Events that move the token in or out.
	EventCount int64 `json:"eventCount"`
	// Movements whose amount could not be read.
	MissingAmountEventCount int64 `json:"missingAmountEventCount"`
	// What was seen to go in, in the token's smallest unit, decimal.
	ObservableDepositAmountRaw string `json:"observableDepositAmountRaw"`
	// The difference.
	ObservableNetAmountRaw string `json:"observableNetAmountRaw"`
	// What was seen to come out, in the token's smallest unit, decimal.
	ObservableWithdrawalAmountRaw string `json:"observableWithdrawalAmountRaw"`
	// The token.
	Token PrivacyToken `json:"token"`
	// Withdrawals.
	WithdrawalEventCount int64 `json:"withdrawalEventCount"`
}

// PrivacyUnavailability is an object of the API.
type PrivacyUnavailability struct {
	// What is counted, or is not.
	Metric string `json:"metric"`
	// Why it is not given, in words.
	Reason string `json:"reason"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
}

// PrivacyValuation is an object of the API.
type PrivacyValuation struct {
	// Currency of prices.
	QuoteCurrency string `json:"quoteCurrency"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Always unavailable.
	Status string `json:"status"`
	// Sum in US dollars; null: prices are not part of this service.
	TotalUSD *string `json:"totalUsd"`
}

// PrivacyVisibility is an object of the API.
type PrivacyVisibility struct {
	// How many.
	Count int64 `json:"count"`
	// How much the events tell.
	Visibility string `json:"visibility"`
}

// PrivacyWalletItem is an object of the API.
type PrivacyWalletItem struct {
	// How long a bucket is.
	BucketGranularity string `json:"bucketGranularity"`
	// When the bucket began, in UTC. Weeks begin on Mondays.
	BucketStartISO time.Time `json:"bucketStartIso"`
	// The ledger reaches beyond the bucket. One that is not closed still grows.
	Closed bool `json:"closed"`
	// Accounts that had set theirs by its end.
	CumulativeViewingKeyWallets int64 `json:"cumulativeViewingKeyWallets"`
	// The last block of the bucket with an event of a pool, in a series of amounts with one that
	// it sums; null when there is none.
	LatestBlockNumber *int64 `json:"latestBlockNumber"`
	// Accounts that set their viewing key in the bucket.
	NewViewingKeyWallets int64 `json:"newViewingKeyWallets"`
	// degraded from the first event on that could not be read, or that the protocol rules out.
	Status string `json:"status"`
}

// Protocol is an object of the API.
type Protocol struct {
	// What the protocol does; null when that is not noted.
	Kind *string `json:"kind"`
	// Name; null when there is none.
	Name string `json:"name"`
}

// ProverBlock is an object of the API.
type ProverBlock struct {
	// Number of a finalized block that the prover accepts. What the transaction depends on must
	// be there by then.
	BlockNumber int64 `json:"block_number"`
}

// ProverError is an object of the API.
type ProverError struct {
	// The prover's own code, a number, when source is prover; otherwise prover_unavailable or
	// prover_delivery_unknown.
	Code json.RawMessage `json:"code"`
	// The prover's, as it wrote it, on the first poll alone.
	Data json.RawMessage `json:"data,omitzero"`
	// For people: the prover's, on the first poll alone, or ours.
	Message *string `json:"message,omitzero"`
	// Who says so: prover for what was passed through.
	Source *string `json:"source,omitzero"`
}

// ProverJob is an object of the API.
type ProverJob struct {
	// How often the request was sent, or was about to be.
	AttemptCount int64 `json:"attemptCount"`
	// When it ended.
	CompletedAt *time.Time `json:"completedAt,omitzero"`
	// When the job was created.
	CreatedAt time.Time `json:"createdAt"`
	// Of a job that ended without a proof: why.
	Error *ProverError `json:"error,omitzero"`
	// Names the job.
	JobID string `json:"jobId"`
	// How long to wait before looking again, in seconds, of a job that has not ended.
	PollAfterSeconds *int64 `json:"pollAfterSeconds,omitzero"`
	// Of a queued job: its place among those that wait, from 1.
	QueuePosition *int64        `json:"queuePosition,omitzero"`
	Result        *ProverResult `json:"result,omitzero"`
	// Of a job that succeeded: why there is no result. It was handed over before, nobody fetched
	// it in time, or the process that had it is gone.
	ResultUnavailableReason *string `json:"resultUnavailableReason,omitzero"`
	// Where the job is. After unavailable nothing was proven, and the same key may try again;
	// after unknown_delivery the prover may have the request, and it is not sent again.
	Status string `json:"status"`
	// Whether the work on the job has ended: poll no longer.
	Terminal bool `json:"terminal"`
}

// ProverMessage is an object of the API.
type ProverMessage struct {
	// The contract that sends it.
	FromAddress string `json:"from_address"`
	// Its felts.
	Payload []string `json:"payload"`
	// To whom.
	ToAddress string `json:"to_address"`
}

// ProverRequest is an object of the API.
type ProverRequest struct {
	// The block whose state the proof is about.
	BlockID ProverBlock `json:"block_id"`
	// An Invoke transaction of version 0x3, signed, with all its members. Prices and tip are
	// 0x0, l2_gas.max_amount is not; proof and proof_facts are left out.
	Transaction map[string]json.RawMessage `json:"transaction"`
}

// ProverResult is an object of the API.
type ProverResult struct {
	// Of a screened deposit: signature with issued_at, sig_r and sig_s. The attestation is
	// refused on chain 300 seconds after issued_at.
	AdditionalData map[string]json.RawMessage `json:"additional_data,omitzero"`
	// Messages that the transaction sends.
	L2ToL1Messages []ProverMessage `json:"l2_to_l1_messages"`
	// The proof, in base64.
	Proof string `json:"proof"`
	// Felts that the proof is about.
	ProofFacts []string `json:"proof_facts"`
}

// ProviderPart is an object of the API.
type ProviderPart struct {
	// Whether this deployment serves it.
	Enabled bool `json:"enabled"`
	// An answer, null where it is always small.
	MaxResponseBytes *int64 `json:"maxResponseBytes"`
	// Things of one call together, null where only answers are bounded.
	MaxTargets *int64 `json:"maxTargets"`
	// Names of the methods.
	Methods []string `json:"methods"`
	// Whether a key needs no more than the scope read.
	OpenToAllAPIKeys bool `json:"openToAllApiKeys"`
	// What becomes of what is sent: forwarded_unchanged, or null where nothing is forwarded.
	PayloadPolicy *string `json:"payloadPolicy"`
	// Class of the methods.
	QuotaClass string `json:"quotaClass"`
	// What a key needs.
	Scope string `json:"scope"`
	// scoped: for keys with the scope. operator_scoped: for keys with a scope that only the
	// operator gives out.
	Status string `json:"status"`
}

// ProviderRule is an object of the API.
type ProviderRule struct {
	// per_call: each call draws on the budget as it would alone.
	Accounting string `json:"accounting"`
	// Calls of a batch.
	MaxItems int64 `json:"maxItems"`
	// All answers together.
	MaxResponseBytes int64 `json:"maxResponseBytes"`
	// Whether it is taken.
	Supported bool `json:"supported"`
}

// Quorum is an object of the API.
type Quorum struct {
	// How many L1 endpoints are asked; null: none is.
	EndpointsConfigured *int64 `json:"endpointsConfigured"`
	// How many of them answer; null: none is asked.
	EndpointsHealthy *int64 `json:"endpointsHealthy"`
	// When it was observed; null when it was not.
	ObservedAt *string `json:"observedAt"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// RPCClass is an object of the API.
type RPCClass struct {
	// As X-Service-Rpc-Class names it.
	Class string `json:"class"`
	// Names of the methods.
	Methods []string `json:"methods"`
	// The budget that calls draw on.
	RateLimitClass string `json:"rateLimitClass"`
	// What a key needs.
	Scopes []string `json:"scopes"`
}

// RPCFacts is an object of the API.
type RPCFacts struct {
	// The methods by class.
	Classes []RPCClass `json:"classes"`
	// The method that answers with an OpenRPC document of all others.
	DiscoveryMethod string `json:"discoveryMethod"`
	// Whether this deployment serves it.
	Enabled bool `json:"enabled"`
	// What bounds a call or a batch.
	Limits RPCLimits `json:"limits"`
	// Where calls and batches go, with the key in a header.
	Path string `json:"path"`
	// Version of the specification on paths that name none.
	SpecVersion string `json:"specVersion"`
	// Versions that a path can name, newest first. Which of them are spoken depends on the
	// nodes.
	SpecVersions []string `json:"specVersions"`
	// The same for one version of the specification, such as v0_10. Both paths take the key as
	// one more segment, for clients that cannot send headers.
	VersionPath string `json:"versionPath"`
	// Whether this deployment serves subscriptions.
	WebSocketEnabled bool `json:"webSocketEnabled"`
	// Where subscriptions and ordinary calls go.
	WebSocketPath string `json:"webSocketPath"`
}

// RPCLimits is an object of the API.
type RPCLimits struct {
	// Calls of a batch.
	BatchItems int64 `json:"batchItems"`
	// All answers of a batch together.
	BatchResponseBytes int64 `json:"batchResponseBytes"`
	// A compiled class.
	CompiledClassBytes int64 `json:"compiledClassBytes"`
	// An answer with proofs.
	StorageProofBytes int64 `json:"storageProofBytes"`
	// Classes, contracts and storage cells of one call together.
	StorageProofTargets int64 `json:"storageProofTargets"`
	// A trace, or the traces of a block.
	TraceBytes int64 `json:"traceBytes"`
}

// RPCProvider is an object of the API.
type RPCProvider struct {
	// Where the key goes.
	AuthHeader string `json:"authHeader"`
	// Several calls in one request.
	Batch ProviderRule `json:"batch"`
	// Those that nodes alone can answer: pre_confirmed, and in its place pending on paths that
	// name 0.8.
	ConditionalBlockTags []string `json:"conditionalBlockTags"`
	// Whether this deployment serves it.
	Enabled bool `json:"enabled"`
	// Path of the default chain, below the address of this service.
	Endpoint string `json:"endpoint"`
	// The same of any chain.
	EndpointTemplate string `json:"endpointTemplate"`
	// Oldest version of the specification that a path can name.
	MinimumSpecVersion string `json:"minimumSpecVersion"`
	// Version of the specification on paths that name none.
	PublicSpecVersion string `json:"publicSpecVersion"`
	// Classes of methods, as X-Service-Rpc-Class names them.
	QuotaClasses []string `json:"quotaClasses"`
	// authenticated_http_beta: any key with the scope read may call.
	Status string `json:"status"`
	// Proofs of state.
	StorageProofBeta ProviderPart `json:"storageProofBeta"`
	// Tags that name a block.
	SupportedBlockTags []string `json:"supportedBlockTags"`
	// Traces.
	TraceBeta ProviderPart `json:"traceBeta"`
	// Methods that are known here and not served.
	UnsupportedUntilCertified []string `json:"unsupportedUntilCertified"`
	// Signed transactions, which are passed on to a node.
	WriteBeta ProviderPart `json:"writeBeta"`
}

// RangeCoverage is an object of the API.
type RangeCoverage struct {
	// The part of completed that the certificate covers; null when there is none.
	Certified *Interval `json:"certified"`
	// Completed is all of requested. Never before the last page.
	Complete bool `json:"complete"`
	// What this page and those before it have searched; null while that is not one whole block.
	Completed *Interval `json:"completed"`
	// Whether the coverage reaches the newest block that the node is known to have.
	FreshnessStatus string `json:"freshnessStatus"`
	// How far the certificate is behind the newest indexed block.
	LagBlocks *int64 `json:"lagBlocks"`
	// An indexer and its node were heard lately.
	LiveMaintenance bool `json:"liveMaintenance"`
	// The certificate moves on with the chain.
	OpenEnded bool `json:"openEnded"`
	// The range that was asked for.
	Requested Interval `json:"requested"`
	// Newest block of the gapless part of the coverage; null when there is none.
	SourceContiguousHighWaterBlock *int64 `json:"sourceContiguousHighWaterBlock"`
	// Oldest block of the gapless part of the coverage; null when there is none.
	SourceContiguousLowWaterBlock *int64 `json:"sourceContiguousLowWaterBlock"`
	// Newest indexed block.
	SourceHighWaterBlock *int64 `json:"sourceHighWaterBlock"`
	// Oldest block that is covered; null when there is none.
	SourceLowWaterBlock *int64 `json:"sourceLowWaterBlock"`
}

// RateLimitHeaders is an object of the API.
type RateLimitHeaders struct {
	// Header that tells the size of the budget.
	Limit string `json:"limit"`
	// Header that tells class and window.
	Policy string `json:"policy"`
	// Header that tells what is left of the budget.
	Remaining string `json:"remaining"`
	// Header that tells how long to wait.
	RetryAfter string `json:"retryAfter"`
	// Header that tells the class of the route.
	RouteClass string `json:"routeClass"`
}

// RateLimitRules is an object of the API.
type RateLimitRules struct {
	// The classes of budgets that operations draw on.
	Classes []string `json:"classes"`
	// Where an operation tells its class.
	OperationDisclosure string `json:"operationDisclosure"`
	// Names of the headers that report budgets.
	ResponseHeaders RateLimitHeaders `json:"responseHeaders"`
	// When to try again.
	RetryRule string `json:"retryRule"`
}

// RateLimitState is an object of the API.
type RateLimitState struct {
	// X-Ratelimit-Limit.
	LimitPerMinute int64 `json:"limitPerMinute"`
	// Which budget.
	LoadClass string `json:"loadClass"`
	// When it was told.
	ObservedAt time.Time `json:"observedAt"`
	// X-Ratelimit-Policy.
	Policy string `json:"policy"`
	// X-Ratelimit-Remaining.
	Remaining int64 `json:"remaining"`
	// How long to wait; null unless the budget was used up.
	RetryAfterSeconds *int64 `json:"retryAfterSeconds"`
}

// Receipt is an object of the API.
type Receipt struct {
	// The fee that was charged, in the unit of actualFeeUnit.
	ActualFeeAmount *string `json:"actualFeeAmount"`
	// WEI for fees paid in ETH, FRI for fees paid in STRK.
	ActualFeeUnit *string `json:"actualFeeUnit"`
	// Decimal: the block's price of that gas in the fee's unit; null where the block has none.
	EffectiveGasPrice *string `json:"effectiveGasPrice"`
	// SUCCEEDED or REVERTED; null when the node does not tell.
	ExecutionStatus *string `json:"executionStatus"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus *string `json:"finalityStatus"`
	// Decimal: L2 gas, or L1 gas where no L2 gas was charged; null when the node does not tell.
	GasUsed *string `json:"gasUsed"`
	// Null of a transaction that was not reverted, and where the node gives no reason.
	RevertReason *string `json:"revertReason"`
}

// RedeemInputBody is an object of the API.
type RedeemInputBody struct {
	// The code. Small letters, hyphens and spaces make no difference.
	Code string `json:"code"`
}

// Redeemed is an object of the API.
type Redeemed struct {
	// The plan that the workspace has now. Its keys have the limits of it within a second.
	Plan string `json:"plan"`
}

// ReplayWebhookRequest is an object of the API.
type ReplayWebhookRequest struct {
	// The first block that is told of again: any up to the one after the newest.
	FromBlock int64 `json:"fromBlock"`
}

// Requested is an object of the API.
type Requested struct {
	// What the key is meant for, test or live; empty, as label and scopes are, for one that is
	// in no list.
	APIKeyEnvironment string `json:"apiKeyEnvironment"`
	// Name of the key.
	APIKeyLabel string `json:"apiKeyLabel"`
	// Id of the key.
	APIKeyPublicID string `json:"apiKeyPublicId"`
	// What the key may do now.
	APIKeyScopes []string `json:"apiKeyScopes"`
	// Whole milliseconds until the answer was handed over; null when it is not known.
	LatencyMs *int64 `json:"latencyMs"`
	// The budget that it draws on.
	LoadClass string `json:"loadClass"`
	// Method of HTTP; GET for a call over WebSocket.
	Method string `json:"method"`
	// When it was answered.
	ObservedAt time.Time `json:"observedAt"`
	// What the caller was told of its budget; null when it was refused before.
	RateLimitState *RateLimitState `json:"rateLimitState"`
	// X-Request-Id of the answer. Calls that came together have the same.
	RequestID string `json:"requestId"`
	// Path of the route, without its values. Of a JSON-RPC call, its method after a #.
	RoutePath string `json:"routePath"`
	// Status of HTTP; of a JSON-RPC call, the one that it would have alone.
	StatusCode int64 `json:"statusCode"`
}

// RevokedKey is an object of the API.
type RevokedKey struct {
	// The key, as it is now.
	APIKey Key `json:"apiKey"`
}

// RouteFamily is an object of the API.
type RouteFamily struct {
	// Name of the family.
	Name string `json:"name"`
	// The operations of the family.
	Operations []FamilyOperation `json:"operations"`
	// Methods and paths of the family.
	Routes []string `json:"routes"`
	// The scope that the family needs.
	Tier string `json:"tier"`
	// When to reach for the family.
	UseWhen string `json:"useWhen"`
}

// RPCAnswer: The answer to a call.
type RPCAnswer struct {
	// Why there is no result. Those of nodes are passed on as they are.
	Error *struct {
		// Names the failure; branch on it, and on data.code of the gateway's own.
		Code int64 `json:"code"`
		// More about it. Of a failure of the gateway: code, requestId, service, httpStatus and,
		// where waiting helps, retryAfterSeconds.
		Data json.RawMessage `json:"data,omitzero"`
		// For people; may change.
		Message string `json:"message"`
	} `json:"error,omitzero"`
	// A text, a number or null; it is returned as it was written. Without one nobody is
	// answered.
	ID json.RawMessage `json:"id"`
	// Always 2.0.
	Jsonrpc string `json:"jsonrpc"`
	// What the method returns; there unless error is.
	Result json.RawMessage `json:"result,omitzero"`
}

// RPCCall: A call.
type RPCCall struct {
	// A text, a number or null; it is returned as it was written. Without one nobody is
	// answered.
	ID json.RawMessage `json:"id,omitzero"`
	// Always 2.0.
	Jsonrpc string `json:"jsonrpc"`
	// Name of the method, such as starknet_blockNumber.
	Method string `json:"method"`
	// The method's parameters: an array in their order, or an object by their names.
	Params json.RawMessage `json:"params,omitzero"`
}

// Screening is an object of the API.
type Screening struct {
	// Always false: a screening is no proof of the population.
	Exact bool `json:"exact"`
	// What kind of thing this is.
	Kind string `json:"kind"`
	// Whether every holder is in the list.
	PopulationComplete bool `json:"populationComplete"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// The operator's policy for the token: 10, 50, 100 or 200.
	RequestedTopN int64 `json:"requestedTopN"`
	// Holders on this page.
	ReturnedCount int64 `json:"returnedCount"`
}

// ScreeningPage is an object of the API.
type ScreeningPage struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// The rows of this page, in order.
	Items []HolderItem `json:"items"`
	// How much a page may hold, and for whom.
	Limits PartnerPage `json:"limits"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
	// What a screening is, and what it is not.
	Screening Screening `json:"screening"`
	// The generation that the rows belong to.
	Snapshot HolderSnapshot `json:"snapshot"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
}

// SearchBlock is an object of the API.
type SearchBlock struct {
	// Its hash.
	BlockHash string `json:"blockHash"`
	// Its number.
	BlockNumber int64 `json:"blockNumber"`
}

// SearchResult is an object of the API.
type SearchResult struct {
	// Addresses that did something or have a contract.
	Addresses []string `json:"addresses"`
	// Blocks with this hash or number.
	Blocks []SearchBlock `json:"blocks"`
	// Classes with this hash that a block named.
	Classes []string `json:"classes"`
	// Tokens whose symbol or name begins so, in whatever case: known ones first, whether or not
	// the chain has shown them yet, then others by symbol and by name, then those whose symbol
	// or name only looks so; at most 20.
	Tokens []SearchToken `json:"tokens"`
	// Transactions with this hash.
	Transactions []SearchTx `json:"transactions"`
}

// SearchToken is an object of the API.
type SearchToken struct {
	// The token is in the registry. Everything else only calls itself so.
	Known bool `json:"known"`
	// The token is not known, and its symbol or its name is that of one that is, or looks like
	// it: letters of other alphabets and signs that are not seen make no difference.
	Lookalike bool `json:"lookalike"`
	// As the symbol.
	Name *string `json:"name"`
	// Who says what it is called.
	Source string `json:"source"`
	// As the registry has it for a known token, otherwise as the contract calls itself.
	Symbol *string `json:"symbol"`
	// The token's contract.
	TokenAddress string `json:"tokenAddress"`
}

// SearchTx is an object of the API.
type SearchTx struct {
	// The block that it is in.
	BlockNumber int64 `json:"blockNumber"`
	// Its hash.
	TxHash string `json:"txHash"`
	// Its place in that block.
	TxIndex int `json:"txIndex"`
}

// SelectorCoverage is an object of the API.
type SelectorCoverage struct {
	// Whether the coverage reaches the newest block that the node is known to have.
	FreshnessStatus string `json:"freshnessStatus"`
	// First block, inclusive.
	FromBlock int64 `json:"fromBlock"`
	// How far the certificate is behind the newest indexed block.
	LagBlocks *int64 `json:"lagBlocks"`
	// An indexer and its node were heard lately.
	LiveMaintenance bool `json:"liveMaintenance"`
	// The certificate moves on with the chain.
	OpenEnded bool `json:"openEnded"`
	// Position of the key.
	Position int64 `json:"position"`
	// First key of the events that are covered.
	Selector string `json:"selector"`
	// Newest block of the gapless part of the coverage; null when there is none.
	SourceContiguousHighWaterBlock *int64 `json:"sourceContiguousHighWaterBlock"`
	// Oldest block of the gapless part of the coverage; null when there is none.
	SourceContiguousLowWaterBlock *int64 `json:"sourceContiguousLowWaterBlock"`
	// Newest indexed block.
	SourceHighWaterBlock *int64 `json:"sourceHighWaterBlock"`
	// Oldest block that is covered; null when there is none.
	SourceLowWaterBlock *int64 `json:"sourceLowWaterBlock"`
	// By depth: up to finalizedBlockNumber of the status.
	SourceTier string `json:"sourceTier"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
	// Newest block that is covered; null when there is none.
	ThroughBlock *int64 `json:"throughBlock"`
	// When the coverage was last held against the head of a node. Null unless it is ready and
	// current.
	VerifiedAt *time.Time `json:"verifiedAt"`
}

// Status is an object of the API.
type Status struct {
	// How far nodes agree with the index; null unless a quorum is wanted.
	Agreement *StatusAgreement `json:"agreement"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Oldest indexed block.
	EarliestIndexedBlockNumber *int64 `json:"earliestIndexedBlockNumber"`
	// Newest block that is deep enough below the indexed head.
	FinalizedBlockNumber *int64 `json:"finalizedBlockNumber"`
	// Null while that block is not indexed.
	HeadBlockHash *string `json:"headBlockHash"`
	// Newest block that a node told of and could show, or the newest indexed one if that is
	// higher.
	HeadBlockNumber *int64 `json:"headBlockNumber"`
	// When a node last told a head that is not more than 10 blocks below the indexed one; null
	// when none is known to have.
	HeadObservedAt *time.Time `json:"headObservedAt"`
	// Digest of all rows up to the indexed head: equal on all indexes of the chain.
	IndexDigest *string `json:"indexDigest"`
	// How many blocks are indexed, from the oldest to the newest.
	IndexedBlockSpan *int64 `json:"indexedBlockSpan"`
	// How the write path is doing.
	Indexing Indexing `json:"indexing"`
	// Null: acceptance is the node's word, not evidence from L1.
	L1AcceptedProof json.RawMessage `json:"l1AcceptedProof"`
	// How far acceptance on L1 has come.
	L1Finality L1Finality `json:"l1Finality"`
	// Time between the newest block accepted on L1 and the indexed head.
	L1SettlementLatencySeconds *int64 `json:"l1SettlementLatencySeconds"`
	// Blocks behind the node; null when no node told its head lately, or only ones far below the
	// indexed head.
	LagBlocks *int64 `json:"lagBlocks"`
	// The last reorganisation that the index went through; null when there was none.
	LastFork *LastFork `json:"lastFork"`
	// How long ago that was. On a chain that makes blocks all the time a high age means that the
	// node stands still.
	LatestIndexedBlockAgeSeconds *int64 `json:"latestIndexedBlockAgeSeconds"`
	// Newest indexed block.
	LatestIndexedBlockNumber *int64 `json:"latestIndexedBlockNumber"`
	// Time of that block, by its own header.
	LatestIndexedBlockTimestampISO *time.Time `json:"latestIndexedBlockTimestampIso"`
	// Newest block that the node calls accepted on L1; null while there is none.
	LatestL1AcceptedBlockNumber *int64 `json:"latestL1AcceptedBlockNumber"`
	// The nodes that this process asks, or else those of the indexer as it last reported them.
	Nodes StatusNodes `json:"nodes"`
	// Events of all indexed blocks.
	TotalEvents *int64 `json:"totalEvents"`
	// Transactions of all indexed blocks.
	TotalTransactions *int64 `json:"totalTransactions"`
	// How many blocks were recomputed, and what the auditor has looked at.
	Verification Checked `json:"verification"`
}

// StatusAgreement is an object of the API.
type StatusAgreement struct {
	// Newest block that so many nodes had; null while there is none.
	AgreedBlockNumber *int64 `json:"agreedBlockNumber"`
	// When the nodes were last asked; null before that.
	ObservedAt *time.Time `json:"observedAt"`
	// How many nodes must have a block before it is called finalized.
	Quorum int64 `json:"quorum"`
	// What they said of the newest block of each tier.
	Tiers []TierAgreement `json:"tiers"`
}

// StatusNode is an object of the API.
type StatusNode struct {
	// The newest head that it told of and could show; null when there was none.
	HeadBlockNumber *int64 `json:"headBlockNumber"`
	// When it last told its head.
	LastHeardAt *time.Time `json:"lastHeardAt"`
	// node-1 is the first of the configuration.
	Name string `json:"name"`
	// unknown when the observation is too old to say.
	Status string `json:"status"`
}

// StatusNodes is an object of the API.
type StatusNodes struct {
	// Null while nothing is known of them.
	Configured *int64 `json:"configured"`
	// How many answer and are believed; null when the observation is too old to say.
	Healthy *int64 `json:"healthy"`
	// In the order of the configuration.
	Items []StatusNode `json:"items"`
	// When this was so.
	ObservedAt *time.Time `json:"observedAt"`
}

// SupplyControl is an object of the API.
type SupplyControl struct {
	// Who holds the power; null when nobody is known to.
	Actor *string `json:"actor"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// TierAgreement is an object of the API.
type TierAgreement struct {
	// Nodes that have the indexed block.
	Agreeing int64 `json:"agreeing"`
	// Newest block of the tier when the nodes were asked.
	BlockNumber int64 `json:"blockNumber"`
	// Nodes in all; those that lag or do not answer neither agree nor differ.
	Configured int64 `json:"configured"`
	// Nodes that have another block.
	Differing int64 `json:"differing"`
	// Finality tier; head is the newest indexed block.
	Tier string `json:"tier"`
}

// TimedBlock is an object of the API.
type TimedBlock struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO time.Time `json:"timestampIso"`
	// The same in seconds since 1970.
	TimestampUnix int64 `json:"timestampUnix"`
}

// TokenControls is an object of the API.
type TokenControls struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Whether the index holds facts about this token.
	Indexed bool `json:"indexed"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Null while the class of the contract could not be read.
	Snapshot *ControlsSnapshot `json:"snapshot"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
}

// TokenPools is an object of the API.
type TokenPools struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// What the answer covers, and what it does not.
	Coverage PoolCoverage `json:"coverage"`
	// The rows of this page, in order.
	Items []MarketItem `json:"items"`
	// How much a page may hold, and for whom.
	Limits PartnerPage `json:"limits"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
	// A finalized block: creation events up to it were read.
	SnapshotBlock *int64 `json:"snapshotBlock"`
	// Felt: lower-case hex without leading zeros.
	SnapshotBlockHash *string `json:"snapshotBlockHash"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// Pools of the exchanges of the registry up to snapshotBlock.
	TotalPairs *int64 `json:"totalPairs"`
	// Always null: there is no price source.
	TotalTVLUSD *string `json:"totalTvlUsd"`
	// Always null: there is no price source.
	TotalVolume24hUSD *string `json:"totalVolume24hUsd"`
	// Time of snapshotBlock.
	UpdatedAtISO *time.Time `json:"updatedAtIso"`
	// End of the window of volumes; null: trades are not followed.
	VolumeWindowEndUnix *int64 `json:"volumeWindowEndUnix"`
	// Start of the window of volumes; null: trades are not followed.
	VolumeWindowStartUnix *int64 `json:"volumeWindowStartUnix"`
}

// TokenSummary is an object of the API.
type TokenSummary struct {
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Digits behind the point when an amount is shown; null when the contract does not say.
	Decimals *int `json:"decimals"`
	// Addresses that sent; the zero address of mints is nobody.
	DistinctFromCount *int64 `json:"distinctFromCount"`
	// Addresses that received; the zero address of burns is nobody.
	DistinctToCount *int64 `json:"distinctToCount"`
	// Block of the token's newest transfer; null when there is none.
	LatestTransferBlock *int64 `json:"latestTransferBlock"`
	// When the contract was asked.
	MetadataUpdatedAtISO *time.Time `json:"metadataUpdatedAtIso"`
	// Name that the contract gives itself; null when it gives none.
	Name *string `json:"name"`
	// The token standard, as far as it can be told.
	Standard string `json:"standard"`
	// How fresh the numbers are: current, computed, stale, or metadata_only without any.
	SummaryCacheStatus string `json:"summaryCacheStatus"`
	// When this process first saw the index at its head: the counters, which are those of the
	// head, had been written by then. Null while there are none.
	SummaryCacheUpdatedAtISO *time.Time `json:"summaryCacheUpdatedAtIso"`
	// Grows with every block that changes the counters: the number of the newest of them; 0
	// while there is none.
	SummaryVersion int64 `json:"summaryVersion"`
	// Time of that block.
	SummaryVersionUpdatedAtISO *time.Time `json:"summaryVersionUpdatedAtIso"`
	// What the contract calls itself; anybody can choose any name.
	Symbol *string `json:"symbol"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// The block at which it did.
	TotalSupplyBlockNumber *int64 `json:"totalSupplyBlockNumber"`
	// Decimal. What the contract reported; this and the three below are all set or all null.
	TotalSupplyRaw *string `json:"totalSupplyRaw"`
	// How the supply was learned; null without one.
	TotalSupplySource *string `json:"totalSupplySource"`
	// When it was learned; null without one.
	TotalSupplyUpdatedAtISO *time.Time `json:"totalSupplyUpdatedAtIso"`
	// How many token transfers there are; null when it is not known.
	TransferCount *int64 `json:"transferCount"`
}

// TokenTransferItem is an object of the API.
type TokenTransferItem struct {
	// Told for mints and burns; null for the rest.
	ActionContext *ActionContext `json:"actionContext"`
	// How much moved, in base units: decimal; 1 of an ERC-721; null when the standard is
	// unknown.
	Amount *string `json:"amount"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// 0x0 for a mint.
	FromAddress *string `json:"fromAddress"`
	// Always null: no prices are indexed.
	HistoricalUSD json.RawMessage `json:"historicalUsd"`
	// The event's index in its transaction.
	LogIndex int `json:"logIndex"`
	// The value as the event has it: decimal; of an unknown standard an amount or an id; null of
	// an ERC-721.
	RawValue *string `json:"rawValue"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// The token standard, as far as it can be told.
	Standard string `json:"standard"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// 0x0 for a burn.
	ToAddress *string `json:"toAddress"`
	// Decimals of the token; null when they are not known.
	TokenDecimals *int `json:"tokenDecimals"`
	// Decimal; of ERC-721 and ERC-1155.
	TokenID *string `json:"tokenId"`
	// Name that the contract gives itself; null when it is not known.
	TokenName *string `json:"tokenName"`
	// Symbol that the contract gives itself; null when it is not known.
	TokenSymbol *string `json:"tokenSymbol"`
	// The transfer's index in its event: above 0 only in a batch.
	TransferIndex int `json:"transferIndex"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// TokenTransferPage is an object of the API.
type TokenTransferPage struct {
	// The rows of this page, in order.
	Items []TokenTransferItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// TotalSupply is an object of the API.
type TotalSupply struct {
	// Only for pending: the block that the one being built stands on, where it is known.
	BasedOn *BasedOn `json:"basedOn"`
	// What the call was pinned to; null for the block that is being built, which has none yet.
	BlockHash *string `json:"blockHash"`
	// The block that the call was made at.
	BlockNumber *int64 `json:"blockNumber"`
	// The caller's own text.
	BlockTag string `json:"blockTag"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// Where the facts come from.
	Source string `json:"source"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// Decimal, in the token's smallest unit.
	TotalSupplyRaw string `json:"totalSupplyRaw"`
}

// TransactionPreview is an object of the API.
type TransactionPreview struct {
	// Null when the calldata is not a list of calls.
	AccountCallCount *int64 `json:"accountCallCount"`
	// What the account signed, in order; the first 8. The transaction itself has their
	// arguments.
	AccountCalls []PreviewCall `json:"accountCalls"`
	// Number of the block.
	BlockNumber *int64 `json:"blockNumber"`
	// What a known bridge would do with the transaction; null when it touches none.
	BridgeIntent *BridgeIntent `json:"bridgeIntent"`
	// Known bridges that the transaction's messages are of; only with includeBridgeSignals, and
	// of a transaction that is indexed.
	BridgeSignalContracts []string `json:"bridgeSignalContracts,omitzero"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// Signed calls of known exchanges, at most 16; empty unless asked for.
	ExchangeCalls []ExchangeCall `json:"exchangeCalls"`
	// More calls to exchanges exist than are listed.
	ExchangeCallsTruncated *bool `json:"exchangeCallsTruncated"`
	// SUCCEEDED or REVERTED; null when the node does not tell.
	ExecutionStatus *string `json:"executionStatus"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus *string `json:"finalityStatus"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// Whether tokens were sent to the zero address; null when the transaction is not indexed.
	HasBurnToZero *bool `json:"hasBurnToZero"`
	// Whether tokens came from the zero address; null when the transaction is not indexed.
	HasMintFromZero *bool `json:"hasMintFromZero"`
	// False when no such transaction is indexed; everything else but txHash is then null or
	// empty.
	Known bool `json:"known"`
	// Only with includeLogCounts.
	LogCount *int64 `json:"logCount"`
	// Only with includeLogs, and of a transaction that is indexed; empty when it has none.
	Logs []PreviewLog `json:"logs,omitzero"`
	// Only with includeLogs.
	LogsTruncated *bool `json:"logsTruncated"`
	// Function of the first call, or the entry point that the protocol runs: a constructor, a
	// handler of L1 messages. Null when nothing names it.
	PrimaryMethod *string `json:"primaryMethod"`
	// class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise
	// the selector alone tells the name.
	PrimaryMethodSource *string `json:"primaryMethodSource"`
	// Contracts that the sender signed calls of, each once, at most 64.
	SignedCallTargets []string `json:"signedCallTargets"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// The first 25.
	TokenTransfers []TxTransfer `json:"tokenTransfers"`
	// More transfers exist than are listed.
	TokenTransfersTruncated *bool `json:"tokenTransfersTruncated"`
	// How many token transfers there are; null when it is not known.
	TransferCount *int64 `json:"transferCount"`
	// block:tx
	TxCursor *string `json:"txCursor"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex *int `json:"txIndex"`
	// INVOKE, DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER; null when it is not known.
	TxType *string `json:"txType"`
}

// TransactionPreviews is an object of the API.
type TransactionPreviews struct {
	// The rows of this page, in order.
	Items []TransactionPreview `json:"items"`
}

// TransferControl is an object of the API.
type TransferControl struct {
	// Who holds the power; null when nobody is known to.
	Actor *string `json:"actor"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// TransferItem is an object of the API.
type TransferItem struct {
	// Told for mints and burns; null for the rest.
	ActionContext *ActionContext `json:"actionContext"`
	// How much moved, in base units: decimal; 1 of an ERC-721; null when the standard is
	// unknown.
	Amount *string `json:"amount"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// 0x0 for a mint.
	FromAddress *string `json:"fromAddress"`
	// Always null: no prices are indexed.
	HistoricalUSD json.RawMessage `json:"historicalUsd"`
	// The event's index in its transaction.
	LogIndex int `json:"logIndex"`
	// The value as the event has it: decimal; of an unknown standard an amount or an id; null of
	// an ERC-721.
	RawValue *string `json:"rawValue"`
	// finalized up to finalizedBlockNumber of the status, and above it only where L1 has
	// accepted the block.
	SourceTier string `json:"sourceTier"`
	// What finalized rests on: L1 has accepted the block, or it is only deep enough below the
	// head, where a fork is rare. Null for head.
	SourceTierBasis *string `json:"sourceTierBasis"`
	// The token standard, as far as it can be told.
	Standard string `json:"standard"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// 0x0 for a burn.
	ToAddress *string `json:"toAddress"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// Decimals of the token; null when they are not known.
	TokenDecimals *int `json:"tokenDecimals"`
	// Decimal; of ERC-721 and ERC-1155.
	TokenID *string `json:"tokenId"`
	// Name that the contract gives itself; null when it is not known.
	TokenName *string `json:"tokenName"`
	// Symbol that the contract gives itself; null when it is not known.
	TokenSymbol *string `json:"tokenSymbol"`
	// The transfer's index in its event: above 0 only in a batch.
	TransferIndex int `json:"transferIndex"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// TransferPage is an object of the API.
type TransferPage struct {
	// The rows of this page, in order.
	Items []TransferItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// Tx is an object of the API.
type Tx struct {
	// Null when the calldata is not a list of calls.
	AccountCallCount *int64 `json:"accountCallCount"`
	// What the account signed, in order; the first 500.
	AccountCalls []AccountCall `json:"accountCalls"`
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// What a known bridge would do with the transaction; null when it touches none.
	BridgeIntent *BridgeIntent `json:"bridgeIntent"`
	// The look-up of classes failed for this answer: calls may lack names and arguments.
	CallDecodingDegraded bool `json:"callDecodingDegraded"`
	// At most 1,024 felts.
	Calldata []string `json:"calldata"`
	// The transaction has more calldata than is shown.
	CalldataTruncated bool `json:"calldataTruncated"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// What that class compiles to, by the declaration; null for Cairo 0 and for other types.
	CompiledClassHash *string `json:"compiledClassHash"`
	// The class that a DECLARE declares; null for other types.
	DeclaredClassHash *string `json:"declaredClassHash"`
	// Decimal; null before version 3.
	DeclaredL2GasCap *string `json:"declaredL2GasCap"`
	// What the protocol runs when it is no list of account calls: the contract's function of an
	// INVOKE of version 0, a handler of L1 messages, a constructor; null for others.
	EntryPoint *AccountCall `json:"entryPoint"`
	// The lookup that attributes names failed for this answer; single events are not unknown
	// because of it.
	EventDecodingDegraded bool `json:"eventDecodingDegraded"`
	// SUCCEEDED or REVERTED; null when the node does not tell.
	ExecutionStatus *string `json:"executionStatus"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus *string `json:"finalityStatus"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// How many events the transaction emitted.
	LogCount int64 `json:"logCount"`
	// The transaction's events, in order.
	Logs []Log `json:"logs"`
	// The transaction has more events than are shown.
	LogsTruncated bool `json:"logsTruncated"`
	// Messages between the layers that the transaction sent or received.
	Messages []Message `json:"messages"`
	// Whether all messages of the transaction are listed.
	MessagesCoverage MessagesCoverage `json:"messagesCoverage"`
	// Nonce of the transaction.
	Nonce *string `json:"nonce"`
	// Names the stored transaction: chain/tx/hash.
	RawObjectKey string `json:"rawObjectKey"`
	// What came of the transaction; null when the node gave no receipt.
	Receipt *Receipt `json:"receipt"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO *time.Time `json:"timestampIso"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// In order; at most 1,000.
	TokenTransfers []TxTransfer `json:"tokenTransfers"`
	// Whether all token transfers of the transaction are listed.
	TokenTransfersCoverage Coverage `json:"tokenTransfersCoverage"`
	// block:tx
	TxCursor string `json:"txCursor"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
	// INVOKE, DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER; null when it is not known.
	TxType *string `json:"txType"`
	// Version of the transaction.
	TxVersion string `json:"txVersion"`
}

// TxItem is an object of the API.
type TxItem struct {
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// SUCCEEDED or REVERTED; null when the node does not tell.
	ExecutionStatus *string `json:"executionStatus"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus string `json:"finalityStatus"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// Time of the block, RFC 3339 in UTC; null when it is not known.
	TimestampISO time.Time `json:"timestampIso"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
	// INVOKE, DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER; null when it is not known.
	TxType string `json:"txType"`
}

// TxPage is an object of the API.
type TxPage struct {
	// The rows of this page, in order.
	Items []TxItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// TxPreview is an object of the API.
type TxPreview struct {
	// SUCCEEDED or REVERTED; null when the node does not tell.
	ExecutionStatus *string `json:"executionStatus"`
	// ACCEPTED_ON_L2, or ACCEPTED_ON_L1 when the node says that L1 accepted the block.
	FinalityStatus *string `json:"finalityStatus"`
	// Sender; null when there is none.
	FromAddress *string `json:"fromAddress"`
	// Receiver; null when there is none.
	ToAddress *string `json:"toAddress"`
	// block:tx
	TxCursor string `json:"txCursor"`
	// Hash of the transaction.
	TxHash string `json:"txHash"`
	// Index of the transaction in its block.
	TxIndex int `json:"txIndex"`
}

// TxPreviewPage is an object of the API.
type TxPreviewPage struct {
	// The rows of this page, in order.
	Items []TxPreview `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// TxTransfer is an object of the API.
type TxTransfer struct {
	// How much moved, in base units: decimal; 1 of an ERC-721; null when the standard is
	// unknown.
	Amount *string `json:"amount"`
	// 0x0 for a mint.
	FromAddress *string `json:"fromAddress"`
	// Always null: no prices are indexed.
	HistoricalUSD json.RawMessage `json:"historicalUsd"`
	// Index of the event in its transaction.
	LogIndex int `json:"logIndex"`
	// The token standard, as far as it can be told.
	Standard string `json:"standard"`
	// 0x0 for a burn.
	ToAddress *string `json:"toAddress"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// Decimal; of ERC-721 and ERC-1155.
	TokenID *string `json:"tokenId"`
	// Place of the transfer among those of its event.
	TransferIndex int `json:"transferIndex"`
}

// UpgradeControl is an object of the API.
type UpgradeControl struct {
	// Who holds the power; null when nobody is known to.
	Actor *string `json:"actor"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// Usage is an object of the API.
type Usage struct {
	// The same by the budget that the requests drew on; classes that nobody used are not there.
	PerClass []ClassUsage `json:"perClass"`
	// The newest keys of the workspace, the revoked ones too.
	PerKey []KeyUsage `json:"perKey"`
	// Whether the workspace has more keys. The totals are of all.
	PerKeyTruncated bool `json:"perKeyTruncated"`
	// The newest failures, newest first.
	RecentFailures []Requested `json:"recentFailures"`
	// Whether there were more in the window.
	RecentFailuresTruncated bool `json:"recentFailuresTruncated"`
	// The newest requests, newest first.
	RecentRequests []Requested `json:"recentRequests"`
	// Whether there were more in the window.
	RecentRequestsTruncated bool `json:"recentRequestsTruncated"`
	// Those among them that were answered with an error.
	TotalFailures int64 `json:"totalFailures"`
	// Requests of all keys in the window; each call of a JSON-RPC batch is one.
	TotalRequests int64 `json:"totalRequests"`
	// When this was read. Requests of the last seconds may be missing.
	WindowEnd time.Time `json:"windowEnd"`
	// Since when requests are counted here: the beginning of an hour, 30 days ago.
	WindowStart time.Time `json:"windowStart"`
}

// VerificationDeclaration is an object of the API.
type VerificationDeclaration struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// The block, which was finalized by then.
	BlockNumber int64 `json:"blockNumber"`
	// The compiled class hash that it named.
	CompiledClassHash string `json:"compiledClassHash"`
	// The transaction that declared the class.
	TransactionHash string `json:"transactionHash"`
}

// VerificationEvidence is an object of the API.
type VerificationEvidence struct {
	// SHA-256 of the class that was built.
	CandidateDigest string `json:"candidateDigest"`
	// The chain that the class is declared on.
	ChainID string `json:"chainId"`
	// The class that was reproduced.
	ClassHash string `json:"classHash"`
	// Where the class was declared.
	Declaration VerificationDeclaration `json:"declaration"`
	// When it was signed, as the signer says.
	IssuedAt string `json:"issuedAt"`
	// The job that it came of.
	JobID string `json:"jobId"`
	// What the receipt does not say.
	NotProofOf []string `json:"notProofOf"`
	// Always exact_source_rebuild_equals_finalized_declared_class.
	ProofScope string `json:"proofScope"`
	// Number of the receipt. Numbers may be missing between two.
	ReceiptID int64 `json:"receiptId"`
	// SHA-256 of the archive that was built.
	SourceArchiveDigest string `json:"sourceArchiveDigest"`
	// What it was built with.
	ToolchainPolicyID string `json:"toolchainPolicyId"`
	// Always verified_exact.
	Verification string `json:"verification"`
}

// VerificationJob is an object of the API.
type VerificationJob struct {
	// The chain that the class is declared on.
	ChainID string `json:"chainId"`
	// When the job was created.
	CreatedAt time.Time `json:"createdAt"`
	// Why the job failed, or class_hash_mismatch of a mismatch; null for others. New ones may be
	// added.
	FailureCode *string `json:"failureCode"`
	// The code in words. It holds nothing of the source and nothing that a compiler wrote.
	FailureMessage *string `json:"failureMessage"`
	// Finer than the code where there is more to tell: of invalid_source_archive the rule that
	// the archive breaks.
	FailureReason *string `json:"failureReason"`
	// The Idempotency-Key that the job was created with.
	IdempotencyKey string `json:"idempotencyKey"`
	// Names the job.
	JobID string `json:"jobId"`
	// Of a mismatch: which parts of the class hash differ. Empty when that could not be found
	// out.
	MismatchParts []string `json:"mismatchParts"`
	// How long to wait before looking again, in seconds; null for a job that has ended.
	PollAfterSeconds *int64 `json:"pollAfterSeconds"`
	// Of a job that failed: whether a new job with the same source may fare better. Null for
	// others.
	Retryable *bool `json:"retryable"`
	// The declared class that the source is to reproduce.
	SelectedClassHash string `json:"selectedClassHash"`
	// When the source was deleted; null while it is kept, or there never was one.
	SourceDeletedAt *time.Time `json:"sourceDeletedAt"`
	// When the source is deleted, by its policy; null while there is none.
	SourceDeletesAt *time.Time `json:"sourceDeletesAt"`
	// Where the job is. Only succeeded is a verification; the last five never change.
	State string `json:"state"`
	// When the job got into its state.
	UpdatedAt time.Time `json:"updatedAt"`
	// By when the source must be there.
	UploadExpiresAt time.Time `json:"uploadExpiresAt"`
	// When the receipt of the job was withdrawn: it counts no more, and the class has to be
	// verified anew. Null while it stands, and for jobs without one.
	WithdrawnAt *time.Time `json:"withdrawnAt"`
	// Why, in the operator's words.
	WithdrawnReason *string `json:"withdrawnReason"`
}

// VerificationMetadata is an object of the API.
type VerificationMetadata struct {
	// The job: see verification-jobs.
	JobID string `json:"jobId"`
	// The state of the job.
	State string `json:"state"`
}

// VerificationPackage is an object of the API.
type VerificationPackage struct {
	// The contract's artifact.
	ArtifactID string `json:"artifactId"`
	// Always release.
	BuildProfile string `json:"buildProfile"`
	// The contract's module, such as counter::counter::Counter.
	ModulePath string `json:"modulePath"`
	// The Scarb package.
	PackageName string `json:"packageName"`
	// How long the source is kept: of a private one a day or seven, of a public one thirty days.
	RetentionPolicyID string `json:"retentionPolicyId"`
	// The declared class that the source is to reproduce: a felt other than 0.
	SelectedClassHash string `json:"selectedClassHash"`
	// Neither publishes the source.
	SourceVisibility string `json:"sourceVisibility"`
	// Always starknet-contract.
	TargetKind string `json:"targetKind"`
	// The target of the package.
	TargetName string `json:"targetName"`
	// What it is built with: service-exact-v25.
	ToolchainPolicyID string `json:"toolchainPolicyId"`
	// How many bytes the archive has. 12345, 12345.0 and 12345e0 are the same.
	UploadByteLength int64 `json:"uploadByteLength"`
	// SHA-256 of the exact bytes of the archive.
	UploadDigest string `json:"uploadDigest"`
}

// VerificationReceipt is an object of the API.
type VerificationReceipt struct {
	// Always Ed25519.
	Algorithm string `json:"algorithm"`
	// What is signed, in its canonical form by RFC 8785.
	Evidence VerificationEvidence `json:"evidence"`
	// The key of the trust document that signed.
	KeyID string `json:"keyId"`
	// Always service-portable-verification-receipt-v1.
	SchemaVersion string `json:"schemaVersion"`
	// The signature, as unpadded base64url.
	Signature string `json:"signature"`
}

// WalletAccount is an object of the API.
type WalletAccount struct {
	// Null with status verified: there is no contract.
	ClassHash *string `json:"classHash"`
	// Whether the class could be read.
	ClassHashStatus string `json:"classHashStatus"`
	// Nonce of the owner's account at that block; null when it was not read.
	Nonce *string `json:"nonce"`
	// Whether the nonce could be read.
	NonceStatus string `json:"nonceStatus"`
}

// WalletBlock is an object of the API.
type WalletBlock struct {
	// Hash of the block.
	BlockHash string `json:"blockHash"`
	// Number of the block.
	BlockNumber int64 `json:"blockNumber"`
	// accepted_on_l1 when L1 has accepted the block, accepted_on_l2 when not yet; explicit when
	// the caller named it.
	FinalityStatus string `json:"finalityStatus"`
	// How the block was chosen.
	Preference string `json:"preference"`
}

// WalletInclude is an object of the API.
type WalletInclude struct {
	// Ask for the class of the owner's account.
	ClassHash *bool `json:"classHash,omitzero"`
	// Ask for the nonce of the owner's account.
	Nonce *bool `json:"nonce,omitzero"`
}

// WalletInteraction is an object of the API.
type WalletInteraction struct {
	// The only chain that it is meant for.
	Chain string `json:"chain"`
	// Whether this part of the service can be used.
	Enabled bool `json:"enabled"`
	// Arguments of a call.
	MaxArguments int64 `json:"maxArguments"`
	// Felts of its calldata.
	MaxCalldataFelts int64 `json:"maxCalldataFelts"`
	// Calls of a transaction.
	MaxCalls int64 `json:"maxCalls"`
	// Bytes of a text among them.
	MaxStringBytes int64 `json:"maxStringBytes"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
}

// WalletItem is an object of the API.
type WalletItem struct {
	// Decimal.
	BalanceRaw *string `json:"balanceRaw"`
	// What the token says of itself, and what the registry says of it.
	Metadata AssetMetadata `json:"metadata"`
	// Price of the token; this service has none.
	Price WalletPrice `json:"price"`
	// unsupported: there is no contract, or it has no balances. error: the contract refuses to
	// tell, or, where unreadableReason is null, no node answered for this token. timeout: none
	// did in time.
	Status string `json:"status"`
	// Address of the token's contract, which is its identity.
	TokenAddress string `json:"tokenAddress"`
	// Why there is no balance. It holds for this block for good: asking again does not help.
	UnreadableReason *string `json:"unreadableReason"`
}

// WalletPrice is an object of the API.
type WalletPrice struct {
	// How sure the service is.
	Confidence *string `json:"confidence"`
	// How old a price may be; null without one.
	MaxAgeSeconds *int64 `json:"maxAgeSeconds"`
	// When it was observed; null when it was not.
	ObservedAt *string `json:"observedAt"`
	// Time of the price; null without one.
	PriceTimestamp *string `json:"priceTimestamp"`
	// Price in US dollars; null: prices are not part of this service.
	PriceUSD *string `json:"priceUsd"`
	// Who gave the price; null without one.
	Provider *string `json:"provider"`
	// Currency of prices.
	QuoteCurrency string `json:"quoteCurrency"`
	// Why the status is what it is.
	ReasonCode string `json:"reasonCode"`
	// Where the facts come from.
	Source *string `json:"source"`
	// The state in a word; reasonCode or reason tells why.
	Status string `json:"status"`
	// Value in US dollars; null: prices are not part of this service.
	ValueUSD *string `json:"valueUsd"`
}

// WalletRequest is an object of the API.
type WalletRequest struct {
	// Only with blockPreference explicit.
	BlockHash *string `json:"blockHash,omitzero"`
	// Only with blockPreference explicit.
	BlockNumber *int64 `json:"blockNumber,omitzero"`
	// Which block the balances are read at.
	BlockPreference *string `json:"blockPreference,omitzero"`
	// nextCursor of the page before: it keeps the block.
	Cursor *string `json:"cursor,omitzero"`
	// What to read beside the balances.
	Include *WalletInclude `json:"include,omitzero"`
	// Tokens of a page: 25 unless given, and at most. A value out of range is clamped.
	Limit *int64 `json:"limit,omitzero"`
	// Whether one balance that could not be read this time fails the whole. A token that its
	// contract will not tell at this block is reported as unreadable in both modes.
	Mode *string `json:"mode,omitzero"`
	// Whose balances are asked for.
	OwnerAddress string `json:"ownerAddress"`
	// Which tokens: tokenAddresses alone, those with transfers from or to the owner, or these
	// and the known ones.
	Scope *string `json:"scope,omitzero"`
	// Only with scope explicit, which needs them.
	TokenAddresses []string `json:"tokenAddresses,omitzero"`
}

// WalletState is an object of the API.
type WalletState struct {
	// What the chain says of the owner's account at that block.
	AccountState WalletAccount `json:"accountState"`
	// The one block that every balance refers to.
	Block WalletBlock `json:"block"`
	// The chain: SN_MAIN or SN_SEPOLIA.
	ChainID string `json:"chainId"`
	// verified_complete: every token has a verified balance, those aside that nobody vouches for
	// and whose contracts are unreadable.
	Correctness string `json:"correctness"`
	// What the answer covers, and what it does not.
	Coverage AssetCoverage `json:"coverage"`
	// Whether there are more candidates than this page shows.
	HasMore bool `json:"hasMore"`
	// Verified zeros are left out.
	Items []WalletItem `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
	// Whose balances are asked for.
	OwnerAddress string `json:"ownerAddress"`
	// Whether something that was asked for is missing.
	Partial bool `json:"partial"`
	// Names this answer; the header X-Request-Id says the same.
	RequestID string `json:"requestId"`
	// Version of this answer's form.
	SchemaVersion string `json:"schemaVersion"`
	// What the answer set out to cover.
	Scope string `json:"scope"`
	// Sum of values; this service has no prices.
	Valuation WalletValuation `json:"valuation"`
	// How many balances were read, and how that went.
	Verification WalletVerification `json:"verification"`
	// Everything was verified, nothing follows, and the candidates are complete within their
	// scope.
	WalletSafe bool `json:"walletSafe"`
}

// WalletValuation is an object of the API.
type WalletValuation struct {
	// Whether the sum covers everything that the owner has.
	CompleteForWallet bool `json:"completeForWallet"`
	// Whether assets without a price were left out of the sum.
	ExcludedUnpricedAssets bool `json:"excludedUnpricedAssets"`
	// Assets with a price.
	PricedAssetCount int64 `json:"pricedAssetCount"`
	// What the answer set out to cover.
	Scope string `json:"scope"`
	// Whether one page held everything.
	SinglePageComplete bool `json:"singlePageComplete"`
	// Sum in US dollars; null: prices are not part of this service.
	TotalUSD *string `json:"totalUsd"`
	// Assets that the owner has and that have no price.
	UnpricedNonZeroAssetCount int64 `json:"unpricedNonZeroAssetCount"`
}

// WalletVerification is an object of the API.
type WalletVerification struct {
	// Tokens whose balance could not be read.
	Failed int64 `json:"failed"`
	// Tokens that were chosen to be read.
	Selected int64 `json:"selected"`
	// Tokens that did not answer in time.
	TimedOut int64 `json:"timedOut"`
	// Tokens without a balance for good: unsupported, and those whose contract refuses (failed).
	Unreadable int64 `json:"unreadable"`
	// Tokens that are no contract, or have no balances.
	Unsupported int64 `json:"unsupported"`
	// Tokens whose balance was read at the block.
	Verified int64 `json:"verified"`
	// Tokens with a balance of zero, which are not listed.
	VerifiedZeroHidden int64 `json:"verifiedZeroHidden"`
	// Tokens with a balance, which are listed.
	VisibleNonZero int64 `json:"visibleNonZero"`
}

// Webhook is an object of the API.
type Webhook struct {
	// The chain that it is told of.
	ChainID string `json:"chainId"`
	// When it was created.
	CreatedAt time.Time `json:"createdAt"`
	// What its owner calls it.
	Description string `json:"description"`
	// What is told.
	Filter WebhookFilter `json:"filter"`
	// The first block that is told of.
	FromBlock int64 `json:"fromBlock"`
	// When a message was last taken; null for never.
	LastDeliveredAt *time.Time `json:"lastDeliveredAt"`
	// The sequence of the newest message; 0 for none.
	LastSequence int64 `json:"lastSequence"`
	// How far it was told. Null in front of the first block.
	Position *WebhookPosition `json:"position"`
	// Paused by its owner, or disabled by the service; PATCH makes it active again, and it goes
	// on where it was.
	State string `json:"state"`
	// Since when it is in its state.
	StateAt time.Time `json:"stateAt"`
	// Why it was disabled; null otherwise.
	StateReason *string `json:"stateReason"`
	// When its owner last changed it.
	UpdatedAt time.Time `json:"updatedAt"`
	// Where messages are sent.
	URL string `json:"url"`
	// Names the webhook.
	WebhookID string `json:"webhookId"`
}

// WebhookFilter is an object of the API.
type WebhookFilter struct {
	// Of transaction the one address, of event the emitters, of transfer either side.
	Address []string `json:"address,omitzero"`
	// Of transfer: who sent.
	From []string `json:"from,omitzero"`
	// What is told: new blocks, transactions that an address has a part in, events, token
	// transfers, that the finalized or L1-accepted block moved, or that blocks were taken back.
	Kind string `json:"kind"`
	// Of transfer: who received. Not together with from.
	To []string `json:"to,omitzero"`
	// Of transfer: the tokens.
	Token []string `json:"token,omitzero"`
	// Of event: values of the first key, one of which it has.
	Topic0 []string `json:"topic0,omitzero"`
	// Of event: values of the key at this position, one of which it has. Later topics need
	// topic0.
	Topic1 []string `json:"topic1,omitzero"`
	// As topic1.
	Topic10 []string `json:"topic10,omitzero"`
	// As topic1.
	Topic11 []string `json:"topic11,omitzero"`
	// As topic1.
	Topic12 []string `json:"topic12,omitzero"`
	// As topic1.
	Topic13 []string `json:"topic13,omitzero"`
	// As topic1.
	Topic14 []string `json:"topic14,omitzero"`
	// As topic1.
	Topic15 []string `json:"topic15,omitzero"`
	// As topic1.
	Topic2 []string `json:"topic2,omitzero"`
	// As topic1.
	Topic3 []string `json:"topic3,omitzero"`
	// As topic1.
	Topic4 []string `json:"topic4,omitzero"`
	// As topic1.
	Topic5 []string `json:"topic5,omitzero"`
	// As topic1.
	Topic6 []string `json:"topic6,omitzero"`
	// As topic1.
	Topic7 []string `json:"topic7,omitzero"`
	// As topic1.
	Topic8 []string `json:"topic8,omitzero"`
	// As topic1.
	Topic9 []string `json:"topic9,omitzero"`
}

// WebhookLetter is an object of the API.
type WebhookLetter struct {
	// How often it was sent.
	Attempts int64 `json:"attempts"`
	// When the message was made.
	CreatedAt time.Time `json:"createdAt"`
	// When it was given up. It is kept for 30 days, and the newest 100 of a webhook.
	GivenUpAt time.Time `json:"givenUpAt"`
	// The status that the receiver last answered with; null when it did not answer.
	LastStatus *int64 `json:"lastStatus"`
	// The id of the message, as in the header webhook-id.
	MessageID string `json:"messageId"`
	// It was asked for, and is sent when its turn comes.
	Redelivered bool `json:"redelivered"`
	// Its place in the order of the webhook's messages.
	Sequence int64 `json:"sequence"`
	// What it tells.
	Type string `json:"type"`
}

// WebhookLetterPage is an object of the API.
type WebhookLetterPage struct {
	// The messages that were given up, newest first.
	Items []WebhookLetter `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// WebhookPage is an object of the API.
type WebhookPage struct {
	// The webhooks of the workspace on the chain, oldest first.
	Items []Webhook `json:"items"`
	// Send it back as cursor for the next page; null when there is no more.
	NextCursor *string `json:"nextCursor"`
}

// WebhookPosition is an object of the API.
type WebhookPosition struct {
	// Hash of that block.
	BlockHash string `json:"blockHash"`
	// The newest block that was looked at for it. While nothing matches it is written every few
	// seconds.
	BlockNumber int64 `json:"blockNumber"`
}
