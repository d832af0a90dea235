package transfer

import (
	"context"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// source gives transfer events in the order of the query.
type source interface {
	// next returns about n events strictly behind a place in that order; nil is in
	// front of all. It may return fewer, or none, and then says where it stopped; at
	// is nil when no event is left.
	next(after *explorer.Place, n int, left event.Budget) (hits []event.Hit, at *explorer.Place, hash felt.Felt, work event.Work, err error)
}

// pager fills a page from a source.
type pager struct {
	ctx    context.Context
	q      *Query
	source source
	budget event.Budget
	ask    []contract.At // for standards, in one round
	list   []Transfer
}

// eventAfter is the place from which a source goes on: events behind it in the
// query's order have transfers that are still to be listed.
func (q *Query) eventAfter() *explorer.Place {
	p := q.After
	if p == nil {
		return nil
	}
	out := p.Place
	switch {
	case q.Order == event.Desc && p.Index > 0 && out.Log != explorer.BehindAll: // the event itself has some left
		out.Log++
	case q.Order == event.Asc && p.Index != explorer.BehindAll: // it may have some left: go back by one event
		switch {
		case out.Log > 0:
			out.Log--
		case out.Tx > 0:
			out.Tx, out.Log = out.Tx-1, explorer.BehindAll
		case out.Block > 0:
			out = explorer.EndOf(out.Block - 1)
		default:
			return nil
		}
	}
	return &out
}

// behind reports whether a place comes behind the one where the page before ended.
func (q *Query) behind(p Place) bool {
	switch {
	case q.After == nil:
		return true
	case q.Order == event.Asc:
		return q.After.Before(p)
	}
	return p.Before(*q.After)
}

// stoppedAt is the place of transfers for one of events, at which a source stopped.
func (q *Query) stoppedAt(at *explorer.Place) *Place {
	out := &Place{Place: *at}
	if q.Order == event.Asc { // the event there is done
		out.Index = explorer.BehindAll
	}
	return out
}

func (p *pager) page() (page Page, err error) {
	after := p.q.eventAfter()
	for {
		left := event.Budget{
			Seeks:  max(1, p.budget.Seeks-page.Work.Seeks),
			Rows:   max(1, p.budget.Rows-page.Work.Rows),
			Events: max(1, p.budget.Events-page.Work.Events),
		}
		want := p.q.Limit + 1 - len(page.Transfers) // one more tells whether there is more
		hits, at, hash, work, err := p.source.next(after, want, left)
		if err != nil {
			return page, err
		}
		page.Work.Seeks += work.Seeks
		page.Work.Rows += work.Rows
		page.Work.Events += work.Events
		if page.Transfers, err = p.take(page.Transfers, hits); err != nil {
			return page, err
		}
		if len(page.Transfers) > p.q.Limit {
			page.Transfers = page.Transfers[:p.q.Limit]
			last := &page.Transfers[p.q.Limit-1]
			next := last.Place
			page.Next, page.NextHash = &next, last.BlockHash
			return page, nil
		}
		if at == nil {
			page.Done = true
			return page, nil
		}
		if page.Work.Seeks >= p.budget.Seeks || page.Work.Rows >= p.budget.Rows || page.Work.Events >= p.budget.Events {
			page.Next, page.NextHash = p.q.stoppedAt(at), hash
			return page, nil
		}
		after = at
	}
}

// take decodes events and keeps the transfers that match.
func (p *pager) take(dst []Listed, hits []event.Hit) ([]Listed, error) {
	start := len(dst)
	dst = slices.Grow(dst, len(hits)) // most have one each
	for i := range hits {
		h := &hits[i]
		if len(p.q.TxTypes) > 0 && !slices.Contains(p.q.TxTypes, h.TxType) {
			continue
		}
		p.list, _ = Append(p.list[:0], &h.Event)
		for n := range p.list {
			j := n
			if p.q.Order == event.Desc {
				j = len(p.list) - 1 - n
			}
			at := Place{h.Place, uint32(j)}
			if !p.q.behind(at) || !p.party(&p.list[j]) {
				continue
			}
			dst = append(dst, Listed{at, h.BlockHash, h.Timestamp, h.TxHash, h.TxType, p.list[j]})
		}
	}
	if err := p.settle(dst[start:]); err != nil {
		return nil, err
	}
	if len(p.q.Standards) == 0 {
		return dst, nil
	}
	kept := dst[:start]
	for i := range dst[start:] {
		if l := &dst[start+i]; slices.Contains(p.q.Standards, l.Standard) {
			kept = append(kept, *l)
		}
	}
	return kept, nil
}

// party holds a transfer against the query's addresses and tokens.
func (p *pager) party(t *Transfer) bool {
	if len(p.q.Tokens) > 0 && !has(p.q.Tokens, t.Token) {
		return false
	}
	if len(p.q.Addresses) == 0 {
		return true
	}
	var side Side
	if has(p.q.Addresses, t.From) {
		side |= Out
	}
	if has(p.q.Addresses, t.To) {
		side |= In
	}
	return p.q.stands(side)
}

// settle tells ambiguous transfers apart.
func (p *pager) settle(list []Listed) error {
	if p.q.Kinds == nil || len(list) == 0 {
		return nil
	}
	p.ask = slices.Grow(p.ask[:0], len(list))
	for i := range list {
		p.ask = append(p.ask, contract.At{Address: list[i].Token, Block: list[i].Block})
	}
	kinds, err := p.q.Kinds(p.ctx, p.ask)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Transfer = list[i].As(kinds[i])
	}
	return nil
}

// searched takes events from the lists of emitters and selectors.
type searched struct {
	ctx context.Context
	r   store.Reader
	q   *Query
}

func (s *searched) next(after *explorer.Place, n int, left event.Budget) ([]event.Hit, *explorer.Place, felt.Felt, event.Work, error) {
	q := event.Query{Emitters: s.q.Tokens, From: s.q.From, To: s.q.To, Order: s.q.Order, After: after, Limit: n, Budget: left}
	q.Keys[0] = Selectors()
	page, err := event.Search(s.ctx, s.r, q)
	if err != nil || page.Done {
		return page.Events, nil, felt.Zero, page.Work, err
	}
	return page.Events, page.Next, page.NextHash, page.Work, nil
}
