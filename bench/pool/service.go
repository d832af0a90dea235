package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
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
	// uses is how often a block uses the pool, and blocks how many are made at a time.
	uses, blocks = 40, 50
	// pace makes the long history one of weeks.
	pace = 15 * time.Minute
)

// service is the routes over a history.
type service struct {
	url, key string
	from, to time.Time // of the history
	stops    []func()
}

func (s *service) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

// newService makes a history with so many pool events, indexes it, and serves it.
func newService(ctx context.Context, dir string, events int) (s *service, err error) {
	s = &service{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	dir, err = os.MkdirTemp(dir, "bench-pool")
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { os.RemoveAll(dir) }) //nolint:errcheck // temporary
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(dir, "index"), Tables: catalog.Tables()})
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { engine.Close() }) //nolint:errcheck // temporary
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: blocks, TxPerBlock: 1, PoolUses: uses, BlockTime: pace, Compact: true})
	known, err := registry.New(chain.Network().Registry())
	if err != nil {
		return s, err
	}
	start, counted := time.Now(), 0
	for from := uint64(0); ; chain.Extend(blocks) {
		head, _ := chain.Head()
		counted += len(chain.PoolFacts(from, head))
		from = head + 1
		if counted >= events {
			break
		}
	}
	made := time.Since(start)
	head, _ := chain.Head()
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
	fmt.Printf("%d pool events in %d blocks of %v: made in %.1f s, indexed in %.1f s, ledger in %.1f s (%.0f events/s)\n", counted, head+1, pace, made.Seconds(), indexed.Seconds(), took.Seconds(),
		float64(counted)/took.Seconds())
	return s, s.serve(ctx, dir, engine, known)
}

// keep makes the ledger.
func keep(ctx context.Context, engine *pebble.Engine, pools []registry.PrivacyPool) error {
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

func (s *service) serve(ctx context.Context, dir string, engine *pebble.Engine, known *registry.Chain) error {
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
	if _, err := api.New(k, api.Options{Chains: []api.Chain{{ID: chainID, Store: engine, Depth: depth, Registry: known}}}); err != nil {
		return err
	}
	srv := httptest.NewServer(k)
	s.stops = append(s.stops, srv.Close)
	s.url = srv.URL
	return nil
}
