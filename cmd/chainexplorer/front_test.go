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
	f := newFront(l, edge.Options{}, nil, slog.New(slog.DiscardHandler))
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
	f.open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "open") })) //nolint:errcheck // see the client
	ask("/v1/SN_MAIN/status", 200, "open")
	if err := f.server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
}
