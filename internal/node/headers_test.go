package node_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
)

// Headers that are longer than any should be are not taken in, whatever the answer is: the
// budget of memory does not know of them.
func TestLongHeaders(t *testing.T) {
	real := simnode.NewNode(simnode.New(simnode.Config{Seed: 5, Blocks: 40}), simnode.NodeConfig{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte("starknet_getNonce")) {
			w.Header().Set("X-Long", strings.Repeat("x", 200<<10))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		real.ServeHTTP(w, r)
	}))
	defer srv.Close()
	p, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, MaxAttempts: 1, HealthInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Call(t.Context(), "starknet_getClassHashAt", []any{"latest", felt.Zero}); err == nil || strings.Contains(err.Error(), "header") {
		t.Errorf("an ordinary refusal of a contract that is not there: %v", err)
	}
	if _, err := p.Call(t.Context(), "starknet_getNonce", []any{"latest", felt.Zero}); err == nil || !strings.Contains(err.Error(), "headers exceeded") {
		t.Errorf("headers of 200 KiB: %v", err)
	}
}
