package walk_test

import (
	"testing"

	"chainexplorer/internal/web/walk"
)

// printed is what is wrong with a page on paper: what can only be used on a screen, felts
// that cannot be read to their end, and ink that is pale or on anything but white. What is
// printed of a felt is in its style: it is measured.
const printed = `(() => {
	const wrong = [], seen = (e) => e.checkVisibility() && e.getClientRects().length > 0;
	for (const e of document.querySelectorAll("nav, header, form, button, .skip, .search, .pager, .copy")) if (seen(e)) wrong.push("shows " + e.outerHTML.slice(0, 120));
	for (const e of document.querySelectorAll(".facts .felt[title]")) {
		const after = getComputedStyle(e, "::after");
		if (seen(e) && (after.content !== JSON.stringify(e.title) || parseFloat(after.fontSize) < 8 || getComputedStyle(e).fontSize !== "0px")) wrong.push("shortens " + e.title);
	}
	for (const e of document.querySelectorAll("time[data-ago]")) {
		const after = getComputedStyle(e, "::after"), exact = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/;
		if (seen(e) && !exact.test(e.textContent) && (!exact.test(e.title) || after.content !== JSON.stringify(e.title) || parseFloat(after.fontSize) < 8 || getComputedStyle(e).fontSize !== "0px" || getComputedStyle(e).maxWidth !== "none")) wrong.push("tells " + e.textContent + " of " + e.title);
	}
	const light = (color) => color.match(/[\d.]+/g).slice(0, 3).map(Number);
	if (light(getComputedStyle(document.body).backgroundColor).some((c) => c < 255)) wrong.push("has paper " + getComputedStyle(document.body).backgroundColor);
	for (const e of document.querySelectorAll("main h1, main p, main td, main dd, main a")) if (seen(e) && Math.min(...light(getComputedStyle(e).color)) > 110) wrong.push("is pale: " + getComputedStyle(e).color + " " + e.outerHTML.slice(0, 120));
	const main = document.querySelector("main");
	if (!seen(main) || main.innerText.trim() === "") wrong.push("is empty");
	return wrong.slice(0, 5);
})()`

// paper is as wide as A4 is without its margins.
var paper = walk.Screen{Width: 673, Height: 1000}

// TestPrinted: on paper there is what can be read there, and no more.
func TestPrinted(t *testing.T) {
	b, d := browser(t, ""), still(t)
	f := factsOf(t, d, "SN_SEPOLIA")
	if err := b.Show(paper); err != nil {
		t.Fatal(err)
	}
	if err := b.Print(true); err != nil {
		t.Fatal(err)
	}
	felts := 0
	for _, p := range places {
		if !p.explorer {
			continue
		}
		path := p.path(f)
		l, err := b.Visit(d.Base + path)
		if err != nil {
			t.Fatal(err)
		}
		if l.Width > paper.Width {
			t.Errorf("%s is %d wide on paper: %s", path, l.Width, l.Wider)
		}
		wrong, err := walk.Eval[[]string](b, printed)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			t.Errorf("%s %s", path, w)
		}
		n, err := walk.Eval[int](b, `document.querySelectorAll(".facts .felt[title]").length`)
		if err != nil {
			t.Fatal(err)
		}
		felts += n
	}
	if felts < 10 {
		t.Errorf("there are only %d felts on all pages", felts)
	}
}
