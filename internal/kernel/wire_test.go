package kernel_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/edge"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestRefusalsOfTheWire sends what net/http answers by itself: those answers are
// failures of ours like all others.
func TestRefusalsOfTheWire(t *testing.T) {
	w := sharedWorld(t, 41)
	const rest = " HTTP/1.1\r\nHost: x\r\n"
	for _, c := range []struct {
		name, text string
		status     int
		code       kernel.Code
		says       string
	}{
		{"bad percent-encoding in a path", "GET /v1/%zz/status" + rest, 400, kernel.CodeInvalidRequest, "HTTP"},
		{"cut off percent-encoding", "GET /v1/SN_MAIN/tx/%2" + rest, 400, kernel.CodeInvalidRequest, "HTTP"},
		{"no Host", "GET /v1/SN_MAIN/status HTTP/1.1\r\n", 400, kernel.CodeInvalidRequest, "Host"},
		{"two Hosts", "GET /v1/SN_MAIN/status HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400, kernel.CodeInvalidRequest, "HTTP"},
		{"a bad Host", "GET /v1/SN_MAIN/status HTTP/1.1\r\nHost: a b\r\n", 400, kernel.CodeInvalidRequest, "Host"},
		{"large headers", "GET /v1/SN_MAIN/status" + rest + "X-Large: " + strings.Repeat("x", 140_000) + "\r\n", 431, kernel.CodeHeadersTooLarge, "large"},
		{"another version", "GET /v1/SN_MAIN/status HTTP/3.7\r\nHost: x\r\n", 400, kernel.CodeInvalidRequest, "HTTP/1.1"},
		{"no request", "hello\r\n", 400, kernel.CodeInvalidRequest, "HTTP"},
		{"a bad header", "GET /v1/SN_MAIN/status" + rest + "X y: z\r\n", 400, kernel.CodeInvalidRequest, "HTTP"},
		{"a bad length", "POST /v1/SN_MAIN/address/summaries" + rest + "Content-Length: -5\r\n", 400, kernel.CodeInvalidRequest, "HTTP"},
		{"a coding nobody knows", "POST /v1/SN_MAIN/address/summaries" + rest + "Transfer-Encoding: rot13\r\n", 400, kernel.CodeInvalidRequest, "HTTP"},
		{"an expectation", "GET /v1/SN_MAIN/status" + rest + "Expect: wonders\r\n", 400, kernel.CodeInvalidRequest, "Expect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, lane := range []struct{ headers, allow string }{
				{"", ""},
				{"Origin: " + strangeOrigin + "\r\n", "*"},
				{"Origin: " + strangeOrigin + "\r\nAuthorization: Bearer x\r\n", ""},
				{"Origin: " + strangeOrigin + "\r\ncookie: a=b\r\n", ""},
				{"Origin: " + allowedOrigin + "\r\nCookie: a=b\r\n", allowedOrigin},
			} {
				line, more, _ := strings.Cut(c.text, "\r\n")
				text := line + "\r\nX-Request-Id: wire-1\r\n" + lane.headers + more + "\r\n"
				r := w.Read(w.Dial(text))
				servertest.Expect(t, r, c.status, c.code, map[string]string{"Content-Type": "application/json", "X-Request-Id": "wire-1", "Access-Control-Allow-Origin": lane.allow,
					"Vary": "Origin", "X-Content-Type-Options": "nosniff", "Content-Length": fmt.Sprint(len(r.Body))})
				if e := r.Envelope(); e.RequestID != "wire-1" || !strings.Contains(e.Message, c.says) || e.DocSlug == "" {
					t.Errorf("%s", r.Body)
				}
				if !r.Close {
					t.Error("the connection stays open")
				}
			}
		})
	}
	// A key in place of an id is made up anew, and not logged.
	r := w.Read(w.Dial("GET /%zz HTTP/1.1\r\nHost: x\r\nX-Request-Id: " + w.Key + "\r\n\r\n"))
	if id := r.Header.Get("X-Request-Id"); !strings.HasPrefix(id, "svc-") || strings.Contains(string(r.Body), w.Key) {
		t.Errorf("id %q", id)
	}
	// What comes behind a request is none of its own.
	r = w.Read(w.Dial("GET /%zz HTTP/1.1\r\nHost: x\r\nX-Request-Id: first\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: second\r\nOrigin: " + strangeOrigin + "\r\n\r\n"))
	servertest.Expect(t, r, 400, kernel.CodeInvalidRequest, map[string]string{"X-Request-Id": "first", "Access-Control-Allow-Origin": ""})
	// What the kernel answers goes through as it is, on one connection after the other.
	c := w.Dial("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	servertest.Expect(t, w.Read(c), 200, "", nil)
	if _, err := c.Write([]byte("GET /%zz HTTP/1.1\r\nHost: x\r\nOrigin: " + strangeOrigin + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	servertest.Expect(t, w.Read(c), 400, kernel.CodeInvalidRequest, map[string]string{"Access-Control-Allow-Origin": "*"})
}

// TestAnswerLikeARefusal: a part of an answer that reads like one of net/http's refusals is not taken for one,
// and what net/http refuses behind it on the same connection is.
func TestAnswerLikeARefusal(t *testing.T) {
	parts := []string{"HTTP/1.1 417 Expectation Failed\r\n\r\n", "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bound := edge.Bound(kernel.NewListener(inner, kernel.WireOptions{}), edge.Options{Name: "test"})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { //nolint:gosec // see site
		w.Header().Set("Content-Length", fmt.Sprint(len(parts[0])+len(parts[1])))
		for _, part := range parts {
			http.NewResponseController(w).Flush() //nolint:errcheck // see the client
			io.WriteString(w, part)               //nolint:errcheck // see the client
		}
	})}
	bound.Attach(srv)
	go srv.Serve(bound)               //nolint:errcheck // closed below
	t.Cleanup(func() { srv.Close() }) //nolint:errcheck // the test is over
	c, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()                            //nolint:errcheck // nothing is written any more
	c.SetDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // a test that hangs fails otherwise
	r := bufio.NewReader(c)
	for range 2 {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); err != nil || string(body) != strings.Join(parts, "") {
			t.Fatalf("%q, %v", body, err)
		}
	}
	if _, err := io.WriteString(c, "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.ReadResponse(r, nil); err != nil || answer.StatusCode != http.StatusBadRequest || answer.Header.Get("X-Request-Id") == "" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// TestLongAddress: also this failure can be read by a page.
func TestLongAddress(t *testing.T) {
	w := sharedWorld(t, 41)
	long := "/v1/" + chainID + "/search?q=" + strings.Repeat("1", 33_000)
	servertest.Expect(t, w.Do(http.MethodGet, long, w.Key, "Origin", strangeOrigin), 414, kernel.CodeURITooLong, map[string]string{"Access-Control-Allow-Origin": "*"})
	servertest.Expect(t, w.Do(http.MethodGet, long, w.Key, "Origin", strangeOrigin, "Cookie", "a=b"), 414, kernel.CodeURITooLong, map[string]string{"Access-Control-Allow-Origin": ""})
	servertest.Expect(t, w.Do(http.MethodGet, "/docs/api", "", "Origin", strangeOrigin, "Cookie", "a=b"), 200, "", map[string]string{"Access-Control-Allow-Origin": ""})
	servertest.Expect(t, w.Do(http.MethodGet, "/docs/api", "", "Origin", strangeOrigin), 200, "", map[string]string{"Access-Control-Allow-Origin": "*"})
	r := w.Read(w.Dial("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
	servertest.Expect(t, r, 404, kernel.CodeUnsupportedRoute, nil)
	if r.Header.Get("X-Request-Id") == "" {
		t.Error("no request id")
	}
}
