package census

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// ErrNotFound says that there is no such generation, or not any more.
var ErrNotFound = errors.New("no such generation")

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
