package census

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Why there is no generation to show.
var (
	ErrNotFound   = errors.New("no such generation") // or not any more, or not yet
	ErrNeverMoved = errors.New("no transfer of the token is indexed")
	ErrExpired    = errors.New("the pinned generation has expired")
	ErrRevoked    = errors.New("the pinned generation was revoked")
)

// Pin names a generation that a walk over its pages stays with.
type Pin struct {
	ID     uint64
	Digest [8]byte // the beginning of the generation's
}

// Pin is the generation's own.
func (g *Generation) Pin() Pin { return Pin{g.ID, [8]byte(g.Digest[:8])} }

// Find returns the generation that is pinned, or without a pin the newest that has
// not expired. revoked is also true for one whose block a fork has just taken away,
// and never with a pin. What Newest or Get costs, and one or two reads of one row.
func Find(ctx context.Context, r store.Reader, address felt.Felt, pin *Pin, now time.Time) (g *Generation, revoked bool, err error) {
	if pin != nil {
		g, err = Get(ctx, r, address, pin.ID)
	} else {
		g, err = Newest(ctx, r, address)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, false, err
	}
	missing := err != nil || uint64(now.Unix()) >= g.Expires
	switch {
	case pin != nil && (missing || g.Pin() != *pin):
		return nil, false, ErrExpired
	case err != nil:
		if _, moved, err := token.TotalsOf(ctx, r, address); err != nil {
			return nil, false, err
		} else if !moved {
			return nil, false, ErrNeverMoved
		}
		return nil, false, ErrNotFound
	case missing:
		return nil, false, ErrNotFound
	}
	revoked = g.Status == Revoked
	if !revoked {
		if revoked, err = g.Orphaned(ctx, r); err != nil {
			return nil, false, err
		}
	}
	if pin != nil && revoked {
		return nil, false, ErrRevoked
	}
	return g, revoked, nil
}

// Withheld says that the rows cannot be stood behind.
func (g *Generation) Withheld(revoked bool) bool {
	return revoked || g.Verdict == AuditFailed || g.Verdict == Unavailable
}

// newestRows is how many records are looked at for the newest shown one: a
// token has one that is being built, and one that is being deleted now and then.
const newestRows = 16

// Newest returns the newest generation of a token that readers may see. One
// scan.
func Newest(ctx context.Context, r store.Reader, token felt.Felt) (*Generation, error) {
	rng := store.Range{Table: Generations, Partition: token[:], Limit: newestRows}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("generations of %s: %w", token, err)
		}
		g, err := DecodeGeneration(token, row.Sort, row.Value)
		if err != nil {
			return nil, err
		}
		if g.Shown() {
			return g, nil
		}
	}
	return nil, ErrNotFound
}

// Get returns a generation that readers may see. One Get.
func Get(ctx context.Context, r store.Reader, token felt.Felt, id uint64) (*Generation, error) {
	k := GenerationKey(token, id)
	b, err := r.Get(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("generation %d of %s: %w", id, token, err)
	}
	g, err := DecodeGeneration(token, k.Sort, b)
	if err != nil {
		return nil, err
	}
	if !g.Shown() {
		return nil, ErrNotFound
	}
	return g, nil
}

// All returns every generation, whatever its status. It is for the job that
// makes them: there are a few for each token.
func All(ctx context.Context, r store.Reader) (out []*Generation, err error) {
	for e, err := range r.Walk(ctx, Generations, nil) {
		if err != nil {
			return nil, fmt.Errorf("walk generations: %w", err)
		}
		g, err := DecodeGeneration(felt.Felt(e.Partition), e.Sort, e.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// Orphaned reports whether a fork took away the block of a generation. One Get.
func (g *Generation) Orphaned(ctx context.Context, r store.Reader) (bool, error) {
	holds, err := block.Ref{Number: g.AsOf, Hash: g.Hash}.Holds(ctx, r)
	return err == nil && !holds, err
}

// Page returns up to limit holders of a generation behind a place, or from the
// first on. One scan.
func Page(ctx context.Context, r store.Reader, token felt.Felt, id uint64, after *Place, limit int) ([]Holder, error) {
	rng := store.Range{Table: Holders, Partition: HolderPartition(token, id), Limit: limit}
	if after != nil {
		rng.From = store.After(after[:])
	}
	out := make([]Holder, 0, limit)
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("holders of generation %d of %s: %w", id, token, err)
		}
		h, err := parseHolder(row)
		if err != nil {
			return nil, fmt.Errorf("generation %d of %s: %w", id, token, err)
		}
		out = append(out, h)
	}
	return out, nil
}

// Cut is where a page ends: behind the holder of a rank.
type Cut struct {
	Rank  uint64
	After Place
}

// Ranked is a holder, its rank, and the time of the block that last changed it.
type Ranked struct {
	Holder
	Rank uint64
	Time uint64
}

// Ranked returns up to limit holders behind a cut, or from the first on, none behind
// rank last, and where to go on; nil at the end. One scan and one GetMany.
func (g *Generation) Ranked(ctx context.Context, r store.Reader, from *Cut, limit int, last uint64) ([]Ranked, *Cut, error) {
	var rank uint64
	var after *Place
	if from != nil {
		rank, after = from.Rank, &from.After
	}
	last = min(last, g.Holders)
	if rank >= last {
		return nil, nil, nil
	}
	rows, err := Page(ctx, r, g.Token, g.ID, after, min(limit, int(last-rank)))
	if err != nil {
		return nil, nil, err
	}
	numbers := make([]uint64, len(rows))
	for i := range rows {
		numbers[i] = rows[i].LastBlock
	}
	blocks, err := block.GetMany(ctx, r, numbers)
	if err != nil {
		return nil, nil, err
	}
	out := make([]Ranked, len(rows))
	for i := range rows {
		rank++
		out[i] = Ranked{rows[i], rank, blocks[i].Timestamp}
	}
	if rank >= last || len(rows) == 0 {
		return out, nil, nil
	}
	return out, &Cut{rank, rows[len(rows)-1].Place}, nil
}
