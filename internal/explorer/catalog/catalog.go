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
	"chainexplorer/internal/store"
)

// Undo holds the undo record of every block that may still be forked away; it
// belongs to the write path.
var Undo = &store.Table{ID: 3, Name: "undo", PartitionLen: 4}

// Subjects returns the subjects in the order in which they are projected.
func Subjects() []explorer.Subject {
	return []explorer.Subject{
		block.Subject{}, transaction.Subject{}, event.Subject{}, contract.Subject{}, class.Subject{}, class.Directory{},
		transfer.Subject{}, token.Subject{}, message.Subject{}, address.Subject{},
	}
}

// Dated returns the tables in whose keys the number of the block stands that
// writes the row: no other block writes it, and it is new. What a fork must do
// about such a row is known without looking at what was there before, which spares
// a block with an undo record the read of that row. A table that is left out costs
// that read; one that does not belong here breaks undo.
func Dated() []*store.Table {
	return []*store.Table{
		chain.Digests, block.Blocks, block.Times, block.States, transaction.Transactions, event.Lists, event.Pairs,
		contract.History, class.Declarations, transfer.Addresses, transfer.Pairs, token.Firsts,
		message.Blocks, message.Contracts, message.Hashes, address.Transactions,
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
