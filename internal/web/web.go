// Package web renders the service's pages. They are plain HTML with one style
// sheet, and load nothing from elsewhere, so that they work offline and a strict
// content security policy holds. Every page works without its script, which adds
// comfort alone: a filter, and buttons that copy; but for a page that names a script
// of its own. Everything that a page shows goes through html/template, which escapes it; the only markup that
// texts may carry is that of prose.go.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed *.html
var files embed.FS

//go:embed *.css
var styles embed.FS

// style is one sheet of all: style.css is the ground, and the others stand on it, in the
// order of their names.
var style = joinStyles()

func joinStyles() []byte {
	names, err := styles.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	out, _ := styles.ReadFile("style.css")
	for _, f := range names {
		if f.Name() != "style.css" {
			more, _ := styles.ReadFile(f.Name())
			out = append(append(out, '\n'), more...)
		}
	}
	return out
}

//go:embed icon.svg
var icon []byte

//go:embed script.js
var comfort []byte

//go:embed script_live.js
var following []byte

// script is one of both: the second stands on the first.
var script = slices.Concat(comfort, []byte{'\n'}, following)

// StylePath is where the pages expect Style.
const StylePath = "/style.css"

// IconPath is where the pages expect Icon, which is an SVG image.
const IconPath = "/favicon.svg"

// ScriptPath is where the pages expect Script.
const ScriptPath = "/script.js"

// Script is the script of all pages.
func Script() []byte { return script }

// Style is the style sheet of all pages.
func Style() []byte { return style }

// Icon is the picture that browsers show for the pages.
func Icon() []byte { return icon }

// The addresses by which pages load Style and Script. They name the bytes, so that a browser
// keeps a file for good, and fetches it again when it has changed.
var (
	StyleHref  = StylePath + "?v=" + tagOf(style)
	ScriptHref = ScriptPath + "?v=" + tagOf(script)
)

func tagOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:8])
}

var templates = template.Must(template.New("").Funcs(Funcs()).ParseFS(files, "*.html"))

// Funcs are what templates of pages call.
func Funcs() template.FuncMap {
	return template.FuncMap{"prose": prose, "clip": clip, "group": Group, "stamp": stamp}
}

// Link is an entry of a list of links.
type Link struct{ Text, Href string }

// Page is a whole page. Body is trusted HTML made by Render.
type Page struct {
	Title string
	// Description is what search engines show of the page.
	Description string
	// Trail leads from the start to this page, without the page itself.
	Trail []Link
	Body  template.HTML
	// Version of the service, for the foot of the page.
	Version string
	// Hidden pages ask search engines not to list them.
	Hidden bool
	// Accounts says that people can sign in here.
	Accounts bool
	// Script is the path of a script that the page has instead of the usual one.
	Script string

	// Chain is the chain that the page is about, and Chains are all that can be looked at;
	// "" and none where that is not known.
	Chain  string
	Chains []string
	// Canonical is the one address of the page, JSON the call of the API that answers the
	// same, and AsJSON where a person sees its answer.
	Canonical, JSON, AsJSON string
	// Image is the picture that sharers show of the page; "" for none.
	Image string
	// Notice stands on top of the page: why what it shows may be old.
	Notice template.HTML
	// Remarks stand below it: what was asked for and not understood.
	Remarks []string
	// AsOf says which block the page is as of. Follow names it for the script: a chain, a
	// number and a hash, with spaces between.
	AsOf   template.HTML
	Follow string
	// List is the path of a list below its chain, such as /blocks, which every chain has.
	List string
	// Query is what was searched for. Live pages may ask for what is new, and for
	// suggestions; Home has a search box of its own.
	Query      string
	Live, Home bool
}

// choice is a link to one of several.
type choice struct {
	text, href string
	current    bool
}

// choices lead to the same list of every chain, or else to what there is of it; none where
// there is nothing to choose.
func (p *Page) choices() (out []choice) {
	if len(p.Chains) < 2 {
		return nil
	}
	for _, id := range p.Chains {
		out = append(out, choice{id, "/" + id + p.List, id == p.Chain})
	}
	return out
}

// navigation leads to the lists of the page's chain, or else of the first one.
func (p *Page) navigation() []Link {
	chain := p.Chain
	if chain == "" {
		if len(p.Chains) == 0 {
			return nil
		}
		chain = p.Chains[0]
	}
	links := make([]Link, 0, len(sections))
	for _, l := range sections {
		links = append(links, Link{l.Text, strings.Replace(l.Href, "{chain}", chain, 1)})
	}
	return links
}

// sections are the entries of the navigation, with {chain} in the place of a chain.
var sections = []Link{
	{"Blocks", "/{chain}/blocks"},
	{"Transactions", "/{chain}/txs"},
	{"Tokens", "/{chain}/tokens"},
	{"Events", "/{chain}/events"},
	{"Messages", "/{chain}/messages"},
	{"Privacy pool", "/{chain}/privacy-pool"},
	{"Verification", "/verification"},
	{"Status", "/status"},
}

// Group writes a number with separators, such as 1,234,567.
func Group(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// stamp renders a moment for people and for programs.
func stamp(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`) //nolint:gosec // digits and fixed text
}

// policy forbids everything that a page of ours does not need.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// livePolicy lets a page ask where it came from for what is new.
const livePolicy = policy + "; connect-src 'self'"

// ContentType is the media type of pages.
const ContentType = "text/html; charset=utf-8"

// SetHeaders sets the headers that every page carries.
func SetHeaders(h http.Header) {
	h.Set("Content-Type", ContentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
}

// SetLiveHeaders are those of a page that asks for what is new.
func SetLiveHeaders(h http.Header) {
	SetHeaders(h)
	h.Set("Content-Security-Policy", livePolicy)
}

// Write sends a page.
func Write(w http.ResponseWriter, r *http.Request, status int, p Page) {
	body := HTML(p)
	h := w.Header()
	SetHeaders(h)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) //nolint:errcheck // the client went away
	}
}

// render runs a template of this package into trusted HTML.
func render(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by a template, which escapes
}

// clip shortens a text that came from outside.
func clip(n int, s string) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// Content is what has a body for a page.
type Content interface {
	Body() (template.HTML, error)
}
