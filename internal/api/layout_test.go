package api_test

import (
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
)

// TestOtherLayout: rows of another version are not read, and everybody is told.
func TestOtherLayout(t *testing.T) {
	w := newWorld(t, 20)
	lease, err := w.engine.Acquire(t.Context(), store.Writer, "test", 1e9)
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []uint64{chain.Layout - 1, chain.Layout + 1} {
		b := &store.Batch{Epoch: lease.Epoch}
		b.Put(chain.FormatKey, chain.Format{Layout: layout}.Encode())
		if err := w.engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/status", "/block/3", "/block/3/txs", "/txs", "/events?topic0=0x1", "/search?q=3"} {
			r := w.do(http.MethodGet, "/v1/"+chainID+path, w.key)
			if r.StatusCode != 503 || r.envelope().Code != kernel.CodeServiceUnavailable || !strings.Contains(r.envelope().Message, "another version") {
				t.Errorf("layout %d, GET %s: %d %s", layout, path, r.StatusCode, r.body)
			}
		}
		if r := w.do(http.MethodGet, "/readyz", ""); r.StatusCode != 503 || !strings.Contains(string(r.body), "other_layout") {
			t.Errorf("layout %d: %d %s", layout, r.StatusCode, r.body)
		}
	}
}
