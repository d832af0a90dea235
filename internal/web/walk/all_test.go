package walk_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/servertest"
)

// noPage says that what is registered as pages are is for programs, or a picture.
func noPage(pattern string) bool {
	return pattern == "GET /search/suggest" || strings.HasSuffix(pattern, ".png")
}

// TestEveryPageIsWalked: a page that the service has is among the places, and in the guide
// to the pages, and that tells of no others.
func TestEveryPageIsWalked(t *testing.T) {
	w := servertest.New(t, 1)
	mux := http.NewServeMux()
	for _, pattern := range w.Server.Sheets() {
		mux.Handle(pattern, http.NotFoundHandler())
	}
	registered := func(path string) string {
		_, pattern := mux.Handler(httptest.NewRequest(http.MethodGet, path, nil))
		return pattern
	}
	f := &facts{chain: servertest.ChainID, blockHash: "0x1", tx: "0x2", reverted: "0x3", sender: "0x4", token: "0x5", class: "0x6", message: "0x7"}
	walked := map[string]bool{}
	for _, p := range places {
		walked[registered(p.path(f))] = true
	}
	told, tabs := toldOf(t)
	documented := map[string]bool{}
	for _, path := range told {
		pattern := registered(path)
		if documented[pattern] = true; pattern == "" || !walked[pattern] {
			t.Errorf("the guide tells of %s, which is no page or not among the places", path)
		}
	}
	for _, pattern := range w.Server.Sheets() {
		if noPage(pattern) {
			continue
		}
		if !walked[pattern] {
			t.Errorf("%s is not among the places", pattern)
		}
		for _, path := range tabs {
			documented[pattern] = documented[pattern] || strings.HasPrefix(pattern, registered(path)+"/")
		}
		if !documented[pattern] {
			t.Errorf("the guide does not tell of %s", pattern)
		}
	}
	if len(told) < 20 || len(walked) < 30 {
		t.Errorf("the guide tells of %d pages, and %d are walked", len(told), len(walked))
	}
}

// code is a path in the guide, or the end of one that begins as the one before.
var code = regexp.MustCompile("`([/…][^`]*)`(?:, )?( and its tabs)?")

// toldOf are the pages of the guide, and those whose tabs it does not name.
func toldOf(t *testing.T) (paths, tabs []string) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pages.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(guide)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		first := ""
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			path, _, _ := strings.Cut(strings.ReplaceAll(m[1], "{chain}", servertest.ChainID), "?")
			if tab, ok := strings.CutPrefix(path, "…"); ok {
				path = first + tab
			} else {
				first = path
			}
			paths = append(paths, path)
			if m[2] != "" {
				tabs = append(tabs, path)
			}
		}
	}
	return paths, tabs
}
