package kernel_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestPagesAskOpenRoutes: what a key must be worth something for does not become public
// by a page. Whoever writes such a page sees it fail, always.
func TestPagesAskOpenRoutes(t *testing.T) {
	routes := map[string]func(*kernel.Route){
		"open":       func(*kernel.Route) {},
		"partners":   func(r *kernel.Route) { r.Tier = kernel.TierPartner },
		"shown":      func(r *kernel.Route) { r.Tier, r.Scope, r.Shown = kernel.TierPartner, account.Partner, true },
		"shownmore":  func(r *kernel.Route) { r.Tier, r.Scope, r.Shown = kernel.TierPartner, account.Partner, true },
		"shownelse":  func(r *kernel.Route) { r.Tier, r.Scope, r.Shown = kernel.TierPartner, account.Trace, true },
		"scoped":     func(r *kernel.Route) { r.Scope = account.Partner },
		"both":       func(r *kernel.Route) { r.Scope = account.Read | account.Trace },
		"unscoped":   func(r *kernel.Route) { r.Scope = 0 },
		"people":     func(r *kernel.Route) { r.Session = true },
		"operators":  func(r *kernel.Route) { r.Audience = kernel.Operator },
		"utility":    func(r *kernel.Route) { r.Tier = kernel.TierUtility },
		"everywhere": func(r *kernel.Route) { r.Audience = "" },
	}
	reached := map[string]bool{}
	w := servertest.New(t, 2)
	for id, change := range routes {
		r := kernel.Route{ID: id, Method: http.MethodGet, Path: "/v1/test/" + id, Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light,
			Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock}
		change(&r)
		servertest.AddRead(w.Server, r, func(context.Context) error { reached[id] = true; return nil })
		w.Server.HandleSheet(kernel.Sheet{ID: "page of " + id, Pattern: "GET /pages/" + id, Dress: func(http.Header) {},
			Make: func(rw http.ResponseWriter, r *http.Request) error {
				query := url.Values{}
				if id == "shownmore" { // a list beyond its beginning
					query.Set("cursor", "x")
				}
				_, err := w.Server.Ask(r.Context(), id, query)
				rw.Write([]byte("made")) //nolint:errcheck // a recorder never fails
				return err
			},
			Refuse: func(rw http.ResponseWriter, r *http.Request, e *kernel.Error) {
				kernel.SendError(rw, r, e, kernel.RecordOf(rw).ID, nil)
			}})
	}
	for id := range routes {
		want := http.StatusInternalServerError
		if id == "open" || id == "shown" {
			want = http.StatusOK
		}
		if r := w.Do(http.MethodGet, "/pages/"+id, ""); r.StatusCode != want {
			t.Errorf("a page over %s: %d, want %d: %s %s", id, r.StatusCode, want, r.Body, w.Logs)
		}
	}
	if len(reached) != 2 || !reached["open"] || !reached["shown"] {
		t.Errorf("pages reached %v", reached)
	}
}
