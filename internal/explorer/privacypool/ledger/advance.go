package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/privacypool"
	chaintx "chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Limits bound a step.
type Limits struct {
	Events int // of pools; a block that has more is one step
	Hours  int // points
}

// Advance takes a generation some blocks further, at most to block last, and adds the
// rows that change to a batch, all but the state. The chain is read from one reader and
// the rows from another, which may be the same. It returns the generation after the step
// and whether there is nothing left to do up to last.
func Advance(ctx context.Context, chain, rows store.Reader, g *Generation, last uint64, l Limits, now time.Time, batch *store.Batch) (_ *Generation, done bool, err error) {
	next := g.clone()
	b, err := openBook(ctx, rows, next, uint64(now.UnixMilli()))
	if err != nil {
		return nil, false, err
	}
	from := uint64(0)
	if g.Some {
		from = g.Through + 1
	}
	through := g.Through
	last = max(last, g.Through) // what is called finalized may have gone back
	var work []blockFacts
	if from <= last {
		if work, through, err = read(ctx, chain, g.Pools, from, last, l.Events); err != nil {
			return nil, false, err
		}
	}
	for i := range work {
		if err := b.expect(work[i].transactions); err != nil {
			return nil, false, err
		}
	}
	h := &hours{ctx: ctx, chain: chain, book: b, left: l.Hours, reads: stepBlocks, seen: g.Through, unsettled: g.Pending}
	all := true
	for i := 0; i < len(work) && all; i++ {
		if all, err = h.closeUpTo(work[i].number); err == nil && all {
			err = b.block(&work[i])
		}
		if err != nil {
			return nil, false, err
		}
		if !all { // that block is for the next step
			through = work[i].number - 1
		}
	}
	if all {
		if all, err = h.closeUpTo(through); err != nil {
			return nil, false, err
		}
	}
	if !all { // pools did nothing between that block and the one that is left
		through = max(g.Through, min(through, h.seen))
	}
	at, err := block.Get(ctx, chain, through)
	if err != nil {
		return nil, false, err
	}
	next.Some, next.Through, next.Hash, next.Time, next.MaterializedAt, next.Pending = true, through, at.Hash, at.Timestamp, b.now, !all
	b.put(batch)
	return next, all && through == last, nil
}

// clone is a copy whose changes leave the original as it is.
func (g *Generation) clone() *Generation {
	c := *g
	c.Counts, c.Gaps, c.Settings = slices.Clone(g.Counts), slices.Clone(g.Gaps), slices.Clone(g.Settings)
	return &c
}

// blockFacts is what pools did in a block.
type blockFacts struct {
	number, time uint64
	unknown      []int // pools that got a class that is not known
	transactions []transaction
}

// block counts a block.
func (b *book) block(w *blockFacts) error {
	for range w.unknown {
		b.Unscoped++
		b.gap(UnknownPoolClass, explorer.Place{Block: w.number}, max(w.time, b.NextHour))
	}
	for i := range w.transactions {
		if err := b.apply(&w.transactions[i]); err != nil {
			return fmt.Errorf("transaction %d of block %d: %w", w.transactions[i].Index, w.number, err)
		}
	}
	return nil
}

// stepBlocks is how many blocks a step looks at for the ends of hours.
const stepBlocks = 50_000

// hours makes points. The times of blocks may go back: an hour ends in front of the
// first block of the chain that is behind it, whatever times later blocks have, so that a
// point is the same however far the chain has got when it is made. Only the next block is
// looked at, too: where that is not behind the hour, the first one does not tell the time.
type hours struct {
	ctx         context.Context
	chain       store.Reader
	book        *book
	left, reads int // points, and blocks to look at, that there is room for
	// seen is the last block that is known not to end the next hour, nor any before it
	// since the first event.
	seen uint64
	// end is the block that ends the next hour, nil while none was found.
	end *block.Stamp
	// unsettled says that an earlier version may have gone past that block.
	unsettled bool
}

// closeUpTo makes the points of the hours that a block is behind. Nothing from that
// block on was counted yet, or it counts nothing itself. all is false when there is no
// room left in this step.
func (h *hours) closeUpTo(number uint64) (all bool, err error) {
	b := h.book
	for b.First != nil {
		if all, err := h.look(b.NextHour+hourSeconds, number); err != nil || h.end == nil {
			return all, err
		}
		if h.left == 0 {
			return false, nil
		}
		asOf, err := block.Get(h.ctx, h.chain, max(h.end.Number-1, b.Latest.Block))
		if err != nil {
			return false, err
		}
		quiet := asOf.Timestamp+MaxQuiet*hourSeconds <= b.NextHour
		if quiet || asOf.Timestamp >= b.NextHour+hourSeconds { // its time may be out of line
			near, err := block.LatestIn(h.ctx, h.chain, b.NextHour+hourSeconds-1, b.First.Block, asOf.Number)
			if err != nil {
				return false, err
			}
			quiet = near.Timestamp+MaxQuiet*hourSeconds <= b.NextHour
		}
		if quiet {
			b.NextHour = Hour.Start(h.end.Timestamp)
		} else { // a quiet hour has no block of its own: the same block is behind it
			b.closeHour(asOf)
			h.left--
		}
	}
	return true, nil
}

// look finds the block up to a number that ends the hour before t. all is false when
// there is no room left for looking further in this step.
func (h *hours) look(t, number uint64) (all bool, err error) {
	if h.end != nil { // it may end the hours behind that one, too
		if ends, err := h.ends(h.end, t); err != nil || ends {
			return true, err
		}
	}
	h.end, h.seen = nil, max(h.seen, h.book.First.Block)
	later, err := block.AtOrAfter(h.ctx, h.chain, t)
	if errors.Is(err, block.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if h.unsettled && h.book.First.Block < later.Number && later.Number <= h.seen {
		s := &block.Stamp{Number: later.Number, Timestamp: later.Timestamp}
		if ends, err := h.ends(s, t); err != nil || ends {
			h.end = s
			return true, err
		}
	}
	for h.seen < number {
		if h.reads == 0 {
			return false, nil
		}
		numbers := make([]uint64, min(number-h.seen, uint64(h.reads), 512))
		for i := range numbers {
			numbers[i] = h.seen + 1 + uint64(i)
		}
		h.reads -= len(numbers)
		stamps, err := block.Stamps(h.ctx, h.chain, numbers)
		if err != nil {
			return false, err
		}
		for _, s := range stamps {
			if ends, err := h.ends(&s, t); err != nil {
				return false, err
			} else if ends {
				h.end = &s
				return true, nil
			}
			h.seen = s.Number
		}
	}
	return true, nil
}

// ends says whether the time of a block, and that of the next one, is at least t.
func (h *hours) ends(s *block.Stamp, t uint64) (bool, error) {
	if s.Timestamp < t {
		return false, nil
	}
	next, err := block.Get(h.ctx, h.chain, s.Number+1)
	if errors.Is(err, block.ErrNotFound) {
		return true, nil
	}
	return err == nil && next.Timestamp >= t, err
}

// read returns what pools did in whole blocks, and the last of these blocks.
func read(ctx context.Context, chain store.Reader, pools []registry.PrivacyPool, from, last uint64, limit int) (work []blockFacts, through uint64, err error) {
	if len(pools) == 0 {
		return nil, last, nil
	}
	hits, through, err := search(ctx, chain, pools, from, last, limit)
	if err != nil {
		return nil, 0, err
	}
	at := map[uint64]int{}
	unknown, err := unknownClasses(ctx, chain, pools, from, through)
	if err != nil {
		return nil, 0, err
	}
	for number, list := range unknown {
		s, err := block.Get(ctx, chain, number)
		if err != nil {
			return nil, 0, err
		}
		work = append(work, blockFacts{number: number, time: s.Timestamp, unknown: list})
	}
	for i := range work {
		at[work[i].number] = i
	}
	list, err := transactions(ctx, chain, pools, hits)
	if err != nil {
		return nil, 0, err
	}
	for _, t := range list {
		i, there := at[t.Block]
		if !there {
			i = len(work)
			at[t.Block] = i
			work = append(work, blockFacts{number: t.Block, time: t.time})
		}
		work[i].transactions = append(work[i].transactions, t)
	}
	arrange.By(work, func(a, b blockFacts) int { return cmp.Compare(a.number, b.number) })
	return work, through, nil
}

// search returns the events of pools in whole blocks, and the last of these blocks.
func search(ctx context.Context, chain store.Reader, pools []registry.PrivacyPool, from, last uint64, limit int) (hits []event.Hit, through uint64, err error) {
	q := event.Query{From: from, To: last, Order: event.Asc, Limit: min(limit, event.MaxLimit)}
	for i := range pools {
		q.Emitters = append(q.Emitters, pools[i].Address)
	}
	for {
		page, err := event.Search(ctx, chain, q)
		if err != nil {
			return nil, 0, fmt.Errorf("events of privacy pools: %w", err)
		}
		hits = append(hits, page.Events...)
		if page.Done || page.Next == nil {
			return hits, last, nil
		}
		// The block that the page ended in may have more: it is left for the next
		// step, unless it is the first.
		if end := page.Next.Block; end > from {
			n := len(hits)
			for n > 0 && hits[n-1].Block >= end {
				n--
			}
			return hits[:n], end - 1, nil
		}
		q.After = page.Next
	}
}

// mostChanges is how many changes of a pool's class are looked at in one scan.
const mostChanges = 64

// unknownClasses finds the blocks in which a pool got a class that is not known.
func unknownClasses(ctx context.Context, chain store.Reader, pools []registry.PrivacyPool, from, through uint64) (map[uint64][]int, error) {
	out := map[uint64][]int{}
	for i := range pools {
		to := through
		for {
			list, err := contract.Changes(ctx, chain, pools[i].Address, to, mostChanges)
			if err != nil {
				return nil, err
			}
			for _, c := range list {
				if c.Block < from {
					break
				}
				if _, known := pools[i].Generation(c.Class); !known && !slices.Contains(out[c.Block], i) {
					out[c.Block] = append(out[c.Block], i)
				}
			}
			if n := len(list); n < mostChanges || list[n-1].Block <= from {
				break
			}
			to = list[len(list)-1].Block
			if list[0].Block == to { // more than a scan holds in one block: there cannot be
				break
			}
		}
	}
	return out, nil
}

// transactions reads the transactions of events, and decodes the events.
func transactions(ctx context.Context, chain store.Reader, pools []registry.PrivacyPool, hits []event.Hit) (out []transaction, err error) {
	if len(hits) == 0 {
		return nil, nil
	}
	read, err := privacypool.Read(ctx, chain, pools, hits)
	if err != nil {
		return nil, err
	}
	at := map[felt.Felt]int{}
	for i := range pools {
		at[pools[i].Address] = i
	}
	var positions []explorer.Position
	for i := range hits {
		p := hits[i].Position()
		if n := len(out); n == 0 || out[n-1].Position != p {
			positions = append(positions, p)
			out = append(out, transaction{Position: p, time: hits[i].Timestamp})
		}
		t := &out[len(out)-1]
		t.own = append(t.own, ownEvent{log: hits[i].Log, pool: at[hits[i].Event.From], known: read[i].Known, fact: read[i].Fact, status: read[i].Status})
	}
	records, err := chaintx.GetMany(ctx, chain, positions)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].events = records[i].Receipt.Events
	}
	return out, nil
}
