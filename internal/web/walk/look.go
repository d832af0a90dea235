package walk

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"strings"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Look is what there is to say of a page that is open.
type Look struct {
	Complaints []string // of the browser
	Resources  []Resource
	Width      int64    // of the page, which may be more than that of the screen
	Wider      string   // the element that makes it so
	Shift      float64  // how much of it has moved by itself, as browsers count it
	Shifted    []string // what has, from where to where
	Moving     []string // times of tables and of the foot that take other room once they are told in words
	Headings   int      // of the first level
	Title      string
	Canonical  string
	Alternate  string // as JSON
	Shared     []string
	Findings   []Finding // of axe-core
}

// Resource is what a page has loaded, itself included.
type Resource struct {
	URL     string
	Status  int
	Encoded int // bytes of its body as they were sent
}

// Finding is something that keeps people from using a page.
type Finding struct{ ID, Impact, Help, Target string }

//go:embed look.js
var lookScript string

//go:embed watch.js
var watchScript string

// Watch has every page that is opened from now on count how much it moves.
func (b *Browser) Watch() error { return b.Prepare(watchScript) }

// Prepare runs a script in every page that is opened from now on, before those of the page.
func (b *Browser) Prepare(script string) error {
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	if err != nil {
		return fmt.Errorf("prepare the pages: %w", err)
	}
	return nil
}

// Visit opens a page and looks at it.
func (b *Browser) Visit(address string) (Look, error) {
	if err := b.Do(chromedp.Navigate(address)); err != nil {
		return Look{}, fmt.Errorf("open %s: %w", address, err)
	}
	return b.Look()
}

// Begin opens a page and does not wait until all of it is there.
func (b *Browser) Begin(address string) error {
	ctx, cancel := context.WithTimeout(b.ctx, visitTime)
	defer cancel()
	if _, err := chromedp.Call(ctx, page.Navigate, page.NavigateParams{URL: address}); err != nil {
		return fmt.Errorf("open %s: %w", address, err)
	}
	return nil
}

// Look looks at the page that is open.
func (b *Browser) Look() (Look, error) {
	l, err := Eval[Look](b, lookScript)
	if err != nil {
		return l, err
	}
	if b.axe != "" {
		// It comes over the protocol of the developers' tools: the policy of the page would
		// let no script of others in.
		if l.Findings, err = Eval[[]Finding](b, b.axe+`;(`+axeRun+`)()`); err != nil {
			return l, err
		}
	}
	l.Complaints, err = b.Complaints()
	return l, err
}

const axeRun = `async () => {
	const seen = await axe.run(document, {resultTypes: ["violations"]});
	return seen.violations.flatMap((v) => v.nodes.map((n) => ({ID: v.id, Impact: n.impact || v.impact, Help: v.help, Target: n.target.join(" ") + " " + n.html.slice(0, 160)})));
}`

// What a page may be.
const (
	mostShift = 0.02
	mostBytes = 60 << 10 // of the first view
)

// Problems are what is wrong with any page on a screen: base is where the service is.
func (l Look) Problems(s Screen, base string) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, c := range l.Complaints {
		say("the browser complains: %s", c)
	}
	home, err := url.Parse(base)
	if err != nil {
		say("%v", err)
		return all
	}
	for _, r := range l.Resources {
		if u, err := url.Parse(r.URL); err != nil || u.Host != home.Host || u.Scheme != home.Scheme {
			say("it loads %s from elsewhere", r.URL)
		} else if r.Status >= 400 {
			say("%s: %d", r.URL, r.Status)
		}
	}
	if l.Width > s.Width {
		say("it is %d wide: %s", l.Width, l.Wider)
	}
	if l.Shift > mostShift {
		say("it moves by itself: %.3f: %q", l.Shift, l.Shifted)
	}
	if len(l.Moving) > 0 {
		say("times move what is beside them: %q", l.Moving)
	}
	if l.Headings != 1 {
		say("it has %d headings of the first level", l.Headings)
	}
	if l.Title == "" {
		say("it has no title")
	}
	for _, f := range l.Findings {
		if f.Impact == "serious" || f.Impact == "critical" {
			say("%s: %s (%s): %s", f.Impact, f.Help, f.ID, f.Target)
		}
	}
	return all
}

// Unshared is what a page of the explorer lacks for being found, sent around and read by
// programs, and whether it is too large.
func (l Look) Unshared(base string) (all []string) {
	for _, link := range []struct{ name, href string }{{"canonical link", l.Canonical}, {"link to the same as JSON", l.Alternate}} {
		if !strings.HasPrefix(link.href, base+"/") {
			all = append(all, fmt.Sprintf("its %s is %q", link.name, link.href))
		}
	}
	for _, missing := range l.Shared {
		all = append(all, "it has no "+missing)
	}
	sum := 0
	for _, r := range l.Resources {
		sum += r.Encoded
	}
	if sum > mostBytes {
		all = append(all, fmt.Sprintf("its first view is %d bytes: %v", sum, l.Resources))
	}
	return all
}
