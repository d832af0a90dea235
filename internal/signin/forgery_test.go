package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
	"chainexplorer/internal/web"
)

// foreign are what browsers send with a form of somebody else's page.
var foreign = map[string][]string{
	"another site":        {"Origin", servertest.StrangeOrigin},
	"a configured origin": {"Origin", servertest.AllowedOrigin}, // which may call the API; its pages are not ours
	"nowhere":             {"Origin", "null"},
	"another port":        {"Origin", "http://127.0.0.1:1"},
	"another scheme":      {"Origin", "https://{host}"},
	"the browser's word":  {"Origin", "", "Sec-Fetch-Site", "cross-site"},
	"a sibling":           {"Origin", "", "Sec-Fetch-Site", "same-site"},
}

func (w *world) from(headers []string) []string {
	out := make([]string, len(headers))
	for i, h := range headers {
		out[i] = strings.ReplaceAll(h, "{host}", strings.TrimPrefix(w.URL, "http://"))
	}
	return out
}

// TestLoginForgery: nobody is signed in as somebody else by a page that they did not
// look at. The link is still good afterwards.
func TestLoginForgery(t *testing.T) {
	w := newWorld(t)
	link := w.link("mallory", w.Space)
	mallory := w.browser()
	theirs := mallory.get(link).form()
	for name, headers := range foreign {
		victim := w.browser()
		victim.get(w.link("ada", w.Space)) // with an attempt of their own
		victim.post(signin.LinkPath, theirs, w.from(headers)...).wants(t, 403)
		if victim.token() != "" {
			t.Errorf("from %s: signed in", name)
		}
	}
	// Even as if from a page of ours: the form was made for another browser.
	for name, prepare := range map[string]func(*browser){
		"nothing": func(*browser) {}, "an attempt": func(b *browser) { b.get(signin.LinkPath + "?token=x"); b.get(w.link("ada", w.Space)) },
		"a session":   func(b *browser) { b.signIn("ada", w.Space) },
		"two cookies": func(b *browser) { b.plant("chainexplorer_login", "x") },
	} {
		victim := w.browser()
		prepare(victim)
		had := victim.token()
		victim.post(signin.LinkPath, theirs).wants(t, 403, "not made for this browser")
		if victim.token() != had {
			t.Errorf("with %s: signed in", name)
		}
	}
	for _, form := range []url.Values{{}, {"token": theirs["token"]}, {"form": theirs["form"]}, {"form": {""}, "token": theirs["token"]}} {
		mallory.post(signin.LinkPath, form).wants(t, 403)
	}
	// A form is for the link that was shown, in the same browser, too.
	other := mallory.get(w.link("eve", w.Space)).form()
	mallory.post(signin.LinkPath, url.Values{"form": theirs["form"], "token": other["token"]}).wants(t, 403, "this link")
	mallory.post(signin.LinkPath, theirs).leads(t, accountpages.Path)
	w.Secret(mallory.token())
}

// TestLogoutForgery: nobody is signed out by a page of somebody else.
func TestLogoutForgery(t *testing.T) {
	w := newWorld(t)
	b, mallory := w.browser(), w.browser()
	token := b.signIn("ada", w.Space)
	mallory.signIn("mallory", w.Space)
	form := b.get(signin.Path).form()
	for _, headers := range foreign {
		b.post(signin.LogoutPath, form, w.from(headers)...).wants(t, 403)
	}
	for _, form := range []url.Values{{}, {"form": {""}}, {"form": {token}}, mallory.get(signin.Path).form()} {
		b.post(signin.LogoutPath, form).wants(t, 403)
	}
	b.get(signin.LogoutPath).wants(t, 405)
	if !w.may(token) {
		t.Error("she was signed out")
	}
	b.post(signin.LogoutPath, form, "Origin", "", "Sec-Fetch-Site", "same-origin").leads(t, signin.Path)
}

// TestPagesAndActions is about what other pages stand on.
func TestPagesAndActions(t *testing.T) {
	w := newWorld(t)
	done := 0
	w.Desk.Page("GET /test", func(rw http.ResponseWriter, r *http.Request, who session.Who) {
		w.Desk.Write(rw, r, http.StatusOK, web.Page{Title: who.Person})
	})
	w.Desk.Action("POST /test", func(rw http.ResponseWriter, _ *http.Request, who session.Who, form url.Values) {
		if done++; form.Get("what") != "x" || who.Person != "ada" {
			t.Errorf("%v of %s", form, who.Person)
		}
		rw.WriteHeader(http.StatusNoContent)
	})
	b := w.browser()
	b.get("/test?a=b").leads(t, signin.Path+"?next=%2Ftest%3Fa%3Db")
	b.post("/test", url.Values{"what": {"x"}}).wants(t, 401)
	b.signIn("ada", w.Space)
	p := b.get("/test").wants(t, 200, "<title>ada</title>")
	if p.Header.Get("Cache-Control") != "private, no-store" || p.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", p.Header)
	}
	form := b.get(signin.Path).form()
	b.post("/test", url.Values{"what": {"x"}}).wants(t, 403)
	form.Set("what", "x")
	for _, headers := range foreign {
		b.post("/test", form, w.from(headers)...).wants(t, 403)
	}
	b.post("/test?"+form.Encode(), url.Values{}).wants(t, 403) // a form is in the body
	form.Set("long", strings.Repeat("x", 9000))
	b.post("/test", form).wants(t, 413)
	form.Del("long")
	if done != 0 {
		t.Errorf("%d were done", done)
	}
	b.post("/test", form).wants(t, 204)
	if done != 1 {
		t.Errorf("%d were done", done)
	}
	last := page{}
	for range 200 { // the pace of sessions
		if last = b.get("/test"); last.StatusCode != 200 {
			break
		}
	}
	last.wants(t, 429)
	if last.Header.Get("Retry-After") == "" {
		t.Errorf("%v", last.Header)
	}
}

// TestWithoutDatabase: what cannot be asked is not a no, nor a yes.
func TestWithoutDatabase(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.signIn("ada", w.Space)
	form := b.get(signin.Path).form()
	link := w.link("ada", w.Space)
	confirm := b.get(link).form()
	w.CloseControl()
	for name, p := range map[string]page{"welcome": b.get(signin.Path), "link": b.get(link), "redeem": b.post(signin.LinkPath, confirm), "logout": b.post(signin.LogoutPath, form)} {
		if p.wants(t, 503, "cannot be reached"); p.Header.Get("Retry-After") == "" || len(p.Cookies()) > 0 {
			t.Errorf("%s: %v", name, p.Header)
		}
	}
}

// TestKeyInLoginAddress: a key is refused there as everywhere.
func TestKeyInLoginAddress(t *testing.T) {
	w := newWorld(t)
	w.browser().get(signin.Path+"?key="+w.Key).wants(t, 400, string(kernel.CodeInvalidRequest))
}
