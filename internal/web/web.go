// Package web renders the service's pages. They are plain HTML with one style
// sheet, and load nothing from elsewhere, so that they work offline and a strict
// content security policy holds. Every page works without its script, which adds
// comfort alone: a filter, and buttons that copy; but for a page that names a script
// of its own. Everything that a page shows goes through html/template, which escapes it; the only markup that
// texts may carry is that of prose.go.
package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
)

//go:embed *.html
var files embed.FS

//go:embed style.css
var style []byte

//go:embed icon.svg
var icon []byte

//go:embed script.js
var script []byte

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

// Tags make browsers fetch a file again when it has changed.
var styleTag, scriptTag = tagOf(style), tagOf(script)

func tagOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:4])
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
}

// policy forbids everything that a page of ours does not need.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ContentType is the media type of pages.
const ContentType = "text/html; charset=utf-8"

// SetHeaders sets the headers that every page carries.
func SetHeaders(h http.Header) {
	h.Set("Content-Type", ContentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
}

// HTML puts a page into the layout.
func HTML(p Page) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "layout.html", struct {
		Page
		StyleHref, ScriptHref, IconHref string
	}{p, StylePath + "?v=" + styleTag, cmp.Or(p.Script, ScriptPath+"?v="+scriptTag), IconPath})
	if err != nil {
		return nil, fmt.Errorf("render page %q: %w", p.Title, err)
	}
	return b.Bytes(), nil
}

// Write sends a page.
func Write(w http.ResponseWriter, r *http.Request, status int, p Page) {
	body, err := HTML(p)
	if err != nil {
		http.Error(w, "page failed", http.StatusInternalServerError)
		return
	}
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
