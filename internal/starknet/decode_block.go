package starknet

// Decoding of blocks, headers, and single transactions and receipts.

import (
	"errors"
	"fmt"
)

// headerFields are a header's wire names; a fieldSet counts in this order.
var headerFields = []string{
	"status", "block_hash", "parent_hash", "block_number", "new_root", "timestamp", "sequencer_address", "l1_gas_price",
	"l1_data_gas_price", "l2_gas_price", "l1_da_mode", "starknet_version", "transactions", "transaction_commitment",
	"event_commitment", "receipt_commitment", "state_diff_commitment", "transaction_count", "event_count", "state_diff_length",
}

const (
	hdStatus fieldSet = 1 << iota
	hdHash
	hdParent
	hdNumber
	hdRoot
	hdTimestamp
	hdSequencer
	hdL1Gas
	hdL1DataGas
	hdL2Gas
	hdDAMode
	hdVersion
	hdTransactions
	hdTxCommitment
	hdEventCommitment
	hdReceiptCommitment
	hdDiffCommitment
	hdTxCount
	hdEventCount
	hdDiffLength

	hdAlways = hdHash | hdParent | hdNumber | hdRoot | hdTimestamp | hdSequencer | hdL1Gas | hdL1DataGas | hdL2Gas | hdDAMode | hdVersion
	hdBlock  = hdAlways | hdStatus | hdTransactions
	hdClaims = hdTxCommitment | hdEventCommitment | hdReceiptCommitment | hdDiffCommitment | hdTxCount | hdEventCount | hdDiffLength
)

var daModeNames = map[string]DAMode{"CALLDATA": DACalldata, "BLOB": DABlob}

// DecodeBlock reads the result of starknet_getBlockWithReceipts for a
// confirmed block; a block that is still being built gives ErrPreConfirmed.
// Nothing of the result points into data.
func DecodeBlock(data []byte) (*Block, error) {
	d := newDecoder(data)
	b := new(Block)
	// Guesses from real blocks; what proves too small grows.
	d.felts.hint(len(data)/80 + 8)
	d.events.hint(len(data)/1024 + 4)
	txs := len(data)/4096 + 4
	b.Transactions, b.Receipts = make([]Transaction, 0, txs), make([]Receipt, 0, txs)
	seen := d.header(&b.Header, func() { d.transactions(b) })
	d.confirmed(seen, hdBlock)
	if err := d.finish("block"); err != nil {
		return nil, err
	}
	if len(b.Transactions) == 0 {
		b.Transactions, b.Receipts = nil, nil // as every empty list
	}
	return b, nil
}

// DecodeHeader reads a block's header: the result of
// starknet_getBlockWithTxHashes, whose transactions it skips, or what a
// subscription to new heads delivers. The latter has no status: it stays zero.
func DecodeHeader(data []byte) (*Header, error) {
	d := newDecoder(data)
	h := new(Header)
	seen := d.header(h, d.s.Skip)
	d.confirmed(seen, hdAlways)
	if err := d.finish("header"); err != nil {
		return nil, err
	}
	return h, nil
}

// DecodeTransaction reads the result of starknet_getTransactionByHash, or one
// item of starknet_getBlockWithTxs: a transaction with its hash.
func DecodeTransaction(data []byte) (*Transaction, error) {
	d := newDecoder(data)
	t := new(Transaction)
	if seen := d.transaction(t); seen&txHash == 0 && !d.bad() {
		d.fail("transaction_hash", ErrMissing)
	}
	if err := d.finish("transaction"); err != nil {
		return nil, err
	}
	return t, nil
}

// DecodeReceipt reads the result of starknet_getTransactionReceipt without
// the block's number and hash. One of a block that is still being built gives
// ErrPreConfirmed.
func DecodeReceipt(data []byte) (*Receipt, error) {
	d := newDecoder(data)
	r := new(Receipt)
	d.receipt(r)
	if d.preConfirmed {
		d.s.Fail(ErrPreConfirmed)
	}
	if err := d.finish("receipt"); err != nil {
		return nil, err
	}
	return r, nil
}

// confirmed requires the fields, and tells an unconfirmed block from a broken
// one: it has none of the things that only consensus gives a block.
func (d *decoder) confirmed(seen, required fieldSet) {
	if d.bad() {
		return
	}
	if d.preConfirmed || seen&(hdStatus|hdHash|hdRoot) == 0 && seen&hdTimestamp != 0 {
		d.s.Fail(ErrPreConfirmed)
	}
	d.require(seen, required, headerFields)
}

// header reads a block object; transactions reads its list.
func (d *decoder) header(h *Header, transactions func()) fieldSet {
	var seen fieldSet
	var claims Commitments
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		field := d.headerField(h, &claims, string(key))
		switch {
		case field != 0:
		case string(key) == "transactions":
			transactions()
			field = hdTransactions
		default:
			d.s.Skip()
		}
		seen |= field
		if d.bad() && field != 0 {
			d.within(string(key))
			return seen
		}
	}
	if seen&hdClaims != 0 {
		h.Commitments = &claims
	}
	return seen
}

// lastSecond is the last one that RFC 3339 can tell. No sequencer gets near it.
const lastSecond = 253_402_300_799

// headerField reads the value of one field and returns which it was. Of a
// field that it does not know it reads nothing.
func (d *decoder) headerField(h *Header, c *Commitments, key string) fieldSet {
	switch key {
	case "status":
		h.Status = d.finality()
		return hdStatus
	case "block_hash":
		d.feltInto(&h.Hash)
		return hdHash
	case "parent_hash":
		d.feltInto(&h.ParentHash)
		return hdParent
	case "block_number":
		h.Number = d.s.Uint64()
		return hdNumber
	case "new_root":
		d.feltInto(&h.NewRoot)
		return hdRoot
	case "timestamp":
		if h.Timestamp = d.s.Uint64(); h.Timestamp > lastSecond {
			d.s.Fail(errors.New("a time after the year 9999"))
		}
		return hdTimestamp
	case "sequencer_address":
		d.feltInto(&h.Sequencer)
		return hdSequencer
	case "l1_gas_price":
		d.gasPrice(&h.L1GasPrice)
		return hdL1Gas
	case "l1_data_gas_price":
		d.gasPrice(&h.L1DataGasPrice)
		return hdL1DataGas
	case "l2_gas_price":
		d.gasPrice(&h.L2GasPrice)
		return hdL2Gas
	case "l1_da_mode":
		h.DAMode = oneOf(d, daModeNames)
		return hdDAMode
	case "starknet_version":
		h.StarknetVersion = d.text()
		return hdVersion
	case "transaction_commitment":
		d.feltInto(&c.Transactions)
		return hdTxCommitment
	case "event_commitment":
		d.feltInto(&c.Events)
		return hdEventCommitment
	case "receipt_commitment":
		d.feltInto(&c.Receipts)
		return hdReceiptCommitment
	case "state_diff_commitment":
		d.feltInto(&c.StateDiff)
		return hdDiffCommitment
	case "transaction_count":
		c.TransactionCount = d.s.Uint64()
		return hdTxCount
	case "event_count":
		c.EventCount = d.s.Uint64()
		return hdEventCount
	case "state_diff_length":
		c.StateDiffLength = d.s.Uint64()
		return hdDiffLength
	}
	return 0
}

var gasPriceFields = []string{"price_in_fri", "price_in_wei"}

func (d *decoder) gasPrice(p *GasPrice) {
	const fri, wei = 1, 2
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		switch string(d.s.Key()) {
		case "price_in_fri":
			d.feltInto(&p.InFri)
			seen |= fri
		case "price_in_wei":
			d.feltInto(&p.InWei)
			seen |= wei
		default:
			d.s.Skip()
		}
	}
	d.require(seen, fri|wei, gasPriceFields)
}

// transactions reads the list of pairs of transaction and receipt.
func (d *decoder) transactions(b *Block) {
	b.Transactions, b.Receipts = b.Transactions[:0], b.Receipts[:0]
	for ok := d.s.OpenArray(); ok; ok = d.s.NextElement() {
		b.Transactions = append(b.Transactions, Transaction{})
		b.Receipts = append(b.Receipts, Receipt{})
		i := len(b.Receipts) - 1
		d.pair(&b.Transactions[i], &b.Receipts[i])
		if d.bad() {
			d.withinIndex(i)
			return
		}
	}
}

var pairFields = []string{"transaction", "receipt"}

func (d *decoder) pair(t *Transaction, r *Receipt) {
	const transaction, receipt = 1, 2
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		switch string(key) {
		case "transaction":
			*t = Transaction{}
			d.transaction(t)
			seen |= transaction
		case "receipt":
			*r = Receipt{}
			d.receipt(r)
			seen |= receipt
		default:
			d.s.Skip()
			continue
		}
		if d.bad() {
			d.within(string(key))
			return
		}
	}
	d.require(seen, transaction|receipt, pairFields)
	if d.bad() {
		return
	}
	switch {
	case t.Type != r.Type:
		d.fail("receipt.type", fmt.Errorf("%s for a transaction of type %s", r.Type, t.Type))
	case !t.Hash.IsZero() && t.Hash != r.TransactionHash:
		d.fail("receipt.transaction_hash", errors.New("not that of the transaction"))
	}
	t.Hash = r.TransactionHash
}
