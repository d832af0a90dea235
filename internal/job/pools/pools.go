// Package pools reads the pools of known exchanges out of the index, beside the
// write path: creation events up to the finalized block become the rows of
// explorer/pools.
//
// Every step is one commit that holds whole blocks and the state after them, so
// that a kill at any moment loses nothing and counts nothing twice. When a fork
// took away a block that was read, or the registry has other exchanges than
// before, all rows are deleted in bounded batches and made again; readers are
// told meanwhile that there are none.
package pools

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Job is a job.Job.
type Job struct {
	Store store.Engine
	Dexes []registry.Dex // of the registry, in its order
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when 0.
	Depth uint64
	// Interval is how often to look for new blocks (default 5 s).
	Interval time.Duration
	// StepEvents is how many creation events a commit takes (default 500).
	StepEvents int
	Logger     *slog.Logger
}

var _ job.Job = (*Job)(nil)

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "pools" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return pools.Enrichment() }

// Every is how often to look for new blocks.
func (j *Job) Every() time.Duration {
	if j.Interval > 0 {
		return j.Interval
	}
	return 5 * time.Second
}

// wipeRows is how many rows a commit deletes.
const wipeRows = 2000

func (j *Job) step() int {
	if j.StepEvents > 0 {
		return j.StepEvents
	}
	return 500
}

// Step does one commit, if there is something to do, and reports whether there
// may be more.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	batch := &store.Batch{}
	err = j.Store.View(ctx, func(r store.Reader) error {
		more, err = j.plan(ctx, r, batch)
		return err
	})
	if err != nil || batch.Len() == 0 {
		return false, err
	}
	if err := commit(ctx, batch); err != nil {
		return false, fmt.Errorf("pools: %w", err)
	}
	return more, nil
}

// plan fills the batch of the next step.
func (j *Job) plan(ctx context.Context, r store.Reader, b *store.Batch) (more bool, err error) {
	s, err := pools.ReadState(ctx, r)
	if err != nil {
		return false, err
	}
	if s.Wiping {
		return true, j.wipe(ctx, r, b, s)
	}
	here, err := chain.Read(ctx, r)
	if err != nil || !here.HasHead {
		return false, err
	}
	if s.Some {
		switch _, err := s.Sound(ctx, r, j.Dexes); {
		case err == nil:
		case err == pools.ErrMissing: //nolint:errorlint // it is returned as it is
			if j.Logger != nil {
				j.Logger.Info("pools are read again: the exchanges changed, or a fork took a block away", "through", s.Through)
			}
			s.Wiping = true
			b.Put(pools.StateKey, s.Encode())
			return true, nil
		default:
			return false, err
		}
	}
	depth := j.Depth
	if depth == 0 {
		depth = chain.DefaultDepth
	}
	last, ok := here.FinalizedBlock(depth)
	if !ok {
		return false, nil
	}
	from := uint64(0)
	if s.Some {
		from = s.Through + 1
	}
	if from > last {
		return false, nil
	}
	hits, through, err := j.read(ctx, r, from, last)
	if err != nil {
		return false, err
	}
	if err := j.write(ctx, r, b, hits); err != nil {
		return false, err
	}
	at, err := block.Get(ctx, r, through)
	if err != nil {
		return false, err
	}
	next := pools.State{Exchanges: pools.Fingerprint(j.Dexes), Some: true, Through: through, Hash: at.Hash}
	b.Put(pools.StateKey, next.Encode())
	return through < last, nil
}

// read returns the creation events of whole blocks, and the last of these blocks.
func (j *Job) read(ctx context.Context, r store.Reader, from, last uint64) (hits []event.Hit, through uint64, err error) {
	if len(j.Dexes) == 0 {
		return nil, last, nil
	}
	q := event.Query{From: from, To: last, Order: event.Asc, Limit: j.step()}
	for i := range j.Dexes {
		q.Emitters = append(q.Emitters, j.Dexes[i].Address)
		q.Keys[0] = append(q.Keys[0], felt.Felt(j.Dexes[i].Event))
	}
	for {
		page, err := event.Search(ctx, r, q)
		if err != nil {
			return nil, 0, fmt.Errorf("pools: %w", err)
		}
		hits = append(hits, page.Events...)
		if page.Done || page.Next == nil {
			return hits, last, nil
		}
		// The block that the page ended in may have more: it is left for the
		// next step, unless nothing else was found.
		end := page.Next.Block
		if end > from {
			n := len(hits)
			for n > 0 && hits[n-1].Block >= end {
				n--
			}
			return hits[:n], end - 1, nil
		}
		q.After = page.Next
	}
}

// write adds the rows of pools, and what they do to the totals.
func (j *Job) write(ctx context.Context, r store.Reader, b *store.Batch, hits []event.Hit) error {
	finder := pools.NewFinder(j.Dexes)
	var tokens []felt.Felt
	added := map[felt.Felt]uint64{}
	for i := range hits {
		e := &hits[i].Event
		_, pool, ok := finder.Pool(e.From, e.Keys, e.Data)
		if !ok || pool.Token0 == pool.Token1 {
			continue
		}
		for _, t := range []felt.Felt{pool.Token0, pool.Token1} {
			b.Put(pools.PoolKey(t, hits[i].Place), nil)
			if added[t]++; added[t] == 1 {
				tokens = append(tokens, t)
			}
		}
	}
	keys := make([]store.Key, len(tokens))
	for i, t := range tokens {
		keys[i] = pools.TotalKey(t)
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("count pools: %w", err)
	}
	for i, t := range tokens {
		n, err := pools.DecodeTotal(values[i])
		if err != nil {
			return fmt.Errorf("pools of %s: %w", t, err)
		}
		b.Put(keys[i], pools.EncodeTotal(n+added[t]))
	}
	return nil
}

// wipe deletes some rows, and the state with the last of them.
func (j *Job) wipe(ctx context.Context, r store.Reader, b *store.Batch, s pools.State) error {
	for _, table := range []*store.Table{pools.Pools, pools.Totals} {
		for e, err := range r.Walk(ctx, table, nil) {
			if err != nil {
				return fmt.Errorf("wipe pools: %w", err)
			}
			if b.Len() == wipeRows {
				return nil
			}
			b.Delete(store.Key{Table: table, Partition: append([]byte(nil), e.Partition...), Sort: append([]byte(nil), e.Sort...)})
		}
	}
	if b.Len() < wipeRows {
		b.Delete(pools.StateKey)
	}
	return nil
}
