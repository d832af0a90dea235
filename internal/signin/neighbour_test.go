package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/signin"
)

// TestNeighbour: somebody who fails at the same address does not lock out who is signed
// in; whoever is not is told so by a page.
func TestNeighbour(t *testing.T) {
	w := newWorld(t, func(o *servertest.Options) { o.AnonymousPerMinute = 120 }) // 30 at once
	b := w.browser()
	token := b.signIn("ada", w.Space)
	bob, eve := w.SignIn("bob", w.Space).Token, w.SignIn("eve", w.Space).Token // nobody has used them
	b.get(accountpages.Path).wants(t, http.StatusOK)
	fail := func() int {
		return w.Do(http.MethodGet, keysPath, "", "Authorization", "Bearer ses."+strings.Repeat("x", 43)).StatusCode
	}
	for fail() != http.StatusTooManyRequests {
	}
	for w.browser().get(signin.Path).StatusCode != http.StatusTooManyRequests {
	}
	b.get(accountpages.Path).wants(t, http.StatusOK)
	b.get(signin.Path).wants(t, http.StatusOK, "ada")
	if r := w.Do(http.MethodGet, keysPath, "", "Authorization", "Bearer "+token); r.StatusCode != http.StatusOK {
		t.Errorf("a session in use: %d %s", r.StatusCode, r.Plain())
	}
	// Nor who is signed in and was not seen lately.
	if r := w.Do(http.MethodGet, keysPath, "", "Authorization", "Bearer "+bob); r.StatusCode != http.StatusOK {
		t.Errorf("a session that was not in use: %d %s", r.StatusCode, r.Plain())
	}
	other := w.browser()
	other.plant("chainexplorer_session", eve)
	other.get(accountpages.Path).wants(t, http.StatusOK)
	p := w.browser().get(signin.Path).wants(t, http.StatusTooManyRequests, "<h1>")
	if kind := p.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") || p.Header.Get("Retry-After") == "" {
		t.Errorf("a stranger: %s, %v", kind, p.Header)
	}
	// A session that has ended is a stranger's again, once that was found out.
	b.post(signin.LogoutPath, b.get(signin.Path).form()).leads(t, signin.Path)
	b.plant("chainexplorer_session", token)
	b.get(accountpages.Path).leads(t, signin.Path+"?"+url.Values{"next": {accountpages.Path}}.Encode())
	b.get(accountpages.Path).wants(t, http.StatusTooManyRequests)
	if fail() != http.StatusTooManyRequests {
		t.Error("the neighbour may go on")
	}
}
