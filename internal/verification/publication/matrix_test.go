package publication_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/verification/publication"
)

// TestWhoMayRead is the matrix of what is published: document, credentials that nobody asked for, origin and method.
// Everybody gets the same bytes, whatever they bring; pages of strangers do not when they bring credentials of
// others; and a key in an address, where it would be kept and seen, is refused.
func TestWhoMayRead(t *testing.T) {
	b := newBench(t, true)
	b.add(1)
	if _, err := b.log.Publish(t.Context(), b.signer); err != nil {
		t.Fatal(err)
	}
	r, _ := newReceipt(t, 1)
	proof, err := publication.ProofPath(r)
	if err != nil {
		t.Fatal(err)
	}
	accounts := account.NewRepository(b.db, account.Options{})
	space, err := accounts.CreateWorkspace(t.Context(), "w", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := accounts.CreateKey(t.Context(), account.NewKey{WorkspaceID: space.ID, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	key := issued.Plaintext
	n := 0
	for _, path := range []string{publication.TrustPath, "/receipt-log/key", "/receipt-log/checkpoint", "/receipt-log/tile/0/000.p/1", "/receipt-log/tile/entries/000.p/1", proof} {
		_, plain := b.get(path)
		for _, brings := range []struct {
			name, query string
			headers     []string
			credentials bool
		}{
			{"nothing", "", nil, false}, {"a key", "", []string{"X-Service-Api-Key", key}, false}, {"a key in the other header", "", []string{"X-Api-Key", key}, false},
			{"a bearer token", "", []string{"Authorization", "Bearer session"}, true}, {"a cookie", "", []string{"Cookie", "a=b"}, true},
			{"an internal header", "", []string{"X-Internal-Key", "x"}, true}, {"a key in the address", "?api_key=" + key, nil, false},
		} {
			for _, origin := range []string{"", strangeOrigin, allowedOrigin} {
				for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
					n++
					req, err := http.NewRequestWithContext(t.Context(), method, b.url+path+brings.query, nil)
					if err != nil {
						t.Fatal(err)
					}
					for i := 0; i < len(brings.headers); i += 2 {
						req.Header.Set(brings.headers[i], brings.headers[i+1])
					}
					if origin != "" {
						req.Header.Set("Origin", origin)
					}
					resp, err := http.DefaultClient.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					body, err := io.ReadAll(resp.Body)
					resp.Body.Close() //nolint:errcheck // read to its end
					where := strings.Join([]string{path, brings.name, origin, method}, ", ")
					want, content := http.StatusOK, plain
					switch {
					case method == http.MethodOptions:
						want, content = http.StatusNoContent, nil
					case brings.query != "":
						want, content = http.StatusBadRequest, nil
					case method != http.MethodGet && method != http.MethodHead:
						want, content = http.StatusMethodNotAllowed, nil
					case method == http.MethodHead:
						content = nil
					}
					if err != nil || resp.StatusCode != want {
						t.Errorf("%s: %d, want %d: %s, %v", where, resp.StatusCode, want, body, err)
					}
					if content != nil && !bytes.Equal(body, content) || method == http.MethodHead && len(body) > 0 {
						t.Errorf("%s: another body", where)
					}
					h := resp.Header
					if want == http.StatusOK && !strings.HasPrefix(h.Get("Cache-Control"), "public, max-age=") || want >= 400 && !strings.HasPrefix(h.Get("Cache-Control"), "private") {
						t.Errorf("%s: Cache-Control %q", where, h.Get("Cache-Control"))
					}
					if h.Get("X-Request-Id") == "" || h.Get("Set-Cookie") != "" || h.Get("WWW-Authenticate") != "" || want == http.StatusMethodNotAllowed && h.Get("Allow") != "GET, HEAD, OPTIONS" || strings.Contains(string(body), key) {
						t.Errorf("%s: Allow %q, X-Request-Id %q, %.200s", where, h.Get("Allow"), h.Get("X-Request-Id"), body)
					}
					if got := h.Get("Access-Control-Allow-Origin"); want == http.StatusOK && (brings.credentials && origin == strangeOrigin && got != "" || brings.credentials && origin == allowedOrigin && got != allowedOrigin || !brings.credentials && got != "*") {
						t.Errorf("%s: allows %q", where, got)
					}
				}
			}
		}
	}
	if n != 6*7*3*6 {
		t.Errorf("%d combinations", n)
	}
}
