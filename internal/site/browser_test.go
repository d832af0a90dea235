package site_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browser opens a real one, of a telephone's width.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: scripts/tools.sh installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(390, 844))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestPagesInABrowser looks at the pages as a reader with a telephone does: none
// scrolls sideways, the filter finds an operation, examples can be copied, and no
// page breaks its own policy.
func TestPagesInABrowser(t *testing.T) {
	ctx := browser(t)
	w := sharedWorld(t, 60)
	for path := range w.crawl() {
		type look struct{ Wide, Styled bool }
		err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(w.URL+path))
		seen, evalErr := chromedp.Run(ctx, chromedp.Evaluate[look](`({Wide: document.documentElement.scrollWidth > 390, Styled: getComputedStyle(document.body).marginTop === "0px"})`))
		if err != nil || evalErr != nil || seen.Wide || !seen.Styled {
			t.Errorf("%s: %+v, %v, %v", path, seen, err, evalErr)
		}
	}
	type shown struct{ Operations, Buttons, Examples int }
	err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(w.URL+"/docs/reference/tokens"), chromedp.SendKeys(chromedp.CSS("#filter"), "block-at timestamp"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[shown](`({
		Operations: [...document.querySelectorAll(".side [data-operation]")].filter((e) => e.offsetParent !== null).length,
		Buttons: document.querySelectorAll("button.copy").length,
		Examples: document.querySelectorAll("pre").length})`))
	if err != nil || got.Operations != 1 || got.Buttons != got.Examples || got.Examples == 0 {
		t.Errorf("%+v, want the one operation that was asked for and a button for every example; %v", got, err)
	}
	for _, path := range []string{"/none", "/docs/none"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(w.URL+path)); err != nil {
			t.Fatal(err)
		}
		if heading, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("h1").textContent`)); err != nil || heading != "There is no such page" {
			t.Errorf("%s: %q, %v", path, heading, err)
		}
	}
}
