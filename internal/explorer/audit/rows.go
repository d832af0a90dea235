// Package audit keeps how far the auditor has come, which recomputes blocks that
// are in the index, over and over.
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

// State is what the auditor has done. Counts are of all passes together.
type State struct {
	Next     uint64 // the block that is recomputed next
	Passes   uint64 // how often it came to the finalized block
	Verified uint64 // recomputed blocks that agree with their hashes
	Unproved uint64 // blocks that could not be held against their hashes
	At       uint64 // when the newest was recomputed, in seconds since 1970

	// Mismatches is how often a block of the index contradicted its hash.
	Mismatches uint64
	// False says that there is such a block as far as is known: Block, for Reason.
	False  bool
	Block  uint64
	Reason string
}

// Encode returns the row.
func (s *State) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	for _, n := range []uint64{s.Next, s.Passes, s.Verified, s.Unproved, s.At, s.Mismatches} {
		e.Uint(n)
	}
	if s.False {
		e.Byte(1)
		e.Uint(s.Block)
		e.Text(s.Reason)
	} else {
		e.Byte(0)
	}
	return e.Bytes()
}

// Decode reads the row.
func Decode(b []byte) (s State, err error) {
	d := record.NewDecoder(b, recordVersion)
	for _, n := range []*uint64{&s.Next, &s.Passes, &s.Verified, &s.Unproved, &s.At, &s.Mismatches} {
		*n = d.Uint()
	}
	switch mark := d.Byte(); mark {
	case 0:
	case 1:
		s.False, s.Block, s.Reason = true, d.Uint(), d.Text()
	default:
		return s, fmt.Errorf("audit row: %w: mark %d", record.ErrCorrupt, mark)
	}
	if err := d.Finish(); err != nil {
		return s, fmt.Errorf("audit row: %w", err)
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
