package pages_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
)

var nextPage = regexp.MustCompile(`rel="next" href="([^"]+)"`)

// walked collects what a list shows in the cells of one column, page by page.
func (w *world) walked(path, label string) (all []string) {
	w.T.Helper()
	cell := regexp.MustCompile(`data-label="` + label + `">(?:<[^>]*)?data-value="([^"]*)"`)
	for pages := 0; path != ""; w.onwards(&pages) {
		page := w.look(path, http.StatusOK)
		for _, m := range cell.FindAllStringSubmatch(page, -1) {
			all = append(all, m[1])
		}
		path = ""
		if m := nextPage.FindStringSubmatch(page); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	return all
}

// TestListsReachTheEnd follows the links of the lists: every block and transaction of the
// chain is shown once, in the order of the API.
func TestListsReachTheEnd(t *testing.T) {
	w := sharedWorld(t, 60)
	var want []string
	for n := 59; n >= 0; n-- {
		want = append(want, w.Chain.BlockAt(uint64(n)).Hash.String())
	}
	if got := w.walked("/"+chainID+"/blocks", "Hash"); !slices.Equal(got, want) {
		t.Errorf("%d blocks are shown, want %d: %v", len(got), len(want), got)
	}
	want = nil
	for cursor := ""; ; {
		var list api.TxPage
		w.Get("/txs?limit=200&cursor="+cursor, &list)
		for _, i := range list.Items {
			want = append(want, i.TxHash.String())
		}
		if list.NextCursor == nil {
			break
		}
		cursor = *list.NextCursor
	}
	if got := w.walked("/"+chainID+"/txs", "Hash"); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d transactions are shown, want %d", len(got), len(want))
	}
}

// TestBlockAtAMoment leads to the block of a moment, whatever form it is written in.
func TestBlockAtAMoment(t *testing.T) {
	w := sharedWorld(t, 60)
	var b api.Block
	w.Get("/block/20", &b)
	plain := strings.TrimSuffix(b.TimestampISO, "Z")
	for _, at := range []string{plain, b.TimestampISO} {
		r := w.Do(http.MethodGet, "/"+chainID+"/blocks?at="+at, "", "Accept", "text/html")
		if r.StatusCode != http.StatusFound || r.Header.Get("Location") != "/"+chainID+"/block/20" {
			t.Errorf("%s: %d %s", at, r.StatusCode, r.Header.Get("Location"))
		}
	}
	for at, status := range map[string]int{"1999-01-01T00:00": 404, "then": 400} {
		w.look("/"+chainID+"/blocks?at="+at, status)
	}
}
