package signin_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
)

// both are the tests that hold for both kinds of control database.
var both = map[string]func(*testing.T, *world){
	"Link": testLink, "Fixation": testFixation, "ReplayAfterLogout": testReplayAfterLogout, "Everywhere": testEverywhere,
	"Expiry": testExpiry, "OtherWorkspace": testOtherWorkspace, "OneWinner": testOneWinner, "Removed": testRemoved,
}

func TestOnFile(t *testing.T) {
	servertest.Watched(t)
	for name, run := range both {
		t.Run(name, func(t *testing.T) { run(t, newWorldOn(t, controltest.File(t))) })
	}
}

func TestOnPostgres(t *testing.T) {
	for name, run := range both {
		t.Run(name, func(t *testing.T) { run(t, newWorldOn(t, controltest.Server(t))) })
	}
}

// testLink: a link may be looked at any number of times, and is used up by whoever
// confirms it.
func testLink(t *testing.T, w *world) {
	b, link := w.browser(), w.link("ada", w.Space)
	b.get(signin.Path).wants(t, 200, "Open the link")
	for range 3 { // as scanners of mail do, too
		w.browser().get(link).wants(t, 200, "ada", w.Space.Name)
		w.browser().send(http.MethodHead, link, nil).wants(t, 200)
	}
	p := b.get(link).wants(t, 200, "<strong>ada</strong>", "<strong>"+w.Space.Name+"</strong>", `name="robots" content="noindex"`)
	for name, want := range map[string]string{"Cache-Control": "private, no-store", "Referrer-Policy": "strict-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Access-Control-Allow-Origin": "", "X-Frame-Options": "DENY", "Content-Type": "text/html; charset=utf-8"} {
		if got := p.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	in := b.post(signin.LinkPath, p.form()).leads(t, accountpages.Path)
	set := cookiesOf(in)
	c := set[kernel.PlainCookie]
	if c == nil || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != int(session.Lifetime.Seconds()) {
		t.Errorf("the cookie is %v", c)
	}
	if gone := set["chainexplorer_login"]; gone == nil || gone.MaxAge != -1 {
		t.Errorf("the attempt is left: %v", gone)
	}
	w.Secret(b.token())
	if !w.may(b.token()) {
		t.Error("the cookie is nobody's")
	}
	servertest.Expect(t, w.Do(http.MethodPost, keysPath, "", "Cookie", kernel.PlainCookie+"="+b.token()), 403, kernel.CodeForbidden, nil)
	b.get(signin.Path).wants(t, 200, "<strong>ada</strong>", w.Space.Name, "Sign out everywhere")

	again := w.browser()
	again.get(link).wants(t, 404, "not good")
	other := again.get(w.link("ada", w.Space)).form()
	used, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	other.Set("token", used.Query().Get("token"))
	again.post(signin.LinkPath, other).wants(t, 403) // the form was for another link
	both, first := w.link("ada", w.Space), w.browser()
	form, late := first.get(both).form(), again.get(both).form()
	first.post(signin.LinkPath, form).leads(t, accountpages.Path)
	w.Secret(first.token())
	again.post(signin.LinkPath, late).wants(t, 404, "not good")
	if again.token() != "" {
		t.Error("a link was good twice")
	}
}

// testFixation: what somebody else put into the browser, or knows of it, is worth
// nothing after a sign-in.
func testFixation(t *testing.T, w *world) {
	mallory := w.browser()
	theirs := mallory.signIn("mallory", w.Space)
	for _, planted := range []string{theirs, "ses." + strings.Repeat("B", 42) + "A", "nonsense"} {
		b := w.browser()
		b.plant(kernel.PlainCookie, planted)
		token := b.signIn("ada", w.Space)
		if token == planted || w.may(planted) || !w.may(token) {
			t.Errorf("the planted %.8s… is good, or the new token is not", planted)
		}
	}
	// A secret of an attempt that somebody knows makes no session that they know.
	b := w.browser()
	b.plant("chainexplorer_login", strings.Repeat("A", 43))
	if token := b.signIn("ada", w.Space); strings.Contains(token, "AAAA") {
		t.Error("the token follows from the attempt")
	}
	mallory.get(signin.Path).wants(t, 200, "Open the link")
}

func testReplayAfterLogout(t *testing.T, w *world) {
	b, stays := w.browser(), w.browser()
	token, other := b.signIn("ada", w.Space), stays.signIn("ada", w.Space)
	form := b.get(signin.Path).form()
	out := b.post(signin.LogoutPath, form).leads(t, signin.Path)
	if c := cookiesOf(out)[kernel.PlainCookie]; c == nil || c.MaxAge != -1 || c.Value != "" {
		t.Errorf("the cookie is left: %v", c)
	}
	if b.token() != "" || w.may(token) || !w.may(other) {
		t.Error("the session is not the one that ended")
	}
	thief := w.browser()
	thief.plant(kernel.PlainCookie, token)
	thief.get(signin.Path).wants(t, 200, "Open the link")
	thief.post(signin.LogoutPath, form).leads(t, signin.Path)
	if got := w.Do(http.MethodGet, keysPath, "", "Authorization", "Bearer "+token).StatusCode; got != 401 {
		t.Errorf("as a bearer token it gets %d", got)
	}
}

func testEverywhere(t *testing.T, w *world) {
	one, two, bob := w.browser(), w.browser(), w.browser()
	tokens := []string{one.signIn("ada", w.Space), two.signIn("ada", w.Space)}
	theirs, unused := bob.signIn("bob", w.Space), w.link("ada", w.Space)
	form := one.get(signin.Path).form()
	form.Set("all", "1")
	one.post(signin.LogoutPath, form).leads(t, signin.Path)
	if slices.ContainsFunc(tokens, w.may) || !w.may(theirs) {
		t.Error("not exactly her sessions ended")
	}
	w.browser().get(unused).wants(t, 404)
}

func testExpiry(t *testing.T, w *world) {
	b := w.browser()
	token := b.signIn("ada", w.Space)
	form := b.get(signin.Path).form()
	link := w.link("ada", w.Space)
	p := b.get(link).wants(t, 200)
	w.Clock.Advance(session.LinkTime)
	b.get(link).wants(t, 404)
	b.post(signin.LinkPath, p.form()).wants(t, 404)
	w.Clock.Advance(session.Idle)
	if w.may(token) {
		t.Error("it outlived its time")
	}
	b.get(signin.Path).wants(t, 200, "Open the link")
	b.post(signin.LogoutPath, form).leads(t, signin.Path)
}

// testOtherWorkspace: a session is of one workspace, whoever the person is.
func testOtherWorkspace(t *testing.T, w *world) {
	_, space := w.Stranger("other", account.Free, account.Limits{})
	b := w.browser()
	here := b.signIn("ada", w.Space)
	there := w.browser()
	other := there.signIn("ada", space)
	there.get(signin.Path).wants(t, 200, "<strong>other</strong>")
	lists := map[string]string{}
	for _, token := range []string{here, other} {
		lists[token] = string(w.Do(http.MethodGet, keysPath, "", "Cookie", kernel.PlainCookie+"="+token).Plain())
	}
	if lists[here] == lists[other] || lists[here] == "" {
		t.Error("both see the same keys")
	}
	// The form of one session is of no use in the other.
	there.post(signin.LogoutPath, b.get(signin.Path).form()).wants(t, 403)
	if !w.may(other) {
		t.Error("it was signed out")
	}
	// A sign-in to the other workspace ends the session in this one.
	moved := b.signIn("ada", space)
	if w.may(here) || !w.may(moved) {
		t.Error("the first session is still open")
	}
}

// testOneWinner: of many who confirm a link at once, one is let in.
func testOneWinner(t *testing.T, w *world) {
	link := w.link("ada", w.Space)
	var in atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		b := w.browser()
		form := b.get(link).form()
		all.Go(func() {
			if b.post(signin.LinkPath, form).StatusCode == http.StatusSeeOther {
				in.Add(1)
				w.Secret(b.token())
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in", in.Load())
	}
}

// remove takes somebody out of the workspace, which somebody else owns then.
func (w *world) remove(personID string) error {
	s, err := w.People.Open(w.T.Context(), "root", w.Space.ID)
	if err != nil {
		return err
	}
	w.Secret(s.Token)
	if err := w.People.SetRole(w.T.Context(), s.PersonID, w.Space.ID, session.Owner, "operator"); err != nil {
		return err
	}
	return w.People.Leave(w.T.Context(), personID, w.Space.ID, "operator")
}

// testRemoved: who is no member any more is signed out.
func testRemoved(t *testing.T, w *world) {
	b := w.browser()
	token, link := b.signIn("ada", w.Space), w.link("ada", w.Space)
	ids, err := w.People.PeopleByName(t.Context(), "ada")
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	if err := w.remove(ids[0]); err != nil {
		t.Fatal(err)
	}
	b.get(link).wants(t, 404)
	if w.may(token) {
		t.Error("she is still signed in")
	}
}

// TestSecure: over TLS the cookies have the prefix and go nowhere else; whether it is
// TLS is said by the operator, or by a proxy that is trusted.
func TestSecure(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*servertest.Options)
		headers []string
		secure  bool
	}{
		"by the address":     {func(o *servertest.Options) { o.BaseURL = "https://api.example" }, []string{"Origin", "https://api.example"}, true},
		"by a proxy":         {func(o *servertest.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }, []string{"X-Forwarded-Proto", "https", "Origin", "https://{host}"}, true},
		"a stranger says so": {func(*servertest.Options) {}, []string{"X-Forwarded-Proto", "https"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.change)
			headers := slices.Clone(c.headers)
			for i := range headers {
				headers[i] = strings.ReplaceAll(headers[i], "{host}", strings.TrimPrefix(w.URL, "http://"))
			}
			b := w.browser()
			p := b.get(w.link("ada", w.Space), headers...).wants(t, 200)
			in := b.post(signin.LinkPath, p.form(), headers...).leads(t, accountpages.Path)
			want := kernel.PlainCookie
			if c.secure {
				want = kernel.SecureCookie
			}
			got := cookiesOf(in)[want]
			if got == nil || got.Secure != c.secure || !got.HttpOnly || got.Path != "/" || got.Domain != "" {
				t.Fatalf("the cookies are %v", in.Header["Set-Cookie"])
			}
			w.Secret(got.Value)
		})
	}
}

func cookiesOf(p page) map[string]*http.Cookie {
	out := map[string]*http.Cookie{}
	for _, c := range p.Cookies() {
		out[c.Name] = c
	}
	return out
}
