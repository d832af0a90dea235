package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hold opens a connection to the address of a URL, sends something and reads nothing.
func (r *running) hold(url, text string) net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })                               //nolint:errcheck // the test is over
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil { // little of an answer fits
		r.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // a test that hangs fails otherwise
	io.WriteString(c, text)                    //nolint:errcheck // refused ones are of interest too
	return c
}

// metric reads one of the program's. While others read them all, it asks anew: only so
// many may at once.
func (r *running) metric(name string) float64 {
	r.t.Helper()
	code, text := r.ask(http.MethodGet, "/metrics", nil)
	for end := time.Now().Add(patience); code == http.StatusServiceUnavailable && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // between two questions
		code, text = r.ask(http.MethodGet, "/metrics", nil)
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return v
		}
	}
	r.t.Fatalf("no metric %s: %d", name, code)
	return 0
}

// answers asks anew until there is an answer: of many connections that are opened at
// the same moment one may be refused.
func (r *running) answers(url string) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; {
		res, err := http.Get(url)
		if err == nil {
			res.Body.Close() //nolint:errcheck // not read
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			r.t.Fatalf("GET %s: %v %v", url, res, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestHeldConnections: callers that open connections and ask for little or nothing
// keep nobody out, neither of the API nor of the operator's address.
func TestHeldConnections(t *testing.T) {
	r := startServe(t, "--node", simulated(t, "SN_MAIN", 3), "--data", t.TempDir(), "--metrics", "127.0.0.1:0", "--max-connections-client", "16")
	defer r.stop()
	const head = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for _, text := range []string{"", head, head + "\r\n", head + "Content-Length: 9\r\n\r\nx", "GET /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"} {
		for range 40 {
			r.hold(r.base, text)
		}
		r.answers(r.base + "/healthz")
		if n := r.metric(`chainexplorer_connections_open{listener="api"}`); n > 16 {
			t.Errorf("%v connections are held with %q", n, text)
		}
	}
	const scrape = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for _, text := range []string{"", head, scrape + "\r\n", scrape + "Content-Length: 9\r\n\r\nx", strings.Repeat(scrape+"\r\n", 50)} {
		for range 100 {
			r.hold(r.operator, text)
		}
		r.answers(r.operator + "/metrics")
	}
	if n := r.metric(`chainexplorer_connections_open{listener="operator"}`); n > 64 {
		t.Errorf("%v connections of the operator's address", n)
	}
}

// TestBackupTakesNoBody: a request with a body is refused before anything is begun.
func TestBackupTakesNoBody(t *testing.T) {
	const secret = "0123456789abcdef-secret"
	dir := t.TempDir()
	r := startServe(t, "--node", simulated(t, "SN_MAIN", 3), "--data", filepath.Join(dir, "data"), "--metrics", "127.0.0.1:0",
		"--backup-dir", filepath.Join(dir, "backups"), "--operator-token", secret)
	defer r.stop()
	for _, framing := range []string{"Content-Length: 5000000", "Content-Length: 1", "Transfer-Encoding: chunked"} {
		c := r.hold(r.operator, fmt.Sprintf("POST /backup HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", secret, framing))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
			t.Errorf("%s: %v %v", framing, res, err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the connection is held", framing)
		}
	}
	if found, err := os.ReadDir(filepath.Join(dir, "backups")); err != nil || len(found) != 0 {
		t.Errorf("backups were taken: %v %v", found, err)
	}
	if code, body := r.ask(http.MethodPost, "/backup", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }); code != 200 {
		t.Errorf("without a body: %d %s", code, body)
	}
}
