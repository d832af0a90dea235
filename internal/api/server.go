package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Chain is one chain that the API serves.
type Chain struct {
	ID    string // SN_MAIN or SN_SEPOLIA
	Store store.Engine
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when 0.
	Depth uint64
	// Heard is what the nodes of this process said lately; nil when nobody in it
	// asks them, and what the indexer left in the store must do.
	Heard func() chain.Seen
	// Node answers live routes; nil when this process reaches none.
	Node Node
	// Trouble says why this process writes nothing new, "" when it does; nil when it
	// never writes.
	Trouble func() string
	// Registry is what is known of the chain beyond its blocks; nil is empty.
	Registry *registry.Chain

	known      *atomic.Pointer[known]
	now        func() time.Time
	headMaxAge time.Duration
}

// Options configure a Server.
type Options struct {
	Chains  []Chain // the first is the default
	Keys    *account.Authenticator
	Cursors *Cursors
	// Labels are the operator's own names of addresses; nil is none.
	Labels Labels
	// Draw takes requests out of budgets that several processes share; nil when
	// this process is the only one.
	Draw func(context.Context, control.Draw) (control.Drawn, error)
	// Origins may call with credentials from a browser, such as https://explorer.example.
	Origins []string
	// HeadMaxAge is how long what a node said of its head, and what an indexer
	// reported, counts (default 60 s).
	HeadMaxAge time.Duration
	// Timeout ends a request's work (default 10 s).
	Timeout time.Duration
	// BodyTimeout bounds how long a request's body may take to arrive (default 5 s).
	BodyTimeout time.Duration
	// MaxInFlight bounds requests at work (default 512), of all callers together, of
	// a workspace (default a quarter) and of a key (default an eighth).
	MaxInFlight, MaxInFlightWorkspace, MaxInFlightKey int
	// AnonymousPerMinute bounds requests without a valid key from one address: 1,200
	// when zero, no bound when less.
	AnonymousPerMinute int
	// TrustedProxies are believed when they say in X-Forwarded-For whom they ask for.
	TrustedProxies []netip.Prefix
	// CacheBytes bounds the answers that are kept for good (default 64 MiB); a
	// quarter of it bounds those kept until the next block. With 1 none is kept.
	CacheBytes int
	// BaseURL is how the documents name this service; default: relative.
	BaseURL string
	// Address is where the process listens. Examples name it when there is no BaseURL.
	Address string
	Version string
	Now     func() time.Time
	Logger  *slog.Logger
	Metrics *Metrics
}

// Server answers the REST API and its documents. It is an http.Handler.
type Server struct {
	chains    map[string]*Chain
	order     []string // chain ids as configured
	keys      *account.Authenticator
	cursors   *Cursors
	labels    Labels
	origins   []string
	timeout   time.Duration
	flight    *seats // requests at work
	live      *seats // those of them that wait for a node
	bodies    *seats // requests whose bodies are being read
	clients   *clients
	bursts    *buckets[budget]
	batchTime time.Duration
	bodyTime  time.Duration
	limits    budgets
	kept      *answers       // for good
	fresh     *answers       // until the next block
	schemas   *decoded.Cache // of class ABIs, which are named by their hash on every chain
	baseURL   string
	origin    string // of the service in examples
	version   string
	now       func() time.Time
	log       *slog.Logger
	metrics   *Metrics

	missing     func() (*document, error) // the page for paths that have none
	table       []*Route
	registering *Route
	methods     map[string][]string // by path pattern
	mux         *http.ServeMux
	huma        huma.API
}

// New builds the table. It panics on a mistake in the table itself.
func New(o Options) (*Server, error) {
	if len(o.Chains) == 0 || o.Keys == nil || o.Cursors == nil {
		return nil, errors.New("api: chains, keys and cursors are needed")
	}
	s := &Server{
		chains: map[string]*Chain{}, keys: o.Keys, cursors: o.Cursors, labels: o.Labels, origins: o.Origins,
		timeout: defaultTo(o.Timeout, 10*time.Second), flight: newSeats(defaultTo(o.MaxInFlight, maxInFlight), o.MaxInFlightWorkspace, o.MaxInFlightKey),
		kept: newAnswers(defaultTo(o.CacheBytes, 64<<20)), fresh: newAnswers(defaultTo(o.CacheBytes, 64<<20) / 4), schemas: decoded.NewCache(schemaCacheBytes),
		baseURL: strings.TrimSuffix(o.BaseURL, "/"), version: defaultTo(o.Version, "dev"),
		now: o.Now, log: o.Logger, metrics: o.Metrics, methods: map[string][]string{}, mux: http.NewServeMux(),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.metrics == nil {
		s.metrics = NewMetrics(nil)
	}
	s.limits = newLimiter(s.now)
	if o.Draw != nil {
		s.limits = newSharedLimiter(o.Draw, s.now, s.log, s.metrics)
	}
	s.bursts = newBuckets[budget](s.now, maxBursts)
	s.live = newSeats(maxLive, 0, 0)
	s.bodies = newSeats(maxBodies, 0, 0)
	s.clients = newClients(o.TrustedProxies, o.AnonymousPerMinute, s.now)
	s.origin = originOf(s.baseURL, o.Address)
	s.bodyTime = defaultTo(o.BodyTimeout, bodyTime)
	s.batchTime = min(batchTime, s.timeout)
	for _, c := range o.Chains {
		if c.Depth == 0 {
			c.Depth = chain.DefaultDepth
		}
		if s.chains[c.ID] != nil || c.ID == "meta" || c.ID == "" {
			return nil, fmt.Errorf("api: chain %q cannot be served", c.ID)
		}
		c.known, c.now, c.headMaxAge = new(atomic.Pointer[known]), s.now, defaultTo(o.HeadMaxAge, defaultHeadMaxAge)
		s.chains[c.ID] = &c
		s.order = append(s.order, c.ID)
	}
	s.huma = humago.New(s, s.humaConfig())
	s.routes()
	s.publish()
	s.documents()
	s.mux.HandleFunc(anyPath, s.unmatched)
	return s, nil
}

func defaultTo[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// maxInFlight is how many requests are at work unless the options say otherwise.
const maxInFlight = 512

// schemaCacheBytes bounds the class ABIs that are kept ready for decoding.
const schemaCacheBytes = 32 << 20

// anyPath is the pattern of what the table does not have.
const anyPath = "/"

// maxURI bounds a request's address. The longest one that the contract allows is
// a search for events with all the values it may have, 384 of them, each written
// with all its digits: close to 30 KiB.
const maxURI = 32 << 10

// ServeHTTP is the part of the kernel that every request passes.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := s.now()
	x := &exchange{ResponseWriter: w, record: request{id: requestID(r.Header), credentialed: credentialed(r.Header)}, client: s.clients.addressOf(r)}
	h := w.Header()
	h[headerRequestID] = []string{x.record.id}
	h["X-Content-Type-Options"] = nosniff
	if x.record.credentialed {
		stripInternal(r.Header)
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.log.Error("panic", "request_id", x.record.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if x.status == 0 {
				sendError(x, r, fail(CodeInternal, "Something went wrong on our side."), x.record.id, x.record.route)
			}
		}
		s.finish(r, x, start)
	}()
	switch {
	case len(r.RequestURI) > maxURI:
		s.cors(x, r)
		sendError(x, r, fail(CodeURITooLong, "The address is longer than %d bytes.", maxURI), x.record.id, nil)
	case path.Clean(r.URL.Path) != r.URL.Path, r.URL.Path == "*": // the mux would redirect, but such a path is not one of ours
		s.unmatched(x, r)
	default:
		s.mux.ServeHTTP(x, r)
	}
}

// unmatched answers what the table does not have: preflights, other methods of
// a known path, and unknown paths.
func (s *Server) unmatched(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange) // the mux is only reached through ServeHTTP
	methods := s.methodsFor(r, r.URL)
	if len(methods) > 0 && r.Method == http.MethodOptions {
		s.preflight(w, r, methods)
		return
	}
	s.cors(w, r)
	if e := s.clients.spend(x.client, 1); e != nil {
		sendError(w, r, e, x.record.id, nil)
		return
	}
	if len(methods) > 0 {
		methods = append(methods, http.MethodOptions)
		w.Header().Set("Allow", strings.Join(methods, ", "))
		sendError(w, r, fail(CodeMethodNotAllowed, "%s is not possible here; %s are.", clip(r.Method, 20), listed(methods)), x.record.id, nil)
		return
	}
	if bare := strings.TrimRight(r.URL.Path, "/"); bare != r.URL.Path && len(s.methodsFor(r, &url.URL{Path: bare})) > 0 {
		s.slashed(w, r, bare)
		return
	}
	if wantsPage(r) {
		s.sendMissing(w, r)
		return
	}
	sendError(w, r, fail(CodeUnsupportedRoute, "There is no such route in this API."), x.record.id, nil)
}

// slashed answers a path of ours with a slash too many. Pages redirect. A route of
// the API does not: whether a client sends its key, and its body, once more is
// for the client to say.
func (s *Server) slashed(w http.ResponseWriter, r *http.Request, bare string) {
	if page := bare == "/docs" || strings.HasPrefix(bare, "/docs/"); page && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		to := url.URL{Path: bare, RawQuery: r.URL.RawQuery}
		w.Header().Set("Location", to.String())
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	sendError(w, r, fail(CodeUnsupportedRoute, "There is no such route in this API: it has no slash at its end. Ask for %s.", loggedPath(bare)), recordOf(w).id, nil)
}

// listed joins words as people do.
func listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// methodsFor lists the methods under which a path would match.
func (s *Server) methodsFor(r *http.Request, at *url.URL) (methods []string) {
	if path.Clean(at.Path) != at.Path || at.Path == "*" {
		return nil
	}
	probe := &http.Request{Host: r.Host, URL: at, RequestURI: at.Path}
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != anyPath {
			methods = append(methods, m)
		}
	}
	slices.Sort(methods)
	return methods
}

// keyed is the part of the kernel for routes that need a key.
func (s *Server) keyed(route *Route, next http.Handler) http.Handler {
	seen := s.metrics.of(route.ID)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange) // the mux is only reached through ServeHTTP
		req := &x.record
		req.route, req.seen = route, seen
		w.Header()[headerRouteClass] = route.classHeader
		for name, value := range route.Headers {
			w.Header().Set(name, value)
		}
		s.cors(w, r)
		e := s.admit(x, r)
		if e == nil {
			r, e = s.takeInput(x, r)
		}
		if e != nil {
			if e.Cause != nil {
				s.log.Warn("request refused", "request_id", req.id, "err", e.Cause)
			}
			sendError(w, r, e, req.id, route)
			return
		}
		key, cacheable := answerKey{}, false
		if c := s.chains[r.PathValue("chain")]; c != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			var a *answer
			if a, key, cacheable = s.keptAnswer(c, r); a != nil {
				s.metrics.kept.Inc()
				a.send(w, r)
				return
			}
		}
		s.answer(w, r, req, next, key, cacheable)
	})
}

// takeInput checks and takes in what the request brings along.
func (s *Server) takeInput(x *exchange, r *http.Request) (*http.Request, *Error) {
	query, e := x.record.route.checkQuery(r.URL.RawQuery, &x.record)
	if e != nil {
		return r, e
	}
	if query != r.URL.RawQuery {
		at := *r.URL
		at.RawQuery = query
		with := *r
		with.URL = &at
		r = &with
	}
	return s.takeBody(x, r)
}

// admit authenticates, authorises and limits.
func (s *Server) admit(x *exchange, r *http.Request) *Error {
	if e := s.authenticate(x, r); e != nil {
		return e
	}
	x.record.caller = &x.who
	if e := authorise(&x.who, x.record.route); e != nil {
		return e
	}
	return s.limit(r.Context(), x.Header(), &x.who, &x.record)
}

// answer runs the handler and keeps what others can be sent.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req *request, next http.Handler, key answerKey, cacheable bool) {
	rec := getRecorder()
	defer putRecorder(rec)
	if e := s.work(rec, r, req, next); e != nil {
		sendError(w, r, e, req.id, req.route)
		return
	}
	if rec.status >= http.StatusBadRequest {
		s.relayError(w, r, req)
		return
	}
	fresh := cacheable && req.indexed && rec.status == http.StatusOK
	a := rec.seal(req.settled, fresh, fresh && req.immutable)
	switch {
	case a.forever:
		key.at = key.at.Lasting()
		s.kept.put(key, a)
	case fresh:
		s.fresh.put(key, a)
	}
	a.send(w, r)
}

// work runs a handler within its time, unless too many are at work. A client that
// is slow to send or to read is not at work: it holds no place.
func (s *Server) work(rec *recorder, r *http.Request, req *request, next http.Handler) *Error {
	if e := s.flight.enter(req.caller, "at work"); e != nil {
		return e
	}
	defer s.flight.leave(req.caller)
	ctx, cancel := context.WithTimeout(withRequest(r.Context(), req), s.timeout)
	defer cancel()
	next.ServeHTTP(rec, r.WithContext(ctx))
	return nil
}
