package edge_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
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

// whole serves bodies of the lengths that are asked for, at once if it is told to, as a query says:
// status, a header, one of many, read what was sent, or through a writer of its own.
func whole(t *testing.T, told bool) *counted {
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
		q := r.URL.Query()
		status := http.StatusOK
		if q.Has("status") {
			status, _ = strconv.Atoi(q.Get("status"))
		}
		if q.Has("read") {
			io.Copy(io.Discard, r.Body) //nolint:errcheck // see the client
		}
		if q.Has("wrapped") {
			w = struct{ http.ResponseWriter }{w}
		}
		w.Header().Set("X-Replaced", "before")
		w.Header()["Vary"] = []string{"A", "B"}
		for i := range len(q["many"]) * 30 {
			w.Header().Set(fmt.Sprint("X-Many-", i), "y")
		}
		for _, set := range q["set"] {
			name, value, _ := strings.Cut(set, ":")
			w.Header().Set(name, value)
		}
		lines := []edge.Line{{Name: "Content-Length", Values: []string{strconv.Itoa(n)}}, {Name: "Content-Type", Values: []string{"text/plain"}}, {Name: "X-Replaced", Values: []string{"after"}}}
		if told && edge.Answer(w, r, status, lines, letters(n)) {
			return
		}
		for _, line := range lines {
			w.Header()[line.Name] = line.Values
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			w.Write(letters(n)) //nolint:errcheck // see the client
		}
	})}
	bound.Attach(srv)
	go srv.Serve(bound)               //nolint:errcheck // closed below
	t.Cleanup(func() { srv.Close() }) //nolint:errcheck // the test is over
	return c
}

// tidied takes the times out of answers, and sorts the headers of each.
func tidied(answers string) string {
	return heads.ReplaceAllStringFunc(answers, func(head string) string {
		lines := strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "Date: ") && strings.HasSuffix(line, " GMT") {
				lines[i] = "Date: then"
			}
		}
		slices.Sort(lines[1:])
		return strings.Join(lines, "\r\n") + "\r\n\r\n"
	})
}

var heads = regexp.MustCompile(`(?s)HTTP/1\.1 .*?\r\n\r\n`)

// sent is a new connection over which a text was sent.
func sent(t *testing.T, l net.Listener, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(hang)) //nolint:errcheck // a test that hangs fails otherwise
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends requests over one connection, all at once, and returns the answers as they came.
func ask(t *testing.T, l net.Listener, sizes ...int) (answers []string) {
	t.Helper()
	var text strings.Builder
	for _, n := range sizes {
		fmt.Fprintf(&text, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", n)
	}
	c := sent(t, l, text.String())
	defer c.Close() //nolint:errcheck // nothing is written any more
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
		answers = append(answers, tidied(answer.String()))
	}
	return answers
}

// TestWhole: an answer that is there as a whole is what it would be otherwise, and goes out at once.
func TestWhole(t *testing.T) {
	plain, at := whole(t, false), whole(t, true)
	for _, n := range []int{0, 1, 100, 2000, 3990, 4000, 4096, 5000, 8192, 14000, 60000, 64 << 10, 200000} {
		writes := at.writes.Load()
		got, want := ask(t, at, n)[0], ask(t, plain, n)[0]
		if got != want {
			t.Errorf("%d bytes: the answer differs: %.200q", n, got)
		}
		if w := at.writes.Load() - writes; n < 64<<10 && w != 1 {
			t.Errorf("%d bytes: %d writes", n, w)
		}
	}
	if plain.writes.Load() <= at.writes.Load() {
		t.Errorf("%d writes, and %d otherwise", at.writes.Load(), plain.writes.Load())
	}
	sizes := []int{5000, 10, 7000, 0, 30000, 4000, 9000}
	for i, answer := range ask(t, at, sizes...) {
		if want := ask(t, plain, sizes[i])[0]; answer != want {
			t.Errorf("answer %d of a row: %.200q", i, answer)
		}
	}
}

// TestWholeOfMany asks over many connections at once, each for other answers.
func TestWholeOfMany(t *testing.T) {
	at := whole(t, true)
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			var sizes []int
			for i := range 50 {
				sizes = append(sizes, 4200+97*n+1009*i)
			}
			for i, answer := range ask(t, at, sizes...) {
				if _, body, _ := strings.Cut(answer, "\r\n\r\n"); body != string(letters(sizes[i])) {
					t.Errorf("connection %d, answer %d is another's: %.60q", n, i, body)
				}
			}
		})
	}
	all.Wait()
}

// TestWholeOrNot sends what makes a difference to how an answer goes out and what becomes of its connection, and
// after it one more request. All that comes back until the connection ends is what comes from net/http alone.
func TestWholeOrNot(t *testing.T) {
	const last = "GET /7 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	plain, at := whole(t, false), whole(t, true)
	for name, c := range map[string]struct {
		request string
		fewer   int64 // writes than by net/http alone
	}{
		"a status":                 {"GET /5000?status=404 HTTP/1.1\r\nHost: x\r\n\r\n", 1},
		"no body":                  {"GET /0 HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"the client ends":          {"GET /5000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 1},
		"the handler ends":         {"GET /5000?set=Connection:close HTTP/1.1\r\nHost: x\r\n\r\n", 1},
		"the old protocol":         {"GET /5000 HTTP/1.0\r\n\r\n", 0},
		"kept by the old protocol": {"GET /5000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 0},
		"only the head":            {"HEAD /5000 HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"a body that is read":      {"POST /5000?read=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 1},
		"a body that is not":       {"POST /5000 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 1},
		"chunks":                   {"POST /5000?read=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 1},
		"a body that was awaited":  {"POST /5000?read=1 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", 1},
		"a body that was not":      {"POST /5000 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", 1},
		"too many headers":         {"GET /5000?many=1 HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"a line within a line":     {"GET /5000?set=X-Line:a%0d%0aX-Second:b HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"half a line":              {"GET /5000?set=X-Line:a%0aX-Second:b HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"a date":                   {"GET /5000?set=Date:today HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"a trailer":                {"GET /5000?set=Trailer:X-Later HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		"another writer":           {"GET /5000?wrapped=1 HTTP/1.1\r\nHost: x\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := at.writes.Load(), plain.writes.Load()
			got, want := converse(t, at, c.request+last), converse(t, plain, c.request+last)
			if got != want {
				t.Errorf("%.400q\nin place of %.400q", got, want)
			}
			if a, b = at.writes.Load()-a, plain.writes.Load()-b; b-a != c.fewer {
				t.Errorf("%d writes, by net/http alone %d", a, b)
			}
		})
	}
}

// converse sends a text and returns all that comes back.
func converse(t *testing.T, l net.Listener, text string) string {
	t.Helper()
	c := sent(t, l, text)
	defer c.Close() //nolint:errcheck // nothing is written any more
	all, err := io.ReadAll(c)
	if err != nil && len(all) == 0 {
		t.Fatal(err)
	}
	return tidied(string(all))
}
