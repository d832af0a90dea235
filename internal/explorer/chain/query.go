package chain

import (
	"context"
	"fmt"

	"chainexplorer/internal/store"
)

// State is all that the index knows of itself, from one view.
type State struct {
	Format  Format
	Present bool // false: the store holds no index yet

	Head    Head
	HasHead bool

	L1    L1
	HasL1 bool

	Fork Fork // Count is zero when there was none

	// Rewind is a fork of which some blocks are undone and others not yet.
	Rewind    Rewind
	Rewinding bool

	Checked Summary // of verification

	// Fault is set while the write path is stopped by something that a person must look at.
	Fault    Fault
	HasFault bool
	// Hindered is what it cannot get past while it keeps trying; its zero value when
	// nothing is in the way.
	Hindered Hindrance

	// Seen is what the indexer's nodes said; its zero value when none wrote it.
	Seen Seen

	// Agreed is how far nodes agree; its zero value when no quorum is wanted.
	Agreed Agreed
}

// stateKey is what the state is remembered under.
type stateKey struct{}

// Read returns the state of the index, which nobody may change what it points to: views of
// one state share it. One GetMany, or none.
func Read(ctx context.Context, r store.Reader) (State, error) {
	s, err := shared(ctx, r)
	if err != nil {
		return State{}, err
	}
	return *s, nil
}

// shared is the state that all views of it are handed.
func shared(ctx context.Context, r store.Reader) (*State, error) {
	if s, ok := store.Recalled[stateKey, *State](r, stateKey{}); ok {
		return s, nil
	}
	s, err := read(ctx, r)
	if err != nil {
		return nil, err
	}
	store.Remember(r, stateKey{}, &s)
	return &s, nil
}

func read(ctx context.Context, r store.Reader) (s State, err error) {
	rows, err := getAll(ctx, r, FormatKey, HeadKey, L1Key, ForkKey, FaultKey, SeenKey, RewindKey, VerificationKey, AgreedKey, HinderedKey, PeaksKey)
	if err != nil {
		return s, err
	}
	if s.Format, s.Present, err = decoded(rows[0], DecodeFormat); err != nil {
		return s, err
	}
	if s.Present && s.Format.Layout != Layout { // the other rows may mean something else
		return s, &LayoutError{s.Format.Layout}
	}
	if s.Head, s.HasHead, err = decoded(rows[1], DecodeHead); err != nil {
		return s, err
	}
	if s.L1, s.HasL1, err = decoded(rows[2], DecodeL1); err != nil {
		return s, err
	}
	if s.Fork, _, err = decoded(rows[3], DecodeFork); err != nil {
		return s, err
	}
	if s.Fault, s.HasFault, err = decoded(rows[4], DecodeFault); err != nil {
		return s, err
	}
	if s.Seen, _, err = decoded(rows[5], DecodeSeen); err != nil {
		return s, err
	}
	if s.Rewind, s.Rewinding, err = decoded(rows[6], DecodeRewind); err != nil {
		return s, err
	}
	s.Rewinding = s.Rewinding && s.HasHead && s.Rewind.of(s.Head)
	if s.Checked, _, err = decoded(rows[7], DecodeSummary); err != nil {
		return s, err
	}
	if s.Agreed, _, err = decoded(rows[8], DecodeAgreed); err != nil {
		return s, err
	}
	if s.Hindered, _, err = decoded(rows[9], DecodeHindrance); err != nil {
		return s, err
	}
	s.Seen.Peaks, _, err = decoded(rows[10], DecodePeaks)
	return s, err
}

// LayoutError says that an index was written by another version of the program.
type LayoutError struct{ Found uint64 }

func (e *LayoutError) Error() string {
	advice := "upgrade the program, or index again into an empty directory or database"
	if e.Found < Layout {
		advice = "index again into an empty directory or database, or run the version of the program that wrote it"
	}
	return fmt.Sprintf("the index has layout %d and this program has layout %d: %s", e.Found, Layout, advice)
}

// FormatNow returns the chain and the layout of an index, whatever the layout is.
// One Get.
func FormatNow(ctx context.Context, r store.Reader) (Format, bool, error) {
	return get(ctx, r, FormatKey, DecodeFormat)
}

// Forks returns how many forks the index went through. One Get.
func Forks(ctx context.Context, r store.Reader) (uint64, error) {
	f, _, err := get(ctx, r, ForkKey, DecodeFork)
	return f.Count, err
}

// Revision names a state of the index. Two views with the same revision hold the
// same rows that blocks wrote: whatever replaces blocks raises Forks. It is raised
// when the last of the old blocks is gone: with those of them that are left the
// index is as it was when they were new.
type Revision struct {
	Forks uint64 // how many forks the index went through
	Next  uint64 // the number after the head; 0 when there is none
	L1    uint64 // the number after the newest block accepted on L1; 0 when there is none
	// Undoing is Next while a fork is being undone, otherwise 0.
	Undoing uint64
	// Agreed is the number after the newest block that a quorum of nodes agreed on.
	Agreed uint64
	// Unproved is how many blocks are not known to agree with their hashes: one that
	// is verified later reads otherwise.
	Unproved uint64
	// Proofs is which proofs of classes are told beside the index; whoever tells of them
	// sets it. No row says so.
	Proofs uint64
}

// Lasting is what is left of a revision for answers about blocks that only a fork
// can take away, and of what was proven then.
func (v Revision) Lasting() Revision {
	return Revision{Forks: v.Forks, Undoing: v.Undoing, Proofs: v.Proofs}
}

// Now returns the revision of a view. One GetMany.
func Now(ctx context.Context, r store.Reader) (now Revision, err error) {
	rows, err := getAll(ctx, r, ForkKey, HeadKey, L1Key, RewindKey, AgreedKey, VerificationKey)
	if err != nil {
		return now, err
	}
	fork, _, err := decoded(rows[0], DecodeFork)
	if err != nil {
		return now, err
	}
	now.Forks = fork.Count
	head, ok, err := decoded(rows[1], DecodeHead)
	if err != nil {
		return now, err
	}
	if ok {
		now.Next = head.Number + 1
	}
	l1, ok, err := decoded(rows[2], DecodeL1)
	if err != nil {
		return now, err
	}
	if ok {
		now.L1 = l1.Number + 1
	}
	undoing, ok, err := decoded(rows[3], DecodeRewind)
	if err != nil {
		return now, err
	}
	if ok && undoing.of(head) {
		now.Undoing = now.Next
	}
	agreed, _, err := decoded(rows[4], DecodeAgreed)
	if err != nil {
		return now, err
	}
	now.Agreed = agreed.Next
	found, _, err := decoded(rows[5], DecodeSummary)
	now.Unproved = found.NotChecked + found.Unverified
	return now, err
}

// DigestAt returns the digest of the index up to a block.
func DigestAt(ctx context.Context, r store.Reader, number uint64) (Digest, bool, error) {
	return get(ctx, r, DigestKey(number), DecodeDigest)
}

// Finality is how settled a block is.
type Finality uint8

// The finality tiers, each implying the ones before it.
const (
	AcceptedL2 Finality = iota + 1 // indexed
	Finalized                      // at least Depth blocks below the head
	AcceptedL1                     // accepted by the base layer
)

// DefaultDepth is how far below the head a block is called finalized.
const DefaultDepth = 120

// Proven says that no block up to this one is unverified. Whatever is read as of
// a block builds on all before it.
func (s *State) Proven(number uint64) bool {
	return s.Checked.Unverified == 0 || number < s.Checked.FirstUnverified
}

// Below is the block so far below the head, whatever else is known of it; ok is
// false while the chain is not as long.
func (s *State) Below(depth uint64) (number uint64, ok bool) {
	if !s.HasHead || s.Head.Number < depth {
		return 0, false
	}
	return s.Head.Number - depth, true
}

// FinalizedBlock is the newest block of the finalized tier or a higher one, by
// its depth below the head; ok is false while there is none.
func (s *State) FinalizedBlock(depth uint64) (number uint64, ok bool) {
	if number, ok = s.Below(depth); !ok {
		return 0, false
	}
	if !s.Proven(number) {
		if s.Checked.FirstUnverified == 0 {
			return 0, false
		}
		number = s.Checked.FirstUnverified - 1
	}
	if next, all := s.AgreedNext(); !all {
		if next == 0 {
			return 0, false
		}
		number = min(number, next-1)
	}
	return number, true
}

// Finality tells the tier of an indexed block. No block that is unverified, or
// builds on one that is, has a higher tier than the first; nor one that a wanted
// quorum of nodes does not agree on.
func (s *State) Finality(number, depth uint64) Finality {
	switch deep, ok := s.Below(depth); {
	case !s.Proven(number), !s.agreedOn(number):
		return AcceptedL2
	case s.HasL1 && number <= s.L1.Number:
		return AcceptedL1
	case ok && number <= deep:
		return Finalized
	default:
		return AcceptedL2
	}
}
