package accountpages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
)

var shownKey = regexp.MustCompile(`svc_live_[0-9A-Za-z]{20,}`)

// issue sends the form that stands on the page of keys, and reads the key.
func (w *world) issue(s session.Opened) (key string, form url.Values) {
	w.T.Helper()
	current := regexp.MustCompile(`name="current" value="([^"]*)"`).FindStringSubmatch(w.page(s, "/account/keys"))
	if current == nil {
		w.T.Fatal("no form to issue a key")
	}
	form = url.Values{"form": {w.token(s)}, "action": {"issue"}, "current": {current[1]}}
	r := w.post(s, "/account/keys", form, "Origin", w.URL)
	key = shownKey.FindString(string(r.Body))
	if r.StatusCode != http.StatusOK || key == "" || r.Header.Get("Location") != "" {
		w.T.Fatalf("%d %s", r.StatusCode, r.Body)
	}
	w.Secrets = append(w.Secrets, key)
	return key, form
}

func (w *world) status(key string) int {
	w.T.Helper()
	return w.Do(http.MethodGet, servertest.StatusPath, key).StatusCode
}

// defaultKey is the one that a rotation would replace.
func (w *world) defaultKey() account.Key {
	w.T.Helper()
	k, there, err := w.Repo.DefaultKey(w.T.Context(), w.Space.ID)
	if err != nil || !there {
		w.T.Fatal(there, err)
	}
	return k
}

// TestKeyIsShownOnce issues, rotates and revokes the default key by forms alone, and
// calls the API with each.
func TestKeyIsShownOnce(t *testing.T) {
	w := newWorld(t)
	first, form := w.issue(w.ada)
	if got := w.status(first); got != 200 {
		t.Errorf("the new key: %d", got)
	}
	for _, path := range []string{"/account", "/account/keys", "/account/usage", "/account/members"} {
		if page := w.page(w.ada, path); strings.Contains(page, first[9:]) || shownKey.MatchString(page) {
			t.Errorf("%s shows a key", path)
		}
	}
	if page := w.page(w.ada, "/account/keys"); !strings.Contains(page, w.defaultKey().PublicID) || !strings.Contains(page, w.defaultKey().MaskedKey) {
		t.Error("the key is not listed")
	}
	// A reload sends the same form again.
	again := w.post(w.ada, "/account/keys", form, "Origin", w.URL)
	if again.StatusCode != http.StatusConflict || shownKey.Match(again.Body) {
		t.Errorf("%d %s", again.StatusCode, again.Body)
	}
	if got := w.status(first); got != 200 {
		t.Errorf("after a reload the key gets %d", got)
	}
	second, _ := w.issue(w.ada)
	if a, b := w.status(first), w.status(second); a != 401 || b != 200 {
		t.Errorf("after the rotation the old key gets %d, the new one %d", a, b)
	}
	id := w.defaultKey().PublicID
	for range 2 { // once more does no harm
		r := w.send(w.ada, "/account/keys", "action", "revoke", "key", id)
		if r.StatusCode != http.StatusOK || !strings.Contains(string(r.Body), "is revoked") {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
	}
	if got := w.status(second); got != 401 {
		t.Errorf("the revoked key: %d", got)
	}
	if page := w.page(w.ada, "/account/keys"); !strings.Contains(page, "Keys that ended: 2") || !strings.Contains(page, "Issue the default key") {
		t.Error(page)
	}
}

// TestKeysOfOthers: a form reaches the keys of its own workspace alone.
func TestKeysOfOthers(t *testing.T) {
	w := newWorld(t)
	theirs, space := w.Stranger("rivals", account.Developer, account.Limits{})
	list, _, err := w.Repo.ListKeys(t.Context(), space.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{list[0].PublicID, "key_none", ""} {
		if r := w.send(w.ada, "/account/keys", "action", "revoke", "key", id); r.StatusCode != http.StatusNotFound || strings.Contains(string(r.Body), "rivals") {
			t.Errorf("%q: %d", id, r.StatusCode)
		}
	}
	if w.status(theirs) != 200 {
		t.Error("somebody else's key was revoked")
	}
	if strings.Contains(w.page(w.ada, "/account/keys"), list[0].PublicID) {
		t.Error("somebody else's key is listed")
	}
	if r := w.send(w.ada, "/account/keys", "action", "explode"); r.StatusCode != http.StatusBadRequest {
		t.Error(r.StatusCode)
	}
}

// TestNoRoomForAKey: a plan's keys are all active.
func TestNoRoomForAKey(t *testing.T) {
	w := newWorld(t)
	_, space := w.Stranger("small", account.Free, account.Limits{})
	for range account.Free.Policy().MaxActiveKeys - 1 {
		w.KeyOf(space, account.Limits{})
	}
	s := w.SignIn("bob", space)
	if page := w.page(s, "/account/keys"); strings.Contains(page, `value="issue"`) || !strings.Contains(page, "as many as its plan allows") {
		t.Error(page)
	}
	r := w.send(s, "/account/keys", "action", "issue", "current", "")
	if r.StatusCode != http.StatusConflict || shownKey.Match(r.Body) {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// TestKindsOfWorkspaces: partners' keys have their scope, and the operator's own
// workspaces issue none.
func TestKindsOfWorkspaces(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[account.Kind]int{account.PartnerKind: 200, account.WalletKind: 200, account.InternalKind: 403} {
		space, err := w.Repo.CreateWorkspaceOf(t.Context(), string(kind), account.Developer, kind)
		if err != nil {
			t.Fatal(err)
		}
		s := w.SignIn("bob", space)
		page := w.page(s, "/account/keys")
		if strings.Contains(page, `value="issue"`) != (want == 200) || strings.Contains(page, "partner") != (kind == account.PartnerKind) {
			t.Errorf("%s: %s", kind, page)
		}
		if page := w.page(s, "/account"); !strings.Contains(page, "workspace") || strings.Contains(page, "Begin with a key") != (want == 200) {
			t.Errorf("%s: %s", kind, page)
		}
		r := w.send(s, "/account/keys", "action", "issue", "current", "")
		if key := shownKey.FindString(string(r.Body)); r.StatusCode != want || (key != "") != (want == 200) {
			t.Errorf("%s: %d", kind, r.StatusCode)
		} else if key != "" {
			w.Secrets = append(w.Secrets, key)
		}
	}
}

// TestKeyFacts: what is listed of a key is true, and what is not known is said so.
func TestKeyFacts(t *testing.T) {
	w := newWorld(t)
	w.ExpiringKey(48 * time.Hour)
	w.Clock.Advance(time.Hour)
	page := w.page(w.ada, "/account/keys")
	for _, want := range []string{"in 47 h", `title="2026-02-03 00:00:00 UTC"`, `<span class="soft">never</span>`, "3 of 200", "1 h ago"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	w.Clock.Advance(48 * time.Hour)
	s := w.SignIn("ada", w.Space)
	if page := w.page(s, "/account/keys"); !strings.Contains(page, "expired") || !strings.Contains(page, "2 of 200") {
		t.Error("an expired key passes for an active one")
	}
}

// rowOf is the part of a page of keys about one key.
func rowOf(page, id string) string {
	for row := range strings.SplitSeq(page, "<tr>") {
		if strings.Contains(row, id) && strings.Contains(row, `scope="row"`) {
			return row
		}
	}
	return ""
}

// TestKeyBounds: whom a key is for, how much it may ask and until when is said of that
// key, and the places of the workspace on the overview.
func TestKeyBounds(t *testing.T) {
	w := newWorld(t, func(o *servertest.Options) { o.MaxInFlight, o.MaxInFlightWorkspace, o.MaxInFlightKey = 4000, 1234, 321 })
	made, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.Space.ID, Label: "page", Lifetime: 24 * time.Hour,
		Origins: account.Origins("https://a.example https://b.example"), Limits: account.Limits{LightPerMinute: 77, HeavyPerMinute: 66, BatchPerMinute: 55, Burst: 44}})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, made.Plaintext)
	w.issue(w.ada)
	page := w.page(w.ada, "/account/keys")
	own, plain := rowOf(page, made.Key.PublicID), rowOf(page, w.defaultKey().PublicID)
	for _, want := range []string{"pages of https://a.example, https://b.example alone", "own limits: 77 light, 66 heavy, 55 batch a minute, 44 at once", "in 24 h"} {
		if !strings.Contains(own, want) || strings.Contains(plain, want) {
			t.Errorf("%q is not said of the one key alone:\n%s\n%s", want, own, plain)
		}
	}
	if !strings.Contains(plain, "pages of any origin") || strings.Contains(own, "any origin") || strings.Contains(plain, "own limits") {
		t.Errorf("the default key:\n%s", plain)
	}
	if page := w.page(w.ada, "/account"); !strings.Contains(page, "1,234 requests of the workspace") || !strings.Contains(page, "321 of one key") {
		t.Error(page)
	}
}
