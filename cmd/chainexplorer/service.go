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
	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/label"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// serviceOptions are the settings of serve and demo.
type serviceOptions struct {
	Listen        string
	Metrics       string
	BackupDir     string
	Data          string
	Store         storeFlags                 // where the indexes are when they are not in Data
	Control       string                     // the control database; in Data, or else with the store, when empty
	ReadOnly      bool                       // another process indexes
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
	front    *front
	backups  *backups
	traces   func(http.Handler) http.Handler
	closers  []func()
}

// servedChain is one chain's part of the service.
type servedChain struct {
	id      string
	engine  store.Engine
	pool    *node.Pool     // nil when no node is asked
	indexer *index.Indexer // nil when another process indexes
	jobs    *jobs          // likewise
}

// drainTime is how long requests may go on after a stop was asked for.
const drainTime = 10 * time.Second

// openService opens everything, so that every bad setting is known before
// anything runs. Close must be called whatever happens next.
func openService(ctx context.Context, o serviceOptions, con *console) (_ *service, err error) {
	s := &service{opts: o, con: con, registry: newRegistry(), backups: newBackups(o.BackupDir, con.log)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.listener, err = net.Listen("tcp", o.Listen); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s.front = newFront(s.listener, con.log)
	s.onClose(func() { s.front.server.Close() }) //nolint:errcheck // the process ends
	if o.Metrics != "" {
		stop, err := serveMetrics(o.Metrics, s.registry, s.backups, con.log)
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
	if o.Data != "" {
		if err := os.MkdirAll(o.Data, 0o700); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	if s.control, err = control.Open(ctx, control.Options{Path: o.controlPath(), Logger: con.log}); err != nil {
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
	s.backups.open(s.control)
	if err := s.openAPI(); err != nil {
		return nil, err
	}
	s.front.open(s.traces(s.api))
	return s, nil
}

// controlPath is where the control database is.
func (o *serviceOptions) controlPath() string {
	switch {
	case o.Control != "":
		return o.Control
	case o.Data != "":
		return filepath.Join(o.Data, "control.db")
	default:
		return o.Store.Store
	}
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

// openChain opens the nodes and the index of a chain.
func (s *service) openChain(ctx context.Context, id string, endpoints []node.Endpoint) error {
	c := &servedChain{id: id}
	early := prometheus.NewRegistry() // until the chain is known by name
	var source *index.Nodes
	var found felt.Felt
	if len(endpoints) > 0 {
		var err error
		if c.pool, err = node.Open(ctx, node.Config{Nodes: endpoints, Logger: s.con.log, Metrics: node.NewMetrics(early)}); err != nil {
			return err
		}
		s.onClose(c.pool.Close)
		source = &index.Nodes{Pool: c.pool}
		if found, err = askChain(ctx, source, s.con.log); err != nil {
			return err
		}
		if c.id = index.ChainName(found); id != "" && id != c.id {
			return fmt.Errorf("--chain %s: its node serves the chain %s", id, c.id)
		}
	}
	reg := prometheus.WrapRegistererWith(prometheus.Labels{"chain": c.id}, s.registry)
	if err := reg.Register(early); err != nil {
		return err
	}
	var err error
	if c.engine, err = s.openStore(ctx, c.id, reg); err != nil {
		return err
	}
	s.onClose(func() { c.engine.Close() }) //nolint:errcheck // every commit is durable when it returns
	s.backups.add(c.id, c.engine)
	if !s.opts.ReadOnly {
		log := s.con.log.With("chain", c.id)
		c.jobs, err = jobSettings{Store: c.engine, Shared: s.opts.Store.shared(), TTL: s.opts.Store.leaseTime(), Pool: c.pool, Chain: found,
			Registry: s.opts.Registry.Chain(c.id), Depth: s.opts.Depth, CensusInterval: s.opts.CensusInterval, CensusRetention: s.opts.CensusRetention,
			Logger: log, Metrics: reg}.open()
		if err != nil {
			return err
		}
		c.indexer, err = index.New(index.Options{Store: c.engine, Source: source, Verify: s.opts.Verify, UndoBlocks: s.opts.UndoBlocks, Owner: owner(),
			TTL: s.opts.Store.leaseTime(), Logger: log, Metrics: index.NewMetrics(reg), Announce: c.jobs.announced})
		if err != nil {
			return err
		}
	}
	s.chains = append(s.chains, c)
	return nil
}

// openStore opens the index of a chain: a schema, or a directory of its own.
func (s *service) openStore(ctx context.Context, name string, reg prometheus.Registerer) (store.Engine, error) {
	switch f := &s.opts.Store; {
	case f.Store != "" && s.opts.ReadOnly:
		return f.awaitPostgres(ctx, name, access{ReadOnly: true, Follow: true}, s.con.log, reg)
	case f.Store != "":
		return f.openPostgres(ctx, name, access{Follow: true}, s.con.log, reg)
	}
	if strings.ContainsAny(name, "/\\.") {
		return nil, fmt.Errorf("the node serves a chain called %q, which cannot be a directory", name)
	}
	dir := filepath.Join(s.opts.Data, name)
	if err := checkDataDir(dir); err != nil {
		return nil, err
	}
	return openPebble(ctx, pebble.Options{Dir: dir, CacheBytes: int64(s.opts.CacheMiB) << 20, Logger: s.con.log, Metrics: reg})
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
	o := api.Options{Keys: s.keys, Labels: label.NewRepository(s.control, nil), Cursors: api.NewCursors(secret[:]), Origins: s.opts.Origins, BaseURL: s.opts.BaseURL, Version: version(),
		Logger: s.con.log, Metrics: api.NewMetrics(s.registry)}
	if !s.control.IsFile() { // other processes may serve the same keys
		o.Draw = s.control.Draw
	}
	for _, c := range s.chains {
		served := api.Chain{ID: c.id, Store: c.engine, Depth: s.opts.Depth, Registry: s.opts.Registry.Chain(c.id)}
		if c.pool != nil {
			served.NodeHead, served.Node = c.nodeHead, c.pool
		}
		o.Chains = append(o.Chains, served)
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
	g.Go(func() error { return <-s.front.ended })
	g.Go(func() error {
		<-gctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := s.front.server.Shutdown(drain); err != nil {
			s.con.log.Warn("requests were cut off", "err", err)
			s.front.server.Close() //nolint:errcheck // the process ends
		}
		return nil
	})
	g.Go(func() error {
		s.keys.Run(gctx)
		return nil
	})
	for _, c := range s.chains {
		if c.indexer == nil {
			continue
		}
		g.Go(func() error {
			err := keepIndexing(gctx, c.indexer, s.opts.Store.shared(), s.con.log.With("chain", c.id),
				func(ctx context.Context, x *index.Indexer) error { return x.Run(ctx) })
			if err == nil || gctx.Err() != nil {
				return nil
			}
			s.con.log.Error("the index stands still", "chain", c.id, "err", err)
			if errors.Is(err, store.ErrStopped) || errors.Is(err, store.ErrClosed) {
				return fmt.Errorf("index of %s: %w", c.id, err)
			}
			return nil // what is indexed can still be read; the status says why there is no more
		})
		g.Go(func() error {
			if err := c.jobs.run(gctx); err != nil && gctx.Err() == nil {
				s.con.log.Error("the jobs beside the indexer stopped", "chain", c.id, "err", err)
			}
			return nil // a store that is gone ends the indexer, and an index without them can be read
		})
	}
	return g.Wait()
}
