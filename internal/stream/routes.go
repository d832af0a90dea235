package stream

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web/live"
)

const (
	// MaxBack is how many blocks below the newest a stream may begin.
	MaxBack = 10_000
	// span and most bound one read.
	span, most = 1000, 300
	// readers is how many streams of a process read the index at once.
	readers = 8
	// readTime bounds a read, and tries how many may fail in a row, one each retryAfter.
	readTime   = 15 * time.Second
	retryAfter = 2 * time.Second
	tries      = 15
	// remembered is how many blocks a stream can name when they are taken back.
	remembered = 256
)

// Options configure the streams. Zero values are replaced by the defaults.
type Options struct {
	Streams    int           // of all callers; 2048. A workspace has a quarter of them, a key an eighth
	PerAddress int           // of one client address; 128
	Heartbeat  time.Duration // between signs of life; 15 s
	Lifetime   time.Duration // of a stream; 24 h
	SendTime   time.Duration // in which a client must take a message; 10 s
	Every      time.Duration // between looks at an index; half a second
}

// Server serves the streams.
type Server struct {
	*kernel.Server
	o       Options
	chains  map[string]*watched
	hub     *live.Hub
	keys    *kernel.Keyring
	seats   *kernel.Seats
	hosts   *kernel.Seats
	reading chan struct{}
	unknown func(chain string) *kernel.Error
}

// watched is a chain.
type watched struct {
	reader *feed.Reader
	live   *live.Feed

	mu    sync.Mutex
	marks [4]feed.Mark // of blocks that streams were at lately
	next  int
}

// New registers the route. Close ends the streams.
func New(k *kernel.Server, routes *api.Routes, o Options) *Server {
	o.Streams, o.PerAddress = cmp.Or(o.Streams, 2048), cmp.Or(o.PerAddress, 128)
	o.Heartbeat, o.Lifetime, o.SendTime = cmp.Or(o.Heartbeat, 15*time.Second), cmp.Or(o.Lifetime, 24*time.Hour), cmp.Or(o.SendTime, 10*time.Second)
	s := &Server{Server: k, o: o, chains: map[string]*watched{}, keys: k.Keyring(), reading: make(chan struct{}, readers),
		seats: kernel.NewSeats(o.Streams, 0, 0), hosts: kernel.NewSeats(o.Streams, o.PerAddress, o.PerAddress)}
	var chains []live.Chain
	for _, id := range routes.Order {
		chains = append(chains, live.Chain{ID: id, Index: routes.Chains[id].Store, Depth: routes.Chains[id].Depth})
	}
	s.hub = live.New(chains, live.Options{Every: o.Every, Logger: k.Log})
	for _, id := range routes.Order {
		s.chains[id] = &watched{reader: routes.Feed(id), live: s.hub.Feed(id)}
	}
	s.unknown = func(chain string) *kernel.Error {
		return kernel.Fail(kernel.CodeNotFound, "path.chain: %q is not served here; there is %s.", kernel.Clip(chain, 40), kernel.Listed(routes.Order))
	}
	route := route
	k.HandleRaw(kernel.Raw{Route: route, Operation: operation(&route), Patterns: []string{"GET " + route.Path, "GET /api" + route.Path},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
			kernel.SendError(w, r, e, kernel.RecordOf(w).ID, &route)
		},
		Serve: func(w http.ResponseWriter, r *http.Request) {
			if e := s.serve(w, r); e != nil {
				if e.Cause != nil {
					k.Log.Warn("stream refused", "request_id", kernel.RecordOf(w).ID, "err", e.Cause)
				}
				kernel.SendError(w, r, e, kernel.RecordOf(w).ID, &route)
			}
		}})
	return s
}

// Close ends all streams and what watches for them. A stream tells its client when to come
// back.
func (s *Server) Close() {
	s.hub.Close()
	s.keys.Close()
}

// wish is what a request asks for.
type wish struct {
	filter feed.Filter
	from   *uint64 // the first block; nil for what comes next
	id     string  // of the last message that was heard; "" for none
	by     string  // where that stands
	once   bool    // end when nothing is left
}

// parse reads a request.
func parse(r *http.Request) (in wish, e *kernel.Error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return in, kernel.Fail(kernel.CodeInvalidRequest, "query: it is not well-formed.")
	}
	for _, name := range []string{"from_block", "lastEventId", "follow"} {
		if len(query[name]) > 1 {
			return in, kernel.Fail(kernel.CodeInvalidRequest, "query.%s: it can be given once.", name)
		}
	}
	if text := query.Get("from_block"); query.Has("from_block") {
		n, ok := kernel.NumberOf(text)
		if !ok {
			return in, kernel.Fail(kernel.CodeInvalidRequest, "query.from_block: %q is not a block number.", kernel.Clip(text, 20))
		}
		in.from = &n
	}
	if query.Has("follow") {
		follow := query.Get("follow")
		if follow != "true" && follow != "false" {
			return in, kernel.Fail(kernel.CodeInvalidRequest, "query.follow: it is true or false.")
		}
		in.once = follow == "false"
	}
	// A browser that comes back by itself sends the header, and the address of old.
	if in.id, in.by = r.Header.Get("Last-Event-ID"), "header.Last-Event-ID"; in.id == "" {
		in.id, in.by = query.Get("lastEventId"), "query.lastEventId"
	}
	for _, name := range []string{"from_block", "lastEventId", "follow"} {
		query.Del(name)
	}
	if in.filter, err = feed.New(query); err != nil {
		return in, refusal(err)
	}
	if in.from != nil && (in.filter.Kind == feed.Finality || in.filter.Kind == feed.Forks) {
		return in, kernel.Fail(kernel.CodeInvalidRequest, "query.from_block: kind %s tells what comes next, and nothing of the past.", in.filter.Kind)
	}
	return in, nil
}

// refusal puts what is wrong with a filter into words.
func refusal(err error) *kernel.Error {
	var wrong *feed.Error
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return kernel.Fail(kernel.CodeInvalidRequest, "query.%s: %s", wrong.Field, wrong.Reason)
	case errors.As(err, &wrong):
		return kernel.Fail(kernel.CodeInvalidRequest, "query: %s", wrong.Reason)
	}
	return kernel.RetryLater(1, err, "The filter could not be read; try again.")
}

// serve answers a request until somebody goes.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) *kernel.Error {
	who := kernel.RequestOf(r.Context()).Caller
	budget, refused := s.Spend(r.Context(), who, route.Class, 1)
	kernel.RecordOf(w).Budget = budget
	kernel.TellBudget(w.Header(), budget, route.Class)
	if refused != nil {
		return refused
	}
	c := s.chains[r.PathValue("chain")]
	if c == nil {
		return s.unknown(r.PathValue("chain"))
	}
	in, e := parse(r)
	if e != nil {
		return e
	}
	if e := s.seats.Enter(r.Context(), who, "open as streams"); e != nil {
		return e
	}
	defer s.seats.Leave(who)
	host := kernel.Neighbour(w)
	if e := s.hosts.Enter(r.Context(), host, "open as streams"); e != nil {
		return e
	}
	defer s.hosts.Leave(host)
	t := &session{srv: s, chain: c, filter: in.filter, once: in.once, w: w, rc: http.NewResponseController(w)}
	if e := t.begin(r.Context(), &in); e != nil {
		return e
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy must not collect what is news
	h.Set("Connection", "close")     // the deadlines of a stream are its own
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	key, release := s.keys.Hold(r.Header)
	defer release()
	t.rc.SetReadDeadline(time.Time{}) //nolint:errcheck // that of the request is over
	t.run(r.Context(), key)
	return nil
}

// read asks the index, a few streams at a time.
func (s *Server) read(ctx context.Context, ask func(context.Context) error) error {
	select {
	case s.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.reading }()
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	return ask(ctx)
}

// mark makes the mark of a place, mostly without a read.
func (c *watched) mark(ctx context.Context, at feed.Place) (feed.Mark, error) {
	c.mu.Lock()
	for i := range c.marks {
		if m, same := c.marks[i].Moved(at); same {
			c.mu.Unlock()
			return m, nil
		}
	}
	c.mu.Unlock()
	m, err := c.reader.Mark(ctx, at)
	if err != nil {
		return m, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks[c.next], c.next = m, (c.next+1)%len(c.marks)
	return m, nil
}

var route = kernel.Route{
	ID: "streamFeed", Method: http.MethodGet, Path: "/v1/{chain}/stream", Family: "Streams", Summary: "Stream what happens",
	Description: "Server-sent events: a message for every block in which something matches, and `retracted` when a fork takes blocks back. `kind` says what is wanted; values of one filter are alternatives, filters must all match. " +
		"Without `from_block` it begins with the next block. `Last-Event-ID` goes on behind a message that was heard before, through forks. See [streams](/docs/guide/streams).",
	Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External,
	Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnClock, Statuses: []int{http.StatusNotFound},
	Example: "follow=false",
}
