package event

import (
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
)

// A search by later keys over very many blocks is for selectors and positions that
// are declared here. The lists are exact for every selector; declaring some keeps
// the promise, and the cost of a page, to what wallets need.
//
// A certificate covers the finalized tier from block 0. A search may reach up to
// RawExtension blocks beyond it, into blocks that can still be forked away; what
// lies further is not completed.
//
// A page claims what the pages up to it have searched, and no more: only the last
// one can claim the whole range. Searching newest first, the claim begins where the
// first page began, however far the chain has got since.

// RawExtension is how many blocks beyond its certificate a wide search may reach.
const RawExtension = 5_000

// Declaration is a selector with the positions that may be searched widely.
type Declaration struct {
	Name      string
	Positions []int
}

// Declared are all of them.
var Declared = []Declaration{
	{"Transfer", []int{1, 2, 3, 4}},
	{"Approval", []int{1, 2}},
	{"ApprovalForAll", []int{1, 2}},
	{"TransferSingle", []int{1, 2, 3}},
	{"TransferBatch", []int{1, 2, 3}},
	{"OwnershipTransferred", []int{1, 2}},
	{"DepositHandled", []int{1, 2}},
	{"WithdrawInitiated", []int{1, 2, 3}},
	{"Deposit", []int{1, 2}},
	{"Withdrawal", []int{1, 2}},
}

var declaredPositions = func() map[felt.Felt][]int {
	m := map[felt.Felt][]int{}
	for _, d := range Declared {
		m[felt.Selector(d.Name)] = d.Positions
	}
	return m
}()

// Undeclared finds a selector and a position of a query that may not be searched
// widely.
func (q *Query) Undeclared() (selector felt.Felt, position int, found bool) {
	for _, selector := range q.Keys[0] {
		for p := 1; p < Positions; p++ {
			if len(q.Keys[p]) > 0 && !slices.Contains(declaredPositions[selector], p) {
				return selector, p, true
			}
		}
	}
	return selector, 0, false
}

// Interval is a range of blocks, both ends included.
type Interval struct{ FromBlock, ToBlock uint64 }

// Wide is a search over more blocks than an ordinary one.
type Wide struct {
	Requested Interval
	Through   uint64 // the last block of the certificate
	// Top is the last block that is searched. When the newest come first it remains
	// that of the first page.
	Top     uint64
	TopHash felt.Felt
}

// NewWide is a search that begins now, with a certificate through a block. It
// reaches the certificate, and of what is indexed above it a bounded number of
// blocks; Top may lie below what is requested.
func NewWide(requested Interval, through, head uint64) Wide {
	return Wide{Requested: requested, Through: through, Top: min(requested.ToBlock, through+RawExtension, head)}
}

// Claim is how much of a wide range some pages stand for.
type Claim struct {
	// Completed is what was searched, Certified the part of it that the certificate
	// covers; nil while that is not one whole block.
	Completed, Certified *Interval
	Complete             bool // all that was requested
}

// Claims is what the pages up to one have searched, if next is where it ended; nil
// when nothing is left.
func (w *Wide) Claims(order Order, next *explorer.Place) (out Claim) {
	from, to := w.Requested.FromBlock, w.Top
	if next != nil && order == Desc {
		from = next.Block + 1
	}
	if next != nil && order == Asc {
		if next.Block == from {
			return out
		}
		to = next.Block - 1
	}
	if from > to {
		return out
	}
	out.Completed = &Interval{from, to}
	out.Complete = *out.Completed == w.Requested
	if from <= w.Through {
		out.Certified = &Interval{from, min(to, w.Through)}
	}
	return out
}
