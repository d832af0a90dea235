package walk_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"chainexplorer/internal/web/walk"
)

// focused tells what has the focus, and whether one sees that it has it.
const focused = `(() => {
	const e = document.activeElement, s = getComputedStyle(e);
	return {Within: e.closest("main") !== null || !document.querySelector("main").querySelector("a, button, input, select, textarea, summary, [tabindex]"), Tag: e.tagName, Name: e.name || "", Text: e.textContent.trim().slice(0, 60), Seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none"};
})()`

type focus struct {
	Tag, Name, Text string
	Seen            bool
	Within          bool // the content, unless nothing there can be reached
}

// TestKeyboardAlone goes through a page without a mouse.
func TestKeyboardAlone(t *testing.T) {
	b, d := browser(t, ""), still(t)
	f := factsOf(t, d, "SN_SEPOLIA")
	if err := b.Show(desk); err != nil {
		t.Fatal(err)
	}
	press := func(keys string) focus {
		t.Helper()
		if err := b.Press(keys); err != nil {
			t.Fatal(err)
		}
		got, err := walk.Eval[focus](b, focused)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, p := range places {
		path := p.path(f)
		if _, err := b.Visit(d.Base + path); err != nil {
			t.Fatal(err)
		}
		if path != "/" { // where the search has the focus from the start
			if got := press(kb.Tab); !strings.HasPrefix(got.Text, "Skip to content") || !got.Seen {
				t.Errorf("%s: the first that the keyboard reaches is %+v", path, got)
			}
			if p.name != "blocks" { // where the head is gone through, which is the same everywhere
				press(kb.Enter)
				if got := press(kb.Tab); !got.Within {
					t.Errorf("%s: who skips to the content gets to %+v", path, got)
				}
			}
		}
		if !p.explorer {
			continue
		}
		for range 6 {
			if got := press(kb.Tab); !got.Seen && got.Tag != "BODY" {
				t.Errorf("%s: nobody sees that %+v has the focus", path, got)
			}
		}
		// Where one writes, it is a letter.
		if any, err := walk.Eval[bool](b, `document.activeElement.blur() || document.querySelector('form[action="/search"] input[name=q]') !== null`); err != nil {
			t.Fatal(err)
		} else if !any {
			continue
		}
		if got := press("/"); got.Tag != "INPUT" || got.Name != "q" {
			t.Errorf("%s: / leads to %+v and not to the search", path, got)
		}
	}
}
