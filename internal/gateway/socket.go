package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

const (
	// subprotocol is what a connection may agree on, and keyProtocol stands before a key
	// among the protocols that a client offers: all that a page can send with a handshake.
	subprotocol = "service-rpc"
	keyProtocol = "service-key."
)

// socketRoute stands for all paths of connections.
var socketRoute = kernel.Route{ID: "rpcSocket", Method: http.MethodGet, Path: "/v1/{chain}/rpc/" + socket, Scope: account.Read, Class: kernel.Light}

// registerSockets serves WebSocket on paths of its own, and on those of requests for
// clients that know one address.
func (g *Gateway) registerSockets() {
	var gets []string
	for _, p := range paths {
		gets = append(gets, "GET "+p, "GET "+p+"/"+socket)
	}
	g.HandleRaw(kernel.Raw{
		Route:    socketRoute,
		Patterns: gets, Credentials: offeredKey, Refuse: g.refuse, Serve: g.serveSocket, Restricted: true,
	})
}

// offeredKey moves a key from the offered protocols to where keys are looked for, so
// that it is never among those that the handshake answers with.
func offeredKey(r *http.Request) {
	var rest []string
	for _, line := range r.Header["Sec-Websocket-Protocol"] {
		for p := range strings.SplitSeq(line, ",") {
			p = strings.TrimSpace(p)
			if key, found := strings.CutPrefix(p, keyProtocol); found {
				r.Header.Add(kernel.HeaderKey, key)
			} else if p != "" {
				rest = append(rest, p)
			}
		}
	}
	if len(rest) > 0 {
		r.Header.Set("Sec-Websocket-Protocol", strings.Join(rest, ", "))
	} else {
		r.Header.Del("Sec-Websocket-Protocol")
	}
}

// serveSocket runs a connection until it ends.
func (g *Gateway) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Allow", "POST, OPTIONS")
		w.Header().Set("Upgrade", "websocket")
		e := fail(wire.InvalidRequest, "Send calls with POST, or upgrade to WebSocket.")
		e.Status = http.StatusUpgradeRequired
		g.sendSpent(w, r, e)
		return
	}
	if r.Header.Get("Sec-Websocket-Version") != "13" {
		w.Header().Set("Sec-WebSocket-Version", "13")
		e := fail(wire.InvalidRequest, "Version 13 of WebSocket is spoken here.")
		e.Status = http.StatusUpgradeRequired
		g.sendSpent(w, r, e)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && !slices.Contains(g.Origins, origin) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="service", error="insufficient_scope", scope="read"`)
		g.sendSpent(w, r, fail(wire.OriginRefused, "Pages of this origin may not connect: the operator lists those that may."))
		return
	}
	v, e := g.visit(r)
	if e == nil && v.chain.live == nil {
		e = unavailable(nil, "This service reaches no node of %s, and has no subscriptions.", v.chain.ID)
	}
	if e != nil {
		g.sendSpent(w, r, e)
		return
	}
	v.socket = true
	if e := g.sockets.Enter(r.Context(), v.caller, "open as WebSocket connections"); e != nil {
		g.sendSpent(w, r, translate(e))
		return
	}
	defer g.sockets.Leave(v.caller)
	address := kernel.Neighbour(w)
	if g.hosts.Enter(r.Context(), address, "") != nil {
		e := fail(wire.RateLimited, "Your address has as many WebSocket connections open as it may have. Close some.")
		e.Status, e.RetryAfter = http.StatusTooManyRequests, 5
		g.sendSpent(w, r, e)
		return
	}
	defer g.hosts.Leave(address)
	// A connection costs like the cheapest call, whatever comes of it.
	budget, refused := g.Spend(r.Context(), v.caller, kernel.Light, 1)
	kernel.TellBudget(w.Header(), budget, kernel.Light)
	if refused != nil {
		g.sendWhole(w, r, translate(refused))
		return
	}
	key, release := g.keys.Hold(r.Header)
	defer release()
	v.chain.live.Serve(w, r, live.Client{
		Version: v.version, Subprotocols: []string{subprotocol},
		Answer: func(ctx context.Context, body []byte) ([]byte, func()) { return g.message(ctx, v, body) },
		Admit:  key.Valid,
		Charge: func(ctx context.Context, m *method.Method) *wire.Error { return g.charge(ctx, v, m) },
		Answered: func(m *method.Method, took time.Duration, failed bool, why *wire.Error) {
			g.tellStream(v, m, took, failed, why)
		},
		RequestID: func() string { return v.requestID },
	})
}

// message answers a message with calls; nil when nobody waits for an answer. release
// gives back the memory of the key that the answer takes until it is sent.
func (g *Gateway) message(ctx context.Context, v *visit, body []byte) (text []byte, release func()) {
	calls, batch, e := wire.Parse(body)
	if e != nil {
		return g.refuseMessage(ctx, v, e), nil
	}
	if batch {
		give, ok := g.room.take(v.caller.KeyID, batchSize(calls))
		if !ok {
			return g.refuseMessage(ctx, v, noRoom()), nil
		}
		text, _, _ = g.runBatch(ctx, v, calls)
		return text, give
	}
	c := &calls[0]
	out := g.one(ctx, v, c)
	defer out.free()
	if out.fault != nil {
		g.logFault(v, c, out.fault)
	}
	if c.Notification() {
		g.tell(v, c, &out)
		return nil, nil
	}
	release, _ = g.hold(v, &out, c)
	g.tell(v, c, &out)
	return out.appendTo(make([]byte, 0, out.size(c.ID)+256), c.ID, v.requestID), release
}

// refuseMessage answers a message that failed as a whole. It costs like the cheapest call,
// as a request does.
func (g *Gateway) refuseMessage(ctx context.Context, v *visit, e *wire.Error) []byte {
	budget, refused := g.Spend(ctx, v.caller, kernel.Light, 1)
	if refused != nil {
		e = translate(refused)
	}
	g.RecordCall(v.request, &kernel.Call{Method: socketRoute.Method, Path: socketRoute.Path, Class: kernel.Light, Status: statusOf(e), Failed: true, Budget: &budget})
	return wire.AppendError(nil, wire.Null, e.Object(v.requestID))
}

// charge takes a call out of the budget that makes or ends a subscription.
func (g *Gateway) charge(ctx context.Context, v *visit, m *method.Method) *wire.Error {
	if _, refused := g.Spend(ctx, v.caller, kernel.Class(m.Class.Budget()), m.Cost); refused != nil {
		return translate(refused)
	}
	return g.permit(v, m, &wire.Call{Method: m.Name})
}

// follow makes the subscriptions of a chain.
func (g *Gateway) follow(s *served, limits live.Limits, metrics *live.Metrics) {
	s.live = live.New(live.Options{Chain: s.ID, Limits: limits, Metrics: metrics, Logger: g.Log,
		Heads: func(ctx context.Context, tell func(uint64, felt.Felt)) {
			for h := range s.Pool.Heads(ctx) {
				tell(h.Number, h.Hash)
			}
		},
		Fetch: s.fetch,
	})
}

// fetch reads the chain for subscriptions: from a node, because what the index does not
// have yet is what they are about.
func (s *served) fetch(ctx context.Context, name string, params json.RawMessage, v starknet.SpecVersion, _ *uint64) (json.RawMessage, int, error) {
	m := method.Lookup(name)
	args, err := m.Bind(params, v)
	if err != nil {
		return nil, 0, err
	}
	told, err := s.nodes.Call(ctx, m, params, args, v)
	if err != nil {
		return nil, 0, err
	}
	defer told.Release()
	if told.Error != nil {
		return nil, told.Code, nil
	}
	return append(json.RawMessage(nil), told.Result...), 0, nil // kept beyond the nodes' memory
}
