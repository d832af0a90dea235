package accountpages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
)

// TestSwitch: who belongs to two workspaces goes from one to the other by a form, with a
// new session that lasts no longer, and to no workspace of others.
func TestSwitch(t *testing.T) {
	w := newWorld(t)
	_, second := w.Stranger("second", account.Growth, account.Limits{})
	_, rivals := w.Stranger("rivals", account.Developer, account.Limits{})
	w.SignIn("eve", rivals)
	if page := w.page(w.ada, "/account"); strings.Contains(page, "/account/workspace") {
		t.Error("there is a form to switch, and nowhere to go")
	}
	w.SignIn("root", second)
	w.SignIn("ada", second)
	if err := w.People.SetRole(t.Context(), w.ada.PersonID, second.ID, session.Ordinary, "operator"); err != nil {
		t.Fatal(err)
	}
	page := w.page(w.ada, "/account")
	if found := regexp.MustCompile(`name="workspace" value="([^"]*)"`).FindAllStringSubmatch(page, -1); len(found) != 1 || found[0][1] != second.ID || strings.Contains(page, "rivals") {
		t.Fatalf("%v in\n%s", found, page)
	}
	form := url.Values{"form": {w.token(w.ada)}, "workspace": {second.ID}}
	for name, refuse := range map[string]struct {
		form   url.Values
		origin string
		status int
	}{
		"a stranger's":       {url.Values{"form": form["form"], "workspace": {rivals.ID}}, w.URL, 404},
		"one that never was": {url.Values{"form": form["form"], "workspace": {"wsp_none"}}, w.URL, 404},
		"none":               {url.Values{"form": form["form"]}, w.URL, 404},
		"no token":           {url.Values{"workspace": {second.ID}}, w.URL, 403},
		"another site":       {form, "https://evil.example", 403},
	} {
		r := w.post(w.ada, "/account/workspace", refuse.form, "Origin", refuse.origin)
		if r.StatusCode != refuse.status || len(r.Header.Values("Set-Cookie")) > 0 || strings.Contains(string(r.Body), "rivals") {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
		if refuse.status == 404 && said(r.Body) != "bad: You belong to no such workspace. Nothing was changed." {
			t.Errorf("%s: %q", name, said(r.Body))
		}
	}
	if who, err := w.People.Authenticate(t.Context(), w.ada.Token); err != nil || who.WorkspaceID != w.Space.ID {
		t.Fatal("the session did not outlast what was refused:", who, err)
	}
	w.Clock.Advance(time.Hour)
	r := w.post(w.ada, "/account/workspace", form, "Origin", w.URL)
	token := ""
	for _, line := range r.Header.Values("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil && c.Name == kernel.PlainCookie {
			token = c.Value
		}
	}
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/account" || token == "" || token == w.ada.Token {
		t.Fatalf("%d to %q", r.StatusCode, r.Header.Get("Location"))
	}
	w.Secrets = append(w.Secrets, strings.Repeat("-", 9)+token[4:])
	there, err := w.People.Authenticate(t.Context(), token)
	if err != nil || there.PersonID != w.ada.PersonID || there.WorkspaceID != second.ID || there.Role != session.Ordinary || !there.ExpiresAt.Equal(w.ada.ExpiresAt) {
		t.Errorf("%+v, %v; the first one ends at %s", there, err, w.ada.ExpiresAt)
	}
	if _, err := w.People.Authenticate(t.Context(), w.ada.Token); err == nil {
		t.Error("the session from before is still good")
	}
	if page := w.page(session.Opened{Who: there, Token: token}, "/account"); !strings.Contains(page, "Growth") || !strings.Contains(page, `value="`+w.Space.ID+`"`) {
		t.Error(page)
	}
}

// TestInvitedDoNotSwitch: an owner gives a name away in one workspace. Whoever comes by
// that link is not let into another where the operator brought somebody of that name.
func TestInvitedDoNotSwitch(t *testing.T) {
	w := newWorld(t)
	_, second := w.Stranger("second", account.Growth, account.Limits{})
	link, err := w.People.Invite(t.Context(), "bob", w.Space.ID, w.ada.PersonID)
	if err != nil {
		t.Fatal(err)
	}
	bob := w.SignIn("bob", second)
	invited, err := w.People.Redeem(t.Context(), link.Token, "")
	if err != nil || invited.PersonID == bob.PersonID {
		t.Fatal(invited.Who, err)
	}
	w.Secrets = append(w.Secrets, strings.Repeat("-", 9)+invited.Token[4:])
	if page := w.page(invited, "/account"); strings.Contains(page, "second") {
		t.Error("the other workspace is shown")
	}
	if r := w.send(invited, "/account/workspace", "workspace", second.ID); r.StatusCode != http.StatusNotFound || len(r.Header.Values("Set-Cookie")) > 0 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := w.send(bob, "/account/workspace", "workspace", w.Space.ID); r.StatusCode != http.StatusNotFound {
		t.Errorf("bob, whom nobody invited: %d", r.StatusCode)
	}
}
