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
	"chainexplorer/internal/logs"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/usage"
	"chainexplorer/internal/voyager"
)

const chainID = "SN_SEPOLIA"

// service is the API as it runs in production, on a simulated chain.
type service struct {
	chain  *simnode.Chain
	blocks uint64
	server *kernel.Server
	anew   *kernel.Server // keeps no answers
	silent *kernel.Server // records no usage
	key    string
	// quietKey is of another workspace.
	quietKey string
	// accounts are those that keys checks, and elsewhere the same for another process.
	accounts, elsewhere *account.Repository
	keys                *account.Authenticator
	space               account.Workspace
	stops               []func()
}

func (s *service) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

func newService(blocks int) (s *service, err error) {
	// The newer half is not accepted on L1, and so not kept for good.
	s = &service{chain: simnode.New(simnode.Config{Seed: 7, Blocks: blocks, TxPerBlock: 12, L1Lag: blocks / 2}), blocks: uint64(blocks)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, func() { engine.Close() }) //nolint:errcheck // in memory
	if err := s.index(ctx, engine); err != nil {
		return nil, fmt.Errorf("index the simulated chain: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-http")
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, func() { os.RemoveAll(dir) }) //nolint:errcheck // temporary
	db, err := control.Open(ctx, control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, func() { db.Close() }) //nolint:errcheck // temporary
	repo := account.NewRepository(db, account.Options{})
	space, err := repo.CreateWorkspace(ctx, "bench", account.Enterprise)
	if err != nil {
		return nil, err
	}
	key, err := repo.CreateKey(ctx, account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, BatchPerMinute: 1e9}})
	if err != nil {
		return nil, err
	}
	s.key, s.accounts, s.space = key.Plaintext, repo, space
	other, err := control.Open(ctx, control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, func() { other.Close() }) //nolint:errcheck // temporary
	s.elsewhere = account.NewRepository(other, account.Options{})
	s.keys = account.NewAuthenticator(repo, nil)
	if space, err = repo.CreateWorkspace(ctx, "quiet", account.Enterprise); err != nil {
		return nil, err
	}
	if key, err = repo.CreateKey(ctx, account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9}}); err != nil {
		return nil, err
	}
	s.quietKey = key.Plaintext
	secret := db.CursorSecret()
	o := kernel.Options{
		Keys: s.keys, Cursors: kernel.NewCursors(secret[:]),
		Logger: slog.New(logs.New(io.Discard, false, slog.LevelInfo)), // access records are made, and go nowhere
	}
	recorder := usage.NewRecorder(usage.NewRepository(db, repo, nil), usage.Options{})
	recording, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		recorder.Run(recording)
	}()
	s.stops = append(s.stops, func() { stop(); <-ended })
	o.Record = recorder.Record
	if s.server, err = newServer(o, engine); err != nil {
		return nil, err
	}
	o.CacheBytes = 1
	if s.anew, err = newServer(o, engine); err != nil {
		return s, err
	}
	o.CacheBytes, o.Record = 0, nil
	s.silent, err = newServer(o, engine)
	return s, err
}

func newServer(o kernel.Options, engine pebble.Engine) (*kernel.Server, error) {
	k, err := kernel.New(o)
	if err != nil {
		return nil, err
	}
	routes, err := api.New(k, api.Options{Chains: []api.Chain{{ID: chainID, Store: engine, Depth: 100}}})
	if err != nil {
		return nil, err
	}
	voyager.New(k, routes)
	return k, nil
}

func (s *service) index(ctx context.Context, engine pebble.Engine) error {
	srv := httptest.NewServer(simnode.NewNode(s.chain, simnode.NodeConfig{Version: starknet.V010}))
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

// workload is one kind of answer, under many addresses.
type workload struct {
	name   string
	paths  []string
	server *kernel.Server
}

// cases are the two routes: kept for good (accepted on L1), kept until the next
// block, and made anew for every request.
func (s *service) cases() []workload {
	keptBlocks, newBlocks := workload{"block/{n}, old", nil, s.server}, workload{"block/{n}, new", nil, s.server}
	keptTxs, newTxs := workload{"tx/{hash}, old", nil, s.server}, workload{"tx/{hash}, new", nil, s.server}
	for i := range uint64(64) {
		for _, c := range []struct {
			number     uint64
			block, txs *workload
		}{{20 + i, &keptBlocks, &keptTxs}, {s.blocks - 70 + i, &newBlocks, &newTxs}} {
			c.block.paths = append(c.block.paths, fmt.Sprintf("/v1/%s/block/%d", chainID, c.number))
			for _, tx := range s.chain.BlockAt(c.number).Transactions {
				if len(c.txs.paths) < 64 {
					c.txs.paths = append(c.txs.paths, fmt.Sprintf("/v1/%s/tx/%s", chainID, tx.Hash))
				}
			}
		}
	}
	return []workload{keptBlocks, newBlocks, {"block/{n}, made anew", newBlocks.paths, s.anew},
		keptTxs, newTxs, {"tx/{hash}, made anew", newTxs.paths, s.anew}}
}
