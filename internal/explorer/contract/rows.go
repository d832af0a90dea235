// Package contract keeps the classes that contracts had, block by block, and the
// evidence of their deployment.
//
// Rows, with n deployments and replacements, of c contracts:
//
//	contract_class       address | block kind   class hash                   n rows
//	contract_deployment  address |              block, transaction, deployer  c rows
//	contract_current     address |              the class now                 c rows
//
// and contract_origin, of contracts that no diff deployed (see Origins).
//
// A state diff tells the class that a contract ends a block with, and nothing
// of the moment in the block at which it changed: what executed inside such a
// block is one of the classes that Classes.Candidates names. A class that came
// and went inside one block leaves no trace in the diff, and none here.
//
// Costs: the classes of one contract at one block are one scan of at most three
// rows; the deployments and present classes of any number of contracts are one
// GetMany; those of a page of events are one scan per contract, and one more for a
// place that lies below many later replacements, and one Get for a contract that no
// diff deployed. The rows depend on the block alone, but for contract_origin.
package contract

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject. History holds a row for every class that a
// contract got.
var (
	History     = &store.Table{ID: 40, Name: "contract_class", PartitionLen: felt.Size, Listed: true}
	Deployments = &store.Table{ID: 84, Name: "contract_deployment", PartitionLen: felt.Size}
	Currents    = &store.Table{ID: 87, Name: "contract_current", PartitionLen: felt.Size}
)

// The kinds of a change. A contract that was deployed and replaced in one block
// has both, in this order.
const (
	kindDeployed = 0
	kindReplaced = 1
)

// change is a row: the class that a contract got in a block.
type change struct {
	block uint64
	kind  byte
	class felt.Felt
}

func sortKey(block uint64, kind byte) []byte { return append(explorer.BlockKey(block), kind) }

func parseChange(row store.Row) (c change, err error) {
	if len(row.Sort) != 9 || row.Sort[8] > kindReplaced || len(row.Value) != felt.Size {
		return c, fmt.Errorf("%w: class of a contract with a key of %d and a value of %d bytes", record.ErrCorrupt, len(row.Sort), len(row.Value))
	}
	c.block, c.kind = binary.BigEndian.Uint64(row.Sort), row.Sort[8]
	copy(c.class[:], row.Value)
	return c, nil
}
