package pages

import (
	"net/http"
	"strconv"
	"strings"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// cureOf is what to do about a failure, for people who look at a page.
func cureOf(code kernel.Code) string {
	if code == kernel.CodeInvalidRequest {
		return "Correct what the message names. A page is made without parameters that it does not know, and says so; a file refuses them."
	}
	return kernel.Codes[code].Cure
}

// refuse tells a person what went wrong, and what to do.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, chainID string, e *kernel.Error) {
	w.Header().Add("Vary", "Accept")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") { // a program, for which there is the envelope
		kernel.SendError(w, r, e, kernel.RecordOf(w).ID, nil)
		return
	}
	code := kernel.Codes[e.Code]
	title := code.Title
	missing, newest := e.Code == kernel.CodeNotFound, ""
	switch {
	case e.Reason == kernel.ReasonBlockNotFound && r.URL.Query().Has("block"):
		// The block is what is missing, and not what the page is about.
		title, missing, newest = "No such block on "+chainID, false, without(r, "block")
	case missing && chainID != "":
		title = "Not found on " + chainID
	}
	body, err := render("refused.html", map[string]any{
		"Title": title, "Message": sentence(e.Message), "Cure": cureOf(e.Code), "Slug": code.Slug, "Chain": chainID, "Missing": missing, "Newest": newest,
		"Others": p.others(chainID, r.URL.EscapedPath()), "Undone": p.undone(r, chainID, missing), "ID": kernel.RecordOf(w).ID, "Retry": e.RetryAfter, "Again": firstPage(r, e),
	})
	if err != nil {
		kernel.SendError(w, r, e, kernel.RecordOf(w).ID, nil)
		return
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	page := p.page(r, title+" · Chain Explorer", "")
	page.Body, page.Hidden, page.Chain = body, true, chainID
	web.Write(w, r, code.Status, page)
}

// firstPage is where a list begins whose cursor is no longer good: a fork took away what it
// pointed to, or it was kept for too long. "" where that is not what went wrong.
func firstPage(r *http.Request, e *kernel.Error) string {
	if e.Code != kernel.CodeInvalidCursor {
		return ""
	}
	return without(r, "cursor")
}

// without is the address of a page without a parameter.
func without(r *http.Request, name string) string {
	q := r.URL.Query()
	q.Del(name)
	return withQuery(r.URL.EscapedPath(), q)
}

// others are the same path on the other chains.
func (p *Pages) others(chainID, path string) (out []web.Link) {
	for _, id := range p.routes.Order {
		if rest, ok := strings.CutPrefix(path, "/"+chainID+"/"); ok && id != chainID {
			out = append(out, web.Link{Text: id, Href: "/" + id + "/" + rest})
		}
	}
	return out
}
