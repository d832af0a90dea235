package kernel_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestStrictPaths: what is for people and their browsers, for the operator's own keys and
// over WebSocket is for pages of the listed origins alone, preflights and failures
// included; everything else stays open.
func TestStrictPaths(t *testing.T) {
	plain, setting, err := account.NewConfigured(repeat("internal"), "billing", account.Read)
	if err != nil {
		t.Fatal(err)
	}
	configured, err := account.ParseConfigured(setting)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, 3, func(o *options) {
		o.Accounts = true
		if err := o.Keys.Configure([]account.ConfiguredKey{configured}); err != nil {
			t.Fatal(err)
		}
	})
	const rpc = "/v1/" + chainID + "/rpc"
	for _, c := range []struct {
		method, path, key string
		asks              string // of a preflight
		strict            bool
	}{
		{"OPTIONS", "/account", "", "GET", true},
		{"OPTIONS", "/account/keys", "", "POST", true},
		{"OPTIONS", "/login", "", "GET", true},
		{"OPTIONS", "/login/link", "", "POST", true},
		{"OPTIONS", "/logout", "", "", true},
		{"PUT", "/login", "", "", true},
		{"OPTIONS", "/v1/me/api-keys", "", "POST", true},
		{"OPTIONS", "/v1/me/usage", "", "", true},
		{"GET", "/v1/me/usage", "", "", true},
		{"OPTIONS", rpc + "/ws", "", "GET", true},
		{"OPTIONS", rpc, "", "GET", true},
		{"GET", rpc + "/ws", w.Key, "", true},
		{"GET", rpc + "/ws", "", "", true},
		{"GET", rpc, w.Key, "", true},
		{"GET", statusPath, plain, "", true},
		{"DELETE", statusPath, plain, "", true},
		{"OPTIONS", statusPath, plain, "", true},
		{"GET", "/v1/none", plain, "", true},

		{"OPTIONS", rpc, "", "POST", false},
		{"POST", rpc, "", "", false},
		{"PUT", rpc, "", "", false},
		{"OPTIONS", statusPath, "", "GET", false},
		{"GET", statusPath, w.Key, "", false},
		{"GET", statusPath, "", "", false},
		{"DELETE", statusPath, w.Key, "", false},
		{"GET", "/v1/none", w.Key, "", false},
	} {
		for _, origin := range []string{strangeOrigin, allowedOrigin} {
			headers := []string{"Origin", origin}
			if c.asks != "" {
				headers = append(headers, "Access-Control-Request-Method", c.asks)
			}
			want := "*"
			switch {
			case c.strict && origin == allowedOrigin:
				want = origin
			case c.strict:
				want = ""
			}
			r := w.Do(c.method, c.path, c.key, headers...)
			if got := r.Header.Get("Access-Control-Allow-Origin"); got != want || (r.Header.Get("Access-Control-Allow-Credentials") != "") != (want == allowedOrigin) {
				t.Errorf("%s %s (asks for %q) from %s: %d allows %q, want %q", c.method, c.path, c.asks, origin, r.StatusCode, got, want)
			}
			if !strings.Contains(strings.Join(r.Header.Values("Vary"), ","), "Origin") {
				t.Errorf("%s %s: Vary %q", c.method, c.path, r.Header.Values("Vary"))
			}
		}
	}
}

// TestTwoOrigins: which of two would count is for nobody to guess.
func TestTwoOrigins(t *testing.T) {
	w := newWorld(t, 3, func(o *options) { o.Accounts = true })
	const rpc = "/v1/" + chainID + "/rpc"
	for _, path := range []string{statusPath, "/api" + statusPath, "/v1/none", "/docs", "/healthz", "/openapi.json", "/account", "/login", "/v1/me/api-keys", rpc, rpc + "/ws"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
			for _, origins := range [][]string{{allowedOrigin, strangeOrigin}, {strangeOrigin, allowedOrigin}, {allowedOrigin, allowedOrigin}} {
				req := w.Request(method, path, "{}")
				req.Header["Origin"] = origins
				req.Header.Set("Access-Control-Request-Method", "GET")
				req.Header.Set("X-Service-Api-Key", w.Key)
				if strings.HasSuffix(path, "/ws") {
					req.Header.Set("Connection", "Upgrade")
					req.Header.Set("Upgrade", "websocket")
				}
				r := w.Send(req)
				if got := r.Header.Get("Access-Control-Allow-Origin"); r.StatusCode != http.StatusBadRequest || got != "" || !strings.Contains(string(r.Plain()), "invalid_request") {
					t.Errorf("%s %s: %d, allows %q: %s", method, path, r.StatusCode, got, r.Plain())
				}
			}
		}
	}
}

// TestKeyedAnswers: every answer to a key tells of its budget and of a class, also where
// nothing is served; and it is private.
func TestKeyedAnswers(t *testing.T) {
	w := newWorld(t, 3)
	key := w.LimitedKey(account.Limits{LightPerMinute: 100, HeavyPerMinute: 50, BatchPerMinute: 20})
	left := map[string]int{"light": 100, "heavy": 50, "batch": 20}
	const chain = "/v1/" + chainID
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
		class        string
	}{
		{"GET", statusPath, nil, 200, "light"},
		{"GET", statusPath + "?x=1", nil, 400, "light"},
		{"GET", "/v1/none/at/all", nil, 404, "light"},
		{"GET", "/api/v1/none", nil, 404, "light"},
		{"GET", statusPath + "/", nil, 404, "light"},
		{"GET", "/none", nil, 404, "light"},
		{"POST", "/none", nil, 404, "light"},
		{"GET", "/v1/SN_NONE/status", nil, 404, "light"},
		{"GET", chain + "/block/99999999", nil, 404, "light"},
		{"POST", statusPath, nil, 405, "light"},
		{"HEAD", chain + "/address/summaries", nil, 405, "batch"},
		{"GET", chain + "/address/summaries", nil, 405, "batch"},
		{"DELETE", chain + "/search", nil, 405, "heavy"},
		{"OPTIONS", statusPath, nil, 204, "light"},
		{"OPTIONS", chain + "/search", nil, 204, "heavy"},
		{"OPTIONS", chain + "/address/summaries", []string{"Origin", allowedOrigin, "Access-Control-Request-Method", "POST"}, 204, "batch"},
		{"OPTIONS", "/none", nil, 404, "light"},
		{"GET", chain + "/rpc", nil, 426, "light"},
		{"GET", chain + "/rpc/ws", nil, 426, "light"},
		{"GET", chain + "/rpc/ws", []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-Websocket-Version", "12"}, 426, "light"},
		{"PUT", chain + "/rpc", nil, 405, "light"},
		{"GET", "/v1/SN_NONE/rpc/ws", []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-Websocket-Version", "13"}, 404, "light"},
		{"GET", "/rpc/v0_1/" + chainID, nil, 426, "light"},
	} {
		r := w.Do(c.method, c.path, key, c.headers...)
		left[c.class]--
		servertest.Expect(t, r, c.status, r.Envelope().Code, nil)
		h := r.Header
		if limit := map[string]string{"light": "100", "heavy": "50", "batch": "20"}[c.class]; h.Get("X-Ratelimit-Limit") != limit || h.Get("X-Ratelimit-Remaining") != strconv.Itoa(left[c.class]) ||
			h.Get("X-Ratelimit-Policy") != c.class+";w=60" || h.Get("X-Service-Route-Class") != c.class {
			t.Errorf("%s %s: %s of %s left, by %s, class %q; want %d of %s", c.method, c.path, h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Limit"), h.Get("X-Ratelimit-Policy"), h.Get("X-Service-Route-Class"), left[c.class], c.class)
		}
		if !strings.HasPrefix(h.Get("Cache-Control"), "private") {
			t.Errorf("%s %s: Cache-Control %q", c.method, c.path, h.Get("Cache-Control"))
		}
	}
	// What a key cannot pay for is told so, and a key that is none is not looked at twice.
	spent := w.LimitedKey(account.Limits{LightPerMinute: 1})
	servertest.Expect(t, w.Do(http.MethodGet, "/none", spent), 404, kernel.CodeUnsupportedRoute, nil)
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
		limited(t, w.Do(m, "/none", spent), kernel.ReasonMinuteBudget)
	}
	limited(t, w.Do(http.MethodOptions, statusPath, spent), kernel.ReasonMinuteBudget)
	servertest.Expect(t, w.Do(http.MethodGet, "/none", mistyped(w.Key)), 404, kernel.CodeUnsupportedRoute, map[string]string{"X-Ratelimit-Limit": ""})
}
