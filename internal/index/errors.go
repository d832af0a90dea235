package index

import (
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// ErrNotFound is what a Source answers for what the node does not have: a block, or a class.
var ErrNotFound = errors.New("the node does not have it")

// ErrNoOther says that every node was ruled out by who asked.
var ErrNoOther = errors.New("there is no other node")

// ErrQuarantine says that every node that could be asked is in quarantine.
var ErrQuarantine = errors.New("all nodes are in quarantine")

// FormatError says that a store holds something that this program must not touch.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return e.Reason }

func wrongChain(found, want felt.Felt) error {
	return &FormatError{fmt.Sprintf("the index holds chain %s and the node serves chain %s: use another directory or database, or another node",
		ChainName(found), ChainName(want))}
}

// ChainName renders a chain id as people write it.
func ChainName(id felt.Felt) string {
	if s, ok := id.ShortString(); ok {
		return s
	}
	return id.String()
}

// commitError says that the store did not take what is in order.
type commitError struct {
	what  string
	cause error
}

func (e *commitError) Error() string { return fmt.Sprintf("commit %s: %v", e.what, e.cause) }

func (e *commitError) Unwrap() error { return e.cause }

// VerifyError says that a block contradicts its own commitments, or cannot be
// held against them: the node lost, invented or withheld something. The run stops.
type VerifyError struct {
	Block uint64
	Node  string
	Cause error // a *starknet.MismatchError that names the commitment, or a *starknet.UnverifiedError
}

// localHint tells what to do about a node that fails by design.
const localHint = " (a local development node does not compute real hashes: index it with --verify off)"

func (e *VerifyError) Error() string {
	var doubt *starknet.UnverifiedError
	if errors.As(e.Cause, &doubt) {
		return fmt.Sprintf("block %d from node %s is refused: %s (%s): use another node or a newer program, or store such blocks as unverified with --unverified store%s",
			e.Block, e.Node, doubt.Detail, doubt.Reason, localHint)
	}
	return fmt.Sprintf("block %d from node %s fails verification: %v%s", e.Block, e.Node, e.Cause, localHint)
}

func (e *VerifyError) Unwrap() error { return e.Cause }

// DeepForkError says that the chain was forked below the oldest undo record.
type DeepForkError struct {
	Head  uint64 // of the index
	Floor uint64 // the oldest block that can be undone
}

func (e *DeepForkError) Error() string {
	return fmt.Sprintf("the chain was forked below block %d, the oldest that can be undone (head is %d): "+
		"if the node is right, index again into an empty directory or database; if it is not, use another node", e.Floor, e.Head)
}

// L1ForkError says that a branch replaces blocks that had been accepted on L1.
// They are not undone without the operator's word.
type L1ForkError struct {
	Block uint64 // the first one that differs
	L1    uint64 // the newest indexed block that had been accepted
	Node  string
}

func (e *L1ForkError) Error() string {
	from := ""
	if e.Node != "" {
		from = "node " + e.Node + " shows "
	}
	return fmt.Sprintf("%sanother block %d than the index, whose blocks up to %d had been accepted on L1; nothing was undone: "+
		"if the node is right, start again with --allow-fork-below-l1 %d; if it is not, use another node", from, e.Block, e.L1, e.Block)
}

// strayError says that a node gave another block than the branch had when it was
// verified.
type strayError struct {
	Block uint64
	Node  string
	Hash  felt.Felt
	Want  felt.Felt
}

func (e *strayError) Error() string {
	return fmt.Sprintf("block %d from node %s is %s, on the branch that was verified it is %s", e.Block, e.Node, e.Hash, e.Want)
}

// checkError says that a node's answer does not fit together. It may pass, so
// the block is asked for again.
type checkError struct {
	Block  uint64
	Node   string
	Reason string
}

func (e *checkError) Error() string {
	return fmt.Sprintf("block %d from node %s is inconsistent: %s", e.Block, e.Node, e.Reason)
}

// forkError says that a block does not build on the one before it.
type forkError struct {
	Block  uint64
	Node   string
	Parent felt.Felt
	Want   felt.Felt
}

func (e *forkError) Error() string {
	return fmt.Sprintf("block %d from node %s has parent %s, the index has %s", e.Block, e.Node, e.Parent, e.Want)
}

// Permanent tells the errors of a run after which another would end the same way
// until a person did something.
func Permanent(err error) bool { return permanent(err) }

// permanent tells the errors after which going on would do harm, or cannot help.
func permanent(err error) bool {
	var (
		format *FormatError
		verify *VerifyError
		deep   *DeepForkError
		l1     *L1ForkError
		stuck  *StuckError
		proj   *projectionError
	)
	return errors.As(err, &format) || errors.As(err, &verify) || errors.As(err, &deep) || errors.As(err, &l1) ||
		errors.As(err, &stuck) || errors.As(err, &proj)
}

// StuckError says that the node kept contradicting itself.
type StuckError struct {
	Rounds int
	Last   error
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("no progress in %d rounds because the node contradicts itself; last: %v", e.Rounds, e.Last)
}

func (e *StuckError) Unwrap() error { return e.Last }

// projectionError is a fault of ours: a block that passed the checks could not be projected.
type projectionError struct {
	Block   uint64
	Subject string
	Cause   error
}

func (e *projectionError) Error() string {
	return fmt.Sprintf("project %s rows of block %d: %v", e.Subject, e.Block, e.Cause)
}

func (e *projectionError) Unwrap() error { return e.Cause }

// standoffError says that nodes have another block than ours, for long, and too few
// for it to be taken.
type standoffError struct {
	Block      uint64
	Have, Want int
}

func (e *standoffError) Error() string {
	return fmt.Sprintf("nodes do not agree from block %d on: %d have another block than ours, and a quorum is %d", e.Block, e.Have, e.Want)
}
