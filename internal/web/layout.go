package web

import (
	"cmp"
	"net/url"

	"chainexplorer/internal/markup"
)

// HTML puts a page into the layout.
func HTML(p Page) []byte {
	var w markup.Writer
	Layout(&w, &p, func(w *markup.Writer) { w.HTML(p.Body) })
	return w.Bytes()
}

// Layout writes a page around its body. It is no template because every page has it, and
// most of its bytes are the same on all of them.
func Layout(w *markup.Writer, p *Page, body func(*markup.Writer)) {
	p.head(w)
	p.header(w)
	if p.Notice != "" {
		w.Put(`<p class="stale" role="status">`)
		w.HTML(p.Notice)
		w.Put("</p>\n")
	}
	for _, r := range p.Remarks {
		w.Put(`<p class="remark" role="note">`)
		w.Text(r)
		w.Put("</p>\n")
	}
	w.Put("<main id=\"main\">\n")
	if len(p.Trail) > 0 {
		w.Put(`<nav class="trail" aria-label="Breadcrumb"><ol>`)
		for _, l := range p.Trail {
			w.Put(`<li>`)
			link(w, l)
			w.Put(`</li>`)
		}
		w.Put("</ol></nav>\n")
	}
	body(w)
	w.Put("\n</main>\n")
	p.foot(w)
}

func (p *Page) head(w *markup.Writer) {
	w.Put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
`)
	if p.Hidden {
		w.Put(`<meta name="robots" content="noindex">` + "\n")
	}
	w.Put(`<title>`)
	w.Text(p.Title)
	w.Put("</title>\n")
	if p.Description != "" {
		w.Put(`<meta name="description" content="`)
		w.Text(p.Description)
		w.Put("\">\n" + `<meta property="og:description" content="`)
		w.Text(p.Description)
		w.Put("\">\n")
	}
	w.Put(`<meta property="og:title" content="`)
	w.Text(p.Title)
	w.Put("\">\n" + `<meta property="og:type" content="website">` + "\n")
	if p.Image != "" {
		reference(w, `<meta property="og:image" content="`, p.Image)
		w.Put(`<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">
`)
	}
	reference(w, `<link rel="canonical" href="`, p.Canonical)
	reference(w, `<link rel="alternate" type="application/json" href="`, p.JSON)
	reference(w, `<link rel="stylesheet" href="`, StyleHref)
	reference(w, `<link rel="icon" type="image/svg+xml" href="`, IconPath)
	w.Put(`<script src="`)
	w.Link(cmp.Or(p.Script, ScriptHref))
	w.Put(`" defer></script>
</head>
<body`)
	if p.Follow != "" {
		w.Put(` data-follow="`)
		w.Text(p.Follow)
		w.Put(`"`)
	}
	w.Put(">\n")
}

// reference writes an element that names an address, if there is one.
func reference(w *markup.Writer, element markup.Ours, href string) {
	if href == "" {
		return
	}
	w.Put(element)
	w.Link(href)
	w.Put("\">\n")
}

func link(w *markup.Writer, l Link) {
	w.Put(`<a href="`)
	w.Link(l.Href)
	w.Put(`">`)
	w.Text(l.Text)
	w.Put(`</a>`)
}

func (p *Page) header(w *markup.Writer) {
	w.Put(`<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="/">Chain Explorer</a>
`)
	if !p.Home {
		w.Put(`<form class="search" role="search" action="/search" method="get"`)
		if p.Live {
			w.Put(` data-suggest="/search/suggest?`)
			if p.Chain != "" { // what is there comes first
				w.Put(`chain=`)
				w.Text(url.QueryEscape(p.Chain))
				w.Put(`&amp;`)
			}
			w.Put(`q="`)
		}
		w.Put(`>
<label class="unseen" for="searchbox">Search for a block, transaction, address, class or token</label>
<input id="searchbox" name="q" type="search" value="`)
		w.Text(p.Query)
		w.Put(`" maxlength="200" placeholder="Block, transaction, address, token" autocomplete="off" autocapitalize="off" spellcheck="false">
<button type="submit">Search</button>
</form>
`)
	}
	if choices := p.choices(); len(choices) > 0 {
		w.Put(`<nav class="chains" aria-label="Chains">`)
		for _, c := range choices {
			w.Put(`<a href="`)
			w.Link(c.href)
			w.Put(`"`)
			if c.current {
				w.Put(` aria-current="true"`)
			}
			w.Put(`>`)
			w.Text(c.text)
			w.Put(`</a>`)
		}
		w.Put("</nav>\n")
	}
	w.Put(`<nav class="sections" aria-label="Main">`)
	for _, l := range p.navigation() {
		link(w, l)
	}
	w.Put(`<a href="/docs/api">API</a><a href="/docs">Docs</a>`)
	if p.Accounts {
		w.Put(`<a class="apart" href="/account">Account</a>`)
	}
	w.Put("</nav>\n</header>\n")
}

func (p *Page) foot(w *markup.Writer) {
	w.Put("<footer>\n")
	if p.AsOf != "" || p.AsJSON != "" {
		w.Put(`<p class="as-of">`)
		w.HTML(p.AsOf)
		if p.AsOf != "" && p.AsJSON != "" {
			w.Put(` · `)
		}
		if p.AsJSON != "" {
			w.Put(`<a href="`)
			w.Link(p.AsJSON)
			w.Put(`" rel="nofollow">as JSON</a>`)
		}
		w.Put("</p>\n")
	}
	w.Put(`<p>Chain Explorer`)
	if p.Version != "" {
		w.Put(` `)
		w.Text(p.Version)
	}
	w.Put(` · <a href="/healthz">Health</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/.well-known/api-catalog">API catalog</a> · <a href="/llms.txt">llms.txt</a> · <a href="/llms-full.txt">Everything as text</a></p>
</footer>
</body>
</html>
`)
}
