package chart_test

import (
	"errors"
	"html/template"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/web"
	"chainexplorer/internal/web/walk"
)

// looked is what a browser says of a page. A ribbon scrolls by itself: what is beyond
// its edge is not outside of the page. Tables do, too, and are not looked into.
type looked struct {
	Outside, Touching []string
	Texts             int
}

const look = `(() => {
	const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), texts = [];
	for (let node; (node = walker.nextNode());) {
		const parent = node.parentElement;
		if (!node.data.trim() || !parent.checkVisibility() || parent.closest(".unseen, .scroll, title, desc")) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const box of range.getClientRects()) texts.push({text: node.data.trim(), box, scrolls: !!parent.closest(".ribbon")});
	}
	const outside = texts.filter((t) => !t.scrolls && (t.box.left < 0 || t.box.right > innerWidth)).map((t) => t.text);
	const touching = [];
	texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
		const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
		const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
		// Lines of one text are closer than their boxes.
		if (wide > 0.5 && high > 3) touching.push(a.text + " | " + b.text);
	}));
	return {Outside: outside, Touching: touching, Texts: texts.length};
})()`

// slide puts a box in front of the ribbon, as a live page does, and adds up how much
// of the page moved without a reason that the browser knows.
const slide = `new Promise((done) => {
	let moved = 0;
	new PerformanceObserver((list) => list.getEntries().forEach((e) => { moved += e.value; })).observe({type: "layout-shift"});
	const ribbon = document.querySelector(".ribbon"), box = ribbon.lastElementChild.cloneNode(true);
	box.classList.add("new");
	ribbon.prepend(box);
	ribbon.lastElementChild.remove();
	const frames = (n) => n ? requestAnimationFrame(() => frames(n - 1)) : done(moved);
	frames(10);
})`

// TestInABrowser draws every chart in a real browser, on a telephone by day and by night:
// nothing leaves the page, no text lies on another, and the browser has nothing to say
// against it.
func TestInABrowser(t *testing.T) {
	t.Parallel()
	axe, err := walk.Axe(filepath.Join("..", ".."), filepath.Join("..", "web", "walk", "testdata", "axe", "package-lock.json"))
	if errors.Is(err, walk.ErrNoAxe) {
		t.Skip("axe-core is not there in the version of package-lock.json: make tools installs it where it can")
	} else if err != nil {
		t.Fatal(err)
	}
	b, end, err := walk.Open(t.Context(), axe)
	if errors.Is(err, walk.ErrNoBrowser) {
		t.Skip("chromium is not installed: scripts/tools.sh installs it")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	open := strings.ReplaceAll(string(page(t)), "<details", "<details open")
	server := httptest.NewServer(served(template.HTML(open)))
	t.Cleanup(server.Close)
	if err := b.Watch(); err != nil {
		t.Fatal(err)
	}
	for _, screen := range []walk.Screen{{Width: 390, Height: 844}, {Width: 390, Height: 844, Dark: true}} {
		if err := b.Show(screen); err != nil {
			t.Fatal(err)
		}
		seen, err := b.Visit(server.URL)
		got, textErr := walk.Eval[looked](b, look)
		if err != nil || textErr != nil {
			t.Fatal(err, textErr)
		}
		for _, problem := range seen.Problems(screen, server.URL) {
			t.Errorf("%s: %s", screen, problem)
		}
		if len(got.Outside) > 0 || len(got.Touching) > 0 || got.Texts < 100 {
			t.Errorf("%s: %+v", screen, got)
		}
	}
	if moved, err := walk.Eval[float64](b, slide); err != nil || moved != 0 {
		t.Errorf("a new box moved %v of the page, %v", moved, err)
	}
}

// served is a site of one page, with the policy and the style of all pages.
func served(body template.HTML) http.Handler {
	files := map[string]struct {
		kind string
		body []byte
	}{web.StylePath: {"text/css", web.Style()}, web.ScriptPath: {"text/javascript", web.Script()}, web.IconPath: {"image/svg+xml", web.Icon()}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f, ok := files[r.URL.Path]; ok {
			w.Header().Set("Content-Type", f.kind)
			w.Write(f.body) //nolint:errcheck // the browser went away
			return
		}
		web.Write(w, r, http.StatusOK, web.Page{Title: "Charts", Body: "<h1>Charts</h1>" + body})
	})
}
