package event

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// The bounds of a query.
const (
	MaxLimit = 1000
	// MaxValues bounds the distinct emitters and key values of a query together.
	MaxValues = 512
	// MaxPairs bounds the lists of (emitter, topic0) that a query joins. Beyond
	// it the emitters' and the topics' own lists are used.
	MaxPairs = 256
)

// The errors of a caller.
var (
	ErrUnfiltered = errors.New("a search needs an emitter or a key")
	ErrTooMany    = fmt.Errorf("a search has at most %d emitters and key values", MaxValues)
	ErrLimit      = fmt.Errorf("a page has 1 to %d events", MaxLimit)
	ErrRange      = errors.New("the first block of a range comes after its last")
)

// Query is what to search for.
type Query struct {
	// Emitters are the contracts of which one must have emitted the event; any
	// when empty.
	Emitters []felt.Felt
	// Keys are, per position, the values of which the event's key there must be
	// one; any, or none at all, when empty.
	Keys [Positions][]felt.Felt
	// From and To are the first and the last block; To may lie above the head.
	From, To uint64
	Order    Order
	// After is where the page before ended: its Page.Next. The search goes on
	// strictly behind it, in its order.
	After *explorer.Place
	Limit int
	// Budget bounds the work of this page.
	Budget Budget
}

// Hit is an event that was found.
type Hit struct {
	explorer.Place
	BlockHash felt.Felt
	Timestamp uint64 // of the block
	TxHash    felt.Felt
	TxType    starknet.TxType
	Event     starknet.Event
}

// HitOf is the hit at a place, from what its transaction's row tells.
func HitOf(p explorer.Place, e *transaction.Emitted) Hit {
	return Hit{Place: p, BlockHash: e.BlockHash, Timestamp: e.BlockTime, TxHash: e.TxHash, TxType: e.TxType, Event: e.Event}
}

// Page is a part of a search's result.
type Page struct {
	Events []Hit
	// Done says that nothing in the range is left, as far as it is indexed.
	// Otherwise Next is where to go on. A page that was ended by its budget has
	// fewer events than asked for, or none, and is not done.
	Done bool
	Next *explorer.Place
	// NextHash is the hash of the block of Next; a cursor must carry it, and it
	// must hold: see block.Ref.
	NextHash felt.Felt
	Work     Work
}

func (q *Query) check(values int) error {
	switch {
	case values == 0:
		return ErrUnfiltered
	case values > MaxValues:
		return ErrTooMany
	case q.Limit < 1 || q.Limit > MaxLimit:
		return ErrLimit
	case q.From > q.To:
		return ErrRange
	}
	return nil
}

// Identity is the same for queries that find the same, in whichever order they name
// it: a page's place is one of all of them. Neither the limit nor the place counts.
func (q *Query) Identity() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\x00%d\x00%v", q.From, q.To, q.Order) //nolint:errcheck // a builder never fails
	write := func(list []felt.Felt) {
		b.WriteByte(1)
		if len(list) == 0 {
			return
		}
		list = slices.Clone(list)
		arrange.By(list, felt.Felt.Cmp)
		for _, f := range list {
			b.Write(f[:])
		}
	}
	write(q.Emitters)
	for i := range q.Keys {
		write(q.Keys[i])
	}
	return b.String()
}

// bounds are the first and the last block of the search in its order. None are
// left when the first is behind the last.
func (q *Query) bounds() (first, last uint64, some bool) {
	first, last = q.To, q.From
	if q.Order == Asc {
		first, last = q.From, q.To
	}
	if q.After != nil {
		at := q.After.Block
		if q.Order == Asc && q.After.Tx == explorer.BehindAll { // nothing is left of that block
			if at == math.MaxUint64 {
				return first, last, false
			}
			at++
		}
		if q.Order.behind(at, first) {
			first = at
		}
	}
	return first, last, !q.Order.behind(first, last)
}

// behindAfter reports whether a place is still to be searched.
func (q *Query) behindAfter(p explorer.Place) bool {
	switch {
	case q.After == nil:
		return true
	case q.Order == Asc:
		return q.After.Before(p)
	}
	return p.Before(*q.After)
}

// Search returns a page of the events that match, in the query's order.
func Search(ctx context.Context, r store.Reader, q Query) (Page, error) {
	f := q.filter()
	if err := q.check(f.values); err != nil {
		return Page{}, err
	}
	first, last, some := q.bounds()
	if !some {
		return Page{Done: true}, nil
	}
	s := &search{ctx: ctx, r: r, q: &q, first: first, last: last, meter: &meter{budget: q.Budget.withDefaults()}}
	if err := s.open(f.conditions()); err != nil {
		return Page{}, fmt.Errorf("search events: %w", err)
	}
	page, err := s.page()
	if err != nil {
		return Page{}, fmt.Errorf("search events: %w", err)
	}
	return page, nil
}
