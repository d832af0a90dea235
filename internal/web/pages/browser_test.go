package pages_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"chainexplorer/internal/web/walk"
)

// onlooker is somebody who looks at a world in a real browser, through a server that loses
// its connections when it is told to.
type onlooker struct {
	*world
	b     *walk.Browser
	t     *testing.T
	front *httptest.Server
	// streams are open now, opened is how many ever were, resumed those that said what they
	// had heard last, and refused those that were, which all are while away is set.
	streams, opened, resumed, refused atomic.Int64
	away                              atomic.Bool
}

// hasty lets a page wait a twentieth of what it wants to, and counts what it hears.
const hasty = `{
	const wait = window.setTimeout, Real = window.EventSource;
	window.setTimeout = (f, ms = 0, ...args) => wait(f, ms / 20, ...args);
	window.heard = {head: 0, fork: 0};
	window.EventSource = class extends Real {
		constructor(...args) {
			super(...args);
			for (const name in window.heard) this.addEventListener(name, () => { window.heard[name]++; });
		}
	};
}`

// hurried has browsers come back to a stream at once.
type hurried struct{ http.ResponseWriter }

func (h hurried) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h hurried) Write(b []byte) (int, error) {
	return h.ResponseWriter.Write(bytes.Replace(b, []byte("retry: 3000"), []byte("retry: 0100"), 1))
}

func onlook(t *testing.T, blocks int) *onlooker {
	t.Helper()
	o := &onlooker{world: ownWorld(t, blocks), t: t}
	var end func()
	var err error
	o.b, end, err = walk.Open(t.Context(), "")
	if errors.Is(err, walk.ErrNoBrowser) {
		t.Skip("chromium is not installed: scripts/tools.sh installs it")
	} else if err != nil {
		t.Fatal(err)
	}
	o.front = httptest.NewServer(o)
	t.Cleanup(func() { // the browser first: its streams would be waited for
		end()
		o.front.CloseClientConnections()
		o.front.Close()
	})
	if err := errors.Join(o.b.Prepare(hasty), o.b.Attend()); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *onlooker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/live/"+chainID {
		if o.away.Load() {
			o.refused.Add(1)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if r.Header.Get("Last-Event-ID") != "" {
			o.resumed.Add(1)
		}
		o.opened.Add(1)
		o.streams.Add(1)
		defer o.streams.Add(-1)
		w = hurried{w}
	}
	o.Server.ServeHTTP(w, r)
}

func (o *onlooker) visit(path string) {
	o.t.Helper()
	if _, err := o.b.Visit(o.front.URL + path); err != nil {
		o.t.Fatal(err)
	}
}

// sees waits until something is true in the page.
func (o *onlooker) sees(expression string, args ...any) {
	o.t.Helper()
	if err := o.b.Until(fmt.Sprintf(expression, args...)); err != nil {
		at, _ := walk.Eval[string](o.b, `location.href + ", focus on " + document.activeElement.outerHTML.slice(0, 200) + " " + document.activeElement.value`)
		o.t.Fatalf("%v, at %s", err, at)
	}
}

// run runs something in the page.
func (o *onlooker) run(expression string) {
	o.t.Helper()
	if _, err := walk.Eval[bool](o.b, "(() => {"+expression+"; return true; })()"); err != nil {
		o.t.Fatal(err)
	}
}

func (o *onlooker) press(keys ...string) {
	o.t.Helper()
	for _, key := range keys {
		if err := o.b.Press(key); err != nil {
			o.t.Fatal(err)
		}
	}
}

// wait waits for something that the browser does outside of the page.
func (o *onlooker) wait(what string, done func() bool) {
	o.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			o.t.Fatalf("%s: not after 30 seconds", what)
		}
	}
}

// grow adds a block, and is its number. The first page is made anew before, as it is kept
// for a moment.
func (o *onlooker) grow() uint64 {
	o.t.Helper()
	o.Clock.Advance(2 * time.Second)
	o.Chain.Extend(1)
	o.CatchUp()
	n, _ := o.Chain.Head()
	return n
}

// content makes sure that the browser had nothing to complain about.
func (o *onlooker) content() {
	o.t.Helper()
	complaints, err := o.b.Complaints()
	if err != nil || len(complaints) > 0 {
		o.t.Errorf("%q, %v", complaints, err)
	}
}

// boxes are the keys of the ribbon's boxes; each may be there once.
const boxes = `[...document.querySelectorAll(".ribbon li")].map((li) => li.dataset.key)`

// ribbon waits until the ribbon has the newest blocks, each once.
func (o *onlooker) ribbon(newest uint64) {
	o.t.Helper()
	want := ""
	for i := range uint64(12) {
		want += fmt.Sprintf(",%d", newest-i)
	}
	o.sees(boxes+`.join() === %q`, want[1:])
	o.sees(`document.querySelector(".headline").textContent.startsWith("Block %d,")`, newest)
}

// TestInABrowser looks on while the chain goes on, in a real browser.
func TestInABrowser(t *testing.T) {
	o := onlook(t, 20)
	for _, part := range []struct {
		name string
		look func(*onlooker)
	}{
		{"first page", seesNewBlocks}, {"motion", movesWhatIsNew}, {"broken stream", comesBack}, {"hidden", rests},
		{"list", tellsOfNewBlocks}, {"fork", tellsOfForks}, {"undone", tellsWhatWasUndone}, {"hash", leadsOn}, {"copy", copiesByKeys}, {"focus", keepsTheFocus}, {"keys", followsKeys}, {"suggestions", suggests},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			o.t = t
			part.look(o)
		}) {
			return // the others would wait, too
		}
	}
}

// seesNewBlocks: new blocks slide into the first page, and nobody loses the focus by that.
func seesNewBlocks(o *onlooker) {
	o.visit("/")
	o.ribbon(19)
	o.run(`document.querySelector(".ribbon [data-key='19'] a").focus()`)
	for range 2 {
		n := o.grow()
		o.ribbon(n)
		o.sees(`document.querySelector(".ribbon [data-key='%d']").classList.contains("new")`, n)
	}
	o.sees(`document.activeElement.closest("li")?.dataset.key === "19" && !document.activeElement.closest("li").classList.contains("new")`)
	if got := o.opened.Load(); got != 1 {
		o.t.Errorf("%d streams", got)
	}
	o.content()
}

// movesWhatIsNew, unless the reader wants nothing to move.
func movesWhatIsNew(o *onlooker) {
	o.visit("/")
	o.ribbon(o.grow())
	o.sees(`parseFloat(getComputedStyle(document.querySelector(".ribbon .new")).transitionDuration) > 0`)
	if err := o.b.Show(walk.Screen{Width: 1200, Height: 800}); err != nil { // which is that of such a reader
		o.t.Fatal(err)
	}
	n := o.grow()
	o.ribbon(n)
	o.sees(`[...document.querySelectorAll(".ribbon li, .newest li")].every((li) => getComputedStyle(li).transitionDuration === "0s") && document.getAnimations().length === 0`)
	o.content()
}

// comesBack: a stream that breaks is opened again, and one that was refused as well; what
// happened meanwhile is there, once.
func comesBack(o *onlooker) {
	o.visit("/")
	o.wait("the stream", func() bool { return o.streams.Load() == 1 })
	o.sees(`window.heard.head > 0`)
	opened, resumed := o.opened.Load(), o.resumed.Load()
	o.front.CloseClientConnections()
	n := o.grow()
	o.wait("another stream", func() bool { return o.opened.Load() > opened && o.resumed.Load() > resumed && o.streams.Load() == 1 })
	o.ribbon(n)

	refused := o.refused.Load()
	o.away.Store(true)
	o.front.CloseClientConnections()
	o.wait("tries", func() bool { return o.refused.Load() > refused+1 })
	n = o.grow()
	o.away.Store(false)
	o.ribbon(n)
	o.ribbon(o.grow())
	o.wait("one stream", func() bool { return o.streams.Load() == 1 })
	if _, err := o.b.Complaints(); err != nil { // there are some: requests have failed
		o.t.Error(err)
	}
}

// rests: a page that nobody sees listens to nothing, and is up to date when it is seen.
func rests(o *onlooker) {
	o.visit("/")
	o.wait("the stream", func() bool { return o.streams.Load() == 1 })
	const hide = `Object.defineProperty(document, "hidden", {configurable: true, get: () => %t}); document.dispatchEvent(new Event("visibilitychange"))`
	o.run(fmt.Sprintf(hide, true))
	o.wait("no stream", func() bool { return o.streams.Load() == 0 })
	opened := o.opened.Load()
	n := o.grow()
	if o.opened.Load() != opened {
		o.t.Error("a hidden page listens")
	}
	o.run(fmt.Sprintf(hide, false))
	o.ribbon(n)
	if o.streams.Load() != 1 {
		o.t.Errorf("%d streams", o.streams.Load())
	}
	o.content()
}

// tellsOfNewBlocks: a list stays as it is, and says how many blocks are new: aloud once, and
// on a link that the keyboard reaches and that stays where it is.
func tellsOfNewBlocks(o *onlooker) {
	const region, link = `document.querySelector("[role=status][data-fresh]")`, `document.querySelector("[data-fresh] a")`
	o.visit("/" + chainID + "/blocks")
	o.sees(region + `.checkVisibility() && ` + region + `.childNodes.length === 0`)
	o.grow()
	o.sees(link + `?.textContent === "1 new block" && ` + region + `.ariaLive !== "off"`)
	for range 30 {
		o.press(kb.Tab)
		if there, err := walk.Eval[bool](o.b, `document.activeElement === `+link); err != nil {
			o.t.Fatal(err)
		} else if there {
			break
		}
	}
	n := o.grow()
	o.sees(link + `?.textContent === "2 new blocks" && document.activeElement === ` + link + ` && ` + region + `.ariaLive === "off"`)
	o.sees(`document.querySelector("tbody td a").textContent === "%d"`, n-2)
	o.press(kb.Enter)
	o.sees(`document.querySelector("tbody td a")?.textContent === "%d" && !%s`, n, link)
	o.content()
}

// fork replaces the newest blocks, and is the hash of one of them. A fork is noticed when it
// is longer.
func (o *onlooker) fork(n uint64) string {
	o.t.Helper()
	o.Chain.Fork(3)
	o.Chain.Extend(1)
	o.CatchUp()
	return o.Chain.BlockAt(n).Hash.String()
}

// short is how a page writes a hash.
func short(hash string) string { return hash[:6] + "…" + hash[len(hash)-4:] }

// tellsOfForks: the page of a block that a fork took away says so, once.
func tellsOfForks(o *onlooker) {
	n, _ := o.Chain.Head()
	was := o.Chain.BlockAt(n).Hash.String()
	o.visit(fmt.Sprintf("/%s/block/%d", chainID, n))
	o.sees(`window.heard.head > 0 && !document.querySelector(".forked")`)
	now := o.fork(n)
	o.sees(`document.querySelector(".forked[role=alert]")?.textContent.includes(%q)`, short(was)+" is now "+short(now))
	o.sees(`document.querySelector(".forked a").pathname === "/%s/block/%d"`, chainID, n)
	o.run(`document.querySelector(".forked a").focus(); window.heard.fork = 0`)
	o.content()

	o.front.CloseClientConnections()
	o.sees(`window.heard.fork === 1`)
	o.sees(`document.querySelectorAll(".forked").length === 1 && document.activeElement.closest(".forked") !== null`)
	if _, err := o.b.Complaints(); err != nil {
		o.t.Error(err)
	}
	now = o.fork(n)
	o.sees(`document.querySelectorAll(".forked").length === 1 && document.querySelector(".forked").textContent.includes(%q)`, short(was)+" is now "+short(now))
	o.run(`document.querySelector(".forked a").focus()`)
	o.press(kb.Enter)
	o.sees(`document.readyState === "complete" && !document.querySelector(".forked") && document.querySelector('[data-value="%s"]') !== null`, now)
	o.content()
}

// followsKeys: keys lead from block to block and to the search, and are letters where one
// writes.
func followsKeys(o *onlooker) {
	at := func(n int) {
		o.t.Helper()
		o.sees(`location.pathname === "/%s/block/%d" && document.readyState === "complete"`, chainID, n)
	}
	o.visit("/" + chainID + "/block/10")
	for _, step := range []struct {
		key string
		to  int
	}{{kb.ArrowRight, 11}, {kb.ArrowLeft, 10}, {"k", 9}, {"j", 10}} {
		o.press(step.key)
		at(step.to)
	}
	o.press("?")
	o.sees(`document.querySelector("dialog.keys").open && document.querySelector("dialog.keys kbd") !== null`)
	o.press("j", kb.Escape)
	o.sees(`!document.querySelector("dialog.keys").open && document.activeElement === document.body`)
	o.press("/", "j", "k", "/")
	o.sees(`document.activeElement.name === "q" && document.activeElement.value === "jk/"`)
	at(10)
	o.content()
}

// suggests: what is typed is guessed at, and chosen by keys.
func suggests(o *onlooker) {
	const list, box = `document.querySelector("#suggestions")`, `document.querySelector("input[name=q]")`
	o.visit("/" + chainID + "/block/10")
	o.press("/", "str")
	o.sees(`[...` + list + `.children].some((li) => li.textContent.includes("STRK")) && ` + box + `.ariaExpanded === "true"`)
	// What was asked for before opens nothing that is closed.
	o.run(`window.asked = 0; window.given = 0; window.answered = window.fetch;
		window.fetch = (path, options) => new Promise((_, fail) => { window.asked++; options.signal.onabort = () => { window.given++; fail(options.signal.reason); }; })`)
	o.press("k")
	o.sees(`window.asked > 0`)
	o.press(kb.Escape)
	o.sees(`window.given === window.asked && ` + list + `.hidden && ` + box + `.ariaExpanded === "false"`)
	o.run(`window.fetch = window.answered; ` + box + `.value = "str"`)
	o.press("k")
	o.sees(`!` + list + `.hidden && ` + list + `.children[0].textContent.includes("STRK")`)
	o.press(kb.ArrowDown)
	o.sees(list + `.children[0].ariaSelected === "true" && ` + box + `.getAttribute("aria-activedescendant") === ` + list + `.children[0].id`)
	o.press(kb.Enter)
	// What is searched for leads there, too, but not at once.
	o.sees(`location.pathname.startsWith("/%s/token/0x") && document.readyState === "complete" && performance.getEntriesByType("navigation")[0].redirectCount === 0`, chainID)
	o.content()
}
