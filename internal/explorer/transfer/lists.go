package transfer

import (
	"context"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// listed takes events from the lists of addresses: their union, in the query's
// order.
type listed struct {
	ctx   context.Context
	r     store.Reader
	q     *Query
	leafs []*leaf
	work  event.Work // of the running call
	left  event.Budget

	block uint64
	spots []postings.Spot // of block, yet to be taken from the end that comes first
	taken postings.Spot   // the last one that was
	edge  uint64          // no block in front of it is left
	armed bool            // it has got anywhere: the budget counts
	ended bool
}

func newListed(ctx context.Context, r store.Reader, q *Query) *listed {
	l := &listed{ctx: ctx, r: r, q: q, edge: q.To}
	if q.Order == event.Asc {
		l.edge = q.From
	}
	if n := len(q.Addresses) * len(q.Tokens); n == 0 || n > MaxPairs {
		for i := range q.Addresses {
			l.leafs = append(l.leafs, &leaf{list: addressList(&q.Addresses[i])})
		}
		return l
	}
	for i := range q.Addresses {
		for j := range q.Tokens {
			l.leafs = append(l.leafs, &leaf{list: pairList(&q.Addresses[i], &q.Tokens[j])})
		}
	}
	return l
}

// leaf reads one list in chunks, which grow while they are used.
type leaf struct {
	list  list
	rows  []leafRow // in the query's order
	size  int
	ended bool // no row is behind the chunk
}

type leafRow struct {
	block uint64
	value []byte
}

const (
	firstChunk = 16
	maxChunk   = 256
)

// first reports whether block a comes in front of block b in the query's order.
func (s *listed) first(a, b uint64) bool {
	if s.q.Order == event.Asc {
		return a < b
	}
	return a > b
}

// fill makes sure that the leaf has a row at the edge or behind it, if there is one.
func (s *listed) fill(l *leaf) error {
	for len(l.rows) > 0 && s.first(l.rows[0].block, s.edge) {
		l.rows = l.rows[1:]
	}
	if len(l.rows) > 0 || l.ended {
		return nil
	}
	l.size = min(max(2*l.size, firstChunk), maxChunk)
	rng := store.Range{
		Table: l.list.table, Partition: l.list.address[:], From: l.list.key(s.q.From), To: l.list.behind(s.edge),
		Reverse: true, Limit: l.size,
	}
	if s.q.Order == event.Asc {
		rng.From, rng.To, rng.Reverse = l.list.key(s.edge), l.list.behind(s.q.To), false
	}
	l.ended = true
	n := 0
	s.work.Seeks++
	for row, err := range s.r.Scan(s.ctx, rng) {
		if err != nil {
			return fmt.Errorf("read the transfer list of %s: %w", l.list.address, err)
		}
		b, err := l.list.blockOf(row.Sort)
		if err != nil {
			return err
		}
		n++
		l.rows = append(l.rows, leafRow{b, slices.Clone(row.Value)})
	}
	s.work.Rows += n
	l.ended = n < l.size
	return nil
}

// step moves to the next block with events. It does nothing when the budget
// of the call is spent and it has got anywhere.
func (s *listed) step() (stopped bool, err error) {
	best, found := uint64(0), false
	for _, l := range s.leafs {
		if s.spent() {
			return true, nil
		}
		if err := s.fill(l); err != nil {
			return false, err
		}
		if len(l.rows) > 0 && (!found || s.first(l.rows[0].block, best)) {
			best, found = l.rows[0].block, true
		}
	}
	if !found {
		s.ended = true
		return false, nil
	}
	s.spots = s.spots[:0]
	lists := 0
	for _, l := range s.leafs {
		if len(l.rows) == 0 || l.rows[0].block != best {
			continue
		}
		if s.spots, err = l.list.spots(s.spots, l.rows[0].value); err != nil {
			return false, fmt.Errorf("transfer list of block %d: %w", best, err)
		}
		lists++
	}
	if lists > 1 { // an event is in the lists of both its parties
		s.spots = postings.Union(s.spots)
	}
	s.spots = slices.DeleteFunc(s.spots, func(p postings.Spot) bool { return !s.q.stands(Side(p.Tag)) })
	s.block, s.armed = best, true
	switch {
	case s.q.Order == event.Asc && best < s.q.To:
		s.edge = best + 1
	case s.q.Order == event.Desc && best > s.q.From:
		s.edge = best - 1
	default:
		s.ended = true
	}
	return false, nil
}

// spent says that the call must stop. The lists are opened whatever the
// budget: a call that gets nowhere would come again for ever.
func (s *listed) spent() bool {
	return s.armed && (s.work.Seeks >= s.left.Seeks || s.work.Rows >= s.left.Rows)
}

func (s *listed) next(after *explorer.Place, n int, left event.Budget) (hits []event.Hit, at *explorer.Place, hash felt.Felt, work event.Work, err error) {
	s.work, s.left = event.Work{}, left
	if after != nil && s.first(s.edge, after.Block) {
		s.edge = after.Block
	}
	if after != nil && s.q.Order == event.Asc && after.Tx == explorer.BehindAll && s.edge == after.Block { // nothing is left of that block
		if s.edge++; s.edge == 0 {
			s.ended = true
		}
	}
	places := make([]explorer.Place, 0, min(n, left.Events))
	stopped := false
	for len(places) < min(n, left.Events) && !stopped {
		if len(s.spots) == 0 {
			if s.ended || s.edge < s.q.From || s.edge > s.q.To {
				break
			}
			if stopped, err = s.step(); err != nil {
				return nil, nil, hash, s.work, err
			}
			continue
		}
		p := s.take()
		place := explorer.Place{Block: s.block, Tx: p.Tx, Log: p.Log}
		if after != nil && (s.q.Order == event.Asc && !after.Before(place) || s.q.Order == event.Desc && !place.Before(*after)) {
			continue
		}
		places = append(places, place)
	}
	at = s.at()
	hits, hash, err = s.read(places, at)
	return hits, at, hash, s.work, err
}

// take takes the first of the block's places that are left.
func (s *listed) take() postings.Spot {
	if s.q.Order == event.Asc {
		s.taken, s.spots = s.spots[0], s.spots[1:]
		return s.taken
	}
	n := len(s.spots) - 1
	s.taken, s.spots = s.spots[n], s.spots[:n]
	return s.taken
}

// at is where the source stands; nil when nothing is left. A place that is in no
// block yet cannot be held against the chain: upwards it is behind what was read,
// and not in front of what was not.
func (s *listed) at() *explorer.Place {
	switch {
	case len(s.spots) > 0 && s.q.Order == event.Asc:
		return &explorer.Place{Block: s.block, Tx: s.taken.Tx, Log: s.taken.Log}
	case len(s.spots) > 0:
		p := s.spots[len(s.spots)-1]
		return &explorer.Place{Block: s.block, Tx: p.Tx, Log: p.Log + 1}
	case s.ended || s.edge < s.q.From || s.edge > s.q.To:
		return nil
	case s.q.Order == event.Asc:
		return &explorer.Place{Block: s.block, Tx: explorer.BehindAll, Log: explorer.BehindAll}
	}
	return &explorer.Place{Block: s.edge, Tx: explorer.BehindAll, Log: explorer.BehindAll}
}

// read fetches the events of a page, and the hash of the block where the next
// one starts: one round trip, or two where that is a block of its own.
func (s *listed) read(places []explorer.Place, at *explorer.Place) (hits []event.Hit, hash felt.Felt, err error) {
	found, n, err := transaction.Events(s.ctx, s.r, places)
	if err != nil {
		return nil, hash, err
	}
	s.work.Events += n
	hits = make([]event.Hit, 0, len(places))
	for i, p := range places {
		hits = append(hits, event.HitOf(p, &found[i]))
	}
	if at == nil {
		return hits, hash, nil
	}
	if n := len(hits); n > 0 && hits[n-1].Block == at.Block {
		return hits, hits[n-1].BlockHash, nil
	}
	b, err := block.Get(s.ctx, s.r, at.Block)
	if err != nil {
		return nil, hash, err
	}
	return hits, b.Hash, nil
}
