package servertest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/kernel"
)

// Reply is an answer with its body read.
type Reply struct {
	*http.Response
	Body []byte
}

// Do sends a request; headers come in pairs. An empty key sends none.
func (w *World) Do(method, path, key string, headers ...string) Reply {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+path, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	return w.Send(req)
}

// Send also checks the answer against the OpenAPI document.
func (w *World) Send(req *http.Request) Reply {
	w.T.Helper()
	res, err := Transport.RoundTrip(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	r := Reply{res, body}
	if err := w.Contract.Check(req, r); err != nil {
		w.T.Errorf("%s %s: %v", req.Method, req.URL.RequestURI(), err)
	}
	return r
}

// Plain is the body without its encoding.
func (r Reply) Plain() []byte {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return r.Body
	}
	z, err := gzip.NewReader(bytes.NewReader(r.Body))
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return b
}

// Envelope reads a failure.
func (r Reply) Envelope() kernel.Envelope {
	var e kernel.Envelope
	json.Unmarshal(r.Plain(), &e) //nolint:errcheck // an empty envelope then
	return e
}

// Get reads a route below the chain and decodes the answer.
func (w *World) Get(path string, out any) {
	w.T.Helper()
	r := w.Do(http.MethodGet, "/v1/"+ChainID+path, w.Key)
	if r.StatusCode != http.StatusOK {
		w.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
	}
	if err := json.Unmarshal(r.Body, out); err != nil {
		w.T.Fatalf("GET %s: %v in %s", path, err, r.Body)
	}
}

// Request is a request with a body and the key.
func (w *World) Request(method, path, content string, headers ...string) *http.Request {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+path, strings.NewReader(content))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", w.Key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

func (w *World) PostTo(path, content string) Reply {
	w.T.Helper()
	return w.Send(w.Request(http.MethodPost, "/v1/"+ChainID+path, content))
}

// Dial opens a connection and sends something.
func (w *World) Dial(text string) net.Conn {
	w.T.Helper()
	var d net.Dialer
	c, err := d.DialContext(w.T.Context(), "tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { c.Close() })               //nolint:errcheck // the test is over
	c.SetDeadline(time.Now().Add(30 * time.Second)) //nolint:errcheck // a test that hangs fails otherwise
	if _, err := io.WriteString(c, text); err != nil {
		w.T.Fatal(err)
	}
	return c
}

// Read reads one answer from a connection.
func (w *World) Read(c net.Conn) Reply {
	w.T.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return Reply{res, body}
}

// Expect checks a status, a code, and headers by name; "" means absent.
func Expect(t *testing.T, r Reply, status int, code kernel.Code, headers map[string]string) {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", r.StatusCode, status, r.Body)
	}
	if status >= 400 && len(r.Body) > 0 && r.Envelope().Code != code {
		t.Errorf("code %q, want %q", r.Envelope().Code, code)
	}
	for name, want := range headers {
		if got := strings.Join(r.Header.Values(name), "; "); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
