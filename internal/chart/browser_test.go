package chart_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"chainexplorer/internal/web"
)

// looked is what a browser says of a page. A ribbon scrolls by itself: what is beyond
// its edge is not outside of the page.
type looked struct {
	Wide              bool
	Outside, Touching []string
	Texts             int
	Refused           bool
}

const look = `(() => {
	const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), texts = [];
	for (let node; (node = walker.nextNode());) {
		const parent = node.parentElement;
		if (!node.data.trim() || !parent.checkVisibility() || parent.closest(".unseen, title, desc")) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const box of range.getClientRects()) texts.push({text: node.data.trim(), box, ribbon: !!parent.closest(".ribbon")});
	}
	const outside = texts.filter((t) => !t.ribbon && (t.box.left < 0 || t.box.right > innerWidth)).map((t) => t.text);
	const touching = [];
	texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
		const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
		const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
		// Lines of one text are closer than their boxes.
		if (wide > 0.5 && high > 3) touching.push(a.text + " | " + b.text);
	}));
	return {Wide: document.documentElement.scrollWidth > innerWidth, Outside: outside, Touching: touching, Texts: texts.length,
		Refused: getComputedStyle(document.querySelector(".level")).fill === "rgb(0, 0, 0)"};
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

// TestInABrowser draws every chart in a real browser, as wide as a telephone, in light and
// in dark: nothing leaves the page, and no text lies on another.
func TestInABrowser(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: scripts/tools.sh installs it")
	}
	body := page(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == web.StylePath {
			w.Header().Set("Content-Type", "text/css")
			w.Write(web.Style()) //nolint:errcheck // the browser went away
			return
		}
		web.Write(w, r, http.StatusOK, web.Page{Title: "Charts", Body: body})
	}))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(390, 844))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{390, 1100} {
			name := fmt.Sprintf("%s, %d wide", scheme, width)
			err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 844), chromedp.Navigate(server.URL))
			got, lookErr := chromedp.Run(ctx, chromedp.Evaluate[looked](look))
			if err != nil || lookErr != nil {
				t.Fatal(name, err, lookErr)
			}
			if got.Wide || len(got.Outside) > 0 || len(got.Touching) > 0 || got.Texts < 50 || got.Refused {
				t.Errorf("%s: %+v", name, got)
			}
			if dir := os.Getenv("CHART_PICTURES"); dir != "" {
				picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	moved, err := chromedp.Run(ctx, chromedp.Evaluate[float64](slide, chromedp.EvalAwaitPromise))
	if err != nil || moved != 0 {
		t.Errorf("a new box moved %v of the page, %v", moved, err)
	}
}
