// Package audit keeps how far the auditor has come, which recomputes blocks that
// are in the index, over and over, and holds samples of what was made of them
// against a node.
//
//	audit  | "state"   what was covered, and what was found   1 row
//
// Cost: one Get.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// States is the table of this subject.
var States = &store.Table{ID: 110, Name: "audit", PartitionLen: 0}

// Enrichment lists the tables.
func Enrichment() []*store.Table { return []*store.Table{States} }

// StateKey is where the state is kept.
var StateKey = store.Key{Table: States, Sort: []byte("state")}

// recordVersion is what is written; rows of firstVersion can be read.
const (
	recordVersion = 2
	firstVersion  = 1
)

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
	// Omitted is how often that was so in this pass of blocks for which Findings had
	// no room.
	Omitted uint64
	// Findings are the blocks that stand as contradicted, the lowest first, at most
	// MaxFindings.
	Findings []Finding
}

// Standing is how sure a finding is.
type Standing uint8

// The standings. Their values are stored.
const (
	Proved   Standing = iota // by the block's hash, or by two nodes and contradicted by none
	OneWord                  // one node says so, and no other was there to ask
	Disputed                 // one node says so, and another agrees with the index
	Damaged                  // what is stored cannot be read
	standings
)

// String is the standing's name in answers.
func (s Standing) String() string {
	return [...]string{"false", "one_node", "disputed", "damaged", "unknown"}[min(s, standings)]
}

// Finding is what is wrong with a block of the index.
type Finding struct {
	Block    uint64
	Kind     Kind
	Standing Standing
	Reason   string
}

// Counts says that the index is not to be trusted at the block as far as is known.
func (f *Finding) Counts() bool { return f.Standing != Disputed }

const (
	// MaxFindings bounds the blocks that are remembered.
	MaxFindings = 64
	maxReason   = 500
)

// Worst is the lowest finding that counts, or else the lowest.
func (s *State) Worst() (f Finding, found bool) {
	for i := range s.Findings {
		if s.Findings[i].Counts() {
			return s.Findings[i], true
		}
	}
	if len(s.Findings) > 0 {
		return s.Findings[0], true
	}
	return f, false
}

// FindingAt returns what was found of a block.
func (s *State) FindingAt(block uint64) (f Finding, found bool) {
	i, found := s.search(block)
	if found {
		f = s.Findings[i]
	}
	return f, found
}

func (s *State) search(block uint64) (int, bool) {
	return slices.BinarySearchFunc(s.Findings, block, func(f Finding, n uint64) int { return cmp.Compare(f.Block, n) })
}

// Find remembers a finding. When there is no room the highest block is left out: it is
// found again.
func (s *State) Find(f Finding) {
	if len(f.Reason) > maxReason {
		f.Reason = strings.ToValidUTF8(f.Reason[:maxReason], "") + "…"
	}
	i, found := s.search(f.Block)
	if found {
		s.Findings[i] = f
		return
	}
	s.Findings = slices.Insert(s.Findings, i, f)
	if len(s.Findings) > MaxFindings {
		s.Findings = s.Findings[:MaxFindings]
		s.Omitted++
	}
}

// Clear forgets what was found of a block.
func (s *State) Clear(block uint64) {
	if i, found := s.search(block); found {
		s.Findings = slices.Delete(s.Findings, i, i+1)
	}
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
	e.Uint(s.Omitted)
	e.Uint(uint64(len(s.Findings)))
	for i := range s.Findings {
		f := &s.Findings[i]
		e.Uint(f.Block)
		e.Byte(byte(f.Kind))
		e.Byte(byte(f.Standing))
		e.Text(f.Reason)
	}
	return e.Bytes()
}

// Decode reads the row, also that of version 1, which knew one finding.
func Decode(b []byte) (s State, err error) {
	version := byte(recordVersion)
	if len(b) > 0 && b[0] == firstVersion {
		version = firstVersion
	}
	d := record.NewDecoder(b, version)
	for _, n := range s.numbers() {
		*n = d.Uint()
	}
	if version == firstVersion {
		if d.Byte() != 0 {
			s.Findings = []Finding{{Block: d.Uint(), Kind: Kind(d.Byte()), Standing: OneWord, Reason: d.Text()}}
		}
	} else {
		s.Omitted = d.Uint()
		n := d.Uint()
		if n > MaxFindings {
			return s, fmt.Errorf("audit row: %w: %d findings", record.ErrCorrupt, n)
		}
		for range n {
			s.Findings = append(s.Findings, Finding{d.Uint(), Kind(d.Byte()), Standing(d.Byte()), d.Text()})
		}
	}
	if err := d.Finish(); err != nil {
		return s, fmt.Errorf("audit row: %w", err)
	}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Kind >= kinds || f.Standing >= standings || i > 0 && f.Block <= s.Findings[i-1].Block {
			return s, fmt.Errorf("audit row: %w: finding %d", record.ErrCorrupt, i)
		}
	}
	if len(s.Findings) > 0 && version == firstVersion && s.Findings[0].Kind == Blocks {
		s.Findings[0].Standing = Proved
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
