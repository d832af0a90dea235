// Package class keeps what is known of classes.
//
// Rows, with n declarations and m classes:
//
//	class            hash | block   kind, compiled class hash           n rows
//	class_abi        hash |         what was fetched of the class       m rows
//	class_missing    –    | hash    where it was first wanted           those that could not be had
//	class_interface  hash |         what can be called of the class     at most m rows
//	selector_name    selector | 0   name of an event                    one for each name, and
//	selector_name    selector | 1   (empty)                             for what is no event's
//	selector_name    selector | 2   name of a function                  one for each name
//
// and, with c contracts, the directory:
//
//	class_summary   hash    |               counts, first blocks         m rows
//	class_listing   order   | number hash   (empty)                      3m rows
//	class_instance  hash 0  | address       since which block            c rows
//	class_instance  hash 1  | block address (empty)                      c rows
//	class_holder    address |               the class it has now         c rows
//
// class and the directory follow from blocks alone. class_abi, class_missing,
// class_interface and selector_name come from calls to a node: they are
// enrichment, outside the digest and outside undo. A row of class_abi or class_interface that was fetched
// is a function of the class, which its hash names, so that it stays true whatever
// becomes of the block that led to it.
//
// Costs: a declaration is one scan of one row; ABIs are one GetMany; a page of the
// directory is one scan and one GetMany, a page of instances one scan, however
// many there are. A deployment writes three rows of its own, and three of its class.
package class

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Declarations = &store.Table{ID: 44, Name: "class", PartitionLen: felt.Size, Listed: true}
	ABIs         = &store.Table{ID: 45, Name: "class_abi", PartitionLen: felt.Size}
	Missing      = &store.Table{ID: 46, Name: "class_missing", PartitionLen: 0}
	Interfaces   = &store.Table{ID: 47, Name: "class_interface", PartitionLen: felt.Size}
)

// Kind is the language that a class is in.
type Kind byte

// The kinds of classes.
const (
	KindUnknown Kind = iota
	Sierra
	Cairo0
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case Sierra:
		return "sierra"
	case Cairo0:
		return "cairo0"
	}
	return "unknown"
}

const recordVersion = 1

// Declaration is where and how a class was declared.
type Declaration struct {
	Block uint64
	Kind  Kind
	// Compiled is the compiled class hash of a Sierra class.
	Compiled felt.Felt
}

func encodeDeclaration(e *record.Encoder, k Kind, compiled *felt.Felt) []byte {
	e.Reset(recordVersion)
	e.Byte(byte(k))
	if k == Sierra {
		e.Felt(compiled)
	}
	return e.Bytes()
}

func parseDeclaration(row store.Row) (d Declaration, err error) {
	if len(row.Sort) != 8 {
		return d, fmt.Errorf("%w: declaration with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
	}
	d.Block = binary.BigEndian.Uint64(row.Sort)
	dec := record.NewDecoder(row.Value, recordVersion)
	switch d.Kind = Kind(dec.Byte()); d.Kind {
	case Sierra:
		d.Compiled = dec.Felt()
	case Cairo0:
	default:
		if dec.Err() == nil {
			return d, fmt.Errorf("%w: class of kind %d", record.ErrCorrupt, d.Kind)
		}
	}
	return d, dec.Finish()
}

// ABIKey is the address of what was fetched of a class.
func ABIKey(hash felt.Felt) store.Key { return store.Key{Table: ABIs, Partition: hash[:]} }

// InterfaceKey is the address of what can be called of a class.
func InterfaceKey(hash felt.Felt) store.Key { return store.Key{Table: Interfaces, Partition: hash[:]} }

// MissingKey is the place of a class among those that could not be had.
func MissingKey(hash felt.Felt) store.Key { return store.Key{Table: Missing, Sort: hash[:]} }

// EncodeMissing is the row of a class that could not be had when a block with
// this number wanted it.
func EncodeMissing(block uint64) []byte { return explorer.BlockKey(block) }

// ParseMissing reads such a row.
func ParseMissing(sort, value []byte) (hash felt.Felt, block uint64, err error) {
	if len(sort) != felt.Size || len(value) != 8 {
		return hash, 0, fmt.Errorf("%w: missing class with a key of %d and a value of %d bytes", record.ErrCorrupt, len(sort), len(value))
	}
	copy(hash[:], sort)
	return hash, binary.BigEndian.Uint64(value), nil
}
