package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The bounds of answers.
const (
	// MaxAssets is how many tokens a ledger shows. More is a Gap: a stranger who fills
	// a pool with tokens of their own cannot make answers grow.
	MaxAssets = 1000
	// MaxBuckets is how many rows of buckets a query reads.
	MaxBuckets = 3660
	// MaxHours is how many points a page has.
	MaxHours = 24
	// MaxQuiet is how many hours behind a block have points when no block follows it. What
	// a block costs must not depend on the time that a node tells of it: those behind
	// them, up to the hour of the next block, have none.
	MaxQuiet = 31 * 24
	// FreshLag is how many blocks from the finalized one a ledger may be and still be
	// called fresh: a shallow fork moves that block back for a moment.
	FreshLag = 60
)

// ErrMissing says that there is no ledger that can be relied on: not yet, or not any
// more.
var ErrMissing = errors.New("the ledger of privacy pools is not there yet")

// Ledger is a generation that readers may see, with the block that it reaches.
type Ledger struct {
	*Generation
	Block *block.Summary
	// Backfilling says that it has not caught up with the chain since it was begun.
	Backfilling bool
	// Outdated says that the registry has other classes now, and another generation
	// takes the place of this one soon.
	Outdated bool
}

// Read returns the ledger of some pools, or ErrMissing. What is then read of it must
// see the same view.
func Read(ctx context.Context, r store.Reader, pools []registry.PrivacyPool) (*Ledger, error) {
	s, err := ReadState(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, g := range []*Generation{s.Serving, s.Building} {
		b, err := g.Sound(ctx, r, pools)
		if errors.Is(err, ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &Ledger{Generation: g, Block: b, Backfilling: g == s.Building, Outdated: !g.MadeBy(pools)}, nil
	}
	return nil, ErrMissing
}

// Sound returns the block that a generation reaches, or ErrMissing when there is none:
// it is of other pools, or of a branch that is gone.
func (g *Generation) Sound(ctx context.Context, r store.Reader, pools []registry.PrivacyPool) (*block.Summary, error) {
	if g == nil || !g.Some || !g.Scope(pools) {
		return nil, ErrMissing
	}
	b, err := block.Ref{Number: g.Through, Hash: g.Hash}.Get(ctx, r)
	if errors.Is(err, block.ErrGone) {
		return nil, ErrMissing
	}
	return b, err
}

// Lag is how many blocks the ledger is behind the finalized one.
func (l *Ledger) Lag(finalized uint64) uint64 {
	if finalized <= l.Through {
		return 0
	}
	return finalized - l.Through
}

// Fresh says whether the ledger is near the finalized block: not far behind it and not
// far ahead, where blocks turned out to be less settled than they were.
func (l *Ledger) Fresh(finalized uint64) bool {
	return !l.Backfilling && l.Lag(finalized) <= FreshLag && l.Through <= finalized+FreshLag
}

// PoolCount is how many of the pools had an event.
func (g *Generation) PoolCount() (n uint64) {
	for i := range g.Settings {
		if g.Settings[i].Seen {
			n++
		}
	}
	return n
}

// Assets returns the tokens that had a movement, by address, with what is left of
// each, zeros included. truncated says that there are more than MaxAssets.
func (l *Ledger) Assets(ctx context.Context, r store.Reader) (out []Asset, truncated bool, err error) {
	assets, truncated, err := l.assets(ctx, r)
	for _, a := range assets {
		if a.Moved() {
			a.judge(l.Unscoped > 0)
			out = append(out, *a)
		}
	}
	return out, truncated, err
}

// assets reads the rows of tokens.
func (g *Generation) assets(ctx context.Context, r store.Reader) (out []*Asset, truncated bool, err error) {
	rng := store.Range{Table: Tokens, Partition: Partition(g.Number), Limit: MaxAssets + 1}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, false, fmt.Errorf("tokens of privacy pools: %w", err)
		}
		a, err := decodeToken(row.Sort, row.Value)
		if err != nil {
			return nil, false, err
		}
		out = append(out, a)
	}
	if len(out) > MaxAssets {
		return out[:MaxAssets], true, nil
	}
	return out, false, nil
}

// Hours returns the points of the hours that begin in a range, both ends included,
// oldest first, at most limit and MaxHours, and the hour to go on with; zero at the end.
// An hour that has no point is not there.
func (l *Ledger) Hours(ctx context.Context, r store.Reader, from, to uint64, limit int) (out []Point, next uint64, err error) {
	limit = min(limit, MaxHours)
	if limit < 1 || from > to {
		return nil, 0, nil
	}
	rng := store.Range{Table: Points, Partition: Partition(l.Number), From: hourSort(from), To: hourSort(to + 1), Limit: limit + 1}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, 0, fmt.Errorf("hours of privacy pools: %w", err)
		}
		p, err := decodePoint(row.Sort, row.Value)
		if err != nil {
			return nil, 0, err
		}
		if len(out) == limit {
			next = p.Hour
			break
		}
		out = append(out, p)
	}
	return out, next, l.fill(ctx, r, out)
}

// fill reads the assets of points.
func (l *Ledger) fill(ctx context.Context, r store.Reader, points []Point) error {
	var keys []store.Key
	var hours []uint64
	at := map[uint64][]Asset{0: nil}
	for i := range points {
		hour := points[i].snapshot
		if _, asked := at[hour]; asked {
			continue
		}
		at[hour] = nil
		hours = append(hours, hour)
		keys = append(keys, l.key(Snapshots, hourSort(hour)))
	}
	if len(keys) == 0 {
		return nil
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("snapshots of privacy pools: %w", err)
	}
	for i, v := range values {
		if v == nil {
			return fmt.Errorf("%w: the snapshot of hour %d of privacy pools is missing", record.ErrCorrupt, hours[i])
		}
		if at[hours[i]], err = decodeSnapshot(hours[i], v); err != nil {
			return err
		}
	}
	for i := range points {
		points[i].Assets = at[points[i].snapshot]
	}
	return nil
}

// Window is which buckets to read: the newest, up to the one that the ledger is in.
type Window struct {
	Length Length
	// Limit is how many at most; those from before the first event are not there.
	Limit int
}

// span is the first and the last bucket of a window, in the length that is kept.
func (w Window) span(g *Generation) (kept Length, first, last uint64, some bool) {
	if g.First == nil || w.Limit < 1 {
		return kept, 0, 0, false
	}
	kept, each := w.Length, 1
	if w.Length == Week {
		kept, each = Day, 7
	}
	limit := uint64(min(w.Limit, MaxBuckets/each))
	size := w.Length.Seconds()
	first, last = w.Length.Start(g.FirstTime), w.Length.Start(max(g.Time, g.FirstTime))
	if last-first >= limit*size {
		first = last - (limit-1)*size
	}
	return kept, first, last, true
}

// Buckets returns what happened in the buckets of a window, oldest first. A bucket in
// which nothing happened is there, with zeros.
func (l *Ledger) Buckets(ctx context.Context, r store.Reader, w Window) ([]Bucket, error) {
	kept, first, last, some := w.span(l.Generation)
	if !some {
		return nil, nil
	}
	var before Bucket
	rows := map[uint64]*Bucket{}
	err := l.series(ctx, r, Buckets, []byte{byte(kept)}, kept, first, last+w.Length.Seconds(), func(start uint64, v []byte, earlier bool) error {
		b, err := decodeBucket(start, v)
		if earlier {
			before = b
		} else {
			rows[start] = &b
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("buckets of privacy pools: %w", err)
	}
	var out []Bucket
	wallets := before.Wallets
	for start := first; start <= last; start += w.Length.Seconds() {
		sum := Bucket{Start: start, Wallets: wallets}
		for at := start; at < start+w.Length.Seconds(); at += kept.Seconds() {
			if row := rows[at]; row != nil {
				sum.add(row)
			}
		}
		sum.Closed, sum.Degraded = l.ends(start + w.Length.Seconds())
		wallets = sum.Wallets
		out = append(out, sum)
	}
	return out, nil
}

// Flows returns what went in and out of a token in the buckets of a window, oldest
// first; none when it never moved.
func (l *Ledger) Flows(ctx context.Context, r store.Reader, token felt.Felt, w Window) ([]Flow, error) {
	return l.flows(ctx, r, flowToken, token, w)
}

// Fees returns what was paid in fees in a token, as Flows does.
func (l *Ledger) Fees(ctx context.Context, r store.Reader, token felt.Felt, w Window) ([]Flow, error) {
	return l.flows(ctx, r, flowFee, token, w)
}

func (l *Ledger) flows(ctx context.Context, r store.Reader, kind byte, token felt.Felt, w Window) ([]Flow, error) {
	kept, first, last, some := w.span(l.Generation)
	if !some {
		return nil, nil
	}
	prefix := append([]byte{kind, byte(kept)}, token[:]...)
	var before *Flow
	rows := map[uint64]*Flow{}
	err := l.series(ctx, r, Flows, prefix, kept, first, last+w.Length.Seconds(), func(start uint64, v []byte, earlier bool) error {
		f, err := decodeFlow(start, v)
		if earlier {
			before = f
		} else {
			rows[start] = f
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("flows of %s of privacy pools: %w", token, err)
	}
	if before == nil && len(rows) == 0 {
		return nil, nil
	}
	var out []Flow
	in, taken := zero(), zero()
	if before != nil {
		in, taken = before.TotalIn, before.TotalOut
	}
	for start := first; start <= last; start += w.Length.Seconds() {
		sum := newFlow(start)
		sum.TotalIn, sum.TotalOut = new(big.Int).Set(in), new(big.Int).Set(taken)
		for at := start; at < start+w.Length.Seconds(); at += kept.Seconds() {
			if row := rows[at]; row != nil {
				sum.add(row)
			}
		}
		sum.Closed, sum.Degraded = l.ends(start + w.Length.Seconds())
		in, taken = sum.TotalIn, sum.TotalOut
		out = append(out, *sum)
	}
	return out, nil
}

// ends tells of a bucket that ends at a time whether the ledger reaches beyond it, and
// whether there was a gap before.
func (g *Generation) ends(end uint64) (closed, degraded bool) {
	gap := g.Degraded()
	return g.Time >= end, gap != nil && gap.Time < end
}

// series shows the rows of a range of starts, and the newest one before it.
func (g *Generation) series(ctx context.Context, r store.Reader, t *store.Table, prefix []byte, kept Length, from, to uint64, show func(start uint64, v []byte, earlier bool) error) error {
	at := func(start uint64) []byte { return binary.BigEndian.AppendUint64(append([]byte(nil), prefix...), start) }
	ranges := []store.Range{
		{Table: t, Partition: Partition(g.Number), From: at(0), To: at(from), Reverse: true, Limit: 1},
		{Table: t, Partition: Partition(g.Number), From: at(from), To: at(to), Limit: int((to - from) / kept.Seconds())},
	}
	for i, rng := range ranges {
		for row, err := range r.Scan(ctx, rng) {
			if err != nil {
				return err
			}
			start, err := startOf(row.Sort[min(len(prefix), len(row.Sort)):])
			if err == nil {
				err = show(start, row.Value, i == 0)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// startOf reads when a bucket or an hour began from the end of its key.
func startOf(sort []byte) (uint64, error) {
	if len(sort) != 8 {
		return 0, fmt.Errorf("%w: a key of privacy pools with %d bytes for a time", record.ErrCorrupt, len(sort))
	}
	return binary.BigEndian.Uint64(sort), nil
}
