package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/own"
	"chainexplorer/internal/gateway/upstream"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
)

// Options configure a Gateway.
type Options struct {
	Chains []Chain
	// Forward makes nodes answer everything: the index answers nothing.
	Forward bool
	// Docs is where people read about the methods; may be empty.
	Docs string
	// NoWrites refuses transactions, whatever the key may do.
	NoWrites bool
	// CacheBytes bounds the answers of nodes that are kept (default 64 MiB).
	CacheBytes int64
	// NodeShare is how many calls of one key are put to nodes at once (default 32): less
	// than a node takes, so that others have their turn.
	NodeShare int
	// NodeWait is how long a call waits for its turn among those of its key (default 2 s):
	// less than any node is given.
	NodeWait time.Duration
	// Sockets bounds the WebSocket connections of all callers; 0: none are taken. A
	// workspace has a quarter of them, and a key an eighth.
	Sockets int
	// SocketsPerAddress bounds those of one address (default a quarter): less than the
	// connections that an address may have, so that its other requests are heard.
	SocketsPerAddress int
	// Live bounds what each of them takes; zero values are the defaults.
	Live live.Limits
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Chain is one that the gateway serves.
type Chain struct {
	ID    string         // SN_MAIN or SN_SEPOLIA
	Pool  *node.Pool     // nil when this process reaches no node
	Store explorer.Index // nil when it has no index
	Depth uint64         // how far below the head a block is finalized
}

// Gateway answers JSON-RPC on a kernel.
type Gateway struct {
	*kernel.Server
	chains   map[string]*served
	order    []string
	noWrites bool
	seats    *kernel.Seats // of calls at work
	// batchAtOnce is how many calls of a batch are at work together.
	batchAtOnce int
	sockets     *kernel.Seats // of connections; nil when there are none
	hosts       *kernel.Seats // of the same, by address
	shares      *shares       // of keys at the nodes
	keys        *kernel.Keyring
	room        *room
	metrics     *Metrics
}

// served is a chain with the ways to answer about it.
type served struct {
	Chain
	nodes *upstream.Upstream // nil without nodes
	index *own.Index         // nil when the index answers nothing
	live  *live.Server       // nil without nodes, or without connections

	docs, address string
	documents     sync.Map // of versions, as they were written
}

// New registers the gateway with a kernel.
func New(k *kernel.Server, o Options) (*Gateway, error) {
	o.NodeWait = cmp.Or(o.NodeWait, 2*time.Second)
	g := &Gateway{Server: k, chains: map[string]*served{}, noWrites: o.NoWrites, metrics: NewMetrics(o.Registerer),
		seats: k.Seats("calls", maxCalls, k.Bounds().AtWork.PerWorkspace, k.Bounds().AtWork.PerKey, o.NodeWait+method.Longest+time.Second), room: newRoom(roomBytes, roomOfKey), shares: newShares(cmp.Or(o.NodeShare, 32), o.NodeWait)}
	g.batchAtOnce = min(batchAtOnce, g.seats.Places().PerWorkspace, g.seats.Places().PerKey)
	g.keys = k.Keyring()
	if o.Sockets > 0 {
		g.sockets = kernel.NewSeats(o.Sockets, 0, 0)
		g.hosts = kernel.NewSeats(o.Sockets, o.SocketsPerAddress, o.SocketsPerAddress)
	}
	if len(o.Chains) == 0 {
		return nil, errors.New("gateway: chains are needed")
	}
	for _, c := range o.Chains {
		if g.chains[c.ID] != nil {
			return nil, fmt.Errorf("gateway: chain %q is given twice", c.ID)
		}
		c.Depth = cmp.Or(c.Depth, chain.DefaultDepth)
		s := &served{Chain: c, docs: o.Docs, address: k.Origin}
		reg := prometheus.Registerer(prometheus.NewRegistry()) // which nobody reads
		if o.Registerer != nil {
			reg = prometheus.WrapRegistererWith(prometheus.Labels{"chain": c.ID}, o.Registerer)
		}
		if c.Pool != nil {
			g.metrics.versions.of[c.ID] = s.versions
			s.nodes = upstream.New(upstream.Options{Pool: c.Pool, Store: c.Store, Depth: c.Depth,
				CacheBytes: cmp.Or(o.CacheBytes, 64*mib), Metrics: upstream.NewMetrics(reg), Logger: k.Log})
		}
		if c.Store != nil && !o.Forward {
			s.index = own.New(own.Options{Store: c.Store, Depth: c.Depth, Head: s.head})
		}
		if s.nodes != nil && g.sockets != nil {
			limits := o.Live
			limits.Admit = cmp.Or(limits.Admit, kernel.KeyEvery)
			g.follow(s, limits, live.NewMetrics(reg))
		}
		g.chains[c.ID] = s
		g.order = append(g.order, c.ID)
	}
	g.register()
	if g.sockets != nil {
		g.registerSockets()
	}
	return g, nil
}

// Close ends all connections and what follows the chains for them.
func (g *Gateway) Close() {
	for _, id := range g.order {
		if l := g.chains[id].live; l != nil {
			l.Close()
		}
	}
	g.keys.Close()
}

// head is the newest block that the chain's nodes showed.
func (s *served) head() (uint64, felt.Felt, bool) {
	if s.nodes == nil {
		return 0, felt.Felt{}, false
	}
	h, ok := s.nodes.Head()
	return h.Number, h.Hash, ok
}

// paths are where the gateway is reached, without keys; HideKeys takes those out.
var paths = []string{"/v1/{chain}/rpc", "/api/v1/{chain}/rpc", "/rpc/{version}/{chain}"}

func (g *Gateway) register() {
	var posts []string
	for _, p := range paths {
		posts = append(posts, "POST "+p)
	}
	g.HandleRaw(kernel.Raw{
		Route: route, Operation: operation(g.OpenAPI().Components.Schemas), Patterns: posts, Refuse: g.refuse, Serve: g.serveHTTP,
	})
}

// versionOf reads the version that a path pins; 0 when it pins none.
func versionOf(segment string) (starknet.SpecVersion, bool) {
	for _, v := range method.Versions() {
		if segment == method.PathVersion(v) {
			return v, true
		}
	}
	return 0, segment == ""
}

// speak finds the version that a request is answered in: the one that it pins, or the
// newest that a node of the chain speaks.
func (s *served) speak(pinned starknet.SpecVersion) (starknet.SpecVersion, *wire.Error) {
	spoken := s.versions()
	if pinned == 0 {
		if len(spoken) == 0 {
			return starknet.V010, nil // nobody is there: every call will say so
		}
		return spoken[0], nil
	}
	for _, v := range spoken {
		if v == pinned {
			return pinned, nil
		}
	}
	if len(spoken) == 0 {
		return pinned, nil
	}
	e := unavailable(nil, "No node of %s speaks version %s right now; %s.", s.ID, pinned, servedText(names(spoken)))
	e.Versions = names(spoken)
	return 0, e
}

// servedText says what there is instead.
func servedText(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return kernel.Listed(names) + " are"
}

func names(vs []starknet.SpecVersion) (out []string) {
	for _, v := range vs {
		out = append(out, v.String())
	}
	return out
}

// versions are those that the chain's nodes speak now, newest first.
func (s *served) versions() (out []starknet.SpecVersion) {
	if s.Pool == nil {
		return nil
	}
	have := map[starknet.SpecVersion]bool{}
	for _, v := range s.Pool.Versions() {
		switch v.Minor {
		case 8:
			have[starknet.V08] = true
		case 9:
			have[starknet.V09] = true
		case 10:
			have[starknet.V010] = true
		}
	}
	for _, v := range method.Versions() {
		if have[v] {
			out = append(out, v)
		}
	}
	return out
}
