package accountpages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
)

var paths = []string{"/account", "/account/keys", "/account/usage", "/account/members", "/account/redeem"}

// forms are what can be sent, and where.
var forms = map[string][]string{
	"/account/keys":    {"issue", "revoke"},
	"/account/redeem":  {"redeem"},
	"/account/members": {"invite", "own", "disown", "remove", "leave", "end", "end-others", "end-member"},
}

// TestNobodySeesAnything: without a session of their own people are led to sign in, and
// change nothing.
func TestNobodySeesAnything(t *testing.T) {
	w := newWorld(t)
	ended := w.SignIn("eve", w.Space)
	if err := w.People.End(t.Context(), ended.Token); err != nil {
		t.Fatal(err)
	}
	for what, headers := range map[string][]string{
		"nothing":            nil,
		"a key":              {"X-Service-Api-Key", w.Key},
		"a bearer token":     {"Authorization", "Bearer " + w.ada.Token},
		"an ended session":   {"Cookie", cookie(ended)},
		"nonsense":           {"Cookie", kernel.PlainCookie + "=x"},
		"two cookies":        {"Cookie", cookie(w.ada) + "; " + cookie(ended)},
		"the secure cookie":  {"Cookie", kernel.SecureCookie + "=" + w.ada.Token}, // which is not for plain HTTP
		"a key, as a cookie": {"Cookie", kernel.PlainCookie + "=" + w.Key},
	} {
		for _, path := range paths {
			r := w.Do(http.MethodGet, path, "", headers...)
			want := "/login?next=" + url.QueryEscape(path)
			if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want || len(r.Body) > 0 {
				t.Errorf("%s with %s: %d to %s: %s", path, what, r.StatusCode, r.Header.Get("Location"), r.Body)
			}
		}
	}
	for path, actions := range forms {
		for _, action := range actions {
			form := url.Values{"form": {w.token(w.ada)}, "action": {action}, "name": {"x"}, "person": {w.ada.PersonID}}
			if r := w.post(session.Opened{}, path, form, "Origin", w.URL); r.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %s: %d", path, action, r.StatusCode)
			}
		}
	}
	w.unchanged(t, "nobody")
}

// unchanged holds the workspace against what it is at first.
func (w *world) unchanged(t *testing.T, what string) {
	t.Helper()
	if _, there, err := w.Repo.DefaultKey(t.Context(), w.Space.ID); there || err != nil {
		t.Errorf("%s issued a key: %v", what, err)
	}
	keys, _, err := w.Repo.ListKeys(t.Context(), w.Space.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Status != account.Active {
			t.Errorf("%s revoked a key", what)
		}
	}
	if _, err := w.People.Authenticate(t.Context(), w.ada.Token); err != nil {
		t.Errorf("%s ended ada's session: %v", what, err)
	}
	members, _, err := w.People.Members(t.Context(), w.Space.ID, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if want := map[bool]session.Role{true: session.Owner, false: session.Ordinary}[m.Name == "ada"]; m.Role != want || m.JoinedAt == nil {
			t.Errorf("%s: %+v", what, m)
		}
	}
}

// TestForgedForms: no page of another site, no form of another session, and none
// without the token changes anything.
func TestForgedForms(t *testing.T) {
	w := newWorld(t)
	bob, other := w.SignIn("bob", w.Space), w.SignIn("ada", w.Space)
	own := []string{"Origin", w.URL, "Sec-Fetch-Site", "same-origin"}
	good := w.token(w.ada)
	keys, _, err := w.Repo.ListKeys(t.Context(), w.Space.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		form    string
		headers []string
	}{
		"no token":                      {"", own},
		"the token of bob's session":    {w.token(bob), own},
		"the token of her other one":    {w.token(other), own},
		"a page of another site":        {good, []string{"Origin", servertest.StrangeOrigin}},
		"a page of a configured origin": {good, []string{"Origin", servertest.AllowedOrigin}},
		"a page without an origin":      {good, []string{"Origin", "null"}},
		"another site, says fetch":      {good, []string{"Sec-Fetch-Site", "cross-site"}},
		"the same site, says fetch":     {good, []string{"Sec-Fetch-Site", "same-site"}},
	} {
		for path, actions := range forms {
			for _, action := range actions {
				form := url.Values{"form": {c.form}, "action": {action}, "current": {""}, "key": {keys[0].PublicID}, "name": {"mallory"}, "person": {bob.PersonID}, "session": {other.SessionID}}
				if r := w.post(w.ada, path, form, c.headers...); r.StatusCode != http.StatusForbidden {
					t.Errorf("%s, %s %s: %d", what, path, action, r.StatusCode)
				}
				w.Clock.Advance(time.Second) // people may ask so often
			}
		}
	}
	w.unchanged(t, "a forged form")
	if _, err := w.People.Authenticate(t.Context(), other.Token); err != nil {
		t.Error("a forged form ended a session")
	}
}

// TestForOneReader: nobody keeps a copy of a page, no page of another origin reads it, and
// the policy lets no script in that is not ours.
func TestForOneReader(t *testing.T) {
	w := newWorld(t)
	for _, path := range paths {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r := w.Do(method, path, "", "Cookie", cookie(w.ada), "Origin", servertest.AllowedOrigin)
			policy := r.Header.Get("Content-Security-Policy")
			if r.StatusCode != 200 || !strings.Contains(r.Header.Get("Cache-Control"), "no-store") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "script-src 'self'") ||
				r.Header.Get("Access-Control-Allow-Origin") != "" || r.Header.Get("X-Frame-Options") != "DENY" || (method == http.MethodHead) != (len(r.Body) == 0) {
				t.Errorf("%s %s: %d %v", method, path, r.StatusCode, r.Header)
			}
		}
	}
	r := w.send(w.ada, "/account/keys", "action", "issue", "current", "")
	w.Secrets = append(w.Secrets, shownKey.FindString(string(r.Body)))
	if !strings.Contains(r.Header.Get("Cache-Control"), "no-store") {
		t.Errorf("the page with the key: %v", r.Header)
	}
}

// TestPagesAreSound: every control has a name, every link and form leads somewhere of
// ours, and nothing is styled or scripted in place.
func TestPagesAreSound(t *testing.T) {
	w := newWorld(t)
	bob := w.SignIn("bob", w.Space)
	w.SignIn("ada", w.Space)
	w.RevokedKey()
	w.record(w.Issue().Key, w.Clock.Now(), 30, 20, "light")
	w.flush()
	for _, s := range []session.Opened{w.ada, bob} {
		for _, path := range paths {
			root, err := html.Parse(strings.NewReader(w.page(s, path)))
			if err != nil {
				t.Fatal(err)
			}
			w.checkSound(t, path, root)
		}
	}
}

func (w *world) checkSound(t *testing.T, path string, root *html.Node) {
	t.Helper()
	labelled, ids, headings, here := map[string]bool{}, map[string]int{}, 0, 0
	for n := range root.Descendants() {
		at := attributes(n)
		if n.Data == "label" {
			labelled[at["for"]] = true
		}
		if at["id"] != "" {
			ids[at["id"]]++
		}
		if n.Data == "h1" {
			headings++
		}
		if at["aria-current"] == "page" {
			here++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%s: %d elements are called %s", path, n, id)
		}
	}
	if headings != 1 || here != 1 {
		t.Errorf("%s has %d headings, and is at %d tabs", path, headings, here)
	}
	for n := range root.Descendants() {
		at := attributes(n)
		for name := range at {
			if name == "style" || strings.HasPrefix(name, "on") {
				t.Errorf("%s: <%s %s>", path, n.Data, name)
			}
		}
		switch n.Data {
		case "input":
			if at["type"] != "hidden" && !labelled[at["id"]] {
				t.Errorf("%s: the field %s has no label", path, at["name"])
			}
		case "button":
			if strings.TrimSpace(text(n)) == "" {
				t.Errorf("%s: a button without a name", path)
			}
		case "form":
			if at["role"] == "search" && at["method"] == "get" && at["action"] == "/search" {
				continue
			}
			if at["method"] != "post" || !strings.HasPrefix(at["action"], "/") {
				t.Errorf("%s: a form to %s by %s", path, at["action"], at["method"])
			}
		case "a":
			to, fragment, _ := strings.Cut(at["href"], "#")
			if !strings.HasPrefix(to, "/account") && to != "" {
				continue // the documents have a test of their own
			}
			r := w.Do(http.MethodGet, to, "", "Cookie", cookie(w.ada))
			if r.StatusCode != 200 || fragment != "" && !strings.Contains(string(r.Body), `id="`+fragment+`"`) {
				t.Errorf("%s leads to %s: %d", path, at["href"], r.StatusCode)
			}
			w.Clock.Advance(time.Second)
		}
	}
}

func attributes(n *html.Node) map[string]string {
	out := map[string]string{}
	for _, a := range n.Attr {
		out[a.Key] = a.Val
	}
	return out
}

func text(n *html.Node) (out string) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out += d.Data
		}
	}
	return out
}

// TestHostileNames: what people call themselves and their things stays text.
func TestHostileNames(t *testing.T) {
	w := newWorld(t)
	evil := `<script>x</script>"'>`
	space, err := w.Repo.CreateWorkspace(t.Context(), evil, account.Free)
	if err != nil {
		t.Fatal(err)
	}
	k, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: space.ID, Label: evil})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, k.Plaintext)
	s := w.SignIn(evil, space)
	w.record(k.Key, w.Clock.Now(), 3, 1, "light")
	w.flush()
	for _, path := range paths {
		page := w.page(s, path)
		if strings.Contains(page, "<script>x") || !strings.Contains(page, "&lt;script&gt;x") {
			t.Errorf("%s: %s", path, page)
		}
	}
	r := w.send(s, "/account/members", "action", "invite", "name", evil+"2")
	if strings.Contains(string(r.Body), "<script>x") || r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// TestDatabaseAway: who cannot be known is told so, and nothing else.
func TestDatabaseAway(t *testing.T) {
	w := newWorld(t)
	form := url.Values{"form": {w.token(w.ada)}, "action": {"issue"}}
	w.CloseControl()
	for _, path := range paths {
		r := w.Do(http.MethodGet, path, "", "Cookie", cookie(w.ada))
		if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" || !strings.Contains(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	if r := w.post(w.ada, "/account/keys", form, "Origin", w.URL); r.StatusCode != http.StatusServiceUnavailable {
		t.Error(r.StatusCode)
	}
}

// TestOverview: the plan and its limits are those that hold.
func TestOverview(t *testing.T) {
	w := newWorld(t)
	page := w.page(w.ada, "/account")
	p := account.Enterprise.Policy()
	for _, want := range []string{p.PolicyDisplayName, "60,000 a minute", "15,000 a minute", "6,000 a minute", "3,000 requests", fmt.Sprintf("2 of %d", p.MaxActiveKeys),
		"<strong>ada</strong>", "<strong>test</strong>", "2026-02-08 00:00:00 UTC", "Begin with a key"} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	w.issue(w.ada)
	if page := w.page(w.ada, "/account"); strings.Contains(page, "Begin with a key") || !strings.Contains(page, "3 of 200") {
		t.Error("it does not know of the key")
	}
	for _, path := range []string{"/", "/docs", "/nothing"} { // people find the way
		if r := w.Do(http.MethodGet, path, "", "Accept", "text/html"); !strings.Contains(string(r.Body), `href="/account"`) {
			t.Errorf("%s does not lead to the account", path)
		}
	}
}
