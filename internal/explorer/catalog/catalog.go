// Package catalog lists the subjects of the read model. Adding a subject is
// adding its folder and a line in Subjects; tables of both engines, the write path
// and the checker follow from the list. Two more lists are kept by hand: Dated, of
// what a fork can undo without a look at the store, and Enrichment, of what no
// block writes.
package catalog

import (
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Undo holds the undo record of every block that may still be forked away; it
// belongs to the write path.
var Undo = &store.Table{ID: 3, Name: "undo", PartitionLen: explorer.StretchBytes}

// Subjects returns the subjects in the order in which they are projected.
func Subjects() []explorer.Subject {
	return []explorer.Subject{
		block.Subject{}, transaction.Subject{}, event.Subject{}, contract.Subject{}, class.Subject{}, class.Directory{},
		transfer.Subject{}, token.Subject{}, message.Subject{}, address.Subject{},
	}
}

// DatedTable is a table in whose sort keys the number of the block stands that writes
// the row.
type DatedTable struct {
	*store.Table
	// Number is where it stands, for a table whose rows that agree in all before it are
	// those of one list, in the order of blocks; -1 where another order comes first.
	Number int
}

// Dated returns the tables in whose keys the number of the block stands that
// writes the row: no other block writes it, and it is new. What a fork must do
// about such a row is known without looking at what was there before, which spares
// a block with an undo record the read of that row. A table that is left out costs
// that read; one that does not belong here breaks undo.
func Dated() []DatedTable {
	return []DatedTable{
		{chain.Digests, 0}, {block.Blocks, 0}, {block.Times, -1}, {block.States, 0}, {transaction.Transactions, 0},
		{event.Lists, 0}, {event.Pairs, 0}, {contract.History, 0}, {class.Declarations, 0},
		{transfer.Addresses, 0}, {transfer.Pairs, felt.Size}, {token.Firsts, 0},
		{message.Blocks, 0}, {message.Contracts, 0}, {message.Hashes, 0}, {address.Transactions, 0},
	}
}

// Enrichment returns the tables whose rows come from calls to a node, or depend
// on what an operator set up, and not on blocks alone: no digest covers them and
// no fork undoes them.
func Enrichment() []*store.Table {
	return slices.Concat(class.Enrichment(), contract.Enrichment(), token.Enrichment(), pools.Enrichment(), census.Enrichment(), ledger.Enrichment(), audit.Enrichment())
}

// Tables returns every table of an index.
func Tables() []*store.Table {
	tables := []*store.Table{chain.Meta, chain.Digests, Undo, chain.Verifications}
	for _, s := range Subjects() {
		tables = append(tables, s.Tables()...)
	}
	return append(tables, Enrichment()...)
}
