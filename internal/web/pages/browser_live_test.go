package pages_test

import (
	"fmt"
	"time"

	"github.com/chromedp/chromedp/kb"

	"chainexplorer/internal/web"
	"chainexplorer/internal/web/walk"
)

// undo has a fork undo the three newest blocks, and is how a page tells of them.
func (o *onlooker) undo() string {
	o.t.Helper()
	n, _ := o.Chain.Head()
	o.Clock.Advance(2 * time.Second)
	o.fork(n)
	return fmt.Sprintf("A fork undid blocks %s to %s of %s.", web.Group(n-2), web.Group(n), chainID)
}

// tellsWhatWasUndone: a page that makes itself anew tells of every fork that undid what it
// has shown, also of blocks that came after it, and its foot goes along.
func tellsWhatWasUndone(o *onlooker) {
	for _, path := range []string{"/", "/" + chainID} {
		o.visit(path)
		n, _ := o.Chain.Head()
		o.ribbon(n)
		for range 4 { // so that the fork undoes nothing that was there from the start
			o.ribbon(o.grow())
		}
		o.sees(`!document.querySelector(".forked")`)
		for i := range 2 {
			told := o.undo()
			o.sees(`[...document.querySelectorAll(".forked[role=alert] li")].map((li) => li.textContent).filter((text) => text.startsWith(%q)).length === 1`, told)
			o.sees(`document.querySelectorAll(".forked li").length === %d`, i+1)
			n, _ = o.Chain.Head()
			o.ribbon(n)
			if path != "/" {
				o.sees(`document.querySelector(".as-of a").dataset.value === "%d"`, n)
			}
		}
		o.run(`document.querySelector(".forked button").click()`)
		o.ribbon(o.grow())
		o.sees(`!document.querySelector(".forked")`)
		o.content()
	}
}

// leadsOn: what a page by a hash says of its end leads to what has the number now.
func leadsOn(o *onlooker) {
	n, _ := o.Chain.Head()
	o.visit(fmt.Sprintf("/%s/block/%s", chainID, o.Chain.BlockAt(n).Hash))
	o.sees(`window.heard.head > 0`)
	o.undo()
	o.sees(`document.querySelectorAll(".forked a").length === 2 && [...document.querySelectorAll(".forked a")].every((a) => a.pathname === "/%s/block/%d")`, chainID, n)
	o.content()
}

// keepsTheFocus: what is new comes while something there has the focus, which stays where it
// is as long as that is there, and goes when the focus does.
func keepsTheFocus(o *onlooker) {
	const (
		deeds = `[...document.querySelectorAll(".newest li")].map((li) => li.dataset.key).join()`
		link  = `document.querySelector(".newest li:first-child .when a")`
	)
	o.visit("/" + chainID)
	n, _ := o.Chain.Head()
	o.ribbon(n)
	o.run(`window.focused = ` + link + `.pathname; ` + link + `.focus(); document.querySelector(".panel details").open = true`)
	newest := func() string {
		b := o.Chain.BlockAt(n)
		return b.Transactions[len(b.Transactions)-1].Hash.String()
	}
	// Until what has the focus is not among the newest any more, and stays all the same.
	for range 9 {
		n = o.grow()
		o.ribbon(n)
		o.sees(`document.querySelector(".newest li").dataset.key === %q && document.activeElement.pathname === window.focused`, newest())
		o.sees(`document.querySelector(".panel details").open && document.querySelector(".panel details").textContent.includes(%q)`, web.Group(n))
	}
	o.sees(`document.querySelectorAll(".newest li").length === 9 && document.activeElement.closest("li") === document.querySelector(".newest li:last-child")`)
	o.run(`document.activeElement.blur()`)
	o.sees(`document.querySelectorAll(".newest li").length === 8 && ` + deeds + ` !== ""`)
	// What has the focus and is not there any more keeps its part as it is until it has not.
	o.run(`document.querySelector(".headline a").focus()`)
	shown := n
	n = o.grow()
	o.sees(`document.querySelector(".ribbon li").dataset.key === "%d" && document.querySelector(".headline a").dataset.value === "%d" && document.activeElement.closest(".headline") !== null`, n, shown)
	o.run(`document.activeElement.blur()`)
	o.ribbon(n)
	o.content()
}

// copiesByKeys: a value that is no link is reached by the keyboard, shown whole, and copied.
func copiesByKeys(o *onlooker) {
	o.visit("/" + chainID + "/block/10")
	root := o.Chain.BlockAt(10).NewRoot.String()
	o.run(`window.copied = ""; navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
	for range 60 {
		o.press(kb.Tab)
		if there, err := walk.Eval[bool](o.b, `document.activeElement.matches("button.own") && document.activeElement.textContent === "Copy `+root+`"`); err != nil {
			o.t.Fatal(err)
		} else if there {
			break
		}
	}
	o.sees(`document.activeElement.textContent === "Copy %s" && document.activeElement.offsetWidth > 100 && document.activeElement.getBoundingClientRect().right <= document.documentElement.clientWidth`, root)
	o.press("c")
	o.sees(`window.copied === %q`, root)
	o.run(`window.copied = ""`)
	o.press(kb.Enter)
	o.sees(`window.copied === %q && document.activeElement.textContent.startsWith("Copied")`, root)
	o.content()
}
