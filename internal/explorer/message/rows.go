// Package message keeps the messages between the layers: those of L1 that a
// handler transaction took in, and those that transactions sent to L1.
//
// Rows, with n messages:
//
//	message_block     direction span    | block   places   a row per block and direction
//	message_contract  direction address | block   places   a row per block, direction and contract
//	message_hash      hash              | place   direction                           n rows
//	message_sent      hash              |         how often L2 sent it                a row per hash
//
// A message is listed under the contracts of both layers. Its place is its
// transaction's, and its index among that transaction's messages: the one that
// a handler took in comes first, then those sent, in order.
//
// The chain tells when L2 handled a message of L1, and whether the handler was
// reverted. It tells that L2 sent a message, and never what L1 did with it: the
// same message can be sent many times, which is why they are counted.
//
// Costs: a page of a contract's messages is one scan per direction and two round
// trips; a page of the chain's is one scan per direction and span that it looks
// through. All rows but message_sent depend on the block alone.
package message

import (
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Blocks    = &store.Table{ID: 80, Name: "message_block", PartitionLen: 1 + 4, Listed: true}
	Contracts = &store.Table{ID: 81, Name: "message_contract", PartitionLen: 1 + felt.Size, Listed: true, SortLen: 8, Series: true}
	Hashes    = &store.Table{ID: 82, Name: "message_hash", PartitionLen: hashSize, Listed: true}
	Sent      = &store.Table{ID: 83, Name: "message_sent", PartitionLen: hashSize}
)

const hashSize = 32

// Hash is a message's hash on L1. It is not a felt: all 256 bits count.
type Hash = [hashSize]byte

// Direction is the way that a message goes.
type Direction byte

// The directions.
const (
	ToL2 Direction = iota
	ToL1
)

// Directions are both of them.
var Directions = []Direction{ToL2, ToL1}

// Message is a message of a transaction.
type Message struct {
	Direction Direction
	Hash      Hash
	From, To  felt.Felt
	// HasFrom is false for a handler transaction without calldata, which would
	// have named the sender first.
	HasFrom  bool
	Payload  []felt.Felt
	Nonce    felt.Felt // of a message of L1
	HasNonce bool      // false for the oldest ones
	Selector felt.Felt // of the handler
	Reverted bool      // the handler was reverted
}

// Count is the number of messages of a transaction.
func Count(t *starknet.Transaction, r *starknet.Receipt) int {
	n := len(r.MessagesSent)
	if t.Type == starknet.L1Handler {
		n++
	}
	return n
}

// Of returns the n-th message of a transaction, which must have one.
func Of(t *starknet.Transaction, r *starknet.Receipt, n int) Message {
	if t.Type == starknet.L1Handler {
		if n == 0 {
			return handled(t, r)
		}
		n--
	}
	s := &r.MessagesSent[n]
	return Message{Direction: ToL1, Hash: s.Hash(), From: s.From, HasFrom: true, To: s.To, Payload: s.Payload}
}

func handled(t *starknet.Transaction, r *starknet.Receipt) Message {
	m := Message{Direction: ToL2, Hash: r.MessageHash, To: t.ContractAddress, Selector: t.EntryPointSelector,
		Nonce: t.Nonce, HasNonce: t.HasNonce, Reverted: r.Execution == starknet.Reverted}
	if len(t.Calldata) > 0 {
		m.From, m.HasFrom, m.Payload = t.Calldata[0], true, t.Calldata[1:]
	}
	return m
}

func blockPartition(d Direction, block uint64) []byte {
	return append([]byte{byte(d)}, explorer.Span(block)...)
}

func contractPartition(d Direction, address *felt.Felt) []byte {
	return append([]byte{byte(d)}, address[:]...)
}

func sentKey(h *Hash) store.Key { return store.Key{Table: Sent, Partition: h[:]} }

func parseHashRow(row store.Row) (p explorer.Place, d Direction, err error) {
	p, ok := explorer.ParsePlace(row.Sort)
	if !ok || len(row.Value) != 1 || row.Value[0] > byte(ToL1) {
		return p, d, fmt.Errorf("%w: message with a key of %d and a value of %d bytes", record.ErrCorrupt, len(row.Sort), len(row.Value))
	}
	return p, Direction(row.Value[0]), nil
}

const sentVersion = 1

func encodeSent(n uint64) []byte {
	var e record.Encoder
	e.Reset(sentVersion)
	e.Uint(n)
	return e.Bytes()
}

// decodeSent reads how often a message was sent; never when there is no row.
func decodeSent(b []byte) (uint64, error) {
	if b == nil {
		return 0, nil
	}
	d := record.NewDecoder(b, sentVersion)
	n := d.Uint()
	if err := d.Finish(); err != nil {
		return 0, fmt.Errorf("count of a message: %w", err)
	}
	return n, nil
}
