package site_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/html"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// crawl follows every link of our own from the first page and returns the pages.
func (w *world) crawl() map[string]string {
	w.T.Helper()
	pages, queue, seen := map[string]string{}, []string{"/"}, map[string]bool{"/": true}
	fragments := map[string][]string{} // path to anchors that are linked to
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		r := w.doc(http.MethodGet, path, "")
		if r.StatusCode != http.StatusOK {
			w.T.Errorf("%s: %d", path, r.StatusCode)
			continue
		}
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			continue
		}
		pages[path] = string(r.Body)
		base, err := url.Parse(w.URL + path)
		if err != nil {
			w.T.Fatal(err)
		}
		for _, n := range elements(w.T, string(r.Body)) {
			for _, a := range n.Attr {
				if a.Key != "href" && a.Key != "src" {
					continue
				}
				u, err := base.Parse(a.Val)
				if err != nil {
					w.T.Fatalf("%s: link %q: %v", path, a.Val, err)
				}
				if u.Scheme+"://"+u.Host != w.URL {
					if n.Data != "a" {
						w.T.Errorf("%s: <%s> loads %s", path, n.Data, u)
					}
					continue
				}
				if w.explorer(u) {
					continue // package pages tests those
				}
				fragments[u.Path] = append(fragments[u.Path], u.Fragment)
				if target := u.RequestURI(); !seen[target] {
					seen[target] = true
					queue = append(queue, target)
				}
			}
		}
	}
	for path, wanted := range fragments {
		page, ok := pages[path]
		if !ok {
			continue
		}
		ids := idsOf(elements(w.T, page))
		for _, f := range wanted {
			if f != "" && !slices.Contains(ids, f) {
				w.T.Errorf("%s has no anchor %q", path, f)
			}
		}
	}
	return pages
}

// elements parses a page and returns its elements in order.
func elements(t *testing.T, page string) (out []*html.Node) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func idsOf(nodes []*html.Node) (ids []string) {
	for _, n := range nodes {
		if id := attr(n, "id"); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestEveryPageIsReachableAndWellMade(t *testing.T) {
	w := sharedWorld(t, 60)
	pages := w.crawl()
	for code, slug := range docSlugs() {
		page, ok := pages["/docs/"+slug]
		if !ok {
			t.Errorf("no link leads to /docs/%s", slug)
			continue
		}
		if !strings.Contains(page, `id="`+string(code)+`"`) || !strings.Contains(page, "Cause: ") || !strings.Contains(page, "Cure: ") {
			t.Errorf("/docs/%s does not explain %s", slug, code)
		}
	}
	for _, slug := range []string{"auth", "rate-limits", "cursors", "limits", "errors", "finality", "versioning", "http"} {
		if pages["/docs/api/"+slug] == "" {
			t.Errorf("guide api/%s is missing", slug)
		}
	}
	for id := range w.Operations() {
		if !strings.Contains(pages["/docs/api"], `id="`+id+`"`) {
			t.Errorf("the reference lacks %s", id)
		}
		explained := 0
		for path, page := range pages {
			if strings.HasPrefix(path, "/docs/reference/") && strings.Contains(page, `<h2 id="`+id+`">`) {
				explained++
			}
		}
		if explained != 1 {
			t.Errorf("%d pages of the reference explain %s", explained, id)
		}
	}
	for path, page := range pages {
		t.Run(path, func(t *testing.T) { checkPage(t, page) })
	}
}

// explorer tells the pages of the explorer from documents.
func (w *world) explorer(u *url.URL) bool {
	for _, first := range append([]string{"search", "status", "verification", "v1"}, w.Server.Chains...) {
		if u.Path == "/"+first || strings.HasPrefix(u.Path, "/"+first+"/") {
			return true
		}
	}
	return u.Query().Get("as") == "json"
}

// checkPage holds a page against the rules for all pages.
func checkPage(t *testing.T, page string) {
	t.Helper()
	checkNesting(t, page)
	nodes := elements(t, page)
	ids := idsOf(nodes)
	slices.Sort(ids)
	if n := len(ids); len(slices.Compact(ids)) != n {
		t.Error("an id is used twice")
	}
	level, h1, described := 0, 0, false
	for _, n := range nodes {
		switch n.Data {
		case "h1", "h2", "h3", "h4":
			next := int(n.Data[1] - '0')
			if next > level+1 {
				t.Errorf("heading %q jumps from level %d to %d", textOf(n), level, next)
			}
			level = next
			if next == 1 {
				h1++
			}
		case "table":
			checkTable(t, n)
		case "meta":
			described = described || attr(n, "name") == "description" && len(attr(n, "content")) > 20 || attr(n, "content") == "noindex"
		case "script":
			if n.FirstChild != nil || !strings.HasPrefix(attr(n, "src"), "/script.js?v=") && attr(n, "src") != "/verify-receipt.js" {
				t.Error("a script that is not ours")
			}
		case "form":
			if attr(n, "role") != "search" || attr(n, "method") != "get" {
				t.Error("a form that is not the search")
			}
		case "iframe", "object":
			t.Errorf("<%s> on a page", n.Data)
		}
		if attr(n, "style") != "" {
			t.Errorf("<%s> has a style of its own", n.Data)
		}
		if ref := attr(n, "aria-labelledby"); ref != "" && !slices.Contains(ids, ref) {
			t.Errorf("aria-labelledby %q names nothing", ref)
		}
	}
	if h1 != 1 {
		t.Errorf("%d main headings", h1)
	}
	if !described {
		t.Error("no description")
	}
}

func checkTable(t *testing.T, table *html.Node) {
	t.Helper()
	heads := 0
	for n := range table.Descendants() {
		if n.Data == "th" {
			heads++
			if s := attr(n, "scope"); s != "col" && s != "row" {
				t.Errorf("table header %q without a scope", textOf(n))
			}
		}
	}
	if heads == 0 || attr(table.Parent, "class") != "scroll" || attr(table.Parent, "aria-label") == "" {
		t.Errorf("table %.40q has %d headers, or cannot scroll", textOf(table), heads)
	}
}

// checkNesting finds tags that the lenient parser would mend.
func checkNesting(t *testing.T, page string) {
	t.Helper()
	void := []string{"meta", "link", "br", "hr", "img", "input"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("not closed: %v", open)
			}
			return
		case html.StartTagToken:
			if name, _ := z.TagName(); !slices.Contains(void, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Errorf("</%s> closes %v", name, open)
				return
			}
			open = open[:len(open)-1]
		}
	}
}

func TestPagesKeepAStrictPolicy(t *testing.T) {
	m := prometheus.NewRegistry()
	w := newWorld(t, 1, func(o *options) { o.Metrics = kernel.NewMetrics(m) })
	for _, path := range []string{"/", "/docs", "/docs/api", "/docs/api/errors", "/docs/none"} {
		h := w.doc(http.MethodGet, path, "").Header
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "script-src 'self';") ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestMissingPages(t *testing.T) {
	w := sharedWorld(t, 60)
	for _, path := range []string{"/docs/none", "/docs/api/none", "/docs/api/auth/more", "/docs/%3Cscript%3E"} {
		r := w.doc(http.MethodGet, path, "")
		if r.StatusCode != http.StatusNotFound || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Header.Get("Content-Type"))
		}
		checkPage(t, string(r.Body))
	}
	for path, page := range map[string]bool{"/none": true, "/style.css/x": true, "/v1/none": false, "/api/v1/none": false} {
		r := w.doc(http.MethodGet, path, "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		if got := strings.HasPrefix(r.Header.Get("Content-Type"), "text/html"); got != page || r.StatusCode != http.StatusNotFound {
			t.Errorf("%s for a browser: %d %s", path, r.StatusCode, r.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/none", "/style.css/x", "/v1/none", "/favicon.png"} {
		r := w.doc(http.MethodGet, path, "")
		if r.StatusCode != http.StatusNotFound || envelopeOf(t, r).Code != kernel.CodeUnsupportedRoute {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
}

func TestPagesWorkWithoutABlock(t *testing.T) {
	empty := pebbletest.Open(t, catalog.Tables())
	w := newWorld(t, 1, func(o *options) { o.Chains[0].Store = empty })
	pages := w.crawl()
	for path, page := range pages {
		checkPage(t, page)
		if path == "/docs/reference/transactions" && !strings.Contains(page, "/tx/$TX_HASH") {
			t.Error("the reference does not say what to fill in")
		}
	}
	if !strings.Contains(pages["/"], "being built") || strings.Contains(pages["/"], "<table") {
		t.Error("the first page does not say that the index is being built")
	}
}

func TestPagesSurviveABrokenStore(t *testing.T) {
	gone, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, 1, func(o *options) { o.Chains = append([]api.Chain{{ID: "SN_MAIN", Store: gone}}, o.Chains...) })
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	page := string(w.doc(http.MethodGet, "/", "").Body)
	if !strings.Contains(page, "cannot be read right now") || !strings.Contains(page, "current") {
		t.Errorf("a broken chain hides the sound one: %s", page)
	}
}

func TestHostileNamesStayText(t *testing.T) {
	const evil = `"><script>alert(1)</script>&'` + "`$(id)`"
	w := newWorld(t, 12, func(o *options) {
		o.Chains[0].ID = evil
		o.Version = evil
		o.Origins = []string{evil}
	})
	for path, page := range w.crawl() {
		if strings.Count(page, "<script") != 1 {
			t.Errorf("%s carries a script", path)
		}
		checkPage(t, page)
	}
	content := regexp.MustCompile("-d '[^`$'()]*'$") // a body stands in quotes
	for _, path := range []string{"/docs/api", "/docs/reference/tokens", "/docs/reference/batches", "/"} {
		for _, n := range elements(t, string(w.doc(http.MethodGet, path, "").Body)) {
			if n.Data == "pre" && strings.ContainsAny(content.ReplaceAllString(strings.TrimPrefix(textOf(n), `curl -H "X-Service-Api-Key: $SERVICE_API_KEY"`), ""), "`$'()") {
				t.Errorf("a command carries shell code: %s", textOf(n))
			}
		}
	}
}

// counterOf is the value of a counter without labels.
func counterOf(t *testing.T, from prometheus.Gatherer, name string) float64 {
	t.Helper()
	list, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// TestDocumentsDoNotDependOnTheHost: who asks under ever new names gets what is
// there, and nothing is written for it.
func TestDocumentsDoNotDependOnTheHost(t *testing.T) {
	m := prometheus.NewRegistry()
	w := newWorld(t, 1, func(o *options) { o.Metrics = kernel.NewMetrics(m) })
	for _, path := range []string{"/", "/docs", "/docs/api", "/docs/api/auth", "/llms.txt", "/llms-full.txt", "/.well-known/api-catalog", "/.well-known/service-agent.json", "/docs/none"} {
		first := w.doc(http.MethodGet, path, "")
		written := counterOf(t, m, "chainexplorer_api_documents_written_total")
		for _, headers := range [][]string{{"Host", "api.example:8443"}, {"Host", "[::1]:80"}, {"Host", "x.example"}, {"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "y.example"}} {
			r := w.doc(http.MethodGet, path, "", headers...)
			if string(r.Body) != string(first.Body) || r.StatusCode != first.StatusCode {
				t.Errorf("%s with %v differs", path, headers)
			}
		}
		if n := counterOf(t, m, "chainexplorer_api_documents_written_total") - written; n != 0 {
			t.Errorf("%s: %v documents were written for other hosts", path, n)
		}
	}
	if body := string(w.doc(http.MethodGet, "/llms.txt", "").Body); !strings.Contains(body, "Base address: "+w.URL+"/v1. ") {
		t.Errorf("examples do not name %s:\n%s", w.URL, body)
	}
	for address, want := range map[string]string{"0.0.0.0:80": "http://localhost:80/v1", "[::]:8080": "http://localhost:8080/v1", ":8080": "http://localhost:8080/v1", "[::1]:1": "http://[::1]:1/v1", "": "http://localhost/v1"} {
		other := newWorld(t, 1, func(o *options) { o.Address = address })
		if body := string(other.doc(http.MethodGet, "/llms.txt", "").Body); !strings.Contains(body, "Base address: "+want+". ") {
			t.Errorf("%q: no %s", address, want)
		}
	}
	fixed := newWorld(t, 1, func(o *options) { o.BaseURL = "https://explorer.example/" })
	if body := string(fixed.doc(http.MethodGet, "/docs/api", "").Body); !strings.Contains(body, "https://explorer.example/v1/") || strings.Contains(body, fixed.URL) {
		t.Error("the configured address is not used")
	}
}
