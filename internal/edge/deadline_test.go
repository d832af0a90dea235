package edge_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/edge"
)

// deadlineListener counts the write deadlines that its connections are set.
type deadlineListener struct {
	net.Listener
	set *atomic.Int32
}

func (l deadlineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return deadlineConn{c, l.set}, err
}

type deadlineConn struct {
	net.Conn
	set *atomic.Int32
}

func (c deadlineConn) SetWriteDeadline(t time.Time) error {
	c.set.Add(1)
	return c.Conn.SetWriteDeadline(t)
}

// TestDeadlinesAreKept: a client in time costs no deadline for each answer, although net/http lifts the one that it
// might have set after every request; one that a handler sets holds for its answer alone.
func TestDeadlinesAreKept(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var set atomic.Int32
	bound := edge.Bound(deadlineListener{l, &set}, edge.Options{Name: "test", Refusal: func(edge.Refusal) []byte { return nil }})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // a test's
		if r.URL.Path == "/late" {
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(-time.Second)) //nolint:errcheck // the client tells
		}
		w.Write(make([]byte, 4096)) //nolint:errcheck // as above
	})}
	bound.Attach(srv)
	go srv.Serve(bound)               //nolint:errcheck // closed below
	t.Cleanup(func() { srv.Close() }) //nolint:errcheck // the test is over
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()                     //nolint:errcheck // the test is over
	c.SetDeadline(time.Now().Add(hang)) //nolint:errcheck // a test that hangs fails otherwise
	in := bufio.NewReader(c)
	ask := func(path string) error {
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
			return err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	const answers = 20
	for range answers {
		if err := ask("/"); err != nil {
			t.Fatal(err)
		}
	}
	if n := set.Load(); n > answers/4 {
		t.Errorf("%d answers set %d deadlines", answers, n)
	}
	if err := ask("/late"); err == nil {
		t.Error("an answer came after its deadline")
	}
}
