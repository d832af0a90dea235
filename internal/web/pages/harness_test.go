package pages_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/servertest"
	"chainexplorer/internal/web"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// world is the service over a simulated chain, as people see it in a browser.
type world struct{ *servertest.World }

const chainID = servertest.ChainID

// sharedWorld is for tests that only read.
func sharedWorld(t *testing.T, n int) *world {
	t.Helper()
	return &world{servertest.Shared(t, n)}
}

// page fetches a page below the chain, without a key, and makes sure of what holds for all
// of them.
func (w *world) page(path string) string {
	w.T.Helper()
	return w.look("/"+chainID+path, http.StatusOK)
}

// look fetches any page.
func (w *world) look(path string, status int) string {
	w.T.Helper()
	r := w.Do(http.MethodGet, path, "", "Accept", "text/html")
	text := string(r.Plain())
	if r.StatusCode != status || r.Header.Get("Content-Type") != web.ContentType {
		why := ""
		if r.StatusCode == http.StatusInternalServerError {
			why = w.Logs.String()
		}
		w.T.Fatalf("%s: %d %s\n%s\n%s", path, r.StatusCode, r.Header.Get("Content-Type"), clip(text), why)
	}
	if r.Header.Get("Set-Cookie") != "" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		w.T.Errorf("%s: headers %v", path, r.Header)
	}
	if n := strings.Count(text, "<h1"); n != 1 {
		w.T.Errorf("%s: %d headings of the first rank", path, n)
	}
	if bad := inline.FindString(text); bad != "" {
		w.T.Errorf("%s: %q breaks the policy", path, bad)
	}
	return text
}

// mostPages bounds the walk through a list.
const mostPages = 100

// onwards counts the pages of a list that is walked through.
func (w *world) onwards(pages *int) {
	w.T.Helper()
	if *pages++; *pages > mostPages {
		w.T.Fatal("the list has no end")
	}
}

// inline is what the policy forbids.
var inline = regexp.MustCompile(`(?i)<[^>]*\s(style|on[a-z]+)=|<script>|javascript:`)

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000]
	}
	return s
}

// values are the exact values that a page shows, in order.
func values(page string) (out []string) {
	for _, m := range value.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

var value = regexp.MustCompile(`data-value="([^"]*)"`)
