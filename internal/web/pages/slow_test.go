package pages_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// passage is a connection that holds nothing: what is written waits until it is read.
type passage struct {
	net.Conn
	mu      sync.Mutex // guards what follows
	until   time.Time  // for writing; zero is for ever
	expired bool       // all time until then is over
}

func (p *passage) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711} }

func (p *passage) SetWriteDeadline(at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = at
	return p.set()
}

// expire lets the time pass that a writer has.
func (p *passage) expire() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expired = true
	return p.set()
}

func (p *passage) set() error {
	if p.expired && !p.until.IsZero() {
		return p.Conn.SetWriteDeadline(time.Now())
	}
	return p.Conn.SetWriteDeadline(p.until)
}

// passages is a listener of such connections.
type passages chan net.Conn

func (p passages) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p passages) Addr() net.Addr { return &net.TCPAddr{} }
func (p passages) Close() error   { return nil }

// TestLiveLeavesWhoDoesNotRead: a listener who takes nothing more is left, and the place is
// free for others.
func TestLiveLeavesWhoDoesNotRead(t *testing.T) {
	w := sharedWorld(t, 40)
	door, ended := make(passages), make(chan struct{}, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		w.Server.ServeHTTP(rw, r)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(door) //nolint:errcheck // until the door is closed
	}()
	t.Cleanup(func() {
		close(door)
		server.Close() //nolint:errcheck // the test is over
		<-served
	})
	for range 25 { // one more than an address may have at once
		theirs, ours := net.Pipe()
		p := &passage{Conn: theirs}
		door <- p
		ours.SetDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // a pipe has deadlines
		if _, err := ours.Write([]byte("GET /live/" + chainID + " HTTP/1.1\r\nHost: test\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReaderSize(ours, 16)
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200") {
			t.Fatalf("%q, %v", line, err)
		}
		if err := p.expire(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("whoever does not read is waited for")
		}
		ours.Close() //nolint:errcheck // a pipe
	}
}
