package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestMissing: a path without a page leads on, and a chain may be called as people do.
func TestMissing(t *testing.T) {
	w := sharedWorld(t, 40)
	for path, to := range map[string]string{
		"/sepolia":                  "/" + chainID,
		"/sn_sepolia/block/3":       "/" + chainID + "/block/3",
		"/testnet/txs?limit=3":      "/" + chainID + "/txs?limit=3",
		"/testnet/txs?limit=\xff":   "/" + chainID + "/txs?limit=%FF", // no byte of a header that others may read otherwise
		"/Sepolia/none":             "/" + chainID + "/none",
		"/sepolia//elsewhere.test/": "/" + chainID + "//elsewhere.test/", // which is of this host
	} {
		r := w.Do(http.MethodGet, path, "", "Accept", "text/html")
		if got := r.Header.Get("Location"); got != to || to != "" && r.StatusCode != http.StatusPermanentRedirect {
			t.Errorf("%s leads to %q with %d, want %q", path, got, r.StatusCode, to)
		}
	}
	for path, to := range map[string]string{"/block/001": "/block/1", "/block/000?cursor=": "/block/0?cursor=", "/block/001?cursor=\xc3\xa9": "/block/1?cursor=%C3%A9"} {
		r := w.Do(http.MethodGet, "/"+chainID+path, "", "Accept", "text/html")
		if r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "/"+chainID+to {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
	// Failures are a page or an envelope by Accept, and say so to caches.
	for _, path := range []string{"/none", "/" + chainID + "/block/999999", "/" + chainID + "/block/x-", "/" + chainID + "/events.csv"} {
		for _, accept := range []string{"text/html", "application/json"} {
			r := w.Do(http.MethodGet, path, "", "Accept", accept)
			if list := strings.Split(strings.ReplaceAll(strings.Join(r.Header["Vary"], ","), " ", ""), ","); r.StatusCode < 400 || !slices.Contains(list, "Accept") {
				t.Errorf("%s for %s: %d varies by %q", path, accept, r.StatusCode, list)
			}
			if strings.Contains(string(r.Plain()), "Unknown query parameters are refused") {
				t.Errorf("%s speaks of the API's parameters", path)
			}
		}
	}
	if r := w.Do(http.MethodGet, "/v1/none", "", "Accept", "text/html"); r.StatusCode != http.StatusNotFound || slices.Contains(r.Header["Vary"], "Accept") {
		t.Errorf("the API, which has no pages: %d varies by %q", r.StatusCode, r.Header["Vary"])
	}
	for path, want := range map[string][]string{
		"/none":                             {`href="/"`, `href="/` + chainID + `/blocks"`},
		"/block/12":                         {`href="/` + chainID + `/block/12"`, `href="/search?q=12"`},
		"/tx/0xABC":                         {`href="/` + chainID + `/tx/0xABC"`, `href="/search?q=0xABC"`},
		"/" + chainID + "/blok/17":          {`href="/search?q=17"`, `href="/` + chainID + `"`},
		"/x/%3Cscript%3Ealert(1)%3C/y":      {`href="/"`},
		"/" + strings.Repeat("1/", 40) + "": {`href="/search?q=1"`},
	} {
		page := w.look(path, http.StatusNotFound)
		for _, part := range want {
			if !strings.Contains(page, part) {
				t.Errorf("%s does not lead on to %s: %s", path, part, clip(page))
			}
		}
		if strings.Contains(page, "alert(1)") || strings.Count(page, "search for") > 6 {
			t.Errorf("%s: %s", path, clip(page))
		}
	}
	if r := w.Do(http.MethodGet, "/none", ""); r.StatusCode != http.StatusNotFound || !strings.Contains(string(r.Plain()), "unsupported_route") {
		t.Errorf("a program: %d %s", r.StatusCode, r.Plain())
	}
}

// TestOneAddress: however a thing is asked for, its page names one address of it, and a list
// whose cursor is no good leads to its beginning.
func TestOneAddress(t *testing.T) {
	w := sharedWorld(t, 40)
	b := w.Chain.BlockAt(12)
	tx := b.Transactions[0].Hash.String()
	token := w.Registry.Tokens()[0].Address.String()
	for path, one := range map[string]string{
		"/block/" + b.Hash.String(): "/block/12",
		"/block/12?cursor=":         "/block/12",
		"/tx/" + tx:                 "/tx/" + tx,
		"/contract/" + token:        "/contract/" + token,
	} {
		if page := w.page(path); !strings.Contains(page, `<link rel="canonical" href="/`+chainID+one+`">`) {
			t.Errorf("%s: its one address is not %s", path, one)
		}
	}
	if page := w.look("/"+chainID+"/txs?cursor=AAAA", http.StatusBadRequest); !strings.Contains(page, `href="/`+chainID+`/txs"`) || !strings.Contains(page, "Begin at the first page") {
		t.Errorf("a cursor that is no good: %s", clip(page))
	}
}
