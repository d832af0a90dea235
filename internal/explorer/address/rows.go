// Package address keeps what addresses did: the transactions that they have a
// part in, and exact counts of these and of their token transfers.
//
// Rows, with a part being an address in a transaction:
//
//	address_tx     address | block   transactions and parts   a row per address and block
//	address_total  address |         counts, first and last   a row per address
//
// An address has a part in a transaction as its sender, as a contract that the
// transaction deploys (by itself, or by a universal deployer that says so), as the
// target of a call that the account signed, and as the contract whose handler took
// in a message of L1. Calls that contracts make among themselves leave no trace in
// a block and count for nothing here; nor do the addresses of L1.
//
// The transactions of an address are those that it has a part in and those that
// have token transfers from or to it, each once. The second kind is in the lists of
// package transfer already, which has a row for each address and block as well:
// ListTransactions joins the two when it reads, so that no row is kept twice, and
// Totals.Transactions counts the union, exactly.
//
// The activity of an address is one item for every transaction that it has a
// part in, whatever the number of parts, and one for every token transfer from or
// to it; a transfer to itself is one. Totals.Activity is the number of these
// items, exactly. A transaction that only moved tokens of the address is the items
// of its transfers, and none of its own.
//
// Costs: a page of n transactions is two scans of at most n+2 rows and two GetMany,
// wherever it lies, however busy the address is and however many transfers a
// transaction has: those of a block are in one row. With a type that is asked for
// up to ScanTransactions heads of transactions are read besides, in chunks. A page
// of activity is what package transfer says of a page, and one scan. The totals of
// any number of addresses are one GetMany. A block costs one GetMany of the addresses
// in it.
package address

import (
	"fmt"

	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Transactions = &store.Table{ID: 85, Name: "address_tx", PartitionLen: felt.Size, Listed: true, SortLen: 8, Series: true}
	TotalRows    = &store.Table{ID: 86, Name: "address_total", PartitionLen: felt.Size}
)

// Part is what an address has to do with a transaction: a set.
type Part uint32

// The parts, the weightiest first.
const (
	Sender   Part = 1 << iota // it sent the transaction
	Deployed                  // the transaction deployed it
	Called                    // the sender signed a call of it
	Handler                   // it took in a message of L1

	// These are found in the lists of transfers, and are in no row of this subject.

	ReceivedTokens // a transfer from somebody else to it
	SentTokens     // a transfer from it to somebody else
	KeptTokens     // a transfer from it to itself
)

// Parts lists them.
var Parts = []Part{Sender, Deployed, Called, Handler, ReceivedTokens, SentTokens, KeptTokens}

// stored are those that rows have.
const stored = Sender | Deployed | Called | Handler

// First is the weightiest of the parts.
func (p Part) First() Part { return p & -p }

// List is the list of an address's transactions: Sub of a spot is the Part.
func List(address *felt.Felt) places.List {
	return places.List{Table: Transactions, Partition: address[:]}
}

// Totals count what an address did.
type Totals struct {
	Transactions uint64 // that it has a part in or that move tokens from or to it
	Parts        uint64 // transactions that it has a part in
	Transfers    uint64 // that it is a side of; one to itself counts once
	// First and Latest are the blocks of its first and its latest activity.
	First, Latest uint64
	// Sends says that it sent a transaction: it is an account.
	Sends bool
	// Received says that it was the recipient of a token transfer.
	Received bool
}

// Activity is the number of items of the address's activity.
func (t *Totals) Activity() uint64 { return t.Parts + t.Transfers }

const totalsVersion = 2

const (
	flagSends = 1 << iota
	flagReceived
	flagsEnd
)

func (t *Totals) encode(e *record.Encoder) []byte {
	var flags byte
	if t.Sends {
		flags |= flagSends
	}
	if t.Received {
		flags |= flagReceived
	}
	e.Reset(totalsVersion)
	e.Byte(flags)
	e.Uint(t.Transactions)
	e.Uint(t.Parts)
	e.Uint(t.Transfers)
	e.Uint(t.First)
	e.Uint(t.Latest - t.First)
	return e.Bytes()
}

func decodeTotals(b []byte) (t Totals, err error) {
	d := record.NewDecoder(b, totalsVersion)
	flags := d.Byte()
	t = Totals{Sends: flags&flagSends != 0, Received: flags&flagReceived != 0, Transactions: d.Uint(), Parts: d.Uint(), Transfers: d.Uint(), First: d.Uint()}
	t.Latest = t.First + d.Uint()
	if err := d.Finish(); err != nil {
		return t, err
	}
	if flags >= flagsEnd || t.Latest < t.First || t.Parts > t.Transactions {
		return t, fmt.Errorf("%w: totals of an address with flags %d", record.ErrCorrupt, flags)
	}
	return t, nil
}

func totalKey(address *felt.Felt) store.Key {
	return store.Key{Table: TotalRows, Partition: address[:]}
}
