package starknet

import "chainexplorer/internal/felt"

// TxType is the kind of a transaction.
type TxType uint8

// The transaction types. Deploy exists in history only.
const (
	Invoke TxType = iota + 1
	Declare
	Deploy
	DeployAccount
	L1Handler
)

// ResourceBound is the most that a transaction may use of a resource, and pay
// for a unit of it.
type ResourceBound struct {
	MaxAmount       uint64
	MaxPricePerUnit felt.Felt // below 2^128
}

// ResourceBounds are the limits of a version 3 transaction.
type ResourceBounds struct {
	L1Gas     ResourceBound
	L2Gas     ResourceBound
	L1DataGas ResourceBound
	// HasL1DataGas is false when the wire form had no l1_data_gas: such a
	// transaction was signed over two resources. Nodes that fill it with
	// zeros hide this; hashing then tries both forms.
	HasL1DataGas bool
}

// TxDAMode is a version 3 transaction's data availability mode.
type TxDAMode uint8

// The data availability modes of a transaction, with their protocol values.
const (
	TxDAL1 TxDAMode = 0
	TxDAL2 TxDAMode = 1
)

// Transaction is any transaction of any version. Which fields are set follows
// from Type and Version; the others are zero.
type Transaction struct {
	Hash    felt.Felt
	Type    TxType
	Version felt.Felt

	Sender             felt.Felt // sender_address
	ContractAddress    felt.Felt // invoke v0, L1 handler
	EntryPointSelector felt.Felt // invoke v0, L1 handler
	Calldata           []felt.Felt
	Signature          []felt.Felt
	MaxFee             felt.Felt
	Nonce              felt.Felt
	// HasNonce is false for invoke v0, declare v0, deploy and the oldest L1 handlers.
	HasNonce bool

	ClassHash           felt.Felt
	CompiledClassHash   felt.Felt
	ContractAddressSalt felt.Felt
	ConstructorCalldata []felt.Felt

	// Version 3.
	ResourceBounds        *ResourceBounds
	Tip                   uint64
	PaymasterData         []felt.Felt
	AccountDeploymentData []felt.Felt
	NonceDAMode           TxDAMode
	FeeDAMode             TxDAMode
	ProofFacts            []felt.Felt
}

// queryBit marks a version that was only meant for estimating fees.
const queryBit = 15 // byte of 2^128 in a felt

// PlainVersion is a version without the query bit. ok is false for a
// version that is not a small number.
func PlainVersion(version *felt.Felt) (v uint64, ok bool) {
	f := *version
	f[queryBit] &^= 1
	return f.Uint64()
}

// PlainVersion is that of the transaction.
func (t *Transaction) PlainVersion() (v uint64, ok bool) { return PlainVersion(&t.Version) }

// FeeUnit is the token in which a fee is paid.
type FeeUnit uint8

// The fee units: 1e-18 of the old and of the new fee token.
const (
	Wei FeeUnit = iota + 1
	Fri
)

// ExecutionStatus tells whether a transaction had its effect.
type ExecutionStatus uint8

// The execution statuses.
const (
	Succeeded ExecutionStatus = iota + 1
	Reverted
)

// ExecutionResources is the gas that a transaction used.
type ExecutionResources struct {
	L1Gas     uint64
	L1DataGas uint64
	L2Gas     uint64
}

// Event is one event, in emission order inside its receipt.
type Event struct {
	From felt.Felt
	Keys []felt.Felt
	Data []felt.Felt
}

// MessageToL1 is a message that a transaction sent to the base layer.
type MessageToL1 struct {
	From    felt.Felt
	To      felt.Felt // an L1 address: below 2^160
	Payload []felt.Felt
}

// Receipt is what a transaction did.
type Receipt struct {
	TransactionHash felt.Felt
	Type            TxType
	ActualFee       felt.Felt
	FeeUnit         FeeUnit
	Finality        BlockStatus
	Execution       ExecutionStatus
	RevertReason    string
	MessagesSent    []MessageToL1
	Events          []Event
	Resources       ExecutionResources
	ContractAddress felt.Felt // deploy and deploy account
	MessageHash     [32]byte  // L1 handler; not a felt: all 256 bits count
}
