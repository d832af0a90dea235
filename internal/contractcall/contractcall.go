// Package contractcall is the vocabulary of asking contracts something at one
// block: what those who ask and the nodes who answer have in common. It reaches
// nobody.
package contractcall

import (
	"errors"
	"math/big"

	"chainexplorer/internal/felt"
)

// Block pins a call: the hash is what the node is asked for, and the number
// tells which nodes can know it.
type Block struct {
	Number uint64
	Hash   felt.Felt
}

// Call is a call of a view function.
type Call struct {
	Contract felt.Felt
	Selector felt.Felt
	Calldata []felt.Felt
}

// MaxAnswer is how many bytes a node may take for the result of a call.
const MaxAnswer = 8 << 20

// Fault is the contract's own reason for not answering.
type Fault byte

// The faults.
const (
	None         Fault = iota
	NoContract         // there is no contract at the address at that block
	NoEntryPoint       // the contract has no such function
	Reverted           // the function ran and refused
)

// Result is what a call came to. Values count when Fault is None.
type Result struct {
	Values []felt.Felt
	Fault  Fault
	Reason string // of a revert, as the node tells it, shortened to one line
}

// Pending is the block that is being built. It has no hash yet, and its content
// may still change. Nodes before version 0.9 tell its parent, later ones its
// number.
type Pending struct {
	Number *uint64
	Parent *felt.Felt
}

// Same says whether two descriptions are of one block.
func (p Pending) Same(q Pending) bool {
	return same(p.Number, q.Number) && same(p.Parent, q.Parent)
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// The ways in which a node fails to answer.
var (
	// ErrUnavailable says that no node could answer in time.
	ErrUnavailable = errors.New("no node could answer")
	// ErrTooLong says that what the contracts answer is longer than what is taken of a node: asking again does not
	// help. It comes with ErrUnavailable.
	ErrTooLong = errors.New("the answer is too long")
	// ErrBlockUnknown says that the nodes do not have the block: it was forked
	// away, or lies below what they keep.
	ErrBlockUnknown = errors.New("the nodes do not have the block")
)

// Amount reads a u256 in two values, or a number in one; false when the values
// are neither.
func Amount(values []felt.Felt) (*big.Int, bool) {
	switch len(values) {
	case 1:
		return values[0].Big(), true
	case 2:
		b, err := felt.U256(values[0], values[1])
		return new(big.Int).SetBytes(b[:]), err == nil
	}
	return nil, false
}

// The functions of a token that amounts are read with, in both spellings.
var (
	TotalSupply = []felt.Felt{felt.Selector("total_supply"), felt.Selector("totalSupply")}
	BalanceOf   = []felt.Felt{felt.Selector("balance_of"), felt.Selector("balanceOf")}
)
