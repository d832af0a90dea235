package transfer

import (
	"context"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Moves is what the transfers of one transaction did for an address: a set.
type Moves uint8

// The moves. A transfer to oneself is neither of the others.
const (
	MovedIn Moves = 1 << iota
	MovedOut
	MovedSelf
)

var movesOf = [...]Moves{In: MovedIn, Out: MovedOut, Both: MovedSelf}

// Way is how the transactions of an address are walked.
type Way struct {
	// Ascending is oldest first.
	Ascending bool
	// Past is where a walk before ended; this one goes on strictly behind it. Nil
	// starts at the first in the order.
	Past *explorer.Position
	// Rows bounds the blocks that are read.
	Rows int
}

// WalkTransactions calls use once with every transaction that has transfers from
// or to an address, in order, until it returns false, the list ends or the rows
// are spent. One scan, whatever the number of transfers in a transaction: they are
// in one row with the rest of their block.
func WalkTransactions(ctx context.Context, r store.Reader, address felt.Felt, w Way, use func(p explorer.Position, m Moves) bool) error {
	l := addressList(&address)
	rng := store.Range{Table: l.table, Partition: address[:], Reverse: !w.Ascending, Limit: w.Rows}
	if w.Past != nil && w.Ascending {
		rng.From = l.key(w.Past.Block)
	} else if w.Past != nil {
		rng.To = l.behind(w.Past.Block)
	}
	var spots []postings.Spot
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return fmt.Errorf("read the transfer list of %s: %w", address, err)
		}
		block, err := l.blockOf(row.Sort)
		if err != nil {
			return err
		}
		if spots, err = l.spots(spots[:0], row.Value); err != nil {
			return fmt.Errorf("transfer list of block %d: %w", block, err)
		}
		if !w.Ascending {
			slices.Reverse(spots)
		}
		for left := spots; len(left) > 0; {
			p, moves := explorer.Position{Block: block, Index: left[0].Tx}, Moves(0)
			for len(left) > 0 && left[0].Tx == p.Index {
				moves |= movesOf[left[0].Tag]
				left = left[1:]
			}
			if w.Past != nil && (w.Ascending && !w.Past.Before(p) || !w.Ascending && !p.Before(*w.Past)) {
				continue
			}
			if !use(p, moves) {
				return nil
			}
		}
	}
	return nil
}
