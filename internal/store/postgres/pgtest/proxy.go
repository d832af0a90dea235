package pgtest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands between a client and the server and cuts connections at a chosen
// place, as a network does at a place that nobody chose.
type Proxy struct {
	listener net.Listener
	server   string
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // guarded by mu
	left  [2]int64              // guarded by mu: bytes until all is cut, from clients and from the server; negative: never
	cuts  int                   // guarded by mu
	sent  int64                 // guarded by mu: by the server
}

// NewProxy starts a proxy for one test.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, server: s.Address(), conns: map[net.Conn]struct{}{}, left: [2]int64{-1, -1}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // done with
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// URL is the address of the server's database through the proxy.
func (p *Proxy) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: p.listener.Addr().String(), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Cut ends all connections now.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

func (p *Proxy) cut() {
	p.left = [2]int64{-1, -1}
	p.cuts++
	for c := range p.conns {
		c.Close() //nolint:errcheck // the point
	}
}

// CutAfter ends all connections when clients have sent so many bytes more. New
// connections work.
func (p *Proxy) CutAfter(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[fromClients] = bytes
}

// CutAfterReplies ends all connections when the server has sent so many bytes
// more: what clients asked for may have happened, and they do not hear of it.
func (p *Proxy) CutAfterReplies(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[fromServer] = bytes
}

const (
	fromClients = iota
	fromServer
)

// Replied is how many bytes the server has sent.
func (p *Proxy) Replied() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// Cuts is how often connections were ended.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close() //nolint:errcheck // nothing to talk to
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		p.wg.Go(func() { p.carry(server, client, fromClients) })
		p.wg.Go(func() { p.carry(client, server, fromServer) })
	}
}

// carry copies one direction until either end is closed.
func (p *Proxy) carry(to, from net.Conn, direction int) {
	defer func() {
		p.mu.Lock()
		delete(p.conns, from)
		p.mu.Unlock()
		from.Close() //nolint:errcheck // both ends go together
		to.Close()   //nolint:errcheck // as above
	}()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			n = p.admit(n, direction)
			if _, werr := to.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil { // the end of the stream included
			return
		}
	}
}

// admit says how many bytes may pass, and cuts everything at the chosen one.
func (p *Proxy) admit(n, direction int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if direction == fromServer {
		p.sent += int64(n)
	}
	if p.left[direction] < 0 {
		return n
	}
	if int64(n) < p.left[direction] {
		p.left[direction] -= int64(n)
		return n
	}
	passed := int(p.left[direction])
	p.cut()
	return passed
}
