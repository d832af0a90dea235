package contract

import (
	"context"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Classes are the classes of a contract around a block.
type Classes struct {
	// Before was in force when the block started; nil if the contract was not
	// there yet.
	Before *felt.Felt
	// After is in force when the block ends.
	After felt.Felt
	// ChangedInBlock says that the block deployed the contract or replaced its class.
	ChangedInBlock bool

	// initial is the class that the contract was deployed with when the same
	// block replaced it.
	initial *felt.Felt
}

// Candidates are the classes of which one executed when the contract ran in the
// block, oldest first: one, unless the block replaced the class by another.
func (c *Classes) Candidates() []felt.Felt { return c.AppendCandidates(make([]felt.Felt, 0, 2)) }

// AppendCandidates appends them.
func (c *Classes) AppendCandidates(to []felt.Felt) []felt.Felt {
	from := len(to)
	if c.ChangedInBlock {
		for _, f := range []*felt.Felt{c.Before, c.initial} {
			if f != nil {
				to = append(to, *f)
			}
		}
	}
	to = append(to, c.After)
	return to[:from+len(slices.Compact(to[from:]))]
}

// At is a contract at a block.
type At struct {
	Address felt.Felt
	Block   uint64
}

// ClassesAt returns the classes of a contract around a block. It is not found
// when the contract did not exist at the end of the block. One scan.
func ClassesAt(ctx context.Context, r store.Reader, address felt.Felt, block uint64) (c Classes, found bool, err error) {
	h, err := load(ctx, r, address, block, rowsOfOne)
	if err != nil {
		return c, false, err
	}
	c, found, _ = h.at(block)
	return c, found, nil
}

// ClassesAtMany is ClassesAt for a page: nil for a contract that did not exist. What the contracts
// are today is one round trip, and settles the pairs behind their last changes, which are nearly
// all. Of the others equal pairs are looked up once and pairs of one contract together, so that
// they cost one scan per distinct contract, and never more than two per distinct pair.
func ClassesAtMany(ctx context.Context, r store.Reader, pairs []At) ([]*Classes, error) {
	return (&ClassRoom{}).AtMany(ctx, r, pairs)
}

// ClassRoom is the memory of classes, for those who ask for one page after the other. The zero value is ready, and
// is for one goroutine.
type ClassRoom struct {
	// Shallow leaves out what lies below the newest rowsOfMany changes of a contract, so
	// that no contract costs more than one scan.
	Shallow bool

	out       []*Classes
	contracts numbering.Few
	at        []int // of pairs: the numbers of their contracts
	today     []*Current
	settled   []Classes
}

// roomyClasses is for how many a room keeps memory.
const roomyClasses = 64

// Recycle lets go of what was asked for last.
func (m *ClassRoom) Recycle() {
	if cap(m.out) > roomyClasses {
		*m = ClassRoom{Shallow: m.Shallow}
		return
	}
	clear(m.out)
	clear(m.today)
	clear(m.settled)
}

// zeroed are so many zero values, in the memory of list where that is enough.
func zeroed[T any](list []T, n int) []T {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// AtMany is ClassesAtMany in memory that is used again: what it returns is there until the room is recycled, or asked
// for others.
func (m *ClassRoom) AtMany(ctx context.Context, r store.Reader, pairs []At) ([]*Classes, error) {
	m.out = zeroed(m.out, len(pairs))
	out := m.out
	order, err := m.settledNow(ctx, r, pairs, out)
	if err != nil {
		return nil, err
	}
	// By contract, newest block first: the first of a contract loads for all.
	slices.SortFunc(order, func(i, j int) int {
		if c := pairs[i].Address.Cmp(pairs[j].Address); c != 0 {
			return c
		}
		switch {
		case pairs[i].Block > pairs[j].Block:
			return -1
		case pairs[i].Block < pairs[j].Block:
			return 1
		}
		return i - j
	})
	var h history
	for n, i := range order {
		p := pairs[i]
		if n > 0 && p == pairs[order[n-1]] {
			out[i] = out[order[n-1]]
			continue
		}
		var err error
		if n == 0 || p.Address != pairs[order[n-1]].Address {
			if h, err = load(ctx, r, p.Address, p.Block, rowsOfMany); err != nil {
				return nil, err
			}
		}
		c, found, known := h.at(p.Block)
		if !known && m.Shallow {
			continue
		}
		if !known { // below the newest changes
			one, err := load(ctx, r, p.Address, p.Block, rowsOfOne)
			if err != nil {
				return nil, err
			}
			c, found, _ = one.at(p.Block)
		}
		if found {
			out[i] = &c
		}
	}
	return out, nil
}

// settledNow fills in the pairs that the classes of today settle, and returns the others.
func (m *ClassRoom) settledNow(ctx context.Context, r store.Reader, pairs []At, out []*Classes) (left []int, err error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m.distinct(pairs)
	at := m.at
	addresses := m.contracts.All()
	m.today = zeroed(m.today, len(addresses))
	today := m.today
	if err := classesToday(ctx, r, addresses, today); err != nil {
		return nil, err
	}
	m.settled = zeroed(m.settled, len(today)) // one for all pairs of a contract
	settled := m.settled
	for i := range pairs {
		n := at[i]
		c := today[n]
		if c == nil || c.Block >= pairs[i].Block {
			left = append(left, i)
			continue
		}
		if settled[n].Before == nil {
			settled[n] = Classes{Before: &c.Class, After: c.Class}
		}
		out[i] = &settled[n]
	}
	return left, nil
}

// distinct numbers the contracts of pairs: a page has many of few.
func (m *ClassRoom) distinct(pairs []At) {
	m.contracts.Reset()
	m.at = zeroed(m.at, len(pairs))
	for i := range pairs {
		m.at[i], _ = m.contracts.Number(&pairs[i].Address)
	}
}

// How many changes a scan takes: two of the block and one before it settle one
// place; few contracts have more than rowsOfMany.
const (
	rowsOfOne  = 3
	rowsOfMany = 16
)

// history is the newest changes of a contract up to a block, newest first.
type history struct {
	changes  []change
	complete bool // there are none before them
	// origin is the class of a contract that was there before the first block.
	origin *felt.Felt
}

func load(ctx context.Context, r store.Reader, address felt.Felt, block uint64, limit int) (h history, err error) {
	rng := store.Range{Table: History, Partition: address[:], To: sortKey(block, kindReplaced+1), Reverse: true, Limit: limit}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return h, fmt.Errorf("read the classes of contract %s: %w", address, err)
		}
		c, err := parseChange(row)
		if err != nil {
			return h, fmt.Errorf("contract %s: %w", address, err)
		}
		h.changes = append(h.changes, c)
	}
	h.complete = len(h.changes) < limit
	if n := len(h.changes); h.complete && (n == 0 || h.changes[n-1].kind != kindDeployed) {
		if h.origin, err = originOf(ctx, r, address); err != nil {
			return h, err
		}
	}
	return h, nil
}

// at tells the classes around a block that is not above what was loaded for.
// known is false when that takes changes that were not loaded.
func (h *history) at(block uint64) (c Classes, found, known bool) {
	i := slices.IndexFunc(h.changes, func(c change) bool { return c.block <= block })
	if i < 0 {
		if h.origin != nil {
			c.Before, c.After = h.origin, *h.origin
		}
		return c, h.origin != nil, h.complete
	}
	c.After = h.changes[i].class
	if h.changes[i].block < block {
		before := c.After
		c.Before = &before
		return c, true, true
	}
	c.ChangedInBlock = true
	if h.changes[i].kind == kindDeployed {
		return c, true, true
	}
	i++
	if i == len(h.changes) {
		c.Before = h.origin
		return c, true, h.complete
	}
	class := h.changes[i].class
	if h.changes[i].block == block {
		c.initial = &class
	} else {
		c.Before = &class
	}
	return c, true, true
}
