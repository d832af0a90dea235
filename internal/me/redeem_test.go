package me_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/me"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
)

const redeemPath = "/v1/me/redeem-code"

func (w *world) code(n account.NewCode) string {
	w.T.Helper()
	_, text, err := w.Repo.CreateCode(w.T.Context(), n)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Secrets = append(w.Secrets, strings.Repeat("-", len("svc_live_"))+text)
	return text
}

func (w *world) redeem(content string, headers ...string) servertest.Reply {
	w.T.Helper()
	req := w.Request(http.MethodPost, redeemPath, content, headers...)
	req.Header.Del("X-Service-Api-Key")
	return w.Send(req)
}

func (w *world) small(name string) session.Opened {
	w.T.Helper()
	space, err := w.Repo.CreateWorkspace(w.T.Context(), name, account.Free)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.SignIn(name, space)
}

// TestRedeem gives a workspace a plan, which its keys follow.
func TestRedeem(t *testing.T) {
	w := newWorld(t)
	ada := w.small("ada's")
	key := read[me.IssuedKey](t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(ada)...)).PlaintextKey
	w.Secrets = append(w.Secrets, key)
	limit := func() string {
		return w.Do(http.MethodGet, servertest.StatusPath, key).Header.Get("X-Ratelimit-Limit")
	}
	if got := limit(); got != "120" {
		t.Errorf("before: %s", got)
	}
	text := w.code(account.NewCode{Plan: account.Growth})
	r := w.redeem(`{"code":"`+strings.ToLower(text)+`"}`, servertest.Bearer(ada)...)
	if got := read[me.Redeemed](t, r); got.Plan != "growth" || strings.TrimSpace(string(r.Plain())) != `{"plan":"growth"}` {
		t.Errorf("%s", r.Plain())
	}
	if got := limit(); got != "3000" {
		t.Errorf("after: %s", got)
	}
}

// TestRedeemRefusals: codes that are no good cannot be told apart, and nobody but
// somebody who is signed in redeems one.
func TestRedeemRefusals(t *testing.T) {
	w := newWorld(t)
	bob := w.small("bob's")
	used, expired, revoked := w.code(account.NewCode{Plan: account.Growth}), w.code(account.NewCode{Plan: account.Growth, Lifetime: time.Minute}), w.code(account.NewCode{Plan: account.Growth})
	list, _, err := w.Repo.ListCodes(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if strings.HasSuffix(revoked, c.Hint) {
			if _, _, err := w.Repo.RevokeCode(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	read[me.Redeemed](t, w.redeem(`{"code":"`+used+`"}`, servertest.Bearer(w.small("carol's"))...))
	w.Clock.Advance(time.Minute)
	said := map[string]bool{}
	for name, code := range map[string]string{"never made": "00000-00000-00000-00000", "no code": "x", "used": used, "expired": expired, "revoked": revoked} {
		r := w.redeem(`{"code":"`+code+`"}`, servertest.Bearer(bob)...)
		servertest.Expect(t, r, 400, kernel.CodeInvalidRequest, map[string]string{"WWW-Authenticate": ""})
		if said[r.Envelope().Message] = true; strings.Contains(r.Envelope().Message, code) && code != "x" {
			t.Errorf("%s: repeats the code: %s", name, r.Plain())
		}
	}
	if len(said) != 1 {
		t.Errorf("reasons are told: %v", said)
	}
	for _, content := range []string{`{}`, `{"code":""}`, `{"code":1}`, `[]`, `{"code":"` + strings.Repeat("0", 81) + `"}`, ``} {
		servertest.Expect(t, w.redeem(content, servertest.Bearer(bob)...), 400, kernel.CodeInvalidRequest, nil)
	}
	good := w.code(account.NewCode{Plan: account.Growth, Uses: 2})
	body := `{"code":"` + good + `"}`
	servertest.Expect(t, w.redeem(body), 401, kernel.CodeUnauthorized, map[string]string{"WWW-Authenticate": `Bearer realm="service", error="invalid_token"`})
	servertest.Expect(t, w.redeem(body, servertest.Cookie(bob)...), 403, kernel.CodeForbidden, map[string]string{"WWW-Authenticate": `Bearer realm="service", error="insufficient_scope", scope="session"`})
	servertest.Expect(t, w.redeem(body, "X-Service-Api-Key", w.Key), 401, kernel.CodeUnauthorized, nil)
	servertest.Expect(t, w.redeem(body, append(servertest.Bearer(bob), "Origin", servertest.StrangeOrigin)...), 403, kernel.CodeForbidden, nil)
	servertest.Expect(t, w.redeem(body, servertest.Bearer(w.session)...), 409, kernel.CodeConflict, nil) // an enterprise has all that
	own, err := w.Repo.CreateWorkspaceOf(t.Context(), "own", account.Free, account.InternalKind)
	if err != nil {
		t.Fatal(err)
	}
	servertest.Expect(t, w.redeem(body, servertest.Bearer(w.SignIn("op", own))...), 403, kernel.CodeForbidden, nil)
	servertest.Expect(t, w.Do(http.MethodPost, keysPath, "", servertest.Bearer(w.SignIn("op", own))...), 403, kernel.CodeForbidden, nil)
	read[me.Redeemed](t, w.redeem(body, append(servertest.Bearer(bob), "Origin", servertest.AllowedOrigin)...))
}

// TestGuessing: after ten codes that are no good a good one is not looked at either.
func TestGuessing(t *testing.T) {
	w := newWorld(t)
	eve := w.small("eve's")
	for range 10 {
		w.Clock.Advance(time.Second)
		servertest.Expect(t, w.redeem(`{"code":"00000-00000-00000-00000"}`, servertest.Bearer(eve)...), 400, kernel.CodeInvalidRequest, nil)
	}
	body := `{"code":"` + w.code(account.NewCode{Plan: account.Growth}) + `"}`
	r := w.redeem(body, servertest.Bearer(eve)...)
	servertest.Expect(t, r, 429, kernel.CodeRateLimited, map[string]string{"Retry-After": "3591"})
	if r.Envelope().Reason != kernel.ReasonCodeTries {
		t.Errorf("%s", r.Plain())
	}
	w.Clock.Advance(time.Hour)
	read[me.Redeemed](t, w.redeem(body, servertest.Bearer(eve)...))
}
