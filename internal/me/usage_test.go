package me_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/me"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/usage"
)

const usagePath = "/v1/me/usage"

// TestUsage counts what keys ask for, by key and by class, and tells of the newest.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	strange, space := w.Stranger("other", account.Free, account.Limits{})
	key := w.Issue()
	get := func(path, key string, want int) string {
		t.Helper()
		w.Clock.Advance(time.Second)
		r := w.Do(http.MethodGet, path, key)
		if r.StatusCode != want {
			t.Fatalf("%s: %d", path, r.StatusCode)
		}
		return r.Header.Get("X-Request-Id")
	}
	first := get(servertest.StatusPath, key.Plaintext, 200)
	get("/v1/SN_SEPOLIA/search?q=1", key.Plaintext, 200) // heavy
	failed := get("/v1/SN_SEPOLIA/block/999999", key.Plaintext, 404)
	get(servertest.StatusPath, strange, 200)
	read[me.KeyList](t, w.Do(http.MethodGet, keysPath, "", servertest.Bearer(w.session)...)) // not counted
	if u := read[me.Usage](t, w.Do(http.MethodGet, usagePath, "", servertest.Cookie(w.session)...)); u.TotalRequests != 0 || len(u.PerClass) != 0 || len(u.RecentRequests) != 0 {
		t.Errorf("before it was written: %+v", u)
	}
	if err := w.Usage.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := w.Do(http.MethodGet, usagePath, "", servertest.Cookie(w.session)...)
	u := read[me.Usage](t, r)
	if u.TotalRequests != 3 || u.TotalFailures != 1 || u.PerKeyTruncated || u.RecentRequestsTruncated || u.RecentFailuresTruncated || !u.WindowEnd.Equal(w.Clock.Now()) ||
		!u.WindowStart.Equal(w.Clock.Now().Add(-30*24*time.Hour).Truncate(time.Hour)) {
		t.Errorf("%+v", u)
	}
	if want := []usage.ClassUsage{{LoadClass: "heavy", TotalRequests: 1, SuccessCount: 1}, {LoadClass: "light", TotalRequests: 2, SuccessCount: 1, FailureCount: 1}}; !slices.Equal(u.PerClass, want) {
		t.Errorf("by class: %+v", u.PerClass)
	}
	at := slices.IndexFunc(u.PerKey, func(k me.KeyUsage) bool { return k.APIKey.PublicID == key.Key.PublicID })
	if at < 0 || len(u.PerKey) != 3 {
		t.Fatalf("by key: %+v", u.PerKey)
	}
	if k := u.PerKey[at]; k.TotalRequests != 3 || k.SuccessCount != 2 || k.FailureCount != 1 || k.LastFailureAt == nil || k.LatestRateLimitState == nil || k.LatestRateLimitState.Policy != "light;w=60" {
		t.Errorf("%+v", k)
	}
	for i, k := range u.PerKey {
		if i != at && (k.TotalRequests != 0 || k.LastRequestAt != nil || k.LatestRateLimitState != nil) {
			t.Errorf("a key that was not used: %+v", k)
		}
	}
	if len(u.RecentRequests) != 3 || len(u.RecentFailures) != 1 || u.RecentRequests[2].RequestID != first || u.RecentFailures[0].RequestID != failed {
		t.Fatalf("%+v, %+v", u.RecentRequests, u.RecentFailures)
	}
	if e := u.RecentFailures[0]; e.StatusCode != 404 || e.RoutePath != "/v1/{chain}/block/{number_or_hash}" || e.Method != "GET" || e.APIKeyLabel != "issued" || e.APIKeyEnvironment != "live" ||
		!slices.Contains(e.APIKeyScopes, "read") || e.LoadClass != "light" || e.RateLimitState == nil || e.LatencyMs == nil {
		t.Errorf("%+v", e)
	}
	if strings.Contains(string(r.Plain()), key.Plaintext[9:]) {
		t.Error("a key is shown")
	}
	theirs := read[me.Usage](t, w.Do(http.MethodGet, usagePath, "", servertest.Bearer(w.SignIn("eve", space))...))
	if theirs.TotalRequests != 1 || theirs.RecentRequests[0].APIKeyPublicID == key.Key.PublicID {
		t.Errorf("another workspace: %+v", theirs)
	}
}

// TestUsageIsForSessions as all routes there are, and takes nothing.
func TestUsageIsForSessions(t *testing.T) {
	w := newWorld(t)
	servertest.Expect(t, w.Do(http.MethodGet, usagePath, ""), 401, kernel.CodeUnauthorized, nil)
	servertest.Expect(t, w.Do(http.MethodGet, usagePath, w.Key), 401, kernel.CodeUnauthorized, nil)
	servertest.Expect(t, w.Do(http.MethodGet, "/api"+usagePath, "", append(servertest.Bearer(w.session), "Origin", servertest.StrangeOrigin)...), 403, kernel.CodeForbidden, nil)
	servertest.Expect(t, w.Do(http.MethodGet, usagePath+"?window=1h", "", servertest.Bearer(w.session)...), 400, kernel.CodeInvalidRequest, nil)
	servertest.Expect(t, w.Do(http.MethodPost, usagePath, "", servertest.Bearer(w.session)...), 405, kernel.CodeMethodNotAllowed, nil)
	head := w.Do(http.MethodHead, "/api"+usagePath, "", servertest.Cookie(w.session)...)
	if head.StatusCode != 200 || head.Header.Get("Cache-Control") != "private, no-store" || head.Header.Get("X-Ratelimit-Policy") != "light;w=60" {
		t.Errorf("%d %v", head.StatusCode, head.Header)
	}
	w.CloseControl()
	r := w.Do(http.MethodGet, usagePath, "", servertest.Bearer(w.session)...)
	servertest.Expect(t, r, 503, kernel.CodeServiceUnavailable, nil)
}
