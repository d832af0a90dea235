package voyager_test

import (
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestUnroutedFailures: what no path of the feed hears of is told in the feed's shape all the same.
func TestUnroutedFailures(t *testing.T) {
	w := servertest.Shared(t, blocks)
	own := "/" + servertest.ChainID + "/beta"
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/beta", 404, "/docs/guide/voyager"},
		{"GET", "/beta/", 404, "/docs/guide/voyager"},
		{"GET", own, 404, "/docs/guide/voyager"},
		{"GET", own + "/", 404, "/docs/guide/voyager"},
		{"GET", "/beta/blocks/", 404, "no path /blocks/ in the feed"},
		{"GET", "/beta//blocks", 404, "no path //blocks in the feed"},
		{"GET", "/beta/blocks/../txns", 404, "no path /blocks/../txns in the feed"},
		{"GET", "/SN_NOTHING/beta/blocks", 404, "SN_NOTHING is not served here; there is " + servertest.ChainID},
		{"GET", "/SN_NOTHING/beta", 404, "SN_NOTHING is not served here"},
		{"POST", "/SN_NOTHING/beta/blocks", 404, "SN_NOTHING is not served here"},
		{"GET", "/beta/blocks?p=" + strings.Repeat("1", kernel.MaxURI), 414, "longer than"},
		{"GET", "/beta//blocks?key=" + w.Key, 400, "query"},
		{"POST", "/beta/blocks", 405, "POST is not possible here"},
		{"PUT", own + "/blocks/1", 405, "PUT is not possible here"},
		{"PATCH", "/beta/nothing", 405, "PATCH is not possible here"},
		{"DELETE", "/beta", 405, "DELETE is not possible here"},
		{"TRACE", "/beta/blocks", 405, "TRACE is not possible here"},
	} {
		for _, accept := range []string{"application/json", "text/html"} {
			r := w.Do(c.method, c.path, w.Key, "Accept", accept)
			text, ok := decode(t, r)["error"].(string)
			if r.StatusCode != c.status || !ok || !strings.Contains(text, c.want) || strings.Contains(text, w.Key) {
				t.Errorf("%s %.60s as %s: %d %.300s", c.method, c.path, accept, r.StatusCode, r.Plain())
			}
			if allow := r.Header.Get("Allow"); c.status == http.StatusMethodNotAllowed && allow != "GET, HEAD, OPTIONS" {
				t.Errorf("%s %s allows %q", c.method, c.path, allow)
			}
		}
	}
	if r := w.Do(http.MethodOptions, "/beta/blocks", ""); r.StatusCode != http.StatusNoContent || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("OPTIONS: %d %v", r.StatusCode, r.Header)
	}
	for _, path := range []string{"/betas", "/v1/beta/"} { // none of the feed
		if r := w.Do(http.MethodGet, path, w.Key, "Accept", "application/json"); r.StatusCode != http.StatusNotFound || r.Envelope().Code == "" {
			t.Errorf("%s: %d %.200s", path, r.StatusCode, r.Plain())
		}
	}
}
