// Package edge bounds what strangers can hold of an HTTP server without asking it
// anything: connections, of one address and of all together, answers that are not
// read, and bodies that nobody asked for.
//
// A connection that waits for its client is what a slow client costs. When there are
// as many connections as there may be, a new one takes the place of the one that has
// waited longest, and is refused only if all are being answered: whoever holds
// connections is in the way of nobody who asks.
package edge

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of Options.
const (
	DefaultConnections = 4096
	DefaultPerAddress  = 256
	DefaultStall       = 10 * time.Second
	// Slowest is what a client must read of an answer, in bytes a second.
	Slowest = 16 << 10
)

const (
	// blocked is how long a write must have made no progress before its connection
	// gives way to a new one.
	blocked = time.Second
	// parting is how long a refused client has to take in why, and partings how many
	// are given that time.
	parting  = 250 * time.Millisecond
	partings = 64
)

// Refusal says why a connection is refused.
type Refusal string

// The refusals.
const (
	TooManyOfAddress Refusal = "address"
	TooMany          Refusal = "total"
)

// Options of a listener.
type Options struct {
	// Name is the listener's in metrics.
	Name string
	// Connections bounds all connections, and PerAddress those of one address, or of
	// one IPv6 network of 64 bits, of which one host has all addresses.
	Connections, PerAddress int
	// Exempt are proxies: many clients come from their addresses. They count among all.
	Exempt []netip.Prefix
	// Stall is how long an answer may make no progress. One that does is sent for as
	// long as it takes, unless it falls below Slowest for some time.
	Stall time.Duration
	// Refusal is what a refused client is sent; nil for nothing.
	Refusal func(Refusal) []byte
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Listener bounds connections. Attach the http.Server that serves it.
type Listener struct {
	net.Listener
	o       Options
	refused *prometheus.CounterVec
	slow    prometheus.Counter
	evicted prometheus.Counter
	parting chan struct{}

	mu    sync.Mutex // guards what follows
	conns map[*conn]struct{}
	peers map[netip.Prefix]*peer
	// waiting are those that wait for a request, the longest first: of clients, and of
	// proxies, which give way last.
	waiting, proxies list.List
}

// peer is who is told apart.
type peer struct {
	conns   int
	waiting list.List // as in Listener
}

// Bound wraps a listener.
func Bound(l net.Listener, o Options) *Listener {
	if o.Connections == 0 {
		o.Connections = DefaultConnections
	}
	if o.PerAddress == 0 {
		o.PerAddress = DefaultPerAddress
	}
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	b := &Listener{Listener: l, o: o, parting: make(chan struct{}, partings), conns: map[*conn]struct{}{}, peers: map[netip.Prefix]*peer{}}
	b.register()
	return b
}

func (l *Listener) register() {
	labels := prometheus.Labels{"listener": l.o.Name}
	l.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "chainexplorer_connections_refused_total", ConstLabels: labels,
		Help: "Connections refused because there were as many as there may be, of one address or of all.",
	}, []string{"reason"})
	for _, why := range []Refusal{TooManyOfAddress, TooMany} {
		l.refused.WithLabelValues(string(why))
	}
	l.evicted = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "chainexplorer_connections_displaced_total", ConstLabels: labels,
		Help: "Connections closed while they waited for their client, because a new one needed the place.",
	})
	l.slow = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "chainexplorer_connections_slow_readers_total", ConstLabels: labels,
		Help: "Connections closed because their client did not read its answer.",
	})
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "chainexplorer_connections_open", ConstLabels: labels, Help: "Open connections.",
	}, func() float64 { return float64(l.Open()) })
	most := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "chainexplorer_connections_max", ConstLabels: labels, Help: "How many connections may be open.",
	}, func() float64 { return float64(l.o.Connections) })
	if l.o.Registerer != nil {
		l.o.Registerer.MustRegister(l.refused, l.evicted, l.slow, open, most)
	}
}

// Open counts the connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Accept waits for a connection that there is room for.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, why := l.admit(nc)
		if c != nil {
			return c, nil
		}
		l.refused.WithLabelValues(string(why)).Inc()
		l.part(nc, why)
	}
}

// admit gives a connection a place.
func (l *Listener) admit(nc net.Conn) (*conn, Refusal) {
	who, exempt := l.peerOf(nc)
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.peers[who]
	if p == nil {
		p = &peer{}
	}
	if !exempt && p.conns >= l.o.PerAddress && !l.displace(func(c *conn) bool { return c.peer == p }, &p.waiting) {
		return nil, TooManyOfAddress
	}
	if len(l.conns) >= l.o.Connections && !l.displace(func(*conn) bool { return true }, &l.waiting, &l.proxies) {
		return nil, TooMany
	}
	l.peers[who] = p // whom it displaced may have been its last
	p.conns++
	c := newConn(nc, l, p, who, exempt)
	l.conns[c] = struct{}{}
	l.await(c)
	return c, ""
}

// peerOf says who is told apart, and whether it is a proxy.
func (l *Listener) peerOf(nc net.Conn) (netip.Prefix, bool) {
	at, err := netip.ParseAddrPort(nc.RemoteAddr().String())
	if err != nil {
		return netip.Prefix{}, false // those without an address are one
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	who, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}, false
	}
	return who, slices.ContainsFunc(l.o.Exempt, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// displace closes the connection that has waited longest: for a request, or else,
// among those given, for its client to read.
func (l *Listener) displace(among func(*conn) bool, waiting ...*list.List) bool {
	for _, w := range waiting {
		if e := w.Front(); e != nil {
			l.evict(e.Value.(*conn))
			return true
		}
	}
	var slowest *conn
	since := time.Now().Add(-blocked).UnixNano()
	for c := range l.conns {
		if at := c.writing.Load(); at != 0 && at < since && among(c) {
			slowest, since = c, at
		}
	}
	if slowest == nil {
		return false
	}
	l.evict(slowest)
	return true
}

func (l *Listener) evict(c *conn) {
	l.evicted.Inc()
	l.forget(c)
	c.Conn.Close() //nolint:errcheck // it is given up
}

// await puts a connection at the end of those that wait for a request.
func (l *Listener) await(c *conn) {
	if _, there := l.conns[c]; !there || c.among != nil {
		return
	}
	c.among = &l.waiting
	if c.exempt {
		c.among = &l.proxies
	}
	c.inAll, c.inPeer = c.among.PushBack(c), c.peer.waiting.PushBack(c)
}

// answer takes it out of them.
func (l *Listener) answer(c *conn) {
	if c.among == nil {
		return
	}
	c.among.Remove(c.inAll)
	c.peer.waiting.Remove(c.inPeer)
	c.among, c.inAll, c.inPeer = nil, nil, nil
}

// forget gives a place back, once.
func (l *Listener) forget(c *conn) {
	if _, there := l.conns[c]; !there {
		return
	}
	l.answer(c)
	delete(l.conns, c)
	if c.peer.conns--; c.peer.conns == 0 {
		delete(l.peers, c.who)
	}
}

// Attach makes a server tell when its connections wait, and lets it not wait for bodies
// that its handler does not read.
func (l *Listener) Attach(s *http.Server) {
	s.ConnState = l.connState
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	s.Handler = unread(s.Handler)
}

type connKey struct{}

// idler is a connection of the listener below that wants to know when an answer is complete.
type idler interface{ Idle() }

// connState follows what net/http does: it knows when a request is complete.
func (l *Listener) connState(nc net.Conn, s http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	if s == http.StateIdle {
		if below, ok := c.Conn.(idler); ok {
			below.Idle()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s {
	case http.StateActive:
		l.answer(c)
	case http.StateIdle:
		l.await(c)
	}
}

// part tells a refused client why. Nobody waits for it: when many are refused at
// once, most of them are just closed.
func (l *Listener) part(nc net.Conn, why Refusal) {
	select {
	case l.parting <- struct{}{}:
	default:
		nc.Close() //nolint:errcheck // it is refused
		return
	}
	go func() {
		defer func() { <-l.parting }()
		defer nc.Close()                        //nolint:errcheck // as above
		nc.SetDeadline(time.Now().Add(parting)) //nolint:errcheck // the write fails then
		if l.o.Refusal == nil {
			return
		}
		if _, err := nc.Write(l.o.Refusal(why)); err != nil {
			return
		}
		if w, ok := nc.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
			// What is not read when the connection closes would reset it, answer and all.
			var b [512]byte
			for {
				if _, err := nc.Read(b[:]); err != nil {
					return
				}
			}
		}
	}()
}
