package me_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/me"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

const keysPath = "/v1/me/api-keys"

type world struct {
	*servertest.World
	session session.Opened
}

func newWorld(t *testing.T, change ...func(*servertest.Options)) *world {
	t.Helper()
	w, ada := servertest.SignedIn(t, 3, change...)
	return &world{w, ada}
}

func read[T any](t *testing.T, r servertest.Reply) (out T) {
	t.Helper()
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.Plain())
	}
	if err := json.Unmarshal(r.Plain(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKeyLife issues, rotates, lists and revokes the default key, and calls the API
// with each of them.
func TestKeyLife(t *testing.T) {
	w := newWorld(t)
	status := func(key string) int { return w.Do(http.MethodGet, servertest.StatusPath, key).StatusCode }
	issue := func() me.IssuedKey {
		r := w.Do(http.MethodPost, keysPath, "", servertest.Bearer(w.session)...)
		out := read[me.IssuedKey](t, r)
		if r.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("Cache-Control: %s", r.Header.Get("Cache-Control"))
		}
		w.Secrets = append(w.Secrets, out.PlaintextKey)
		return out
	}
	w.Clock.Advance(time.Second) // newer than the keys that every world has
	first := issue()
	meant, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+keysPath, strings.NewReader(`{"label":"another"}`))
	if err != nil {
		t.Fatal(err)
	}
	meant.Header.Set("Authorization", servertest.Bearer(w.session)[1])
	servertest.Expect(t, w.Send(meant), 400, kernel.CodeInvalidRequest, nil) // and the first key stays
	if k := first.APIKey; first.Action != "created" || len(first.RevokedPublicIDs) != 0 || k.Label != "default" || k.Environment != "live" || k.Status != "active" ||
		!slices.Equal(k.Scopes, []string{"read", "batch", "write", "verify"}) || !strings.HasPrefix(first.PlaintextKey, "svc_live_") ||
		!strings.HasSuffix(first.PlaintextKey, k.SecretHint) || k.Policy.MaxActiveKeys != account.Enterprise.Policy().MaxActiveKeys {
		t.Errorf("%+v", first)
	}
	if got := status(first.PlaintextKey); got != 200 {
		t.Errorf("the new key: %d", got)
	}
	w.Clock.Advance(time.Second)
	second := issue()
	if second.Action != "rotated" || !slices.Equal(second.RevokedPublicIDs, []string{first.APIKey.PublicID}) {
		t.Errorf("%+v", second)
	}
	if a, b := status(first.PlaintextKey), status(second.PlaintextKey); a != 401 || b != 200 {
		t.Errorf("after the rotation the old key gets %d, the new one %d", a, b)
	}
	r := w.Do(http.MethodGet, keysPath, "", servertest.Cookie(w.session)...)
	list := read[me.KeyList](t, r)
	if len(list.Items) != 4 || list.Truncated || list.Items[0].PublicID != second.APIKey.PublicID || list.Items[1].Status != "revoked" {
		t.Errorf("%+v", list)
	}
	for _, secret := range w.Secrets {
		if strings.Contains(string(r.Plain()), secret[9:]) {
			t.Error("a list shows a key")
		}
	}
	for range 2 { // once more changes nothing
		gone := read[me.RevokedKey](t, w.Do(http.MethodDelete, keysPath+"/"+second.APIKey.PublicID, "", servertest.Bearer(w.session)...))
		if gone.APIKey.Status != "revoked" || gone.APIKey.RevokedAt == nil || gone.APIKey.PublicID != second.APIKey.PublicID {
			t.Errorf("%+v", gone)
		}
	}
	if got := status(second.PlaintextKey); got != 401 {
		t.Errorf("the revoked key: %d", got)
	}
	if again := issue(); again.Action != "created" {
		t.Errorf("%+v", again)
	}
}

// TestMatrix holds every method, credential and origin against what the contract says.
func TestMatrix(t *testing.T) {
	w := newWorld(t)
	own := w.URL
	key := w.Key
	credentials := map[string][]string{
		"none": nil, "cookie": servertest.Cookie(w.session), "bearer": servertest.Bearer(w.session),
		"both":         append(servertest.Cookie(w.session), servertest.Bearer(w.session)...),
		"bad bearer":   append(servertest.Cookie(w.session), "Authorization", "Bearer ses."+strings.Repeat("A", 43)),
		"bad cookie":   {"Cookie", kernel.PlainCookie + "=ses." + strings.Repeat("A", 43)},
		"two cookies":  {"Cookie", kernel.PlainCookie + "=x; " + kernel.PlainCookie + "=" + w.session.Token},
		"other cookie": {"Cookie", kernel.SecureCookie + "=" + w.session.Token},
		"basic":        {"Authorization", "Basic " + w.session.Token},
		"key":          {"X-Service-Api-Key", key}, "short key": {"X-Api-Key", key}, "key as bearer": {"Authorization", "Bearer " + key},
		"key as cookie": {"Cookie", kernel.PlainCookie + "=" + key},
	}
	reading := map[string]int{"cookie": 200, "bearer": 200, "both": 200}
	changing := map[string]int{"cookie": 403, "bearer": 200, "both": 200, "bad cookie": 403, "key as cookie": 403}
	origins := map[string]string{"": "", own: own, servertest.AllowedOrigin: servertest.AllowedOrigin, servertest.StrangeOrigin: "", "null": "", "http://" + strings.TrimPrefix(own, "http://") + ".evil.example": ""}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		for name, headers := range credentials {
			for origin, allowed := range origins {
				want, path := reading[name], keysPath
				if method == http.MethodPost || method == http.MethodDelete {
					want = changing[name]
				}
				if want == 0 {
					want = 401
				}
				if origin != "" && allowed == "" {
					want = 403
				}
				if method == http.MethodDelete {
					if path += "/key_none"; want == 200 {
						want = 404
					}
				}
				for _, prefix := range []string{"", "/api"} {
					w.Clock.Advance(time.Second) // which gives back budget
					sent := slices.Clone(headers)
					if origin != "" {
						sent = append(sent, "Origin", origin)
					}
					r := w.Do(method, prefix+path, "", sent...)
					what := fmt.Sprintf("%s %s with %s from %q", method, prefix+path, name, origin)
					if r.StatusCode != want {
						t.Errorf("%s: %d, want %d: %s", what, r.StatusCode, want, r.Body)
					}
					challenge := r.Header.Get("WWW-Authenticate")
					if (want == 401 || want == 403) != strings.HasPrefix(challenge, `Bearer realm="service", error=`) {
						t.Errorf("%s: WWW-Authenticate: %s", what, challenge)
					}
					allow := r.Header.Get("Access-Control-Allow-Origin")
					if configured := origin == servertest.AllowedOrigin; configured != (allow == origin && origin != "") || !configured && allow != "" {
						t.Errorf("%s: allows %q", what, allow)
					}
					if got := r.Header.Get("Cache-Control"); got != "private, no-store" {
						t.Errorf("%s: Cache-Control: %s", what, got)
					}
				}
			}
		}
	}
}

// TestKeyInQuery: a key in an address is refused, with a session too.
func TestKeyInQuery(t *testing.T) {
	w := newWorld(t)
	servertest.Expect(t, w.Do(http.MethodGet, keysPath+"?key="+w.Key, "", servertest.Bearer(w.session)...), 400, kernel.CodeInvalidRequest, nil)
}

// TestPreflight lets configured origins alone ask.
func TestPreflight(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{keysPath, "/api" + keysPath, keysPath + "/key_none"} {
		for origin, want := range map[string]string{servertest.AllowedOrigin: servertest.AllowedOrigin, servertest.StrangeOrigin: ""} {
			for _, headers := range []string{"authorization", "content-type", ""} {
				method := http.MethodPost
				if strings.HasSuffix(path, "none") {
					method = http.MethodDelete
				}
				r := w.Do(http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", method, "Access-Control-Request-Headers", headers)
				if got := r.Header.Get("Access-Control-Allow-Origin"); r.StatusCode != 204 || got != want || want != "" && r.Header.Get("Access-Control-Allow-Credentials") != "true" {
					t.Errorf("%s from %s with %q: %d, allows %q", path, origin, headers, r.StatusCode, got)
				}
			}
		}
	}
}

// TestSessionsThatAreOver is about sessions that were good once.
func TestSessionsThatAreOver(t *testing.T) {
	w := newWorld(t)
	get := func(s session.Opened) int {
		return w.Do(http.MethodGet, keysPath, "", servertest.Bearer(s)...).StatusCode
	}
	out := w.SignIn("ada", w.Space)
	if err := w.People.End(t.Context(), out.Token); err != nil {
		t.Fatal(err)
	}
	if a, b := get(out), get(w.session); a != 401 || b != 200 {
		t.Errorf("after a logout: %d, and another session %d", a, b)
	}
	w.Clock.Advance(session.Idle)
	if got := get(w.session); got != 401 {
		t.Errorf("left alone for too long: %d", got)
	}
}

// TestOtherWorkspace: its keys are neither listed, nor revoked, nor rotated.
func TestOtherWorkspace(t *testing.T) {
	w := newWorld(t)
	_, space := w.Stranger("other", account.Free, account.Limits{})
	theirs := w.SignIn("eve", space)
	mine := read[me.IssuedKey](t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(w.session)...))
	w.Secrets = append(w.Secrets, mine.PlaintextKey)
	for _, k := range read[me.KeyList](t, w.Do(http.MethodGet, keysPath, "", servertest.Bearer(theirs)...)).Items {
		if k.PublicID == mine.APIKey.PublicID {
			t.Error("a key of another workspace is listed")
		}
	}
	servertest.Expect(t, w.Do(http.MethodDelete, keysPath+"/"+mine.APIKey.PublicID, "", servertest.Bearer(theirs)...), 404, kernel.CodeNotFound, nil)
	their := read[me.IssuedKey](t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(theirs)...))
	w.Secrets = append(w.Secrets, their.PlaintextKey)
	if their.Action != "created" {
		t.Errorf("%+v", their)
	}
	if got := w.Do(http.MethodGet, servertest.StatusPath, mine.PlaintextKey).StatusCode; got != 200 {
		t.Errorf("the key gets %d", got)
	}
}

// TestOperatorsKeysStay: a rotation touches no key that only the operator can make, and
// keeps the limits that the operator set.
func TestOperatorsKeysStay(t *testing.T) {
	w := newWorld(t)
	make := func(n account.NewKey) account.Issued {
		n.WorkspaceID = w.Space.ID
		k, err := w.Repo.CreateKey(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	special := make(account.NewKey{Label: "default", Scopes: account.DefaultScopes | account.Prove})
	test := make(account.NewKey{Label: "default", Environment: account.Test})
	unnamed := make(account.NewKey{}) // as the operator makes it who says no more
	slow := make(account.NewKey{Label: "default", Limits: account.Limits{LightPerMinute: 7}, Lifetime: time.Hour})
	out := read[me.IssuedKey](t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(w.session)...))
	if !slices.Equal(out.RevokedPublicIDs, []string{slow.Key.PublicID}) || out.APIKey.Policy.LightPerMinute != 7 || out.APIKey.ExpiresAt == nil || slices.Contains(out.APIKey.Scopes, "prove") {
		t.Errorf("%+v", out)
	}
	for _, k := range []account.Issued{special, test, unnamed} {
		if got := w.Do(http.MethodGet, servertest.StatusPath, k.Plaintext).StatusCode; got != 200 {
			t.Errorf("%s gets %d", k.Key.PublicID, got)
		}
	}
}

// TestSessionsAtOnce: a session that does too much at once is told that it is the session.
func TestSessionsAtOnce(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t)
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: %s\r\nContent-Length: 30\r\n\r\n{", redeemPath, servertest.Bearer(w.session)[1])
	const places = 32 // to read bodies
	answers := make(chan servertest.Reply, 10*places)
	send := func() {
		c := w.Dial(head)
		go func() {
			if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
				body, _ := io.ReadAll(res.Body)
				answers <- servertest.Reply{Response: res, Body: body}
			}
		}()
	}
	for range places + 1 {
		send()
	}
	r := <-answers                                  // all others wait for their bodies
	for r.Envelope().Reason == kernel.ReasonBurst { // which is less than there are places
		w.Clock.Advance(time.Second)
		send()
		r = <-answers
	}
	servertest.Expect(t, r, 429, kernel.CodeRateLimited, nil)
	if e := r.Envelope(); e.Reason != kernel.ReasonConcurrency || !strings.Contains(e.Message, "The session has") || strings.Contains(e.Message, "key") {
		t.Errorf("%s: %s", e.Reason, e.Message)
	}
}

// TestPlansBound: a workspace with as many keys as its plan allows gets no other, and
// rotating needs no room.
func TestPlansBound(t *testing.T) {
	w := newWorld(t)
	_, space := w.Stranger("full", account.Free, account.Limits{})
	s := w.SignIn("bob", space)
	for range account.Free.Policy().MaxActiveKeys - 1 {
		w.KeyOf(space, account.Limits{})
	}
	servertest.Expect(t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(s)...), 409, kernel.CodeConflict, nil)
	list := read[me.KeyList](t, w.Do(http.MethodGet, keysPath, "", servertest.Bearer(s)...))
	read[me.RevokedKey](t, w.Do(http.MethodDelete, keysPath+"/"+list.Items[0].PublicID, "", servertest.Bearer(s)...))
	for _, want := range []string{"created", "rotated"} {
		out := read[me.IssuedKey](t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(s)...))
		if out.Action != want {
			t.Errorf("%s, want %s", out.Action, want)
		}
	}
}

// TestRotationsAtOnce: whatever the order, one default key is good in the end.
func TestRotationsAtOnce(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t)
	keys := make([]string, 6)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			keys[i] = read[me.IssuedKey](t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(w.session)...)).PlaintextKey
		})
	}
	all.Wait()
	good := 0
	for _, k := range keys {
		if w.Do(http.MethodGet, servertest.StatusPath, k).StatusCode == 200 {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d keys are good", good)
	}
}

// TestPaced: who is signed in is held to a pace, and so is who guesses.
func TestPaced(t *testing.T) {
	w := newWorld(t, func(o *servertest.Options) { o.AnonymousPerMinute = 40 })
	last := servertest.Reply{}
	for range 200 {
		if last = w.Do(http.MethodGet, keysPath, "", servertest.Bearer(w.session)...); last.StatusCode != 200 {
			break
		}
	}
	servertest.Expect(t, last, 429, kernel.CodeRateLimited, nil)
	if last.Header.Get("Retry-After") == "" || last.Header.Get("X-Ratelimit-Policy") != "light;w=60" {
		t.Errorf("%v", last.Header)
	}
	if got := w.Do(http.MethodGet, servertest.StatusPath, w.Key).StatusCode; got != 200 {
		t.Errorf("the key of the workspace gets %d", got)
	}
	for range 40 {
		if last = w.Do(http.MethodGet, keysPath, "", "Authorization", "Bearer ses."+strings.Repeat("A", 43)); last.StatusCode != 401 {
			break
		}
	}
	servertest.Expect(t, last, 429, kernel.CodeRateLimited, nil)
}

// TestSecureCookie: under TLS the cookie with the prefix alone counts.
func TestSecureCookie(t *testing.T) {
	w := newWorld(t, func(o *servertest.Options) { o.BaseURL = "https://api.example" })
	for name, want := range map[string]int{kernel.SecureCookie: 200, kernel.PlainCookie: 401} {
		if got := w.Do(http.MethodGet, keysPath, "", "Cookie", name+"="+w.session.Token, "Origin", "https://api.example").StatusCode; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
