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
	lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", 1e9)
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []uint64{chain.Layout - 1, chain.Layout + 1} {
		b := &store.Batch{Epoch: lease.Epoch}
		b.Put(chain.FormatKey, chain.Format{Layout: layout}.Encode())
		if err := w.Engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/status", "/block/3", "/block/3/txs", "/txs", "/events?topic0=0x1", "/search?q=3"} {
			r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key)
			if r.StatusCode != 503 || r.Envelope().Code != kernel.CodeServiceUnavailable || !strings.Contains(r.Envelope().Message, "another version") {
				t.Errorf("layout %d, GET %s: %d %s", layout, path, r.StatusCode, r.Body)
			}
		}
		if r := w.Do(http.MethodGet, "/readyz", ""); r.StatusCode != 503 || !strings.Contains(string(r.Body), "other_layout") {
			t.Errorf("layout %d: %d %s", layout, r.StatusCode, r.Body)
		}
	}
}
