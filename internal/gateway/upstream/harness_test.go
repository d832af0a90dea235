package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// depth is how far below the head blocks are settled in tests.
const depth = 10

// world is a chain, nodes that serve it, an index of it, and an Upstream over them.
type world struct {
	t     testing.TB
	chain *simnode.Chain
	nodes []*simnode.Node
	store store.Engine
	pool  *node.Pool
	up    *Upstream
}

func newWorld(t testing.TB, cfg simnode.Config, nodes ...simnode.NodeConfig) *world {
	t.Helper()
	engine, err := pebble.Open(pebble.Options{Dir: t.TempDir(), Tables: catalog.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	w := &world{t: t, chain: simnode.New(cfg), store: engine}
	w.follow()
	return w.behind(t, nodes...)
}

// behind is the same chain and index with nodes of their own.
func (w *world) behind(t testing.TB, nodes ...simnode.NodeConfig) *world {
	t.Helper()
	w = &world{t: t, chain: w.chain, store: w.store}
	if len(nodes) == 0 {
		nodes = []simnode.NodeConfig{{}}
	}
	pool := node.Config{HealthInterval: time.Hour}
	for _, n := range nodes {
		sim := simnode.NewNode(w.chain, n)
		srv := httptest.NewServer(sim)
		t.Cleanup(srv.Close)
		w.nodes = append(w.nodes, sim)
		pool.Nodes = append(pool.Nodes, node.Endpoint{URL: srv.URL})
	}
	var err error
	if w.pool, err = node.Open(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pool.Close)
	w.up = New(Options{Pool: w.pool, Store: w.store, Depth: depth, CacheBytes: 64 << 20})
	return w
}

// follow brings the index to the chain's head.
func (w *world) follow() {
	w.t.Helper()
	head, _ := w.chain.Head()
	if err := simsource.Follow(w.t.Context(), w.store, w.chain, head); err != nil {
		w.t.Fatal(err)
	}
}

// reads is how many requests for a method reached the nodes.
func (w *world) reads(name string) (n int) {
	for _, sim := range w.nodes {
		n += sim.Requests(name)
	}
	return n
}

func bind(t testing.TB, name, params string, v starknet.SpecVersion) (*method.Method, json.RawMessage, method.Args) {
	t.Helper()
	m := method.Lookup(name)
	if m == nil {
		t.Fatalf("no method %s", name)
	}
	args, err := m.Bind([]byte(params), v)
	if err != nil {
		t.Fatal(err)
	}
	return m, json.RawMessage(params), args
}

func (w *world) call(name, params string) (Answer, error) {
	w.t.Helper()
	return call(w.t, w.up, name, params)
}

func call(t testing.TB, u *Upstream, name, params string) (Answer, error) {
	t.Helper()
	m, raw, args := bind(t, name, params, starknet.V010)
	a, err := u.Call(t.Context(), m, raw, args, starknet.V010)
	defer a.Release()
	if err == nil && (a.Result == nil) == (a.Error == nil) {
		t.Errorf("%s: result %s and error %s", name, a.Result, a.Error)
	}
	a.Result = bytes.Clone(a.Result)
	return a, err
}

// straight asks a node without anything in between.
func straight(t testing.TB, n http.Handler, name, params string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, name, params)
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte(body)))
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	n.ServeHTTP(rec, r)
	data, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if out.Error != nil {
		return string(out.Error)
	}
	return string(out.Result)
}

// scripted are nodes whose answers a test makes.
type scripted struct {
	mu     sync.Mutex
	asked  []node.Ask
	freed  int
	answer func(ctx context.Context, a node.Ask) (node.Told, error)
	chain  felt.Felt
}

func (s *scripted) Forward(ctx context.Context, a node.Ask) (node.Told, error) {
	s.mu.Lock()
	s.asked = append(s.asked, a)
	s.mu.Unlock()
	told, err := s.answer(ctx, a)
	told.Release = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.freed++
	}
	return told, err
}

func (s *scripted) BestHead() (node.Head, bool) { return node.Head{Number: 7}, true }
func (s *scripted) Chain() (felt.Felt, bool)    { return s.chain, !s.chain.IsZero() }

func (s *scripted) count() (asked, freed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked), s.freed
}

var errDown = errors.New("down")

func answers(told node.Told, err error) func(context.Context, node.Ask) (node.Told, error) {
	return func(context.Context, node.Ask) (node.Told, error) { return told, err }
}
