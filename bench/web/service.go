package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/site"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/web/pages"
)

const (
	chainID = "SN_SEPOLIA"
	blocks  = 400
)

// service is the API with its pages, on a simulated chain.
type service struct {
	chain *simnode.Chain
	kept  *kernel.Server // keeps answers and pages, as it does in production
	anew  *kernel.Server // keeps none
	key   string
	stops []func()
}

func (s *service) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

func newService() (s *service, err error) {
	s = &service{chain: simnode.New(simnode.Config{Seed: 7, Blocks: blocks, TxPerBlock: 12, L1Lag: 200})}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	known, err := registry.Builtin().With(chainID, s.chain.Network().Registry())
	if err != nil {
		return s, fmt.Errorf("what is known of the chain: %w", err)
	}
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return s, fmt.Errorf("open a store: %w", err)
	}
	s.stops = append(s.stops, func() { engine.Close() }) //nolint:errcheck // in memory
	if err := s.index(ctx, engine); err != nil {
		return s, fmt.Errorf("index the simulated chain: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-web")
	if err != nil {
		return s, fmt.Errorf("a folder for accounts: %w", err)
	}
	s.stops = append(s.stops, func() { os.RemoveAll(dir) }) //nolint:errcheck // temporary
	db, err := control.Open(ctx, control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { db.Close() }) //nolint:errcheck // temporary
	repo := account.NewRepository(db, account.Options{})
	space, err := repo.CreateWorkspace(ctx, "bench", account.Enterprise)
	if err != nil {
		return s, err
	}
	key, err := repo.CreateKey(ctx, account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		return s, err
	}
	s.key = key.Plaintext
	secret := db.CursorSecret()
	o := kernel.Options{Keys: account.NewAuthenticator(repo, nil), Cursors: kernel.NewCursors(secret[:]), AnonymousPerMinute: -1,
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil))} // access records are made, and go nowhere
	served := api.Chain{ID: chainID, Store: engine, Depth: 100, Registry: known.Chain(chainID)}
	if s.kept, err = newServer(o, served); err != nil {
		return s, err
	}
	o.CacheBytes = 1
	s.anew, err = newServer(o, served)
	return s, err
}

func newServer(o kernel.Options, c api.Chain) (*kernel.Server, error) {
	k, err := kernel.New(o)
	if err != nil {
		return nil, err
	}
	routes, err := api.New(k, api.Options{Chains: []api.Chain{c}})
	if err != nil {
		return nil, err
	}
	pages.New(k, routes)
	site.New(k, routes)
	return k, nil
}

func (s *service) index(ctx context.Context, engine pebble.Engine) error {
	srv := httptest.NewServer(simnode.NewNode(s.chain, simnode.NodeConfig{}))
	defer srv.Close()
	pool, err := node.Open(ctx, node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, HealthInterval: time.Hour})
	if err != nil {
		return err
	}
	defer pool.Close()
	x, err := index.New(index.Options{Store: engine, Source: &index.Nodes{Pool: pool}, Verify: index.VerifyOff, L1Interval: time.Nanosecond})
	if err != nil {
		return err
	}
	head, ok := s.chain.Head()
	if !ok {
		return errors.New("the chain is empty")
	}
	return x.RunTo(ctx, head)
}
