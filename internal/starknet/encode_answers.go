package starknet

// Encoding of answers that hold more than one thing: what stands where.

import "chainexplorer/internal/felt"

// AppendExecuted appends a transaction beside its receipt, as an item of
// starknet_getBlockWithReceipts: its hash is in the receipt alone.
func AppendExecuted(dst []byte, t *Transaction, r *Receipt, v SpecVersion) []byte {
	w := writer{dst}
	w.executed(t, r, v)
	return w.b
}

func (w *writer) executed(t *Transaction, r *Receipt, v SpecVersion) {
	w.open('{')
	w.key("transaction")
	w.transaction(t, v, false)
	w.key("receipt")
	w.receipt(r, v)
	w.close('}')
}

// AppendReceiptOf appends a receipt that says in which block it is, as
// starknet_getTransactionReceipt gives it.
func AppendReceiptOf(dst []byte, r *Receipt, block felt.Felt, number uint64, v SpecVersion) []byte {
	w := writer{dst}
	w.receipt(r, v)
	w.b = w.b[:len(w.b)-1] // more members follow
	w.felt("block_hash", &block)
	w.number("block_number", number)
	w.close('}')
	return w.b
}

// AppendStatusOf appends what starknet_getTransactionStatus tells of a transaction
// that is in a block. Why it failed is left out where nobody said.
func AppendStatusOf(dst []byte, r *Receipt) []byte {
	w := writer{append(dst, '{')}
	w.word("finality_status", r.Finality.String())
	w.word("execution_status", r.Execution.String())
	if r.Execution == Reverted && r.RevertReason != "" {
		w.word("failure_reason", r.RevertReason)
	}
	w.close('}')
	return w.b
}

// EmittedEvent is an event with its place.
type EmittedEvent struct {
	Event
	BlockHash       felt.Felt
	BlockNumber     uint64
	TransactionHash felt.Felt
	// TransactionIndex and EventIndex count in the block and in the transaction.
	TransactionIndex uint64
	EventIndex       uint64
}

// AppendEmittedEvent appends an event as starknet_getEvents gives it.
func AppendEmittedEvent(dst []byte, e *EmittedEvent, v SpecVersion) []byte {
	w := writer{dst}
	w.open('{')
	w.felt("from_address", &e.From)
	w.felts("keys", e.Keys)
	w.felts("data", e.Data)
	w.felt("block_hash", &e.BlockHash)
	w.number("block_number", e.BlockNumber)
	w.felt("transaction_hash", &e.TransactionHash)
	if v >= V010 {
		w.number("transaction_index", e.TransactionIndex)
		w.number("event_index", e.EventIndex)
	}
	w.close('}')
	return w.b
}
