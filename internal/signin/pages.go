package signin

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

//go:embed pages.html
var pages string

var templates = template.Must(template.New("").Parse(pages))

// Write sends a page for one person's eyes. Its head is that of all pages; it is in no
// search engine, and nothing keeps it.
func (d *Desk) Write(w http.ResponseWriter, r *http.Request, status int, p web.Page) {
	p.Hidden, p.Version, p.Accounts, p.Chains = true, d.Version, true, d.chains
	body := web.HTML(p)
	h := w.Header()
	web.SetHeaders(h)
	// With no-referrer, which other pages have, browsers say of a form that it comes from
	// nowhere. This much tells the origin, and never the address, which may hold a link's token.
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) //nolint:errcheck // the client went away
	}
}

// show sends a page of this package.
func (d *Desk) show(w http.ResponseWriter, r *http.Request, status int, title, name string, data map[string]any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		d.Log.Error("page", "request_id", kernel.RecordOf(w).ID, "err", err)
		kernel.SendError(w, r, kernel.Fail(kernel.CodeInternal, "Something went wrong on our side."), kernel.RecordOf(w).ID, nil)
		return
	}
	d.Write(w, r, status, web.Page{Title: title, Body: template.HTML(b.String())}) //nolint:gosec // made by a template, which escapes
}

// Refuse tells a person why something was not done.
func (d *Desk) Refuse(w http.ResponseWriter, r *http.Request, status int, title, why string) {
	d.show(w, r, status, title, "refused", map[string]any{"Title": title, "Why": why, "Again": Path, "RequestID": kernel.RecordOf(w).ID})
}

// fail is Refuse for failures of the kernel.
func (d *Desk) fail(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	d.Refuse(w, r, kernel.Codes[e.Code].Status, kernel.Codes[e.Code].Title, e.Message)
}

// unavailable is what the database could not do.
func (d *Desk) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	d.Log.Warn("request refused", "request_id", kernel.RecordOf(w).ID, "err", err)
	d.fail(w, r, kernel.RetryLater(1, err, "Accounts cannot be reached right now. Nothing was changed; try again."))
}

// foreign refuses a form of somebody else's page.
func (d *Desk) foreign(w http.ResponseWriter, r *http.Request) {
	d.Refuse(w, r, http.StatusForbidden, "This form came from another site", "Nothing was changed.")
}
