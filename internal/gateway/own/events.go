package own

import (
	"math"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// DefaultBudget bounds the work of one page of events, as far as nothing else is asked
// for: a few searches of the ordinary size, and as many transactions as the largest
// page of events can be spread over.
var DefaultBudget = event.Budget{Seeks: 12_000, Rows: 240_000, Events: 20_000}

// tokenRoom is what a page takes besides its events.
const tokenRoom = 256

// page is an answer of starknet_getEvents as it grows.
type page struct {
	c     *call
	f     *eventFilter
	last  uint64 // the last block to search
	out   []byte
	count uint64
	work  event.Work

	// end is where the page ends so far: all up to it was searched, and hash is that of
	// its block. more says that there is, or may be, something behind it.
	end  explorer.Place
	hash felt.Felt
	more bool
}

func (c *call) events() ([]byte, error) {
	text, _ := c.arg("filter")
	f, ok := parseFilter(text, c.v)
	switch {
	case !ok:
		return nil, errElsewhere
	case f.chunk > maxChunk:
		return nil, codePageTooBig
	case f.to == nil:
		return nil, errElsewhere // the block that is being built counts, for some nodes
	}
	if f.token != nil {
		return c.eventsAfter(&f)
	}
	from, to, err := c.eventRange(&f, c.reached)
	if err != nil {
		return nil, err
	}
	if from > to {
		return nil, errElsewhere
	}
	f.query.From = from
	p := &page{c: c, f: &f, last: to}
	if err := p.search(nil); err != nil {
		return nil, err
	}
	return p.answer()
}

// eventRange resolves the ends of a filter's range. The first may lie anywhere: what
// decides is the last.
func (c *call) eventRange(f *eventFilter, upper func(blockID) (uint64, error)) (from, to uint64, err error) {
	if f.from != nil {
		if from, err = c.numberOf(*f.from); err != nil {
			return 0, 0, err
		}
	}
	to, err = upper(*f.to)
	return from, to, err
}

// eventsAfter goes on with a search that began here. No node can: what is not known
// yet is left to a later page.
func (c *call) eventsAfter(f *eventFilter) ([]byte, error) {
	t, ours, ok := parseToken(*f.token)
	switch {
	case !ours:
		return nil, errElsewhere
	case !ok, t.of != f.fingerprint():
		return nil, codeInvalidToken
	}
	from, to, err := c.eventRange(f, func(id blockID) (uint64, error) {
		if id.kind == latest && !c.atHead {
			if c.nodes.known {
				return max(c.nodes.number, c.s.Head.Number), nil
			}
			return c.s.Head.Number, nil
		}
		return c.numberOf(id)
	})
	if err != nil {
		return nil, err
	}
	if t.after.Block < from || t.after.Block > to {
		return nil, codeInvalidToken
	}
	switch holds, err := t.ref().Holds(c.ctx, c.r); {
	case err != nil:
		return nil, err
	case !holds:
		return nil, codeInvalidToken
	}
	f.query.From = from
	p := &page{c: c, f: f, end: t.after, hash: t.hash, more: true}
	if t.after.Block < c.next {
		p.last = min(to, c.next-1)
		if err := p.search(&t.after); err != nil {
			return nil, err
		}
		if !p.more && p.last < to { // later blocks are not known yet
			p.more, p.end = true, explorer.EndOf(p.last)
			if p.hash, err = c.hashOf(p.last); err != nil {
				return nil, err
			}
		}
	}
	return p.answer()
}

// search fills the page with what is behind a place, or all.
func (p *page) search(after *explorer.Place) error {
	p.more = false
	if p.f.values == 0 {
		return p.walk(after)
	}
	q := p.f.query
	q.To, q.Order, q.After = p.last, event.Asc, after
	q.Budget = event.Budget{
		Seeks:  min(p.c.budget.Seeks, event.DefaultBudget.Seeks),
		Rows:   min(p.c.budget.Rows, event.DefaultBudget.Rows),
		Events: min(p.c.budget.Events, event.DefaultBudget.Events),
	}
	for {
		q.Limit = int(min(p.f.chunk-p.count, event.MaxLimit))
		found, err := event.Search(p.c.ctx, p.c.r, q)
		if err != nil {
			return err
		}
		for i := range found.Events {
			h := &found.Events[i]
			if fits, err := p.add(h.Place, h.BlockHash, h.TxHash, &h.Event); !fits {
				return err
			}
		}
		if found.Done {
			return nil
		}
		p.work.Seeks += found.Work.Seeks
		p.work.Rows += found.Work.Rows
		p.work.Events += found.Work.Events
		p.end, p.hash = *found.Next, found.NextHash
		if p.count == p.f.chunk || p.spent() {
			p.more = true
			return nil
		}
		q.After = found.Next
	}
}

func (p *page) spent() bool {
	b := &p.c.budget
	return p.work.Seeks >= b.Seeks || p.work.Rows >= b.Rows || p.work.Events >= b.Events
}

// walk is the search for any event: it reads the transactions one after the other.
func (p *page) walk(after *explorer.Place) error {
	start := explorer.Position{Block: p.f.query.From}
	if after != nil {
		start = after.Position()
		if after.Log == explorer.BehindAll {
			start = next(start)
		}
	}
	ended, failed := false, error(nil) // ended by the page itself, which then knows its end
	at, done, err := transaction.WalkEvents(p.c.ctx, p.c.r, start, p.last, p.c.budget.Events, func(tx explorer.Position, events []transaction.Emitted) bool {
		for i := range events {
			place := explorer.Place{Block: tx.Block, Tx: tx.Index, Log: uint32(i)}
			if after != nil && !after.Before(place) {
				continue
			}
			if p.count == p.f.chunk {
				ended, p.more = true, true
				return false
			}
			e := &events[i]
			fits, err := p.add(place, e.BlockHash, e.TxHash, &e.Event)
			if !fits {
				ended, failed = true, err
				return false
			}
		}
		return true
	})
	switch {
	case err != nil:
		return err
	case failed != nil || ended || done:
		return failed
	}
	p.more, p.end = true, at
	p.hash, err = p.c.hashOf(at.Block)
	return err
}

// next is the position behind all events of one.
func next(p explorer.Position) explorer.Position {
	if p.Index == math.MaxUint32 { // behind a block
		return explorer.Position{Block: p.Block + 1}
	}
	return explorer.Position{Block: p.Block, Index: p.Index + 1}
}

// add appends an event, if it fits into the page. When it does not, the page ends in
// front of it.
func (p *page) add(at explorer.Place, block, tx felt.Felt, e *starknet.Event) (fits bool, err error) {
	size := len(p.out)
	if p.count > 0 {
		p.out = append(p.out, ',')
	}
	p.out = starknet.AppendEmittedEvent(p.out, &starknet.EmittedEvent{
		Event: *e, BlockHash: block, BlockNumber: at.Block, TransactionHash: tx,
		TransactionIndex: uint64(at.Tx), EventIndex: uint64(at.Log),
	}, p.c.v)
	if limit := p.c.limit; limit > 0 && int64(len(p.out)) > limit-tokenRoom {
		if p.count == 0 {
			return false, errElsewhere // no page has room for it
		}
		p.out, p.more = p.out[:size], true
		return false, nil
	}
	p.count++
	p.end, p.hash = at, block
	return true, nil
}

func (p *page) answer() ([]byte, error) {
	out := append(make([]byte, 0, len(p.out)+tokenRoom), `{"events":[`...)
	out = append(append(out, p.out...), ']')
	if p.more {
		t := token{after: p.end, hash: p.hash, of: p.f.fingerprint()}
		out = append(out, `,"continuation_token":"`...)
		out = append(append(out, t.String()...), '"')
	}
	return append(out, '}'), nil
}
