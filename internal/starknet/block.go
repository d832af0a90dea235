package starknet

import "chainexplorer/internal/felt"

// BlockStatus is the finality that a node claims for a block.
type BlockStatus uint8

// The statuses of confirmed blocks. Pre-confirmed blocks carry none and are
// not decoded into Block.
const (
	AcceptedOnL2 BlockStatus = iota + 1
	AcceptedOnL1
)

// DAMode says where the chain publishes a block's data on L1.
type DAMode uint8

// The data availability modes of a block.
const (
	DACalldata DAMode = iota + 1
	DABlob
)

// GasPrice is the price of one unit of a resource in both fee tokens.
type GasPrice struct {
	InFri felt.Felt
	InWei felt.Felt
}

// Header is what a node says of a confirmed block besides its contents.
type Header struct {
	Status          BlockStatus
	Hash            felt.Felt
	ParentHash      felt.Felt
	Number          uint64
	NewRoot         felt.Felt
	Timestamp       uint64
	Sequencer       felt.Felt
	L1GasPrice      GasPrice
	L1DataGasPrice  GasPrice
	L2GasPrice      GasPrice
	DAMode          DAMode
	StarknetVersion string

	// Commitments is what the node claims; nil before spec version 0.10.
	Commitments *Commitments
}

// Commitments are the roots and counts that a block's hash is made of. Nodes
// print zero for a root that they do not know.
type Commitments struct {
	Transactions felt.Felt
	Events       felt.Felt
	Receipts     felt.Felt
	StateDiff    felt.Felt

	TransactionCount uint64
	EventCount       uint64
	StateDiffLength  uint64
}

// Block is the answer of starknet_getBlockWithReceipts for a confirmed block.
type Block struct {
	Header
	// Transactions and Receipts have the same length and order.
	Transactions []Transaction
	Receipts     []Receipt
}

// EventCount is the number of events in the block's receipts.
func (b *Block) EventCount() int {
	n := 0
	for i := range b.Receipts {
		n += len(b.Receipts[i].Events)
	}
	return n
}
