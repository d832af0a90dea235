package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/job/pools"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/site"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// world is a simulated chain, an index of it, and the API in front.
type world struct {
	t      *testing.T
	chain  *simnode.Chain
	engine *pebble.Engine
	source *index.Nodes
	node   *simnode.Node

	registry *registry.Chain
	pool     *node.Pool
	repo     *account.Repository
	space    account.Workspace
	url      string
	server   *kernel.Server
	routes   *api.Routes
	key      string // read, batch, write, verify
	clock    *clock
	// contract holds every answer against the OpenAPI document.
	contract  *contract
	noClasses bool // the index does without classes
	known     *registry.Registry
	partner   string // a key for the partner routes too
	census    *census.Job
	// logs is everything that the API logged; secrets is what must not be in it.
	logs    *logs
	secrets []string
}

// logs collects records as JSON.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// clock is the time that the API sees.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// transport asks for no encoding that a test did not ask for.
var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}

const chainID = "SN_SEPOLIA"

// options are those of all that a service is made of.
type options struct {
	kernelOptions
	apiOptions
}

type (
	kernelOptions = kernel.Options
	apiOptions    = api.Options
)

// open makes the service, as the program does.
func (o *options) open(t *testing.T) (*kernel.Server, *api.Routes) {
	t.Helper()
	k, err := kernel.New(o.kernelOptions)
	if err != nil {
		t.Fatal(err)
	}
	routes, err := api.New(k, o.apiOptions)
	if err != nil {
		t.Fatal(err)
	}
	site.New(k, routes)
	return k, routes
}

// operations are the ids of the table's entries with their paths.
func (w *world) operations() map[string]string {
	out := map[string]string{}
	for _, r := range w.server.Entries() {
		out[r.ID] = r.Path
	}
	return out
}

// docSlugs are the pages that the codes name.
func docSlugs() map[kernel.Code]string {
	out := map[kernel.Code]string{}
	for c, info := range kernel.Codes {
		out[c] = info.Slug
	}
	return out
}

// testBody is the request body of a test route, and testAnswer the answer.
type testBody struct {
	Body struct {
		Items []string `json:"items"`
	}
}

type testAnswer struct {
	Body struct {
		Count int `json:"count"`
	}
}

// addRead adds a route without input to the table, behind the whole kernel.
func addRead(s *kernel.Server, r kernel.Route, handle func(context.Context) error) {
	kernel.Register(s, r, func(ctx context.Context, _ *struct{}) (*testAnswer, error) { return &testAnswer{}, handle(ctx) })
}

// addWrite adds a route with a body to the table.
func addWrite(s *kernel.Server, r kernel.Route, handle func(context.Context, *testBody) error) {
	kernel.Register(s, r, func(ctx context.Context, in *testBody) (*testAnswer, error) { return &testAnswer{}, handle(ctx, in) })
}

// newWorld indexes a chain of n blocks and serves it.
func newWorld(t *testing.T, n int, change ...func(*options)) *world {
	t.Helper()
	return serveWorld(t, &world{}, n, change...)
}

// newWorldWithoutClasses is one whose node could give no class.
func newWorldWithoutClasses(t *testing.T, n int) *world {
	t.Helper()
	return serveWorld(t, &world{noClasses: true}, n)
}

func serveWorld(t *testing.T, w *world, n int, change ...func(*options)) *world {
	t.Helper()
	*w = world{noClasses: w.noClasses, t: t, logs: &logs{}, chain: simnode.New(simnode.Config{Seed: 41, Blocks: n, L1Lag: 30}), clock: &clock{now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}}
	w.serveNode()
	var err error
	if w.known, err = registry.Builtin().With(chainID, w.chain.Network().Registry()); err != nil {
		t.Fatal(err)
	}
	if w.engine, err = pebble.OpenMem(catalog.Tables()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.engine.Close() }) //nolint:errcheck // in memory
	w.catchUp()

	db, err := control.Open(t.Context(), control.Options{Path: filepath.Join(t.TempDir(), "control.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
	w.repo = account.NewRepository(db, account.Options{Now: w.clock.Now})
	if w.space, err = w.repo.CreateWorkspace(t.Context(), "test", account.Enterprise); err != nil {
		t.Fatal(err)
	}
	w.key, w.partner = w.newKey(account.DefaultScopes), w.newKey(account.DefaultScopes|account.Partner)
	secret := db.CursorSecret()
	w.registry = w.known.Chain(chainID)
	var o options
	o.apiOptions = api.Options{Chains: []api.Chain{{ID: chainID, Store: w.engine, Depth: 10, Node: w.pool, Registry: w.known.Chain(chainID)}}}
	o.kernelOptions = kernel.Options{
		Keys:    account.NewAuthenticator(w.repo, nil),
		Cursors: kernel.NewCursors(secret[:]),
		Origins: []string{"https://explorer.example"},
		Now:     w.clock.Now,
		Logger:  slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),

		AnonymousPerMinute: -1,
	}
	o.Chains[0].Heard = func() chain.Seen { // never ahead of the index, nor behind it, whatever a test does to the chain
		seen := hears(w.clock.Now, 0)()
		seen.Peaks = []chain.SeenHead{{Heard: seen.At, Number: math.MaxUint64}}
		return seen
	}
	srv := httptest.NewUnstartedServer(nil)
	o.Address = srv.Listener.Addr().String()
	for _, f := range change {
		f(&o)
	}
	w.server, w.routes = o.open(t)
	wire := kernel.WireOptions{Origins: o.Origins, Logger: o.Logger}
	bound := edge.Bound(kernel.NewListener(srv.Listener, wire), edge.Options{Refusal: wire.Refused})
	srv.Listener, srv.Config.Handler = bound, w.server
	bound.Attach(srv.Config)
	srv.Config.MaxHeaderBytes = 128 << 10
	srv.Config.DisableGeneralOptionsHandler = true
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		w.checkLogs()
	})
	w.url = srv.URL
	w.contract = contractOf(t, w.server)
	return w
}

// hears is a node that answers, and is at a block.
func hears(now func() time.Time, head uint64) func() chain.Seen {
	return func() chain.Seen {
		at := now()
		return chain.Seen{At: at, Head: chain.SeenHead{Heard: at, Number: head}, Nodes: []chain.SeenNode{{State: chain.NodeHealthy, Heard: at, Head: head}}}
	}
}

func (w *world) serveNode() {
	w.node = simnode.NewNode(w.chain, simnode.NodeConfig{Version: starknet.V010})
	srv := httptest.NewServer(w.node)
	w.t.Cleanup(srv.Close)
	pool, err := node.Open(w.t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, PollInterval: time.Millisecond, HealthInterval: time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(pool.Close)
	w.pool, w.source = pool, &index.Nodes{Pool: pool}
}

// catchUp indexes up to the chain's head, forks included.
func (w *world) catchUp() {
	w.t.Helper()
	w.indexInto(w.engine)
	w.runJobs()
}

// verify notes that a block was held against its hash, as admin verify does.
func (w *world) verify(number uint64) {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), store.Writer, "verify", time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	err = w.engine.View(w.t.Context(), func(r store.Reader) error {
		return chain.AmendFindings(w.t.Context(), r, number, []chain.Finding{{Outcome: chain.Verified, Rules: starknet.RulesPoseidon2}}, b)
	})
	if err == nil {
		err = w.engine.Commit(w.t.Context(), b)
	}
	if err == nil {
		err = w.engine.Release(w.t.Context(), lease)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// stepper is a job that works commit by commit.
type stepper interface {
	Step(ctx context.Context, commit index.Commit) (more bool, err error)
}

// runJobs lets the jobs that work beside the indexer do all that there is to do.
func (w *world) runJobs() {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), store.Writer, "jobs", time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	commit := func(ctx context.Context, b *store.Batch) error {
		b.Epoch = lease.Epoch
		return w.engine.Commit(ctx, b)
	}
	names := metadata.New(metadata.Job{Store: w.engine, Source: w.source, Now: w.clock.Now})
	if err := names.CatchUp(w.t.Context(), commit); err != nil {
		w.t.Fatal(err)
	}
	if w.census == nil {
		w.census = census.New(census.Job{Store: w.engine, Node: w.pool, Registry: w.known.Chain(chainID), Depth: depth, Now: w.clock.Now})
	}
	for _, j := range []stepper{&pools.Job{Store: w.engine, Dexes: w.known.Chain(chainID).Dexes(), Depth: depth}, w.census} {
		for more := true; more; {
			if more, err = j.Step(w.t.Context(), commit); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if err := w.engine.Release(w.t.Context(), lease); err != nil {
		w.t.Fatal(err)
	}
}

// indexInto indexes into any engine up to the chain's head.
func (w *world) indexInto(engine *pebble.Engine) {
	w.t.Helper()
	head, _ := w.chain.Head()
	x, err := index.New(index.Options{Store: engine, Source: w.source, Verify: index.VerifyOff, L1Interval: time.Nanosecond, PollInterval: time.Millisecond, NoClasses: w.noClasses,
		ForkPatience: time.Nanosecond, AllowForkBelowL1: new(uint64)})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := x.RunTo(ctx, head); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) newKey(scopes account.Scopes) string {
	w.t.Helper()
	k, err := w.repo.CreateKey(w.t.Context(), account.NewKey{WorkspaceID: w.space.ID, Label: "test", Scopes: scopes,
		Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.secrets = append(w.secrets, k.Plaintext)
	return k.Plaintext
}

// checkLogs runs at the end of every test: no key may have been logged.
func (w *world) checkLogs() {
	text := w.logs.String()
	for _, secret := range w.secrets {
		// The public part is the prefix, so it is the rest that must not show.
		if strings.Contains(text, secret[len("svc_live_"):]) {
			w.t.Error("a key was logged")
		}
	}
}

// reply is an answer with its body read.
type reply struct {
	*http.Response
	body []byte
}

// do sends a request; headers come in pairs. An empty key sends none.
func (w *world) do(method, path, key string, headers ...string) reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	return w.send(req)
}

// send also checks the answer against the OpenAPI document.
func (w *world) send(req *http.Request) reply {
	w.t.Helper()
	res, err := transport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	r := reply{res, body}
	if err := w.contract.check(req, r); err != nil {
		w.t.Errorf("%s %s: %v", req.Method, req.URL.RequestURI(), err)
	}
	return r
}

// plain is the body without its encoding.
func (r reply) plain() []byte {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return r.body
	}
	z, err := gzip.NewReader(bytes.NewReader(r.body))
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return b
}

// envelope reads a failure.
func (r reply) envelope() kernel.Envelope {
	var e kernel.Envelope
	json.Unmarshal(r.plain(), &e) //nolint:errcheck // an empty envelope then
	return e
}

// get reads a route below the chain and decodes the answer.
func (w *world) get(path string, out any) {
	w.t.Helper()
	r := w.do(http.MethodGet, "/v1/"+chainID+path, w.key)
	if r.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, r.StatusCode, r.body)
	}
	if err := json.Unmarshal(r.body, out); err != nil {
		w.t.Fatalf("GET %s: %v in %s", path, err, r.body)
	}
}

// skipRaced leaves out what does one thing after the other, thousands of times: the
// race detector would find nothing in it and take minutes. 'make test' runs these
// tests once more without it.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
}
