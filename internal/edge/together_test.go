package edge_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/edge"
)

// counted counts the writes of a listener's connections.
type counted struct {
	net.Listener
	writes atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, l}, err
}

type countedConn struct {
	net.Conn
	l *counted
}

// Write lets others go first, as one that waits for its client does.
func (c countedConn) Write(b []byte) (int, error) {
	c.l.writes.Add(1)
	for range 4 {
		runtime.Gosched()
	}
	return c.Conn.Write(b)
}

// letters is a body of so many bytes that is like no other one.
func letters(n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d,", n), n/2+1)[:n]
}

// whole serves bodies of the lengths that are asked for, and says so beforehand if it is told to, by so many
// bytes too much.
func whole(t *testing.T, told bool, tooMuch int) *counted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Listener: l}
	bound := edge.Bound(c, edge.Options{Name: "test"})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // see site
		n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Length", strconv.Itoa(n))
		w.Header().Set("Content-Type", "text/plain")
		w.Header()["Date"] = nil
		if told {
			edge.Together(r.Context(), n+tooMuch)
		}
		w.Write(letters(n)) //nolint:errcheck // see the client
	})}
	bound.Attach(srv)
	go srv.Serve(bound)               //nolint:errcheck // closed below
	t.Cleanup(func() { srv.Close() }) //nolint:errcheck // the test is over
	return c
}

// ask sends requests over one connection, all at once, and returns the answers as they came.
func ask(t *testing.T, l net.Listener, sizes ...int) (answers []string) {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()                     //nolint:errcheck // nothing is written any more
	c.SetDeadline(time.Now().Add(hang)) //nolint:errcheck // a test that hangs fails otherwise
	var text strings.Builder
	for _, n := range sizes {
		fmt.Fprintf(&text, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", n)
	}
	if _, err := io.WriteString(c, text.String()); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for _, n := range sizes {
		var answer strings.Builder
		for !strings.HasSuffix(answer.String(), "\r\n\r\n") {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("the head of %d bytes: %v", n, err)
			}
			answer.WriteString(line)
		}
		if _, err := io.CopyN(&answer, r, int64(n)); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		answers = append(answers, answer.String())
	}
	return answers
}

// TestTogether: an answer that is there as a whole is what it would be otherwise, and goes out at once.
func TestTogether(t *testing.T) {
	plain, together := whole(t, false, 0), whole(t, true, 0)
	for _, n := range []int{0, 1, 100, 2000, 3990, 4000, 4096, 5000, 8192, 14000, 60000, 64 << 10, 200000} {
		writes := together.writes.Load()
		got, want := ask(t, together, n)[0], ask(t, plain, n)[0]
		if got != want {
			t.Errorf("%d bytes: the answer differs: %.200q", n, got)
		}
		if w := together.writes.Load() - writes; n < 64<<10 && w != 1 {
			t.Errorf("%d bytes: %d writes", n, w)
		}
	}
	if plain.writes.Load() <= together.writes.Load() {
		t.Errorf("%d writes, and %d otherwise", together.writes.Load(), plain.writes.Load())
	}
	sizes := []int{5000, 10, 7000, 0, 30000, 4000, 9000}
	for i, answer := range ask(t, together, sizes...) {
		if want := ask(t, plain, sizes[i])[0]; answer != want {
			t.Errorf("answer %d of a row: %.200q", i, answer)
		}
	}
}

// TestTogetherOfMany asks over many connections at once, each for other answers.
func TestTogetherOfMany(t *testing.T) {
	together := whole(t, true, 0)
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			var sizes []int
			for i := range 50 {
				sizes = append(sizes, 4200+97*n+1009*i)
			}
			for i, answer := range ask(t, together, sizes...) {
				if _, body, _ := strings.Cut(answer, "\r\n\r\n"); body != string(letters(sizes[i])) {
					t.Errorf("connection %d, answer %d is another's: %.60q", n, i, body)
				}
			}
		})
	}
	all.Wait()
}

// TestTogetherTooShort: an answer that is shorter than was said goes out when it is over.
func TestTogetherTooShort(t *testing.T) {
	short, plain := whole(t, true, 1000), whole(t, false, 0)
	for _, n := range []int{10, 5000, 5000} {
		if got, want := ask(t, short, n)[0], ask(t, plain, n)[0]; got != want {
			t.Errorf("%d bytes: %.200q", n, got)
		}
	}
}
