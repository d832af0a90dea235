package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/edge"
)

// TestFront: a service that waits for something says so, and lets requests through
// when it is open.
func TestFront(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const ours, foreign = "https://explorer.example", "https://wallet.example"
	f := newFront(l, edge.Options{}, []string{ours}, slog.New(slog.DiscardHandler))
	ask := func(path string, status int, says string) *http.Response {
		t.Helper()
		r, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close() //nolint:errcheck // read to its end
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != status || !strings.Contains(string(body), says) {
			t.Errorf("GET %s: %d %s %v, want %d %s", path, r.StatusCode, body, err, status, says)
		}
		return r
	}
	ask("/healthz", 200, `"ok"`)
	ask("/readyz", 503, `"not_ready"`)
	r := ask("/v1/SN_MAIN/status", 503, `"code":"service_unavailable"`)
	if r.Header.Get("Retry-After") == "" || r.Header.Get("X-Request-Id") == "" {
		t.Errorf("headers %v", r.Header)
	}
	for _, path := range []string{"/v1/SN_MAIN/rpc", "/api/v1/SN_MAIN/rpc", "/v1/SN_MAIN/rpc/KEY", "/rpc/v0_10/SN_MAIN", "/rpc/v0_10/SN_MAIN/KEY"} {
		r, err := http.Post("http://"+l.Addr().String()+path, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"starknet_chainId"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close() //nolint:errcheck // read to its end
		if err != nil || r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || !strings.HasPrefix(string(body), `{"jsonrpc":"2.0","id":null,"error":{"code":-32005,`) ||
			!strings.Contains(string(body), `"code":"authorization_unavailable"`) || !strings.Contains(string(body), r.Header.Get("X-Request-Id")) {
			t.Errorf("POST %s: %d %s %v %v", path, r.StatusCode, body, r.Header, err)
		}
	}
	// A page of another origin can tell a service that starts from one that is not there.
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
		origin       string
	}{
		{"GET", "/v1/SN_MAIN/status", []string{"Origin", foreign, "X-Service-Api-Key", "svc_test_x"}, 503, "*"},
		{"POST", "/v1/SN_MAIN/rpc", []string{"Origin", foreign}, 503, "*"},
		{"OPTIONS", "/v1/SN_MAIN/status", []string{"Origin", foreign, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-service-api-key"}, 204, "*"},
		{"OPTIONS", "/v1/SN_MAIN/status", []string{"Origin", foreign, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 204, ""},
		{"OPTIONS", "/v1/SN_MAIN/status", []string{"Origin", foreign, "Access-Control-Request-Method", "TRACE"}, 503, "*"},
		{"GET", "/v1/SN_MAIN/status", []string{"Origin", foreign, "Cookie", "a=b"}, 503, ""},
		{"GET", "/v1/me/usage", []string{"Origin", foreign}, 503, ""},
		{"OPTIONS", "/api/v1/me/usage", []string{"Origin", foreign, "Access-Control-Request-Method", "GET"}, 204, ""},
		{"GET", "/v1/me/usage", []string{"Origin", ours}, 503, ours},
		{"OPTIONS", "/v1/me/usage", []string{"Origin", ours, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 204, ours},
		{"GET", "/v1/SN_MAIN/status", nil, 503, ""},
	} {
		q, err := http.NewRequest(c.method, "http://"+l.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.headers); i += 2 {
			q.Header.Set(c.headers[i], c.headers[i+1])
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close() //nolint:errcheck // not read
		credentials, wantCredentials := r.Header.Get("Access-Control-Allow-Credentials"), ""
		if c.origin == ours {
			wantCredentials = "true"
		}
		if r.StatusCode != c.status || r.Header.Get("Access-Control-Allow-Origin") != c.origin || credentials != wantCredentials {
			t.Errorf("%s %s %v: %d %v", c.method, c.path, c.headers, r.StatusCode, r.Header)
		}
		switch {
		case c.origin == "":
		case c.status == 204 && (r.Header.Get("Access-Control-Max-Age") != "0" || r.Header.Get("Access-Control-Allow-Methods") != "GET" || !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "x-service-api-key")):
			t.Errorf("%s %s: permits %v", c.method, c.path, r.Header)
		case c.status == 503 && (r.Header.Get("Retry-After") == "" || !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Retry-After")):
			t.Errorf("%s %s: a page cannot see how long to wait: %v", c.method, c.path, r.Header)
		}
	}
	f.open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "open") })) //nolint:errcheck // see the client
	ask("/v1/SN_MAIN/status", 200, "open")
	if err := f.server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
}
