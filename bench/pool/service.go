package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

const (
	chainID = "SN_SEPOLIA"
	depth   = 10
	// atOnce is how many blocks are made at a time.
	atOnce = 50
	// perUse and perBlock are how many events a use of the pool has, and a block of a chain
	// that uses it no more than others do: about.
	perUse, perBlock = 2.75, 1.4
)

// service is the routes over a history.
type service struct {
	url, key string
	pool     felt.Felt
	from, to time.Time // of the history
	middle   uint64    // the block
	read     *counted
	stops    []func()
}

// counted is a store that counts the rows that are read.
type counted struct {
	pebble.Engine
	rows atomic.Int64
}

func (c *counted) View(ctx context.Context, fn func(store.Reader) error) error {
	return c.Engine.View(ctx, func(r store.Reader) error { return fn(&reader{r, &c.rows}) })
}

type reader struct {
	store.Reader
	rows *atomic.Int64
}

func (r *reader) Get(ctx context.Context, k store.Key) ([]byte, error) {
	r.rows.Add(1)
	return r.Reader.Get(ctx, k)
}

func (r *reader) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	r.rows.Add(int64(len(ks)))
	return r.Reader.GetMany(ctx, ks)
}

func (r *reader) Scan(ctx context.Context, rng store.Range) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for row, err := range r.Reader.Scan(ctx, rng) {
			if r.rows.Add(1); !yield(row, err) {
				return
			}
		}
	}
}

func (s *service) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

// newService makes a history with about so many pool events, indexes it, and serves it.
func newService(ctx context.Context, out io.Writer, o options, events int) (s *service, err error) {
	s = &service{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	dir, err := os.MkdirTemp(o.dir, "bench-pool")
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { os.RemoveAll(dir) }) //nolint:errcheck // temporary
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(dir, "index"), Tables: catalog.Tables()})
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { engine.Close() }) //nolint:errcheck // temporary
	uses := max(1, int((float64(events)/float64(o.blocks)-perBlock)/perUse+0.5))
	start := time.Now()
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: min(atOnce, o.blocks), TxPerBlock: 1, PoolUses: uses, BlockTime: o.pace, Compact: true})
	for made := atOnce; made < o.blocks; made += atOnce {
		chain.Extend(min(atOnce, o.blocks-made))
	}
	made := time.Since(start)
	known, err := registry.New(chain.Network().Registry())
	if err != nil {
		return s, err
	}
	head, _ := chain.Head()
	counts := len(chain.PoolFacts(0, head))
	s.pool, s.middle = chain.Pool(), head/2
	s.from, s.to = time.Unix(int64(chain.BlockAt(0).Timestamp), 0), time.Unix(int64(chain.BlockAt(head-depth).Timestamp), 0)
	start = time.Now()
	x, err := index.New(index.Options{Store: engine, Source: simsource.Source{Chain: chain}, Verify: index.VerifyOff, UndoBlocks: 1, NoClasses: true})
	if err != nil {
		return s, err
	}
	if err := x.RunTo(ctx, head); err != nil {
		return s, fmt.Errorf("index the simulated chain: %w", err)
	}
	indexed := time.Since(start)
	start = time.Now()
	if err := keep(ctx, engine, known.PrivacyPools()); err != nil {
		return s, err
	}
	took := time.Since(start)
	if err := engine.Compact(ctx); err != nil { // so that no compaction runs beside the requests
		return s, err
	}
	fmt.Fprintf(out, "%d pool events in %d blocks over %v: made in %.1f s, indexed in %.1f s, ledger in %.1f s (%.0f events/s)\n", counts, head+1, s.to.Sub(s.from).Round(time.Hour),
		made.Seconds(), indexed.Seconds(), took.Seconds(), float64(counts)/took.Seconds())
	s.read = &counted{Engine: engine}
	return s, s.serve(ctx, dir, known)
}

// keep makes the ledger.
func keep(ctx context.Context, engine pebble.Engine, pools []registry.PrivacyPool) error {
	lease, err := engine.Acquire(ctx, store.Writer, "bench", time.Hour)
	if err != nil {
		return err
	}
	defer engine.Release(ctx, lease) //nolint:errcheck // temporary
	j := &privacypool.Job{Store: engine, Pools: pools, Depth: depth}
	commit := func(ctx context.Context, b *store.Batch) error {
		b.Epoch = lease.Epoch
		return engine.Commit(ctx, b)
	}
	for more := true; more; {
		if more, err = j.Step(ctx, commit); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) serve(ctx context.Context, dir string, known *registry.Chain) error {
	db, err := control.Open(ctx, control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, func() { db.Close() }) //nolint:errcheck // temporary
	repo := account.NewRepository(db, account.Options{})
	space, err := repo.CreateWorkspace(ctx, "bench", account.Enterprise)
	if err != nil {
		return err
	}
	key, err := repo.CreateKey(ctx, account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		return err
	}
	s.key = key.Plaintext
	secret := db.CursorSecret()
	k, err := kernel.New(kernel.Options{Keys: account.NewAuthenticator(repo, nil), Cursors: kernel.NewCursors(secret[:]), Logger: slog.New(slog.DiscardHandler), CacheBytes: 1})
	if err != nil {
		return err
	}
	if _, err := api.New(k, api.Options{Chains: []api.Chain{{ID: chainID, Store: s.read, Depth: depth, Registry: known}}}); err != nil {
		return err
	}
	srv := httptest.NewServer(k)
	s.stops = append(s.stops, srv.Close)
	s.url = srv.URL
	return nil
}
