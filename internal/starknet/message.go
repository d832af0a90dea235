package starknet

// Hashes under which the base layer knows messages in both directions.

import (
	"chainexplorer/internal/felt"

	"golang.org/x/crypto/sha3"
)

// keccakWords hashes 32-byte words as the base layer does: all 256 bits.
func keccakWords(lists ...[]felt.Felt) (out [32]byte) {
	h := sha3.NewLegacyKeccak256()
	for _, words := range lists {
		for i := range words {
			h.Write(words[i][:]) //nolint:errcheck // a hash never fails
		}
	}
	h.Sum(out[:0])
	return out
}

// MessageToL2Hash is the hash under which the base layer knows the message
// that an L1 handler transaction consumed. The oldest messages had no nonce
// and counted the sender into the length. It is zero for a transaction that
// is not an L1 handler or lacks the sender, its first calldata felt.
func MessageToL2Hash(tx *Transaction) [32]byte {
	if tx.Type != L1Handler || len(tx.Calldata) == 0 {
		return [32]byte{}
	}
	from, payload := tx.Calldata[0], tx.Calldata[1:]
	head := []felt.Felt{from, tx.ContractAddress, tx.Nonce, tx.EntryPointSelector, felt.FromUint64(uint64(len(payload)))}
	if !tx.HasNonce {
		head = []felt.Felt{from, tx.ContractAddress, felt.FromUint64(uint64(len(tx.Calldata))), tx.EntryPointSelector}
	}
	return keccakWords(head, payload)
}

// Hash is the hash under which the base layer can consume the message.
func (m *MessageToL1) Hash() [32]byte {
	return keccakWords([]felt.Felt{m.From, m.To, felt.FromUint64(uint64(len(m.Payload)))}, m.Payload)
}
