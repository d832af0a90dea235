package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
	// MaxInFlight bounds requests at work (default 512).
	MaxInFlight int
	// CacheBytes bounds the answers that are kept for good (default 64 MiB); a
	// quarter of it bounds those kept until the next block. With 1 none is kept.
	CacheBytes int
	// BaseURL is how the documents name this service; default: relative.
	BaseURL string
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
	flight    chan struct{}
	live      chan struct{} // requests that wait for a node
	batchTime time.Duration
	limits    budgets
	kept      *answers       // for good
	fresh     *answers       // until the next block
	schemas   *decoded.Cache // of class ABIs, which are named by their hash on every chain
	baseURL   string
	version   string
	now       func() time.Time
	log       *slog.Logger
	metrics   *Metrics

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
		timeout: defaultTo(o.Timeout, 10*time.Second), flight: make(chan struct{}, defaultTo(o.MaxInFlight, 512)),
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
	s.live = make(chan struct{}, maxLive)
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
	x := &exchange{ResponseWriter: w, record: request{id: requestID(r), credentialed: credentialed(r.Header)}}
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
		sendError(x, r, fail(CodeURITooLong, "The address is longer than %d bytes.", maxURI), x.record.id, nil)
	case path.Clean(r.URL.Path) != r.URL.Path: // the mux would redirect, but such a path is not one of ours
		s.unmatched(x, r)
	default:
		s.mux.ServeHTTP(x, r)
	}
}

// unmatched answers what the table does not have: preflights, other methods of
// a known path, and unknown paths.
func (s *Server) unmatched(w http.ResponseWriter, r *http.Request) {
	req := recordOf(w)
	methods := s.methodsFor(r)
	if len(methods) > 0 && r.Method == http.MethodOptions {
		s.preflight(w, r, methods)
		return
	}
	s.cors(w, r)
	switch {
	case len(methods) > 0:
		w.Header().Set("Allow", strings.Join(append(methods, http.MethodOptions), ", "))
		sendError(w, r, fail(CodeMethodNotAllowed, "%s is not possible here.", clip(r.Method, 20)), req.id, nil)
	case wantsPage(r):
		s.missingPage(w, r, s.guides())
	default:
		sendError(w, r, fail(CodeUnsupportedRoute, "There is no such route in this API."), req.id, nil)
	}
}

// methodsFor lists the methods under which the request's path would match.
func (s *Server) methodsFor(r *http.Request) (methods []string) {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return nil
	}
	probe := &http.Request{Host: r.Host, URL: r.URL, RequestURI: r.RequestURI}
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
			e = route.checkQuery(r.URL.RawQuery)
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

// admit authenticates, authorises and limits.
func (s *Server) admit(x *exchange, r *http.Request) *Error {
	if e := s.authenticate(r, &x.who); e != nil {
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
	if !s.work(rec, r, req, next) {
		sendError(w, r, retryLater(1, nil, "The service is at its limit of concurrent requests."), req.id, req.route)
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

// work runs a handler within its time. It is false when too many are at work. A
// client that is slow to read is not at work: it holds no place.
func (s *Server) work(rec *recorder, r *http.Request, req *request, next http.Handler) bool {
	select {
	case s.flight <- struct{}{}:
		defer func() { <-s.flight }()
	default:
		return false
	}
	ctx, cancel := context.WithTimeout(withRequest(r.Context(), req), s.timeout)
	defer cancel()
	next.ServeHTTP(rec, r.WithContext(ctx))
	return true
}
