// Package service is the JSON-RPC gateway as it runs in production, for benchmarks: a
// simulated chain, a node that serves it, an index of it, keys, limits, bounds and
// metrics, on loopback.
package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble"
)

// ChainID is the chain that is served.
const ChainID = "SN_SEPOLIA"

// Options say what is served, and to how many.
type Options struct {
	Chain   simnode.Config
	Depth   uint64 // how far below the head a block is finalized
	Sockets int    // WebSocket connections of the one key
	Classes bool   // are indexed as well
}

// Service is a gateway with all that it stands on.
type Service struct {
	Chain *simnode.Chain
	// Node and Gateway are the addresses, host and port, of the node and of the
	// service in front of it. Path is where the gateway takes calls.
	Node, Gateway, Path string
	Key                 string
	// Delay is how long the node waits before it answers, in nanoseconds.
	Delay atomic.Int64

	stops []func()
}

// New makes a service. Close it.
func New(o Options) (s *Service, err error) {
	s = &Service{Chain: simnode.New(o.Chain), Path: "/v1/" + ChainID + "/rpc"}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return nil, err
	}
	s.onClose(func() { engine.Close() }) //nolint:errcheck // in memory
	head, _ := s.Chain.Head()
	err = simsource.Follow(ctx, engine, s.Chain, head, func(x *index.Options) { x.NoClasses, x.L1Interval = !o.Classes, time.Nanosecond })
	if err != nil {
		return nil, fmt.Errorf("index the simulated chain: %w", err)
	}
	if err := s.serveNode(); err != nil {
		return nil, err
	}
	reg := prometheus.NewRegistry()
	pool, err := node.Open(ctx, node.Config{Nodes: []node.Endpoint{{URL: "ws://" + s.Node}}, Metrics: node.NewMetrics(reg)})
	if err != nil {
		return nil, err
	}
	s.onClose(pool.Close)
	k, err := s.kernel(ctx, reg)
	if err != nil {
		return nil, err
	}
	g, err := gateway.New(k, gateway.Options{Registerer: reg, Sockets: 8 * o.Sockets, // a key has an eighth of them
		Chains: []gateway.Chain{{ID: ChainID, Pool: pool, Store: engine, Depth: o.Depth}}})
	if err != nil {
		return nil, err
	}
	s.onClose(g.Close)
	return s, s.serve(gateway.HideKeys(k), o.Sockets+256)
}

func (s *Service) onClose(f func()) { s.stops = append(s.stops, f) }

// Close ends all of it.
func (s *Service) Close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
	s.stops = nil
}

func (s *Service) serveNode() error {
	n := simnode.NewNode(s.Chain, simnode.NodeConfig{Version: starknet.V010})
	address, stop, err := Listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d := time.Duration(s.Delay.Load()); d > 0 {
			time.Sleep(d)
		}
		n.ServeHTTP(w, r)
	}))
	if err != nil {
		return err
	}
	s.Node = address
	s.onClose(stop)
	return nil
}

// kernel has one key, with room for any number of calls.
func (s *Service) kernel(ctx context.Context, reg *prometheus.Registry) (*kernel.Server, error) {
	dir, err := os.MkdirTemp("", "bench-gateway")
	if err != nil {
		return nil, err
	}
	s.onClose(func() { os.RemoveAll(dir) }) //nolint:errcheck // temporary
	db, err := control.Open(ctx, control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		return nil, err
	}
	s.onClose(func() { db.Close() }) //nolint:errcheck // temporary
	repo := account.NewRepository(db, account.Options{})
	space, err := repo.CreateWorkspace(ctx, "bench", account.Enterprise)
	if err != nil {
		return nil, err
	}
	key, err := repo.CreateKey(ctx, account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		return nil, err
	}
	s.Key = key.Plaintext
	secret := db.CursorSecret()
	return kernel.New(kernel.Options{
		Keys: account.NewAuthenticator(repo, nil), Cursors: kernel.NewCursors(secret[:]), Metrics: kernel.NewMetrics(reg),
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), // access records are made, and go nowhere
	})
}

// serve takes connections as the program does: within bounds.
func (s *Service) serve(h http.Handler, conns int) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	wire := kernel.WireOptions{}
	bound := edge.Bound(kernel.NewListener(l, wire), edge.Options{Connections: conns, PerAddress: conns, Refusal: wire.Refused})
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: time.Minute}
	bound.Attach(srv)
	go srv.Serve(bound) //nolint:errcheck // it ends with the service
	s.Gateway = l.Addr().String()
	s.onClose(func() { srv.Close() }) //nolint:errcheck // nobody waits for anything
	return nil
}

// Listen serves a handler on loopback, without any bounds.
func Listen(h http.Handler) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)                                       //nolint:errcheck // it ends with the service
	return l.Addr().String(), func() { srv.Close() }, nil //nolint:errcheck // nobody waits for anything
}
