// Package live serves JSON-RPC over WebSocket: ordinary calls, and the subscriptions of
// the specification.
//
// Nodes are followed once for all clients. Each version has a hub, which learns of new
// heads, fetches every block once, takes it apart once and gives each subscription what
// it asked for, so that a thousand clients cost the nodes what one does. A hub gives
// every block once, in order and without gaps; when the chain forks, each subscription
// is told which blocks are gone and then given the new ones. A subscription that starts
// at a block gets what has happened since and then what happens, without a seam.
//
// Everything is bounded: subscriptions and calls of a session, what waits for a client
// that reads slowly, what is kept of the chain, how long anything takes.
package live

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/starknet"
)

// The codes with which a session is closed, beside those of the protocol itself.
const (
	// CloseDone is for a session that was idle or has reached its lifetime: the client
	// may come back at once.
	CloseDone = websocket.StatusNormalClosure
	// CloseShutdown is for a service that stops.
	CloseShutdown = websocket.StatusGoingAway
	// CloseUnauthorized is for a key that is not valid any more.
	CloseUnauthorized = websocket.StatusCode(4401)
	// CloseTooSlow is for a client that does not read what it is sent, or does not
	// answer pings.
	CloseTooSlow = websocket.StatusCode(4408)
)

// Limits bound what sessions and hubs take. Zero values are replaced by the defaults.
type Limits struct {
	Subscriptions int   // of a session; 32
	Calls         int   // of a session at work at once; 8. More wait unread
	Message       int64 // bytes that a client may send at once; 1 MiB
	QueueItems    int   // blocks that a client may be behind; 1024
	QueueBytes    int   // of notifications that wait for a client; 8 MiB

	WriteTimeout time.Duration // for a message; 10 s
	Ping         time.Duration // between pings; 30 s
	Pong         time.Duration // for the answer; 20 s
	Idle         time.Duration // without a subscription or a message; 5 min
	Lifetime     time.Duration // of a session; 24 h
	Admit        time.Duration // between looks at the key; 500 ms
	CloseGrace   time.Duration // for the client to take the close frame; 2 s

	Fetch      time.Duration // for a read of the chain; 15 s
	Subscribe  time.Duration // for a subscription to be made; 10 s
	EarlyPoll  time.Duration // between looks at the block being built; 1 s
	StatusPoll time.Duration // between looks at transactions that are in no block; 1 s
	Shorter    time.Duration // that blocks are missing before they count as gone; 30 s
	Linger     time.Duration // that a hub goes on without subscriptions; 30 s
	Watched    int           // transactions whose status is followed; 1024
	CacheBytes int           // of blocks kept for replays; 32 MiB
	Remember   int           // hashes by which forks are found; 4096
	Backfill   int           // of them that are read at the start; 64
}

func (l Limits) withDefaults() Limits {
	number := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	long := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	if l.Message == 0 {
		l.Message = 1 << 20
	}
	number(&l.Subscriptions, 32)
	number(&l.Calls, 8)
	number(&l.QueueItems, 1024)
	number(&l.QueueBytes, 8<<20)
	number(&l.Watched, 1024)
	number(&l.CacheBytes, 32<<20)
	number(&l.Remember, 4096)
	number(&l.Backfill, 64)
	long(&l.WriteTimeout, 10*time.Second)
	long(&l.Ping, 30*time.Second)
	long(&l.Pong, 20*time.Second)
	long(&l.Idle, 5*time.Minute)
	long(&l.Lifetime, 24*time.Hour)
	long(&l.Admit, 500*time.Millisecond)
	long(&l.CloseGrace, 2*time.Second)
	long(&l.Fetch, 15*time.Second)
	long(&l.Subscribe, 10*time.Second)
	long(&l.EarlyPoll, time.Second)
	long(&l.StatusPoll, time.Second)
	long(&l.Shorter, 30*time.Second)
	long(&l.Linger, 30*time.Second)
	return l
}

// Options is what a server of one chain needs.
type Options struct {
	Chain string // for logs
	// Heads tells of the newest head whenever it changes or goes back, until ctx ends.
	// The hash is zero where only the number is known. It may be told the same twice.
	Heads func(ctx context.Context, tell func(number uint64, hash felt.Felt))
	// Fetch answers a read in a version. Either result is set, or code is that of the
	// error that the specification has for it, or err says why nobody answered. at is
	// the block that it is about, where that is known. The result is kept.
	Fetch   func(ctx context.Context, method string, params json.RawMessage, v starknet.SpecVersion, at *uint64) (result json.RawMessage, code int, err error)
	Limits  Limits
	Metrics *Metrics // nil: none
	Logger  *slog.Logger
}

// Client is who a session is for.
type Client struct {
	Version starknet.SpecVersion
	// Subprotocols are those that the handshake may settle on.
	Subprotocols []string
	// Answer answers a message with ordinary calls: one or a batch. It is nil for
	// notifications. It is called at once from as many goroutines as Limits.Calls.
	// release, which may be nil, is called when the answer was sent or is given up.
	Answer func(ctx context.Context, body []byte) (text []byte, release func())
	// Admit says whether the session may go on. It is asked often and must not wait.
	Admit func() error
	// Charge is asked before each call that makes or ends a subscription; nil: free.
	Charge func(ctx context.Context, m *method.Method) *wire.Error
	// Answered is told how a call that makes or ends a subscription ended: its failure,
	// nil when that is one of the specification's; nil: nobody is.
	Answered func(m *method.Method, took time.Duration, failed bool, why *wire.Error)
	// RequestID names a message in errors; nil: they name none.
	RequestID func() string
}

// Server runs the sessions of one chain.
type Server struct {
	opts    Options
	limits  Limits
	log     *slog.Logger
	metrics *Metrics

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup // hubs, the warden and sessions

	mu       sync.Mutex // guards what follows
	hubs     map[starknet.SpecVersion]*hub
	sessions map[*session]struct{}
	warden   bool // runs
	closed   bool
}

// New makes a server. It follows nothing until somebody subscribes.
func New(o Options) *Server {
	s := &Server{
		opts: o, limits: o.Limits.withDefaults(), log: o.Logger, metrics: o.Metrics,
		hubs: map[starknet.SpecVersion]*hub{}, sessions: map[*session]struct{}{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = s.log.With("chain", o.Chain)
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends all sessions with CloseShutdown and returns when nothing runs any more.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	open := s.open()
	s.mu.Unlock()
	for _, c := range open {
		c.end(CloseShutdown, "the service stops", "shutdown")
	}
	s.stop()
	s.work.Wait()
}

// open is the sessions there are. The lock must be held.
func (s *Server) open() []*session {
	out := make([]*session, 0, len(s.sessions))
	for c := range s.sessions {
		out = append(out, c)
	}
	return out
}

// Serve upgrades an authenticated request and runs its session until that ends. The
// caller has checked the origin. The session ends with CloseShutdown when the
// request's context does.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, c Client) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: c.Subprotocols, InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(s.limits.Message)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	n := &session{srv: s, conn: conn, client: c, ctx: ctx, cancel: cancel, subs: map[string]*sub{}, calls: make(chan struct{}, s.limits.Calls)}
	n.began = time.Now()
	n.heard.Store(n.began.UnixNano())
	if !s.enter(n) {
		conn.Close(CloseShutdown, "the service stops") //nolint:errcheck // it may be gone already
		cancel()
		return
	}
	defer s.leave(n)
	left := context.AfterFunc(r.Context(), func() { n.end(CloseShutdown, "the service stops", "shutdown") })
	defer left()
	n.run()
}

func (s *Server) enter(n *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	s.sessions[n] = struct{}{}
	s.metrics.session(1)
	if !s.warden {
		s.warden = true
		s.work.Go(s.watch)
	}
	return true
}

func (s *Server) leave(n *session) {
	s.mu.Lock()
	delete(s.sessions, n)
	s.mu.Unlock()
	s.metrics.session(-1)
	s.work.Done()
}

// Sessions is how many there are.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// watch looks after all sessions: whether their keys are valid, whether their clients
// are there, whether they have been idle or open for too long. It ends with the last.
func (s *Server) watch() {
	every := time.NewTicker(s.limits.Admit)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		open := s.open()
		if len(open) == 0 {
			s.warden = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		now := time.Now()
		for _, c := range open {
			c.check(now)
		}
	}
}
