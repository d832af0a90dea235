package accountpages_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
)

var shownLink = regexp.MustCompile(`/login/link\?token=(lnk\.[\w-]+)`)

// said is the notice of a page.
func said(body []byte) string {
	found := regexp.MustCompile(`<p class="notice (\w+)"[^>]*>([^<]*)</p>`).FindSubmatch(body)
	if found == nil {
		return ""
	}
	return string(found[1]) + ": " + html.UnescapeString(string(found[2]))
}

// TestInvitation: an owner's link lets somebody new in, once, and is shown once.
func TestInvitation(t *testing.T) {
	w := newWorld(t)
	r := w.send(w.ada, "/account/members", "action", "invite", "name", "bob@example.org")
	link := shownLink.FindSubmatch(r.Body)
	if r.StatusCode != 200 || link == nil || !strings.Contains(string(r.Body), w.URL+"/login/link?token=") {
		t.Fatalf("%d %s", r.StatusCode, r.Body)
	}
	token := string(link[1])
	w.Secrets = append(w.Secrets, strings.Repeat("-", 9)+token[4:])
	if page := w.page(w.ada, "/account/members"); strings.Contains(page, token) || !strings.Contains(page, "bob@example.org") || !strings.Contains(page, `<span class="tag warn">invited</span>`) {
		t.Error(page)
	}
	bob, err := w.People.Redeem(t.Context(), token, "")
	if err != nil {
		t.Fatal(err)
	}
	page := w.page(bob, "/account/members")
	if strings.Contains(page, `value="invite"`) || strings.Contains(page, `value="remove"`) || !strings.Contains(page, `value="leave"`) || strings.Contains(page, `>invited<`) {
		t.Error("bob is shown what he may not do")
	}
	// He may issue keys, as every member.
	if key, _ := w.issue(bob); w.status(key) != 200 {
		t.Error("a member's key is refused")
	}
	for _, c := range []struct {
		fields []string
		status int
		want   string
	}{
		{[]string{"action", "invite", "name", "bob@example.org"}, 409, "a member already"},
		{[]string{"action", "invite", "name", ""}, 400, "cannot be taken"},
		{[]string{"action", "invite", "name", "a\u202eb"}, 400, "cannot be taken"},
		{[]string{"action", "disown", "person", w.ada.PersonID}, 409, "needs an owner"},
		{[]string{"action", "leave"}, 409, "needs an owner"},
		{[]string{"action", "remove", "person", "usr_none"}, 404, "no member"},
		{[]string{"action", "end", "session", bob.SessionID}, 404, "no such session"},
		{[]string{"action", "fly"}, 400, "does not say"},
	} {
		r := w.send(w.ada, "/account/members", c.fields...)
		if got := said(r.Body); r.StatusCode != c.status || !strings.HasPrefix(got, "bad: ") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %d %q", c.fields, r.StatusCode, got)
		}
	}
	_, space := w.Stranger("rivals", account.Developer, account.Limits{})
	w.SignIn("carol", space)
	if r := w.send(w.ada, "/account/members", "action", "invite", "name", "carol"); r.StatusCode != 200 || strings.Contains(string(r.Body), "rivals") {
		t.Errorf("a guest who is called as carol of another workspace: %d", r.StatusCode)
	}
}

// TestOnlyOwners: a member who sends an owner's form by hand is refused.
func TestOnlyOwners(t *testing.T) {
	w := newWorld(t)
	bob := w.SignIn("bob", w.Space)
	for _, action := range []string{"invite", "own", "disown", "remove", "end-member"} {
		r := w.send(bob, "/account/members", "action", action, "name", "mallory", "person", w.ada.PersonID)
		if got := said(r.Body); r.StatusCode != http.StatusForbidden || !strings.Contains(got, "Only an owner") {
			t.Errorf("%s: %d %q", action, r.StatusCode, got)
		}
	}
	w.unchanged(t, "bob")
	// Another workspace's owner is nobody here.
	_, space := w.Stranger("other", account.Developer, account.Limits{})
	eve := w.SignIn("eve", space)
	if r := w.send(eve, "/account/members", "action", "remove", "person", bob.PersonID); r.StatusCode != http.StatusNotFound {
		t.Errorf("eve: %d", r.StatusCode)
	}
	if _, err := w.People.Authenticate(t.Context(), bob.Token); err != nil {
		t.Error(err)
	}
}

// TestMembersLife: roles change, people are signed out, removed, and leave.
func TestMembersLife(t *testing.T) {
	w := newWorld(t)
	bob := w.SignIn("bob", w.Space)
	do := func(s session.Opened, want string, fields ...string) {
		t.Helper()
		r := w.send(s, "/account/members", fields...)
		if got := said(r.Body); r.StatusCode != 200 || !strings.Contains(got, want) {
			t.Errorf("%v: %d %q", fields, r.StatusCode, got)
		}
	}
	gone := func(s session.Opened) bool {
		_, err := w.People.Authenticate(t.Context(), s.Token)
		return err != nil
	}
	do(w.ada, "an owner now", "action", "own", "person", bob.PersonID)
	do(bob, "an owner no longer", "action", "disown", "person", w.ada.PersonID)
	if page := w.page(w.ada, "/account/members"); strings.Contains(page, `value="invite"`) {
		t.Error("ada is still shown an owner's forms")
	}
	do(bob, "1 session ended", "action", "end-member", "person", w.ada.PersonID)
	if !gone(w.ada) {
		t.Error("ada is still signed in")
	}
	ada := w.SignIn("ada", w.Space)
	second := w.SignIn("ada", w.Space)
	w.Clock.Advance(time.Minute)
	do(ada, "session is ended", "action", "end", "session", second.SessionID)
	if !gone(second) || gone(ada) {
		t.Error("the wrong session is over")
	}
	third, fourth := w.SignIn("ada", w.Space), w.SignIn("ada", w.Space)
	do(ada, "2 other sessions ended", "action", "end-others")
	if !gone(third) || !gone(fourth) || gone(ada) {
		t.Error("the wrong sessions are over")
	}
	r := w.send(ada, "/account/members", "action", "leave")
	if r.StatusCode != 200 || !strings.Contains(string(r.Body), "You left the workspace") || strings.Contains(string(r.Body), "bob") || !gone(ada) {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r := w.post(ada, "/account/members", url.Values{"action": {"leave"}}, "Origin", w.URL); r.StatusCode != http.StatusUnauthorized {
		t.Error(r.StatusCode)
	}
	carol := w.SignIn("carol", w.Space)
	do(bob, "a member no longer", "action", "remove", "person", carol.PersonID)
	if !gone(carol) {
		t.Error("carol is still signed in")
	}
}
