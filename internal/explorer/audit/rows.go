// Package audit keeps how far the auditor has come, which recomputes blocks that
// are in the index, over and over, and holds samples of what was made of them
// against a node.
//
//	audit  | "state"   what was covered, and what was found   1 row
//
// Cost: one Get.
package audit

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// States is the table of this subject.
var States = &store.Table{ID: 110, Name: "audit", PartitionLen: 0}

// Enrichment lists the tables.
func Enrichment() []*store.Table { return []*store.Table{States} }

// StateKey is where the state is kept.
var StateKey = store.Key{Table: States, Sort: []byte("state")}

const recordVersion = 1

// Kind is what is compared.
type Kind uint8

// The kinds. Their values are stored.
const (
	Blocks      Kind = iota // all that follows from a block, against its hash
	Balances                // what transfers left with a holder, against the contract's word
	ClassHashes             // the class of a contract at a block
	Nonces                  // the nonce of a sender after a block
	Classes                 // that a class is there
	kinds
)

// String is the kind's name in metrics and answers.
func (k Kind) String() string {
	return [...]string{"block", "balance", "class_hash", "nonce", "class", "unknown"}[min(k, kinds)]
}

// Kinds lists them all.
func Kinds() []Kind { return []Kind{Blocks, Balances, ClassHashes, Nonces, Classes} }

// State is what the auditor has done. Counts are of all passes together.
type State struct {
	Next    uint64 // the block that is looked at next
	Through uint64 // the highest that ever was, when there was one
	Passes  uint64 // how often it came to the finalized block
	At      uint64 // when the newest was looked at, in seconds since 1970

	Checked  [kinds]uint64 // what was compared and agrees: Blocks are those that agree with their hashes
	Unproved uint64        // blocks that could not be held against their hashes
	// Unanswered are samples that no node could tell of, such as one that keeps
	// no old states.
	Unanswered uint64
	// Unqualified are balances that differ where the index does not claim that
	// transfers tell all: of tokens that nobody looked at.
	Unqualified uint64

	// Mismatches is how often something contradicted the index.
	Mismatches uint64
	// False says that something does as far as is known: what is kept of Block.
	False  bool
	Block  uint64
	Kind   Kind
	Reason string
}

func (s *State) numbers() []*uint64 {
	list := []*uint64{&s.Next, &s.Through, &s.Passes, &s.At}
	for i := range s.Checked {
		list = append(list, &s.Checked[i])
	}
	return append(list, &s.Unproved, &s.Unanswered, &s.Unqualified, &s.Mismatches)
}

// Encode returns the row.
func (s *State) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	for _, n := range s.numbers() {
		e.Uint(*n)
	}
	if s.False {
		e.Byte(1)
		e.Uint(s.Block)
		e.Byte(byte(s.Kind))
		e.Text(s.Reason)
	} else {
		e.Byte(0)
	}
	return e.Bytes()
}

// Decode reads the row.
func Decode(b []byte) (s State, err error) {
	d := record.NewDecoder(b, recordVersion)
	for _, n := range s.numbers() {
		*n = d.Uint()
	}
	switch mark := d.Byte(); mark {
	case 0:
	case 1:
		s.False, s.Block, s.Kind, s.Reason = true, d.Uint(), Kind(d.Byte()), d.Text()
	default:
		return s, fmt.Errorf("audit row: %w: mark %d", record.ErrCorrupt, mark)
	}
	if err := d.Finish(); err != nil {
		return s, fmt.Errorf("audit row: %w", err)
	}
	if s.Kind >= kinds {
		return s, fmt.Errorf("audit row: %w: kind %d", record.ErrCorrupt, s.Kind)
	}
	return s, nil
}

// Read returns the state; some is false when nothing was ever audited.
func Read(ctx context.Context, r store.Reader) (s State, some bool, err error) {
	b, err := r.Get(ctx, StateKey)
	if errors.Is(err, store.ErrNotFound) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read audit row: %w", err)
	}
	s, err = Decode(b)
	return s, err == nil, err
}
