package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// batches are the commits of indexing the chain, made once on Pebble.
func (b *bench) batches(ctx context.Context, dir string) ([]*store.Batch, error) {
	engine, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables()})
	if err != nil {
		return nil, err
	}
	defer engine.Close() //nolint:errcheck // temporary
	timed := &timedEngine{Engine: engine, keep: true}
	x, err := index.New(index.Options{Store: timed, Source: b.source, Verify: index.VerifyOff, UndoBlocks: 1, TailBlocks: 1, BatchBytes: 12 << 20})
	if err != nil {
		return nil, err
	}
	if err := x.RunTo(ctx, uint64(b.source.Length-1)); err != nil {
		return nil, err
	}
	return timed.kept, nil
}

// held replays commits and then reads pages of lists with many clients, while each
// worker has no more than a share of a core. Only the store is at work then.
func (b *bench) held(ctx context.Context, name string, c *cluster, share float64) (f figures, err error) {
	engine, done, err := b.open(ctx, c.url, b.shards)
	if err != nil {
		return f, err
	}
	defer done()
	lease, err := engine.Acquire(ctx, store.Writer, "bench", time.Hour)
	if err != nil {
		return f, err
	}
	commit := func(batches []*store.Batch) error {
		for _, batch := range batches {
			batch.Epoch = lease.Epoch
			if err := engine.Commit(ctx, batch); err != nil {
				return err
			}
		}
		return nil
	}
	// New connections and what they have to learn are not what is measured.
	warm := len(b.made) / 3
	if err := commit(b.made[:warm]); err != nil {
		return f, err
	}
	if err := c.hold(share); err != nil {
		return f, err
	}
	before, trips, start := c.used(), engine.RoundTrips(), time.Now()
	if err := commit(b.made[warm:]); err != nil {
		return f, err
	}
	took, commits := time.Since(start), float64(len(b.made)-warm)
	f.commits = commits / took.Seconds()
	for node, d := range c.used() {
		if node != "coordinator" {
			f.busiest = max(f.busiest, (d-before[node]).Seconds()/commits)
		}
	}
	blocks := f.commits * float64(b.source.Length) / float64(len(b.made))
	fmt.Printf("%-26s %.2f commits/s of %.0f blocks each, %.1f round trips a commit, %.0f ms of the busiest worker's CPU; busy:%s\n", name, f.commits, blocks/f.commits,
		float64(engine.RoundTrips()-trips)/commits, f.busiest*1e3, busy(before, c.used(), took))

	var keys []store.Key
	rng := rand.New(rand.NewPCG(1, 2))
	for len(keys) < 5000 {
		ops := b.made[rng.IntN(len(b.made))].Ops()
		keys = append(keys, ops[rng.IntN(len(ops))].Key)
	}
	err = c.hold(1)
	if err == nil {
		_, err = b.read(ctx, engine, keys, b.length/2)
	}
	if err := errors.Join(err, c.hold(share)); err != nil {
		return f, err
	}
	before, trips, start = c.used(), engine.RoundTrips(), time.Now()
	pages, err := b.read(ctx, engine, keys, b.length)
	if err != nil {
		return f, err
	}
	took = time.Since(start)
	f.pages = float64(pages) / took.Seconds()
	fmt.Printf("%-26s %.0f pages/s of %d clients, %.1f round trips a page; busy:%s\n", "", f.pages, b.clients,
		float64(engine.RoundTrips()-trips)/float64(pages), busy(before, c.used(), took))
	return f, nil
}

// read lets all clients read pages for some time.
func (b *bench) read(ctx context.Context, engine store.Engine, keys []store.Key, length time.Duration) (int64, error) {
	var pages atomic.Int64
	end := time.Now().Add(length)
	var g errgroup.Group
	for i := range b.clients {
		g.Go(func() error {
			rng := rand.New(rand.NewPCG(3, uint64(i)))
			for time.Now().Before(end) {
				if err := page(ctx, engine, keys, rng); err != nil {
					return err
				}
				pages.Add(1)
			}
			return nil
		})
	}
	err := g.Wait()
	return pages.Load(), err
}

// page reads what a page of a list reads: a part of the list, and the rows that it names.
func page(ctx context.Context, engine store.Engine, keys []store.Key, rng *rand.Rand) error {
	return engine.View(ctx, func(r store.Reader) error {
		k := keys[rng.IntN(len(keys))]
		for _, err := range r.Scan(ctx, store.Range{Table: k.Table, Partition: k.Partition, From: k.Sort, Limit: 25}) {
			if err != nil {
				return err
			}
		}
		named := make([]store.Key, 25)
		for i := range named {
			named[i] = keys[rng.IntN(len(keys))]
		}
		_, err := r.GetMany(ctx, named)
		return err
	})
}

// busy is how much of a core each node used.
func busy(before, after map[string]time.Duration, took time.Duration) (text string) {
	for node, d := range sorted(after) {
		text += fmt.Sprintf(", %s %.2f", node, (d-before[node]).Seconds()/took.Seconds())
	}
	if text != "" {
		text = text[1:]
	}
	return text
}
