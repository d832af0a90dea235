package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/places"
	"chainexplorer/internal/usage"
)

// Options configure a Server.
type Options struct {
	Keys    *account.Authenticator
	Cursors *Cursors
	// Draw takes requests out of budgets that several processes share; nil when
	// this process is the only one.
	Draw func(context.Context, control.Draw) (control.Drawn, error)
	// Places are what workspaces may have at work in several processes; nil as above.
	Places *places.Book
	// Record is told of every request with a valid key, when it was answered. It must
	// not wait. Nil: nobody is told.
	Record func(usage.Event)
	// Sessions tells who is signed in; nil where nobody can be.
	Sessions Sessions
	// Origins may call with credentials from a browser, such as https://explorer.example.
	Origins []string
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
	// quarter of it bounds those kept until the next block, and another the pages. With 1
	// none is kept.
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

// Server is what every HTTP surface of the service stands on. It is an http.Handler.
type Server struct {
	keys     *account.Authenticator
	sessions Sessions
	known    knownSessions
	tell     func(http.ResponseWriter, *http.Request, *Error) // failures of private pages; nil: as JSON
	cursors  *Cursors
	Origins  []string
	timeout  time.Duration
	places   *places.Book
	flight   *Seats // requests at work
	bodies   *Seats // requests whose bodies are being read
	looking  *Seats // pages being made, of addresses
	waiting  *Seats // those of them that wait for somebody else
	files    *Seats // files being sent, of addresses
	clients  *clients
	bursts   *buckets[budget]
	bodyTime time.Duration
	limits   budgets
	kept     *answers // for good
	fresh    *answers // until the next block
	sheets   *answers // pages, of both kinds: they are large, and must not drive answers out

	generations generations // of answers that count as modified when they were made

	revision func(context.Context, string) (chain.Revision, bool)
	written  func(string) (uint64, bool)
	explain  func(error) *Error
	record   func(usage.Event)
	BaseURL  string
	Origin   string // of the service in examples
	Version  string
	Chains   []string // that can be looked at, for the navigation of all pages
	Now      func() time.Time
	Log      *slog.Logger
	metrics  *Metrics
	timings  timings

	dialect  *Dialect         // how failures below some paths are told; nil where all are told alike
	missing  http.HandlerFunc // answers a person for whose path there is no page; nil where there are no pages
	table    []*Route
	shown    []string            // patterns of pages
	methods  map[string][]string // by the path of a pattern
	shut     map[string]bool     // patterns that stand for no route: see shutGaps
	asked    map[string]entry    // routes by their ids, for pages
	routes   map[string]*Route   // by pattern
	guarded  map[string]bool     // patterns for pages of the listed origins alone
	complete sync.Once           // all patterns are there
	mux      *http.ServeMux
	huma     huma.API
}

// New makes a server with an empty table.
func New(o Options) (*Server, error) {
	if o.Keys == nil || o.Cursors == nil {
		return nil, errors.New("kernel: keys and cursors are needed")
	}
	s := &Server{
		keys: o.Keys, sessions: o.Sessions, cursors: o.Cursors, Origins: o.Origins,
		timeout: DefaultTo(o.Timeout, 10*time.Second), places: o.Places,
		kept: newAnswers(DefaultTo(o.CacheBytes, 64<<20)), fresh: newAnswers(DefaultTo(o.CacheBytes, 64<<20) / 4), sheets: newAnswers(DefaultTo(o.CacheBytes, 64<<20) / 4),
		BaseURL: strings.TrimSuffix(o.BaseURL, "/"), Version: DefaultTo(o.Version, "dev"),
		Now: o.Now, Log: o.Logger, metrics: o.Metrics, record: o.Record, methods: map[string][]string{}, shut: map[string]bool{}, asked: map[string]entry{}, routes: map[string]*Route{}, guarded: map[string]bool{}, mux: http.NewServeMux(),
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.metrics == nil {
		s.metrics = NewMetrics(nil)
	}
	s.flight = s.Seats("requests", DefaultTo(o.MaxInFlight, maxInFlight), o.MaxInFlightWorkspace, o.MaxInFlightKey, s.timeout)
	s.limits = newLimiter(s.Now)
	if o.Draw != nil {
		s.limits = newSharedLimiter(o.Draw, s.Now, s.Log, s.metrics)
	}
	s.bursts = newBuckets[budget](s.Now, maxBursts)
	s.bodies = NewSeats(maxBodies, 0, 0)
	// Who looks at pages leaves most places to those who come with keys.
	s.looking = NewSeats(max(DefaultTo(o.MaxInFlight, maxInFlight)/4, 1), 0, 0)
	s.waiting = NewSeats(max(DefaultTo(o.MaxInFlight, maxInFlight)/8, 1), 0, 0)
	s.files = NewSeats(maxFiles, maxFilesOfAddress, maxFilesOfAddress)
	s.clients = newClients(o.TrustedProxies, o.AnonymousPerMinute, s.Now)
	s.Origin = originOf(s.BaseURL, o.Address)
	s.bodyTime = DefaultTo(o.BodyTimeout, bodyTime)
	s.huma = huma.NewAPI(s.humaConfig(), nil) // which serves nothing by itself
	s.mux.HandleFunc(anyPath, s.unmatched)
	return s, nil
}

// KeepBy makes the server keep answers that follow from a chain's index alone,
// under what revision tells of the index: false for a chain that there is none of.
// written is another number after everything that is written to it, names included, and
// false where nobody counts. It is called before the first request.
func (s *Server) KeepBy(revision func(ctx context.Context, chain string) (chain.Revision, bool), written func(chain string) (uint64, bool)) {
	s.revision, s.written = revision, written
}

// Explain puts errors of handlers into the words of failures; words returns nil for
// one that it does not know. It is called before the first request.
func (s *Server) Explain(words func(error) *Error) { s.explain = words }

// Missing says how a person is told that a path has no page. It is called before
// the first request.
func (s *Server) Missing(page http.HandlerFunc) { s.missing = page }

func DefaultTo[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// maxInFlight is how many requests are at work unless the options say otherwise.
const maxInFlight = 512

// MaxURI bounds a request's address. The longest one that the contract allows is
// a search for events with all the values it may have, 384 of them, each written
// with all its digits: close to 30 KiB.
const MaxURI = 32 << 10

// ServeHTTP is the part of the kernel that every request passes.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.complete.Do(s.shutGaps)
	start := s.Now()
	x := &exchange{ResponseWriter: w, record: Request{ID: requestID(r.Header), credentialed: credentialed(r.Header)}, client: s.clients.addressOf(r)}
	h := w.Header()
	h[HeaderRequestID] = []string{x.record.ID}
	h["X-Content-Type-Options"] = nosniff
	if x.record.credentialed {
		stripInternal(r.Header)
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.Log.Error("panic", "request_id", x.record.ID, "panic", account.Hide(fmt.Sprint(p)), "stack", account.Hide(string(debug.Stack())))
			if x.status == 0 {
				s.refuse(x, r, Fail(CodeInternal, "Something went wrong on our side."))
			}
		}
		s.finish(r, x, start)
	}()
	switch {
	case len(r.RequestURI) > MaxURI:
		s.cors(x, r)
		s.refuse(x, r, Fail(CodeURITooLong, "The address is longer than %d bytes.", MaxURI))
	case !clean(r.URL.Path), r.URL.Path == "*": // the mux would redirect, but such a path is not one of ours
		s.unmatched(x, r)
	default:
		s.mux.ServeHTTP(x, r)
	}
}

// clean says whether a path is what path.Clean makes of it. Nearly all are, which is seen without making it.
func clean(p string) bool {
	return strings.HasPrefix(p, "/") && !strings.HasSuffix(p, "/") && !strings.Contains(p, "//") && !strings.Contains(p, "/.") || path.Clean(p) == p
}

// unmatched answers what the table does not have: preflights, other methods of
// a known path, and unknown paths.
func (s *Server) unmatched(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange) // the mux is only reached through ServeHTTP
	methods := s.methodsFor(r, r.URL)
	s.tellClass(w.Header(), r, methods)
	preflight := len(methods) > 0 && r.Method == http.MethodOptions
	if !preflight {
		if s.cors(w, r); s.restricted(r, r.Method, methods) {
			s.restrict(w, r)
		}
	}
	e := oneOrigin(r.Header)
	if e == nil {
		e = s.payUnmatched(x, r, preflight)
	}
	if e == nil && !preflight {
		e = keyInQuery(w, r) // a redirect would repeat it
	}
	if e != nil {
		s.refuse(x, r, e)
		return
	}
	if preflight {
		s.preflight(w, r, methods)
		return
	}
	if len(methods) > 0 {
		methods = append(methods, http.MethodOptions)
		w.Header().Set("Allow", strings.Join(methods, ", "))
		s.refuse(x, r, Fail(CodeMethodNotAllowed, "%s is not possible here; %s are.", Clip(r.Method, 20), Listed(methods)))
		return
	}
	if s.dialect.owns(r) { // which has no pages
		s.refuse(x, r, Fail(CodeUnsupportedRoute, "There is no such path."))
		return
	}
	if bare := strings.TrimRight(r.URL.Path, "/"); bare != r.URL.Path && len(s.methodsFor(r, &url.URL{Path: bare})) > 0 {
		s.Slashed(w, r, bare)
		return
	}
	if s.missing != nil && pageLike(r) {
		w.Header().Add("Vary", "Accept")
		if wantsPage(r) {
			s.missing(w, r)
			return
		}
	}
	SendError(w, r, Fail(CodeUnsupportedRoute, "There is no such route in this API."), x.record.ID, nil)
}

// payUnmatched takes what the table does not have out of the budget of who sends a good
// key, and tells what is left, or else out of what the address may ask. What is wrong with
// a key does not matter here. Preflights bring no key along, and are free.
func (s *Server) payUnmatched(x *exchange, r *http.Request, preflight bool) *Error {
	if len(r.Header[HeaderKey])+len(r.Header[HeaderKeyShort]) == 0 || s.sessionPath(r) {
		if preflight {
			return nil
		}
		return s.clients.spend(x.client, 1)
	}
	if e := s.authenticate(x, r); e != nil {
		if e.Code == CodeRateLimited {
			return e
		}
		return nil
	}
	class := Light
	if told := x.Header()[HeaderRouteClass]; told != nil {
		class = Class(told[0])
	}
	v, e := s.Spend(r.Context(), &x.who, class, 1)
	TellBudget(x.Header(), v, class)
	x.Header()["Cache-Control"] = cacheNever
	return e
}

// Listed joins words as people do.
func Listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// keyed is the part of the kernel for routes that need a key.
func (s *Server) keyed(route *Route, next handler) http.Handler {
	seen := s.metrics.of(route.ID).as(timedAs(route.Class))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange) // the mux is only reached through ServeHTTP
		req := &x.record
		req.Route, req.seen = route, seen
		route.head(w.Header())
		s.cors(w, r)
		e := s.admit(x, r)
		if e == nil {
			r, e = s.takeInput(x, r)
		}
		if e != nil {
			if e.Cause != nil {
				s.Log.Warn("request refused", "request_id", req.ID, "err", e.Cause)
			}
			SendError(w, r, e, req.ID, route)
			return
		}
		key, cacheable := answerKey{}, false
		if id := r.PathValue("chain"); id != "" && s.revision != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			var a *answer
			if a, key, cacheable = s.keptAnswer(id, r); a != nil {
				s.metrics.kept.Inc()
				a.send(w, r, s.Now)
				return
			}
		}
		s.answer(w, r, req, next, key, cacheable)
	})
}

// takeInput checks and takes in what the request brings along.
func (s *Server) takeInput(x *exchange, r *http.Request) (*http.Request, *Error) {
	if !isText(r.URL.Path) {
		return r, Fail(CodeInvalidRequest, "path: it has bytes that are no text.")
	}
	query, e := x.record.Route.checkQuery(r.URL.RawQuery, &x.record)
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
	if x.record.Route.Session {
		return s.admitSession(x, r)
	}
	if e := s.authenticate(x, r); e != nil {
		return e
	}
	x.record.Caller = &x.who
	refused := s.authorise(&x.who, x.record.Route, r.Header)
	// What a key may not do costs as well: it must not be the cheap way to keep the
	// service busy, and every answer tells what is left.
	if e := s.limit(r.Context(), x.Header(), &x.who, &x.record); e != nil {
		return e
	}
	return refused
}

// originOf is how examples name the service: by the address that the operator gave
// or else, for those on the same machine, by the one that it listens on. It is
// never taken from a request: a document is the same for all.
func originOf(baseURL, address string) string {
	if baseURL != "" {
		return baseURL
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://localhost"
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
