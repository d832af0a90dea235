package starknet

// Encoding of blocks and headers: what a node answers, under the exact names.

import (
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"chainexplorer/internal/felt"
)

// SpecVersion is the version of the JSON-RPC specification that a node speaks.
type SpecVersion uint8

// The versions of the specification that are understood.
const (
	V08 SpecVersion = iota + 1
	V09
	V010
)

// String returns the version's number.
func (v SpecVersion) String() string {
	switch v {
	case V08:
		return "0.8"
	case V09:
		return "0.9"
	case V010:
		return "0.10"
	}
	return "UNKNOWN"
}

// writer appends JSON to a buffer. Every method writes one member or value
// and takes care of the comma before it.
type writer struct {
	b []byte
}

// comma separates from what is before, unless that opens a list or an object.
func (w *writer) comma() {
	if n := len(w.b); n > 0 {
		switch w.b[n-1] {
		case '{', '[', ':':
			return
		}
		w.b = append(w.b, ',')
	}
}

func (w *writer) key(name string) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *writer) open(c byte)  { w.b = append(w.b, c) }
func (w *writer) close(c byte) { w.b = append(w.b, c) }

func (w *writer) feltValue(f *felt.Felt) {
	w.b = append(w.b, '"')
	w.b = f.AppendHex(w.b)
	w.b = append(w.b, '"')
}

func (w *writer) felt(name string, f *felt.Felt) {
	w.key(name)
	w.feltValue(f)
}

// word256 writes all 64 digits, as nodes and L1 do: it is no number, and people compare it as text.
func (w *writer) word256(name string, v *[32]byte) {
	w.key(name)
	w.b = append(w.b, '"', '0', 'x')
	w.b = hex.AppendEncode(w.b, v[:])
	w.b = append(w.b, '"')
}

func (w *writer) felts(name string, fs []felt.Felt) {
	w.key(name)
	w.open('[')
	for i := range fs {
		w.comma()
		w.feltValue(&fs[i])
	}
	w.close(']')
}

func (w *writer) number(name string, n uint64) {
	w.key(name)
	w.b = strconv.AppendUint(w.b, n, 10)
}

func (w *writer) hexNumber(name string, n uint64) {
	w.key(name)
	w.b = append(w.b, '"', '0', 'x')
	w.b = strconv.AppendUint(w.b, n, 16)
	w.b = append(w.b, '"')
}

func (w *writer) word(name, value string) {
	w.key(name)
	w.text(value)
}

// text writes a string with the escapes that JSON asks for.
func (w *writer) text(s string) {
	const digits = "0123456789abcdef"
	w.b = append(w.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b = append(w.b, '\\', byte(r))
		case r == '\n':
			w.b = append(w.b, '\\', 'n')
		case r == '\t':
			w.b = append(w.b, '\\', 't')
		case r < ' ':
			w.b = append(w.b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			w.b = utf8.AppendRune(w.b, r)
		}
	}
	w.b = append(w.b, '"')
}

// AppendHeader appends the members of a block's header, as an object, to dst:
// what a subscription to new heads delivers. A header with a status has it.
func AppendHeader(dst []byte, h *Header, v SpecVersion) []byte {
	w := writer{append(dst, '{')}
	w.header(h, v)
	w.close('}')
	return w.b
}

// AppendBlock appends a confirmed block with its receipts, as
// starknet_getBlockWithReceipts gives it, to dst.
func AppendBlock(dst []byte, b *Block, v SpecVersion) []byte {
	w := writer{append(dst, '{')}
	w.header(&b.Header, v)
	w.key("transactions")
	w.open('[')
	for i := range b.Transactions {
		w.comma()
		w.executed(&b.Transactions[i], &b.Receipts[i], v)
	}
	w.close(']')
	w.close('}')
	return w.b
}

func (w *writer) header(h *Header, v SpecVersion) {
	if h.Status != 0 {
		w.word("status", h.Status.String())
	}
	w.felt("block_hash", &h.Hash)
	w.felt("parent_hash", &h.ParentHash)
	w.number("block_number", h.Number)
	w.felt("new_root", &h.NewRoot)
	w.number("timestamp", h.Timestamp)
	w.felt("sequencer_address", &h.Sequencer)
	w.gasPrice("l1_gas_price", &h.L1GasPrice)
	w.gasPrice("l1_data_gas_price", &h.L1DataGasPrice)
	w.gasPrice("l2_gas_price", &h.L2GasPrice)
	w.word("l1_da_mode", h.DAMode.String())
	w.word("starknet_version", h.StarknetVersion)
	if c := h.Commitments; c != nil && v >= V010 {
		w.felt("transaction_commitment", &c.Transactions)
		w.felt("event_commitment", &c.Events)
		w.felt("receipt_commitment", &c.Receipts)
		w.felt("state_diff_commitment", &c.StateDiff)
		w.number("transaction_count", c.TransactionCount)
		w.number("event_count", c.EventCount)
		w.number("state_diff_length", c.StateDiffLength)
	}
}

func (w *writer) gasPrice(name string, p *GasPrice) {
	w.key(name)
	w.open('{')
	w.felt("price_in_fri", &p.InFri)
	w.felt("price_in_wei", &p.InWei)
	w.close('}')
}
