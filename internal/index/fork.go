package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// errOtherGenesis says that not even the first blocks agree.
var errOtherGenesis = &FormatError{"the node's chain has another first block than the index: " +
	"use another directory or database, or another node"}

// heal compares the index with the source and undoes what the source no longer
// has. It reports whether anything was undone.
func (x *Indexer) heal(ctx context.Context, sourceHead uint64) (bool, error) {
	if !x.state.HasHead {
		return false, nil
	}
	ancestor, found, err := x.commonAncestor(ctx, min(x.state.Head.Number, sourceHead))
	if err != nil {
		return false, err
	}
	if !found {
		if x.undo.Floor == 0 {
			return false, errOtherGenesis
		}
		return false, &DeepForkError{Head: x.state.Head.Number, Floor: x.undo.Floor}
	}
	// A source that is merely behind agrees with all that it has. Nothing is
	// undone before there is a replacement: a shrunken chain cannot be told
	// from a lagging node.
	if ancestor >= min(x.state.Head.Number, sourceHead) {
		return false, nil
	}
	return true, x.rollback(ctx, ancestor)
}

// commonAncestor returns the newest block up to top that index and source
// share. It doubles its steps backwards and then halves the gap: about
// 2*log2(depth) questions. It never looks below what can be undone.
func (x *Indexer) commonAncestor(ctx context.Context, top uint64) (number uint64, found bool, err error) {
	bottom := uint64(0)
	if x.undo.Floor > 0 {
		bottom = x.undo.Floor - 1
	}
	if top < bottom {
		// The source is so far behind that it cannot show a fork we could undo;
		// compare what it has, to tell another chain from a lagging node.
		same, err := x.sameAt(ctx, top)
		return top, same, err
	}
	differs := top + 1
	for step := uint64(1); ; step *= 2 {
		same, err := x.sameAt(ctx, top)
		if err != nil {
			return 0, false, err
		}
		if same {
			break
		}
		differs = top
		if top == bottom {
			return 0, false, nil
		}
		top -= min(step, top-bottom)
	}
	for top+1 < differs {
		mid := top + (differs-top)/2
		same, err := x.sameAt(ctx, mid)
		if err != nil {
			return 0, false, err
		}
		if same {
			top = mid
		} else {
			differs = mid
		}
	}
	return top, true, nil
}

func (x *Indexer) sameAt(ctx context.Context, number uint64) (bool, error) {
	ours, err := x.hashAt(ctx, number)
	if err != nil {
		return false, err
	}
	theirs, err := x.Source.HashAt(ctx, number)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for the hash of block %d: %w", number, err)
	}
	if ours != theirs {
		return false, nil
	}
	return x.sameContents(ctx, number)
}

func (x *Indexer) hashAt(ctx context.Context, number uint64) (hash felt.Felt, err error) {
	err = x.Store.View(ctx, func(r store.Reader) error {
		s, err := block.Get(ctx, r, number)
		if err == nil {
			hash = s.Hash
		}
		return err
	})
	return hash, err
}
