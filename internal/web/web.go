// Package web renders the service's pages. They are plain HTML with one style
// sheet inside: nothing is loaded from elsewhere, so that they work offline and
// a strict content security policy holds.
package web

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
)

//go:embed style.css
var style string

//go:embed layout.html
var layoutText string

var layout = template.Must(template.New("layout").Parse(layoutText))

// Link is an entry of a page's navigation.
type Link struct{ Text, Href string }

// Page is a whole page. Body is trusted HTML made by a template of this package
// or by the caller's own.
type Page struct {
	Title string
	Nav   []Link
	Body  template.HTML
}

// policy forbids everything that a page of ours does not need.
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Write sends a page.
func Write(w http.ResponseWriter, r *http.Request, status int, p Page) {
	var b bytes.Buffer
	err := layout.Execute(&b, struct {
		Page
		Style template.CSS
	}{p, template.CSS(style)})
	if err != nil {
		http.Error(w, "page failed", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(b.Bytes()) //nolint:errcheck // the client went away
	}
}

// Render runs a template into trusted HTML.
func Render(t *template.Template, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("render %s: %w", t.Name(), err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by a template, which escapes
}
