package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// serviceOptions are the settings of serve and demo.
type serviceOptions struct {
	Listen        string
	Metrics       string
	Data          string
	Nodes         map[string][]node.Endpoint // by chain id; "" is the chain that the nodes serve
	Verify        index.VerifyMode
	UndoBlocks    uint64
	Depth         uint64
	CacheMiB      int
	Origins       []string
	BaseURL       string
	TraceEndpoint string
	Registry      *registry.Registry
	// CensusInterval and CensusRetention are the defaults of the census when zero.
	CensusInterval, CensusRetention time.Duration
}

// service is every role in one process.
type service struct {
	opts     serviceOptions
	con      *console
	registry *prometheus.Registry
	listener net.Listener
	control  *control.DB
	accounts *account.Repository
	keys     *account.Authenticator
	chains   []*servedChain
	api      *api.Server
	traces   func(http.Handler) http.Handler
	closers  []func()
}

// servedChain is one chain's part of the service.
type servedChain struct {
	id      string
	engine  *pebble.Engine
	pool    *node.Pool
	indexer *index.Indexer
}

// drainTime is how long requests may go on after a stop was asked for.
const drainTime = 10 * time.Second

// openService opens everything, so that every bad setting is known before
// anything runs. Close must be called whatever happens next.
func openService(ctx context.Context, o serviceOptions, con *console) (_ *service, err error) {
	s := &service{opts: o, con: con, registry: prometheus.NewRegistry()}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.listener, err = net.Listen("tcp", o.Listen); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s.onClose(func() { s.listener.Close() }) //nolint:errcheck // closed by the server already
	if o.Metrics != "" {
		stop, err := serveMetrics(o.Metrics, s.registry, con.log)
		if err != nil {
			return nil, err
		}
		s.onClose(stop)
	}
	traces, stopTraces, err := openTraces(ctx, o.TraceEndpoint)
	if err != nil {
		return nil, err
	}
	s.traces = traces
	s.onClose(stopTraces)
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if s.control, err = control.Open(ctx, control.Options{Path: filepath.Join(o.Data, "control.db"), Logger: con.log}); err != nil {
		return nil, err
	}
	s.onClose(func() { s.control.Close() }) //nolint:errcheck // every change is durable when it is acknowledged
	s.accounts = account.NewRepository(s.control, account.Options{})
	s.keys = account.NewAuthenticator(s.accounts, con.log)
	for _, id := range slices.Sorted(chainNames(o.Nodes)) {
		if err := s.openChain(ctx, id, o.Nodes[id]); err != nil {
			return nil, err
		}
	}
	return s, s.openAPI()
}

func chainNames(m map[string][]node.Endpoint) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id := range m {
			if !yield(id) {
				return
			}
		}
	}
}

func (s *service) onClose(f func()) { s.closers = append(s.closers, f) }

// Close releases everything in reverse order. It may be called twice.
func (s *service) Close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
	s.closers = nil
}

// openChain opens the nodes and the index of a chain, in a directory of its own.
func (s *service) openChain(ctx context.Context, id string, endpoints []node.Endpoint) error {
	reg := prometheus.WrapRegistererWith(prometheus.Labels{"chain": defaultText(id, "default")}, s.registry)
	pool, err := node.Open(ctx, node.Config{Nodes: endpoints, Logger: s.con.log, Metrics: node.NewMetrics(reg)})
	if err != nil {
		return err
	}
	s.onClose(pool.Close)
	source := &index.Nodes{Pool: pool}
	found, err := askChain(ctx, source, s.con.log)
	if err != nil {
		return err
	}
	name := index.ChainName(found)
	if id != "" && id != name {
		return fmt.Errorf("--chain %s: its node serves the chain %s", id, name)
	}
	if strings.ContainsAny(name, "/\\.") {
		return fmt.Errorf("the node serves a chain called %q, which cannot be a directory", name)
	}
	dir := filepath.Join(s.opts.Data, name)
	if err := checkDataDir(dir); err != nil {
		return err
	}
	engine, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables(), CacheBytes: int64(s.opts.CacheMiB) << 20, Logger: s.con.log, Metrics: reg})
	if err != nil {
		return err
	}
	s.onClose(func() { engine.Close() }) //nolint:errcheck // every commit is durable when it returns
	log := s.con.log.With("chain", name)
	jobs := jobSettings{Store: engine, Pool: pool, Registry: s.opts.Registry.Chain(name), Depth: s.opts.Depth,
		CensusInterval: s.opts.CensusInterval, CensusRetention: s.opts.CensusRetention, Logger: log}.jobs()
	x, err := index.New(index.Options{Jobs: jobs, Store: engine, Source: source, Verify: s.opts.Verify, UndoBlocks: s.opts.UndoBlocks, Owner: owner(),
		Logger: log, Metrics: index.NewMetrics(reg)})
	if err != nil {
		return err
	}
	s.chains = append(s.chains, &servedChain{name, engine, pool, x})
	return nil
}

// askChain waits for a node to say which chain it serves.
func askChain(ctx context.Context, source *index.Nodes, log *slog.Logger) (felt.Felt, error) {
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 15*time.Second) {
		id, err := source.ChainID(ctx)
		if err == nil {
			return id, nil
		}
		log.Warn("waiting for a node", "err", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return felt.Felt{}, ctx.Err()
		}
	}
}

func (s *service) openAPI() error {
	secret := s.control.CursorSecret()
	o := api.Options{Keys: s.keys, Cursors: api.NewCursors(secret[:]), Origins: s.opts.Origins, BaseURL: s.opts.BaseURL, Version: version(),
		Logger: s.con.log, Metrics: api.NewMetrics(s.registry)}
	for _, c := range s.chains {
		o.Chains = append(o.Chains, api.Chain{ID: c.id, Store: c.engine, Depth: s.opts.Depth, NodeHead: c.nodeHead, Node: c.pool, Registry: s.opts.Registry.Chain(c.id)})
	}
	var err error
	s.api, err = api.New(o)
	return err
}

// nodeHead is the highest head that the pool has heard of; it asks nobody.
func (c *servedChain) nodeHead() (head uint64, ok bool) { return newestOf(c.pool) }

// Run serves until ctx ends, then drains: requests under way are finished, new
// connections refused, and the indexers stop at a commit.
func (s *service) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	srv := &http.Server{
		Handler:           s.traces(s.api),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.con.log.Handler(), slog.LevelDebug),
	}
	g.Go(func() error {
		if err := srv.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		<-gctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := srv.Shutdown(drain); err != nil {
			s.con.log.Warn("requests were cut off", "err", err)
			srv.Close() //nolint:errcheck // the process ends
		}
		return nil
	})
	g.Go(func() error {
		s.keys.Run(gctx)
		return nil
	})
	for _, c := range s.chains {
		g.Go(func() error {
			err := c.indexer.Run(gctx)
			if err == nil || gctx.Err() != nil {
				return nil
			}
			s.con.log.Error("the index stands still", "chain", c.id, "err", err)
			if errors.Is(err, store.ErrStopped) || errors.Is(err, store.ErrClosed) {
				return fmt.Errorf("index of %s: %w", c.id, err)
			}
			return nil // what is indexed can still be read; the status says why there is no more
		})
	}
	return g.Wait()
}

func defaultText(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
