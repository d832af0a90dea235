package event

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// search is a running query: lists give candidates, candidates are read in
// batches, and what is not proven by the lists is checked on the events.
type search struct {
	ctx         context.Context
	r           store.Reader
	q           *Query
	meter       *meter
	first, last uint64

	join   *intersection
	joined []*condition // proven by the lists
	rest   []*condition // to be checked, the rarest first

	block uint64
	spots []postings.Spot // of block, yet to be taken; the next one is at the end when newest first
	ended bool
}

func (s *search) openOne(c *condition) error {
	return c.open(s.ctx, s.r, s.meter, s.q.Order, s.first, s.last)
}

func (s *search) open(conditions []*condition) (err error) {
	s.joined, s.rest, err = plan(conditions, s.q.Order, s.first, s.last, s.openOne)
	if err != nil {
		return err
	}
	s.join = &intersection{order: s.q.Order, meter: s.meter, first: s.first, frontier: s.first}
	for _, c := range s.joined {
		s.join.members = append(s.join.members, c.found)
	}
	s.ended = len(s.joined) == 0
	return nil
}

// promote joins the lists of the rarest condition that was only checked so far.
// No candidate may be left: those found before are not proven by it.
func (s *search) promote() error {
	c := s.rest[0]
	if c.found == nil { // not opened yet; what the search has behind it does not matter
		if err := c.open(s.ctx, s.r, s.meter, s.q.Order, s.join.frontier, s.last); err != nil {
			return err
		}
	}
	s.rest = s.rest[1:]
	if c.found == nil {
		s.ended = true
		return nil
	}
	s.joined = append(s.joined, c)
	s.join.members = append(s.join.members, c.found)
	return nil
}

// step moves to the next block with candidates.
func (s *search) step() error {
	if !s.join.seek(s.join.frontier) {
		s.ended = s.join.err == nil
		return s.join.err
	}
	s.block = s.join.members[0].At()
	spots, err := s.join.spots()
	if err != nil {
		return err
	}
	if s.q.After != nil && s.block == s.q.After.Block {
		kept := spots[:0]
		for _, p := range spots {
			if s.q.behindAfter(explorer.Place{Block: s.block, Tx: p.Tx, Log: p.Log}) {
				kept = append(kept, p)
			}
		}
		spots = kept
	}
	s.spots = spots
	if next, ok := s.q.Order.next(s.block); ok {
		s.join.reached(next)
		s.ended = s.q.Order.behind(next, s.last)
	} else {
		s.ended = true
	}
	return nil
}

// take returns up to n candidates. An error comes with those found before it.
func (s *search) take(n int) (out []explorer.Place, err error) {
	out = make([]explorer.Place, 0, n)
	for len(out) < n {
		if len(s.spots) == 0 {
			if s.ended {
				return out, nil
			}
			if err := s.step(); err != nil {
				return out, err
			}
			continue
		}
		var p postings.Spot
		if s.q.Order == Asc {
			p, s.spots = s.spots[0], s.spots[1:]
		} else {
			p, s.spots = s.spots[len(s.spots)-1], s.spots[:len(s.spots)-1]
		}
		out = append(out, explorer.Place{Block: s.block, Tx: p.Tx, Log: p.Log})
	}
	return out, nil
}

// rejectTimes is how many candidates to one hit are too many to go on reading
// them one by one, and enoughTried after how many that is looked at.
const (
	rejectTimes = 4
	enoughTried = 32
)

func (s *search) page() (page Page, err error) {
	var next *explorer.Place
	tried, found := 0, 0
	narrow := false // promote as soon as no candidate is left
	for {
		want := s.q.Limit + 1 - len(page.Events) // one more tells whether there is more
		if len(s.rest) > 0 {
			want = max(want, enoughTried)
		}
		want = min(want, max(1, s.meter.budget.Events-s.meter.work.Events))
		if narrow {
			want = min(want, len(s.spots))
		}
		candidates, stop := s.take(want)
		if stop != nil && !errors.Is(stop, errBudget) {
			return page, stop
		}
		before := len(page.Events)
		if page.Events, err = s.examine(page.Events, candidates); err != nil {
			return page, err
		}
		if narrow && stop == nil && len(s.spots) == 0 && len(page.Events) <= s.q.Limit {
			narrow, tried, found = false, 0, 0
			if stop = s.promote(); stop != nil && !errors.Is(stop, errBudget) {
				return page, stop
			}
		}
		if len(page.Events) > s.q.Limit {
			page.Events = page.Events[:s.q.Limit]
			next = &page.Events[s.q.Limit-1].Place
			break
		}
		if stop != nil { // the budget
			next = s.frontier()
			break
		}
		if s.ended && len(s.spots) == 0 {
			page.Done = true
			break
		}
		if s.meter.work.Events >= s.meter.budget.Events {
			next = s.stopped(candidates)
			break
		}
		tried, found = tried+len(candidates), found+len(page.Events)-before
		narrow = narrow || len(s.rest) > 0 && tried >= enoughTried && found*rejectTimes < tried
	}
	page.Work = s.meter.work
	if next != nil {
		p := *next
		page.Next = &p
	}
	return page, s.endOf(&page)
}

// endOf finds the hash of the block in which the page ends: mostly that of its
// last event.
func (s *search) endOf(page *Page) error {
	if page.Next == nil {
		return nil
	}
	if n := len(page.Events); n > 0 && page.Events[n-1].Block == page.Next.Block {
		page.NextHash = page.Events[n-1].BlockHash
		return nil
	}
	b, err := block.Get(s.ctx, s.r, page.Next.Block)
	if err != nil {
		return err
	}
	page.NextHash = b.Hash
	return nil
}

// stopped is the continuation behind the last candidate that was read.
func (s *search) stopped(candidates []explorer.Place) *explorer.Place {
	if len(s.spots) == 0 {
		return s.frontier()
	}
	return &candidates[len(candidates)-1]
}

// frontier is the continuation that starts with the first block that was not
// searched.
func (s *search) frontier() *explorer.Place {
	b := s.join.frontier
	if s.q.Order == Asc {
		b-- // the search has got somewhere, hence there is one
	}
	return &explorer.Place{Block: b, Tx: explorer.BehindAll, Log: explorer.BehindAll}
}

// examine reads candidates and appends those that meet the remaining conditions.
func (s *search) examine(hits []Hit, candidates []explorer.Place) ([]Hit, error) {
	if len(candidates) == 0 {
		return hits, nil
	}
	found, err := s.read(candidates)
	if err != nil {
		return nil, err
	}
	if len(s.rest) == 0 { // all do
		hits = slices.Grow(hits, len(candidates))
	}
	for i, c := range candidates {
		e := &found[i].Event
		if !meets(s.joined, e) {
			return nil, fmt.Errorf("%w: event %d of transaction %d of block %d is in a list that it does not belong to",
				record.ErrCorrupt, c.Log, c.Tx, c.Block)
		}
		if meets(s.rest, e) {
			hits = append(hits, HitOf(c, &found[i]))
		}
	}
	return hits, nil
}

// read reads the events of candidates. One round trip.
func (s *search) read(candidates []explorer.Place) ([]transaction.Emitted, error) {
	found, n, err := transaction.Events(s.ctx, s.r, candidates)
	s.meter.work.Events += n
	return found, err
}

func meets(conditions []*condition, e *starknet.Event) bool {
	for _, c := range conditions {
		if !c.match(e) {
			return false
		}
	}
	return true
}
