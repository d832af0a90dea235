package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
)

// ErrForked says that the block of a place is none of the chain any more.
var ErrForked = errors.New("the chain has forked below this place")

// ErrAhead says that a block is not indexed yet.
var ErrAhead = errors.New("there is no such block yet")

// ErrEmpty says that the index has no block yet.
var ErrEmpty = errors.New("the index has no block yet")

// MaxItems is how many items a part of a block has.
const MaxItems = 100

// Rows are the rows of the API's lists; it makes them.
type Rows struct {
	Blocks       func(s *chain.State, list []*block.Summary) []any
	Events       func(ctx context.Context, r explorer.Reader, s *chain.State, hits []event.Hit) ([]any, error)
	Transfers    func(s *chain.State, page *token.TransferPage) []any
	Transactions func(ctx context.Context, r explorer.Reader, s *chain.State, of felt.Felt, list []address.Tx) ([]any, error)
	// Finality and Fork are those of kinds finality and fork.
	Finality func(finalized, l1 *block.Stamp) any
	Fork     func(s *chain.State) any
}

// Reader reads one chain. It may be used from any goroutine.
type Reader struct {
	Chain string // its id
	Index explorer.Index
	Depth uint64 // of finality
	Rows  Rows
	// PartItems is how many items a part has: MaxItems, unless a test has small blocks.
	PartItems int
}

func (r *Reader) partSize() int {
	if r.PartItems == 0 {
		return MaxItems
	}
	return r.PartItems
}

// Block is a part of what matched in a block.
type Block struct {
	block.Stamp
	Part  uint32 // from 1
	Last  bool   // of the block
	Items []json.RawMessage
	// Place is behind this part.
	Place Place
}

// Ref names the block.
func (b *Block) Ref() block.Ref { return block.Ref{Number: b.Number, Hash: b.Hash} }

// State is a chain at one moment.
type State struct {
	Head          block.Ref
	Finalized, L1 *block.Ref // nil where there is none
	Forks         uint64     // how many there were
}

// State reads the state. A GetMany and two Gets.
func (r *Reader) State(ctx context.Context) (out State, err error) {
	err = r.view(ctx, func(v *view) error {
		out.Head, out.Forks = block.Ref{Number: v.state.Head.Number, Hash: v.state.Head.Hash}, v.state.Fork.Count
		finalized, l1, err := v.tiers()
		if finalized != nil {
			out.Finalized = &block.Ref{Number: finalized.Number, Hash: finalized.Hash}
		}
		if l1 != nil {
			out.L1 = &block.Ref{Number: l1.Number, Hash: l1.Hash}
		}
		return err
	})
	return out, err
}

// Now is the place of somebody who wants to be told what comes next.
func (r *Reader) Now(ctx context.Context) (at Place, err error) {
	err = r.view(ctx, func(v *view) error {
		at = v.marked(Place{Ref: block.Ref{Number: v.state.Head.Number, Hash: v.state.Head.Hash}})
		return nil
	})
	return at, err
}

// Before is the place of somebody who wants to be told from a block on, which may be the one
// after the head.
func (r *Reader) Before(ctx context.Context, number uint64) (at Place, err error) {
	err = r.view(ctx, func(v *view) error {
		if number > v.state.Head.Number+1 {
			return fmt.Errorf("block %d: %w: the newest is %d", number, ErrAhead, v.state.Head.Number)
		}
		if at = v.marked(Place{}); number == 0 {
			return nil
		}
		at.Number = number - 1
		at.Hash, err = block.HashOf(ctx, v.r, at.Number)
		return err
	})
	return at, err
}

// At is the block that has a number, if there is one.
func (r *Reader) At(ctx context.Context, number uint64) (ref block.Ref, found bool, err error) {
	err = r.Index.View(ctx, func(x explorer.Reader) error {
		hash, err := block.HashOf(ctx, x, number)
		if errors.Is(err, block.ErrNotFound) {
			return nil
		}
		ref, found = block.Ref{Number: number, Hash: hash}, err == nil
		return err
	})
	return ref, found, err
}

// Holds says whether a block is of the chain. One Get.
func (r *Reader) Holds(ctx context.Context, ref block.Ref) (holds bool, err error) {
	err = r.Index.View(ctx, func(x explorer.Reader) error {
		holds, err = ref.Holds(ctx, x)
		return err
	})
	return holds, err
}

// Mark makes a mark of a place. One GetMany. ErrForked when its block is gone.
func (r *Reader) Mark(ctx context.Context, at Place) (m Mark, err error) {
	m = Mark{Place: at}
	if at.Start() {
		return m, nil
	}
	err = r.Index.View(ctx, func(x explorer.Reader) error {
		if holds, err := at.Holds(ctx, x); err != nil || !holds {
			return errors.Join(err, forkedUnless(holds))
		}
		stamps, err := block.Stamps(ctx, x, steps(at.Number))
		for i := range stamps {
			m.ladder = append(m.ladder, rungOf(stamps[i].Hash))
		}
		return err
	})
	return m, err
}

// steps are the numbers of a ladder's blocks, from the top.
func steps(number uint64) []uint64 {
	out := make([]uint64, ladderOf(number))
	for i := range out {
		out[i] = number - 1<<i
	}
	return out
}

func forkedUnless(holds bool) error {
	if holds {
		return nil
	}
	return ErrForked
}

// Ancestor is the newest place that a mark, and blocks that its holder remembers besides,
// tell to be of the chain still: that of the mark itself while its block is. ErrForked when
// none of them is. Two GetMany.
func (r *Reader) Ancestor(ctx context.Context, m Mark, remembered ...block.Ref) (at Place, err error) {
	if m.Start() {
		return m.Place, nil
	}
	err = r.view(ctx, func(v *view) error {
		holds, err := m.Holds(ctx, v.r)
		if err != nil {
			return err
		}
		if holds {
			at = m.Place
			return nil
		}
		at = m.Place
		at.Part, at.Tx, at.Log, at.Index = 0, 0, 0, 0
		at.Ref, err = v.newest(m.ladder, steps(m.Number), remembered)
		return err
	})
	return at, err
}
