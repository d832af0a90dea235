// Package servertest is the whole service for tests: a simulated chain, a node that
// serves it, an index of it, keys, and the server in front, on real connections.
//
//	w := servertest.New(t, 40)
//	var s api.Status
//	w.Get("/status", &s)
//
// Every answer that passes through a World is held against the OpenAPI document, and
// no key may show in its log. A test that only reads uses Shared, which is made once
// for all tests of a package; one that changes the chain, the clock, the index or an
// option has a World of its own from New. One in which things happen at once says so with
// Watched: the others are left out under the race detector.
package servertest

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/mcp"
	"chainexplorer/internal/me"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	relay "chainexplorer/internal/relay/routes"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/site"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/stream"
	"chainexplorer/internal/usage"
	verification "chainexplorer/internal/verification/routes"
	"chainexplorer/internal/voyager"
	"chainexplorer/internal/web/pages"
	webhooks "chainexplorer/internal/webhook/routes"
)

// World is a simulated chain, an index of it, and the service in front.
type World struct {
	T *testing.T

	// Chain is what happened, Node serves it, and Pool asks the node. Where nodes speak
	// several versions, Pool asks them all, and Node is the first.
	Chain *simnode.Chain
	Node  *simnode.Node
	Pool  *node.Pool
	// NodeURLs are where the nodes themselves answer, by their versions.
	NodeURLs map[starknet.SpecVersion]string

	// Engine holds the index that Source is read into, and Census counts holders in it.
	Engine pebble.Engine
	Source *index.Nodes
	Census *census.Job

	// Known is what is known of all chains, and Registry what is known of this one.
	Known    *registry.Registry
	Registry *registry.Chain

	// Server answers at URL.
	Server *kernel.Server
	Routes *api.Routes
	URL    string
	Clock  *Clock
	// Contract holds every answer against the OpenAPI document.
	Contract *Contract
	// Logs is everything that the service logged; Secrets is what must not be in it.
	Logs    *Logs
	Secrets []string

	// Repo holds the accounts, and Space is the workspace of the two keys.
	Repo    *account.Repository
	Space   account.Workspace
	Key     string // read, batch, write, verify
	Partner string // for the partner routes and for traces, too
	// People are those who can sign in, at Desk; nil unless the options say Accounts.
	People *session.Repository
	Desk   *signin.Desk
	// Usage takes down what keys ask for, likewise.
	Usage *usage.Recorder

	life      life
	control   string // where the control database is; "" for a file of its own
	db        *control.DB
	versions  []starknet.SpecVersion
	noClasses bool
	pace      time.Duration
	seed      uint64
	poolUses  int
	extremes  bool
	shared    bool
}

// life is how long a World lasts: one test, or all tests of a package.
type life struct {
	ctx     context.Context
	cleanup func(func())
	dir     func() string
}

// Transport asks for no encoding that a test did not ask for.
var Transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}

// ChainID is the chain that every World serves.
const ChainID = "SN_SEPOLIA"

// What tests ask for and from where: AllowedOrigin may send credentials.
const (
	StatusPath    = "/v1/" + ChainID + "/status"
	AllowedOrigin = "https://explorer.example"
	StrangeOrigin = "https://elsewhere.example"
)

// Depth is how far below the head a block is finalized.
const Depth = 10

// Options are those of all that a service is made of.
type Options struct {
	kernelOptions
	apiOptions
	Gateway gateway.Options
	// Accounts serves people who are signed in, too, by a Provider when there is one.
	Accounts bool
	Provider *signin.Provider
	// Verification serves exact verification, too, on the control database of the World.
	Verification *verification.Options
	// Checkpoint is the head of the log of receipts; nil is no log.
	Checkpoint func(context.Context) (int64, []byte, error)
	// Jobs tells how the jobs fare in the process; nil is none that does any.
	Jobs func(chain string) []pages.Work
	// Streams are those of the streams.
	Streams stream.Options
	// Relay serves the prover relay, too.
	Relay *relay.Options
	// Webhooks serves webhooks, too, of the chains that are served.
	Webhooks *webhooks.Options
	control  *control.DB
	accounts *account.Repository
	people   *session.Repository
	usage    *usage.Repository
	recorder *usage.Recorder
	desk     *signin.Desk
	explorer *pages.Pages
	streams  *stream.Server
}

type (
	kernelOptions = kernel.Options
	apiOptions    = api.Options
)

// Open makes the service, as the program does, until the test ends.
func (o *Options) Open(t *testing.T) (*kernel.Server, *api.Routes) {
	t.Helper()
	return o.open(t, t.Cleanup)
}

func (o *Options) open(t *testing.T, cleanup func(func())) (*kernel.Server, *api.Routes) {
	t.Helper()
	if o.Accounts {
		o.recorder = usage.NewRecorder(o.usage, usage.Options{})
		o.Sessions, o.Record = me.Sessions(o.people), o.recorder.Record
	}
	k, err := kernel.New(o.kernelOptions)
	if err != nil {
		t.Fatal(err)
	}
	routes, err := api.New(k, o.apiOptions)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(k, o.Gateway)
	if err != nil {
		t.Fatal(err)
	}
	cleanup(g.Close)
	if o.Accounts {
		me.New(k, me.Options{Accounts: o.accounts, Usage: o.usage})
		o.desk = signin.New(k, signin.Options{People: o.people, Home: accountpages.Path, Provider: o.Provider, Chains: routes.Order})
		accountpages.New(o.desk, accountpages.Options{Accounts: o.accounts, People: o.people, Usage: o.usage, Chain: ChainID})
	}
	if o.Verification != nil {
		verification.New(k, *o.Verification)
	}
	if o.Relay != nil {
		relay.New(k, *o.Relay)
	}
	if o.Webhooks != nil {
		w := *o.Webhooks
		w.Feed, w.Chains = routes.Feed, routes.Order
		webhooks.New(k, w)
	}
	streams := stream.New(k, routes, o.Streams)
	o.streams = streams
	cleanup(streams.Close)
	mcp.New(k, mcp.Options{Version: o.Version, Chains: routes.Order, Default: routes.Order[0]})
	voyager.New(k, routes)
	o.explorer = pages.New(k, routes)
	o.explorer.Checkpoint, o.explorer.Jobs = o.Checkpoint, o.Jobs
	site.New(k, routes)
	return k, routes
}

// Control is the control database of a World that is being made.
func (o *Options) Control() *control.DB { return o.control }

// CloseControl takes the control database away, for good.
func (w *World) CloseControl() {
	w.own()
	if err := w.db.Close(); err != nil {
		w.T.Fatal(err)
	}
}

// In is the same world for a part of its test.
func (w *World) In(t *testing.T) *World {
	in := *w
	in.T = t
	return &in
}

// Operations are the ids of the table's entries with their paths.
func (w *World) Operations() map[string]string {
	out := map[string]string{}
	for _, r := range w.Server.Entries() {
		out[r.ID] = r.Path
	}
	return out
}

// New indexes a chain of n blocks and serves it until the test ends.
func New(t *testing.T, n int, change ...func(*Options)) *World {
	t.Helper()
	return serve(&World{T: t, life: lifeOf(t)}, n, change...)
}

// NewOn is a World with its accounts in a control database at a path or an address.
func NewOn(t *testing.T, n int, path string, change ...func(*Options)) *World {
	t.Helper()
	return serve(&World{T: t, life: lifeOf(t), control: path}, n, change...)
}

// NewSpeaking is a World with a node for each of some versions of the protocol.
func NewSpeaking(t *testing.T, n int, versions ...starknet.SpecVersion) *World {
	t.Helper()
	return serve(&World{T: t, life: lifeOf(t), versions: versions}, n)
}

// NewLively is a World with a history of its own: a block only every so often, each of
// which uses the privacy pool so many times, for a fee.
func NewLively(t *testing.T, n int, every time.Duration, seed uint64, uses int) *World {
	t.Helper()
	return serve(&World{T: t, life: lifeOf(t), pace: every, seed: seed, poolUses: uses}, n)
}

// NewExtreme is a World on whose chain amounts up to the largest are approved, by an account
// that calls itself as well.
func NewExtreme(t *testing.T, n int) *World {
	t.Helper()
	return serve(&World{T: t, life: lifeOf(t), extremes: true}, n)
}

// NewWithoutClasses is a World whose node could give no class.
func NewWithoutClasses(t *testing.T, n int) *World {
	t.Helper()
	return serve(&World{T: t, life: lifeOf(t), noClasses: true}, n)
}

func lifeOf(t *testing.T) life { return life{t.Context(), t.Cleanup, t.TempDir} }

func serve(w *World, n int, change ...func(*Options)) *World {
	w.T.Helper()
	t := w.T
	leaveOut(t)
	w.Logs, w.Clock = &Logs{}, &Clock{now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
	w.Chain = simnode.New(simnode.Config{Seed: kernel.DefaultTo(w.seed, 41), Blocks: n, L1Lag: 30, BlockTime: w.pace, PoolUses: w.poolUses, Extremes: w.extremes})
	w.serveNode()
	var err error
	if w.Known, err = registry.Builtin().With(ChainID, w.Chain.Network().Registry()); err != nil {
		t.Fatal(err)
	}
	if w.Engine, err = pebble.OpenMem(catalog.Tables()); err != nil {
		t.Fatal(err)
	}
	w.life.cleanup(func() { w.Engine.Close() }) //nolint:errcheck // in memory
	w.CatchUp()

	if w.control == "" {
		w.control = filepath.Join(w.life.dir(), "control.db")
		if err := controltest.WriteFile(w.control); err != nil {
			t.Fatal(err)
		}
	}
	db, err := control.Open(w.life.ctx, control.Options{Path: w.control})
	if err != nil {
		t.Fatal(err)
	}
	w.life.cleanup(func() { db.Close() }) //nolint:errcheck // temporary
	w.db = db
	w.Repo = account.NewRepository(db, account.Options{Now: w.Clock.Now})
	if w.Space, err = w.Repo.CreateWorkspace(t.Context(), "test", account.Enterprise); err != nil {
		t.Fatal(err)
	}
	w.Key, w.Partner = w.NewKey(account.DefaultScopes), w.NewKey(account.DefaultScopes|account.Partner|account.Trace)
	secret := db.CursorSecret()
	w.Registry = w.Known.Chain(ChainID)
	w.People = session.NewRepository(db, session.Options{Now: w.Clock.Now})
	o := Options{control: db, accounts: w.Repo, people: w.People, usage: usage.NewRepository(db, w.Repo, w.Clock.Now)}
	o.apiOptions = api.Options{Chains: []api.Chain{{ID: ChainID, Store: w.Engine, Depth: Depth, Node: w.Pool, Registry: w.Known.Chain(ChainID)}}}
	o.Gateway = gateway.Options{Chains: []gateway.Chain{{ID: ChainID, Pool: w.Pool, Store: w.Engine, Depth: Depth}}, Sockets: 1024}
	o.RPC = api.RPCService{Enabled: true, WebSocket: true, Writes: true}
	o.kernelOptions = kernel.Options{
		Keys:    account.NewAuthenticator(w.Repo, nil),
		Cursors: kernel.NewCursors(secret[:]),
		Origins: []string{AllowedOrigin},
		Now:     w.Clock.Now,
		Logger:  slog.New(slog.NewJSONHandler(w.Logs, &slog.HandlerOptions{Level: slog.LevelDebug})),

		AnonymousPerMinute: -1,
	}
	o.Chains[0].Heard = func() chain.Seen { // never ahead of the index, nor behind it, whatever a test does to the chain
		seen := Hears(w.Clock.Now, 0)()
		seen.Peaks = []chain.SeenHead{{Heard: seen.At, Number: math.MaxUint64}}
		return seen
	}
	srv := httptest.NewUnstartedServer(nil)
	o.Address = srv.Listener.Addr().String()
	for _, f := range change {
		f(&o)
	}
	w.Server, w.Routes = o.open(t, w.life.cleanup)
	w.Desk, w.Usage = o.desk, o.recorder
	wire := kernel.WireOptions{Origins: o.Origins, Logger: o.Logger}
	bound := edge.Bound(kernel.NewListener(srv.Listener, wire), edge.Options{Refusal: wire.Refused})
	srv.Listener, srv.Config.Handler = bound, gateway.HideKeys(w.Server)
	bound.Attach(srv.Config)
	srv.Config.MaxHeaderBytes = 128 << 10
	srv.Config.DisableGeneralOptionsHandler = true
	srv.Start()
	w.life.cleanup(func() {
		o.explorer.Close()
		o.streams.Close()
		srv.Close()
		if !w.shared {
			w.checkLogs()
		}
	})
	w.URL = srv.URL
	w.Contract = contractOf(t, w.Server)
	return w
}

// Hears is a node that answers, and is at a block.
func Hears(now func() time.Time, head uint64) func() chain.Seen {
	return func() chain.Seen {
		at := now()
		return chain.Seen{At: at, Head: chain.SeenHead{Heard: at, Number: head}, Nodes: []chain.SeenNode{{State: chain.NodeHealthy, Heard: at, Head: head}}}
	}
}

func (w *World) serveNode() {
	if len(w.versions) == 0 {
		w.versions = []starknet.SpecVersion{starknet.V010}
	}
	config := node.Config{PollInterval: time.Millisecond, HealthInterval: time.Hour}
	w.NodeURLs = map[starknet.SpecVersion]string{}
	for _, v := range w.versions {
		n := simnode.NewNode(w.Chain, simnode.NodeConfig{Version: v})
		if w.Node == nil {
			w.Node = n
		}
		srv := httptest.NewServer(n)
		w.life.cleanup(srv.Close)
		w.NodeURLs[v] = srv.URL
		config.Nodes = append(config.Nodes, node.Endpoint{URL: srv.URL})
	}
	pool, err := node.Open(w.life.ctx, config)
	if err != nil {
		w.T.Fatal(err)
	}
	w.life.cleanup(pool.Close)
	w.Pool, w.Source = pool, &index.Nodes{Pool: pool}
}
