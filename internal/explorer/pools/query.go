package pools

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// ErrMissing says that there are no rows that can be relied on: not yet, or not
// any more.
var ErrMissing = errors.New("the pools of exchanges are not read yet")

// Pool is a pool that a token is in.
type Pool struct {
	explorer.Place
	TxHash felt.Felt
	Dex    *registry.Dex
	registry.NewPool
}

// Page is a part of a token's pools, newest first.
type Page struct {
	Pools []Pool
	Total uint64
	// Through is the block up to which creation events were read.
	Through *block.Summary
	// Next is where to go on; nil at the end.
	Next *explorer.Place
}

// ReadState returns the state; the zero one when nothing was read.
func ReadState(ctx context.Context, r store.Reader) (s State, err error) {
	b, err := r.Get(ctx, StateKey)
	if errors.Is(err, store.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the state of pools: %w", err)
	}
	return DecodeState(b)
}

// Sound returns the block that the rows reach up to, or ErrMissing when they are
// of other exchanges or of a branch that is gone.
func (s *State) Sound(ctx context.Context, r store.Reader, dexes []registry.Dex) (*block.Summary, error) {
	if !s.Some || s.Wiping || s.Exchanges != Fingerprint(dexes) {
		return nil, ErrMissing
	}
	b, err := block.Ref{Number: s.Through, Hash: s.Hash}.Get(ctx, r)
	if errors.Is(err, block.ErrGone) {
		return nil, ErrMissing
	}
	return b, err
}

// Of returns the pools of a token in front of a place, newest first, or
// ErrMissing.
func Of(ctx context.Context, r store.Reader, dexes []registry.Dex, token felt.Felt, before *explorer.Place, limit int) (page Page, err error) {
	s, err := ReadState(ctx, r)
	if err != nil {
		return page, err
	}
	if page.Through, err = s.Sound(ctx, r, dexes); err != nil {
		return page, err
	}
	total, err := r.Get(ctx, TotalKey(token))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return page, fmt.Errorf("count the pools of %s: %w", token, err)
	}
	if page.Total, err = DecodeTotal(total); err != nil {
		return page, err
	}
	rng := store.Range{Table: Pools, Partition: token[:], Reverse: true, Limit: limit + 1}
	if before != nil {
		rng.To = before.Append(nil)
	}
	var places []explorer.Place
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return page, fmt.Errorf("pools of %s: %w", token, err)
		}
		p, ok := explorer.ParsePlace(row.Sort)
		if !ok {
			return page, fmt.Errorf("%w: pool with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
		}
		places = append(places, p)
	}
	more := len(places) > limit
	if more {
		places = places[:limit]
	}
	if len(places) == 0 {
		return page, nil
	}
	found, _, err := transaction.Events(ctx, r, places)
	if err != nil {
		return page, fmt.Errorf("pools of %s: %w", token, err)
	}
	finder := NewFinder(dexes)
	for i, p := range places {
		e := &found[i].Event
		dex, pool, ok := finder.Pool(e.From, e.Keys, e.Data)
		if !ok {
			return page, fmt.Errorf("%w: event %d of transaction %d of block %d makes no pool", record.ErrCorrupt, p.Log, p.Tx, p.Block)
		}
		page.Pools = append(page.Pools, Pool{p, found[i].TxHash, dex, pool})
	}
	if more {
		page.Next = &page.Pools[limit-1].Place
	}
	return page, nil
}
