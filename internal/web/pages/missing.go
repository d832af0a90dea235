package pages

import (
	"net/http"
	"net/url"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// nicknames are what people call chains, besides their ids.
var nicknames = map[string]string{"main": "SN_MAIN", "mainnet": "SN_MAIN", "sepolia": "SN_SEPOLIA", "testnet": "SN_SEPOLIA"}

// mostGuesses bounds what a page offers for a path that is none.
const mostGuesses = 6

// missing tells a person that a path has no page. A chain by another name is taken for the
// one that is meant; what stands in the path and can be searched for is offered.
func (p *Pages) missing(w http.ResponseWriter, r *http.Request) {
	first, rest, more := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	id := p.chainCalled(first)
	if id != "" && id != first {
		to := "/" + url.PathEscape(id)
		if more {
			to += "/" + rest
		}
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		kernel.Lead(w, http.StatusPermanentRedirect, to)
		return
	}
	body, err := render("missing.html", map[string]any{"Guesses": p.guesses(r.URL.Path, id), "Chains": p.Chains})
	if err != nil {
		kernel.SendError(w, r, kernel.Fail(kernel.CodeUnsupportedRoute, "There is no such page."), kernel.RecordOf(w).ID, nil)
		return
	}
	page := p.page(r, "There is no such page · Chain Explorer", "")
	page.Body, page.Hidden, page.Chain, page.Canonical = body, true, id, ""
	web.Write(w, r, http.StatusNotFound, page)
}

// chainCalled is the chain that is served under a name, "" for none.
func (p *Pages) chainCalled(name string) string {
	name = strings.ToLower(name)
	for _, id := range p.Chains {
		if strings.ToLower(id) == name || nicknames[name] == id {
			return id
		}
	}
	return ""
}

// kinds are the pages below a chain that are named by what follows.
var kinds = map[string]bool{"block": true, "tx": true, "address": true, "contract": true, "class": true, "token": true, "message": true}

// guesses are where a path may have been meant to lead.
func (p *Pages) guesses(path, id string) (out []web.Link) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if id == "" && len(parts) >= 2 && kinds[parts[0]] && searchable(parts[1]) {
		for _, id := range p.Chains {
			out = append(out, web.Link{Text: "this " + parts[0] + " on " + id, Href: "/" + url.PathEscape(id) + "/" + parts[0] + "/" + url.PathEscape(parts[1])})
		}
	}
	for _, part := range parts {
		if len(out) < mostGuesses && searchable(part) {
			out = append(out, web.Link{Text: "search for " + shorten(part), Href: "/search?q=" + url.QueryEscape(part)})
		}
	}
	if id != "" {
		out = append(out, web.Link{Text: id + " at a glance", Href: "/" + url.PathEscape(id)})
	}
	return out
}

// searchable says whether a part of a path can be the name of something: a number, or a felt.
func searchable(part string) bool {
	if _, ok := kernel.NumberOf(part); ok {
		return true
	}
	_, err := felt.Parse(part)
	return err == nil
}
