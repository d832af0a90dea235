package walk_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chainexplorer/internal/web/walk"
)

// texts are what can be read in the middle of a page, but for times, which the script
// counts from now, and what only a script can be used with.
const texts = `(() => {
	const all = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode.data.replace(/\s+/g, " ").trim(), parent = walker.currentNode.parentElement;
		if (text && parent.checkVisibility() && !parent.closest("time, button, [data-scripted]")) all.push(text);
	}
	return all;
})()`

// TestWithoutScripts: whoever lets no script run reads the same.
func TestWithoutScripts(t *testing.T) {
	b, d := browser(t, ""), still(t)
	f := factsOf(t, d, "SN_SEPOLIA")
	read := func(path string, scripts bool) []string {
		t.Helper()
		if err := b.Scripts(scripts); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Visit(d.Base + path); err != nil {
			t.Fatal(err)
		}
		got, err := walk.Eval[[]string](b, texts)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if err := b.Show(phone); err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		if !p.explorer {
			continue
		}
		path := p.path(f)
		with, without := read(path, true), read(path, false)
		if len(with) == 0 {
			t.Errorf("%s: nothing to read", path)
		}
		for _, text := range with {
			if !slices.Contains(without, text) {
				t.Errorf("%s: without scripts nobody reads %q", path, text)
			}
		}
	}
}

// TestSearchFindsEachKind: whatever people paste leads to its page.
func TestSearchFindsEachKind(t *testing.T) {
	d := still(t)
	f := factsOf(t, d, "SN_SEPOLIA")
	for _, c := range searches(f) {
		at := "/search?q=" + url.QueryEscape(c.query)
		a, err := d.Get(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status/100 == 3 {
			if to := a.Header.Get("Location"); !strings.HasSuffix(to, c.leads) {
				t.Errorf("%s: %s leads to %s, want %s", c.kind, at, to, c.leads)
			}
			continue
		}
		if links := linksOf(t, d.Base+at, a.Body); a.Status != 200 || !slices.ContainsFunc(links, func(l string) bool { return strings.HasSuffix(l, c.leads) }) {
			t.Errorf("%s: %s is %d and does not lead to %s", c.kind, at, a.Status, c.leads)
		}
	}
}

// mostPages bounds the walk through a list.
const mostPages = 60

// TestPagingReachesTheEnd follows the links of lists to their end, and meets no row twice.
func TestPagingReachesTheEnd(t *testing.T) {
	d := still(t)
	for _, list := range lists(factsOf(t, d, "SN_SEPOLIA")) {
		seen, path := map[string]string{}, list.path
		pages := 0
		for ; path != "" && pages < mostPages; pages++ {
			a, err := d.Get(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if a.Status != 200 {
				t.Errorf("%s: %d", path, a.Status)
				break
			}
			rows, next := rowsOf(t, a.Body)
			if len(rows) == 0 && len(seen) > 0 {
				t.Errorf("%s: a page without rows", path)
			}
			for _, row := range rows {
				if first, again := seen[row]; again {
					t.Errorf("%s: a row of %s again: %.200s", path, first, row)
				}
				seen[row] = path
			}
			path = next
		}
		if path != "" {
			t.Errorf("%s: no end after %d pages", list.path, pages)
		}
		if len(seen) < list.least || pages < list.pages {
			t.Errorf("%s: %d rows on %d pages, want at least %d on %d", list.path, len(seen), pages, list.least, list.pages)
		}
	}
}

// rowsOf are the rows of the lists of a page, each as its exact values, and where the next
// page is.
func rowsOf(t *testing.T, page []byte) (rows []string, next string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch {
		case n.Data == "table" && slices.Contains(strings.Fields(attribute(n, "class")), "rows"):
			for tr := range n.Descendants() {
				if tr.Data == "tr" && tr.Parent.Data == "tbody" {
					rows = append(rows, valuesOf(tr))
				}
			}
		case n.Data == "a" && attribute(n, "rel") == "next" && inPager(n):
			next = attribute(n, "href")
		}
	}
	return rows, next
}

func inPager(n *html.Node) bool {
	for p := range n.Ancestors() {
		if attribute(p, "class") == "pager" {
			return true
		}
	}
	return false
}

// valuesOf are the exact values in an element, or its text where it has none.
func valuesOf(n *html.Node) string {
	var values, text []string
	for d := range n.Descendants() {
		if v := attribute(d, "data-value"); v != "" {
			values = append(values, v)
		}
		if d.Type == html.TextNode {
			text = append(text, d.Data)
		}
	}
	return strings.Join(values, " ") + "|" + strings.Join(text, "")
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
