package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"chainexplorer/internal/backoff"
)

// Ref names a block: its number, and which one of that number.
type Ref struct {
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

// Change is a step of a list that is followed.
type Change[T any] struct {
	// Undone says that a fork took back everything after block Upto: forget what came from
	// later blocks. There are no items then.
	Undone bool
	// Upto is the block that the list has been followed to, with this change. It has no hash
	// when nothing that was followed is left: then it is the one before the first.
	Upto Ref
	// Items are the new ones, the oldest first.
	Items []T
}

// FollowOptions say from where on a list is followed.
type FollowOptions struct {
	// From is the first block. Without it, and without Known, what is new is followed.
	From *int64
	// Known are blocks that were handled before, the newest last, as Upto told them: the
	// list is followed from the newest of them that is still of the chain, and the first
	// change says so if that is not the last one. Keep the last two dozen.
	Known []Ref
	// Finalized follows blocks only when they are final: then nothing is undone, and all
	// comes later.
	Finalized bool
	// Interval is how long to wait for a new block; 2 seconds unless set.
	Interval time.Duration
	// Stride is how many blocks are asked for at once at most; 1,000 unless set.
	Stride int64
}

// ErrForkTooDeep says that none of the blocks that were handled is of the chain any more:
// what came from them cannot be told from what is still so.
var ErrForkTooDeep = errors.New("none of the known blocks is of the chain any more")

// maxVain is how often in a row a cursor may be refused: more is no fork.
const maxVain = 20

// remembered is how many blocks are kept for telling where a fork began.
const remembered = 256

// FollowEvents goes along with the events that a query finds. The query's bounds, order and
// cursor are not used.
func (c *Chain) FollowEvents(ctx context.Context, q SearchEventsQuery, o FollowOptions) iter.Seq2[Change[EventRow], error] {
	return follow(ctx, c, o, func(ctx context.Context, from, to int64) iter.Seq2[EventRow, error] {
		q.FromBlock, q.ToBlock, q.Order, q.Cursor = number(from), number(to), "asc", ""
		q.Limit = cmp.Or(q.Limit, 100)
		return c.SearchEventsAll(ctx, &q)
	})
}

// FollowTransfers goes along with the transfers that a query finds. The query's bounds and
// cursor are not used.
func (c *Chain) FollowTransfers(ctx context.Context, q ListTransfersQuery, o FollowOptions) iter.Seq2[Change[TransferItem], error] {
	return follow(ctx, c, o, func(ctx context.Context, from, to int64) iter.Seq2[TransferItem, error] {
		q.FromBlock, q.ToBlock, q.Cursor = number(from), number(to), ""
		q.Limit = cmp.Or(q.Limit, 100)
		return oldestFirst(c.ListTransfersAll(ctx, &q))
	})
}

// FollowBlocks goes along with the blocks.
func (c *Chain) FollowBlocks(ctx context.Context, o FollowOptions) iter.Seq2[Change[Block], error] {
	o.Stride = min(cmp.Or(o.Stride, 100), 100) // each is a call
	return follow(ctx, c, o, func(ctx context.Context, from, to int64) iter.Seq2[Block, error] {
		return func(yield func(Block, error) bool) {
			for n := from; n <= to; n++ {
				b, err := c.GetBlock(ctx, number(n), &GetBlockQuery{TxLimit: 1})
				if err != nil {
					yield(Block{}, err)
					return
				}
				if !yield(*b, nil) {
					return
				}
			}
		}
	})
}

// follower knows how far a list was followed.
type follower struct {
	chain *Chain
	FollowOptions
	known []Ref // the newest last
	// whole says that known goes back to the first block that was told: when all of them
	// are undone, it is known what that was.
	whole bool
}

// follow goes along with a list. A stretch is read between two looks at its ends: when one
// is another block afterwards, what was read is not told. An idle look is one call, a new
// block costs five and the pages of its items.
func follow[T any](ctx context.Context, c *Chain, o FollowOptions, read func(ctx context.Context, from, to int64) iter.Seq2[T, error]) iter.Seq2[Change[T], error] {
	return func(yield func(Change[T], error) bool) {
		o.Interval, o.Stride = cmp.Or(o.Interval, 2*time.Second), max(cmp.Or(o.Stride, 1000), 1)
		f := &follower{chain: c, FollowOptions: o, known: slices.Clone(o.Known), whole: len(o.Known) == 0}
		vain := 0 // stretches that were read in vain, one after the other
		for {
			undone, to, err := f.look(ctx)
			if err == nil && undone && !yield(Change[T]{Undone: true, Upto: f.last()}, nil) {
				return
			}
			var items []T
			same := false
			if err == nil && to != nil {
				items, err = collect(read(ctx, f.last().Number+1, to.Number))
				if err == nil {
					same, err = f.still(ctx, *to)
				} else if vain < maxVain && Code(err) == "invalid_cursor" {
					err = nil // a fork took the page that the cursor led to
				}
			}
			switch {
			case err != nil:
				yield(Change[T]{}, err)
				return
			case to == nil:
				if err := backoff.Wait(ctx, f.Interval); err != nil {
					yield(Change[T]{}, err)
					return
				}
			case !same: // a fork came in between: look again
				vain++
			default:
				vain = 0
				f.known = append(f.known, *to)
				if old := len(f.known) - remembered; old > 0 {
					f.known, f.whole = f.known[old:], false
				}
				if !yield(Change[T]{Upto: *to, Items: items}, nil) {
					return
				}
			}
		}
	}
}

// last is the newest block that was handled.
func (f *follower) last() Ref {
	if len(f.known) == 0 {
		return Ref{Number: *f.From - 1}
	}
	return f.known[len(f.known)-1]
}

// look finds out whether a fork took something back, and up to which block there is
// something new; nil when there is nothing.
func (f *follower) look(ctx context.Context) (undone bool, to *Ref, err error) {
	status, err := f.chain.GetStatus(ctx)
	if err != nil {
		return false, nil, err
	}
	if len(f.known) > 0 && status.HeadBlockNumber != nil && status.HeadBlockHash != nil && f.last() == (Ref{*status.HeadBlockNumber, *status.HeadBlockHash}) {
		return false, nil, nil
	}
	for len(f.known) > 0 {
		now, err := f.block(ctx, f.last().Number)
		if err != nil {
			return false, nil, err
		}
		if now != nil && *now == f.last() {
			break
		}
		undone, f.known = true, f.known[:len(f.known)-1]
	}
	if undone && len(f.known) == 0 && !f.whole {
		return false, nil, ErrForkTooDeep
	}
	head := status.LatestIndexedBlockNumber
	if f.Finalized {
		head = status.FinalizedBlockNumber
	}
	if head == nil {
		return undone, nil, nil
	}
	if len(f.known) == 0 && f.From == nil {
		first := *head + 1
		f.From = &first
	}
	if next := f.last().Number + 1; next <= *head {
		to, err = f.block(ctx, min(*head, next+f.Stride-1))
	}
	return undone, to, err
}

// still says whether the ends of a stretch are what they were when it was begun. The lower
// end comes first: a fork that took it took the upper one, too.
func (f *follower) still(ctx context.Context, to Ref) (bool, error) {
	ends := []Ref{to}
	if len(f.known) > 0 {
		ends = []Ref{f.last(), to}
	}
	for _, end := range ends {
		now, err := f.block(ctx, end.Number)
		if err != nil || now == nil || *now != end {
			return false, err
		}
	}
	return true, nil
}

// block is the block of a number; nil when there is none now.
func (f *follower) block(ctx context.Context, n int64) (*Ref, error) {
	b, err := f.chain.GetBlock(ctx, number(n), &GetBlockQuery{TxLimit: 1})
	if NotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, err
	}
	if b.BlockNumber != n {
		return nil, fmt.Errorf("getBlock: asked for block %d, and %d was answered", n, b.BlockNumber)
	}
	return &Ref{n, b.BlockHash}, nil
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func collect[T any](items iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// oldestFirst turns a list around that comes with the newest first.
func oldestFirst[T any](items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		all, err := collect(items)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, item := range slices.Backward(all) {
			if !yield(item, nil) {
				return
			}
		}
	}
}
