package kernel_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

const (
	invalidToken = `Bearer realm="service", error="invalid_token"`
	finalPath    = "/v1/" + chainID + "/block/3" // accepted on L1 in these tests
)

// TestCredentials is the matrix of keys: both headers, every way to get it
// wrong, and what is told in return.
func TestCredentials(t *testing.T) {
	w := newWorld(t, 41)
	unscoped := w.NewKey(account.Prove)
	revoked, expired := w.RevokedKey(), w.ExpiringKey(time.Hour)
	w.Clock.Advance(2 * time.Hour)
	other := w.NewKey(account.DefaultScopes)
	unknown := w.foreignKey()
	const long, short = "X-Service-Api-Key", "X-Api-Key"
	for _, c := range []struct {
		name    string
		headers []string
		status  int
		code    kernel.Code
		auth    string
	}{
		{"none", nil, 401, kernel.CodeUnauthorized, invalidToken},
		{"good", []string{long, w.Key}, 200, "", ""},
		{"good, short header", []string{short, w.Key}, 200, "", ""},
		{"good, other spelling of the header", []string{"x-service-api-key", w.Key}, 200, "", ""},
		{"both headers, same key", []string{long, w.Key, short, w.Key}, 400, kernel.CodeConflictingKeys, ""},
		{"both headers, two keys", []string{long, w.Key, short, other}, 400, kernel.CodeConflictingKeys, ""},
		{"both headers, one empty", []string{long, w.Key, short, ""}, 400, kernel.CodeConflictingKeys, ""},
		{"one header twice", []string{long, w.Key, long, w.Key}, 400, kernel.CodeConflictingKeys, ""},
		{"short header twice", []string{short, w.Key, short, other}, 400, kernel.CodeConflictingKeys, ""},
		{"empty", []string{long, ""}, 400, kernel.CodeMalformedKey, ""},
		{"quoted", []string{long, `"` + w.Key + `"`}, 400, kernel.CodeMalformedKey, ""},
		{"bearer prefix", []string{long, "Bearer " + w.Key}, 400, kernel.CodeMalformedKey, ""},
		{"blank inside", []string{long, w.Key[:20] + " " + w.Key[20:]}, 400, kernel.CodeMalformedKey, ""},
		{"two in one", []string{short, w.Key + "," + other}, 400, kernel.CodeMalformedKey, ""},
		{"cut off", []string{long, w.Key[:len(w.Key)-1]}, 401, kernel.CodeUnauthorized, invalidToken},
		{"mistyped", []string{long, mistyped(w.Key)}, 401, kernel.CodeUnauthorized, invalidToken},
		{"longer", []string{long, w.Key + "0"}, 401, kernel.CodeUnauthorized, invalidToken},
		{"something else", []string{short, "password"}, 401, kernel.CodeUnauthorized, invalidToken},
		{"unknown", []string{long, unknown}, 401, kernel.CodeUnauthorized, invalidToken},
		{"unknown, short header", []string{short, unknown}, 401, kernel.CodeUnauthorized, invalidToken},
		{"revoked", []string{long, revoked}, 401, kernel.CodeUnauthorized, invalidToken},
		{"expired", []string{long, expired}, 401, kernel.CodeUnauthorized, invalidToken},
		{"lacking the scope", []string{long, unscoped}, 403, kernel.CodeForbidden, `Bearer realm="service", error="insufficient_scope", scope="read"`},
		{"as a bearer token", []string{"Authorization", "Bearer " + w.Key}, 401, kernel.CodeUnauthorized, invalidToken},
		{"as a bearer token too", []string{long, w.Key, "Authorization", "Bearer " + w.Key}, 400, kernel.CodeConflictingKeys, ""},
		{"another as a bearer token", []string{short, w.Key, "Authorization", "Bearer " + other}, 400, kernel.CodeConflictingKeys, ""},
		{"as a cookie too", []string{long, w.Key, "Cookie", "a=b; key=" + w.Key}, 400, kernel.CodeConflictingKeys, ""},
		{"with somebody's bearer token", []string{long, w.Key, "Authorization", "Bearer session"}, 200, "", ""},
		{"as a cookie", []string{"Cookie", "key=" + w.Key}, 401, kernel.CodeUnauthorized, invalidToken},
		{"claiming to be internal", []string{"X-Internal-Key", w.Key, "X-Service-Internal-Caller", "web"}, 401, kernel.CodeUnauthorized, invalidToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, prefix := range []string{"", "/api"} {
				r := w.Do(http.MethodGet, prefix+statusPath, "", c.headers...)
				servertest.Expect(t, r, c.status, c.code, map[string]string{"WWW-Authenticate": c.auth, "X-Service-Route-Class": "light"})
				if !strings.HasPrefix(r.Header.Get("Cache-Control"), "private") {
					t.Errorf("Cache-Control %q", r.Header.Get("Cache-Control"))
				}
				limited := c.status == http.StatusOK || c.status == http.StatusForbidden // who is known is told, and pays
				if got := r.Header.Get("X-Ratelimit-Limit") != ""; got != limited {
					t.Errorf("rate limit headers: %v", got)
				}
			}
		})
	}
	// Why a key is refused is not told: the three answers are the same.
	var texts []string
	for _, key := range []string{unknown, revoked, expired, mistyped(w.Key)} {
		r := w.Do(http.MethodGet, statusPath, key, "X-Request-Id", "same")
		texts = append(texts, string(r.Body))
	}
	if texts[0] != texts[1] || texts[1] != texts[2] || texts[2] != texts[3] {
		t.Errorf("refusals differ: %q", texts)
	}
	// A key in the query is refused on every route and page, whatever it is called,
	// however it is written and whether or not it is good, and is not logged.
	encoded := strings.ReplaceAll(w.Key, "_", "%5f")
	for _, query := range []string{
		"?api_key=" + w.Key, "?key=" + unknown, "?q=x" + revoked + "y", "?" + w.Key, "?a=1&" + encoded + "=1", "?apikey=" + strings.ToUpper(w.Key), "?limit=1;k=" + w.Key,
		"?b=%73" + w.Key[1:],
	} {
		for _, key := range []string{"", w.Key} {
			for _, path := range []string{statusPath, "/api" + statusPath, "/", "/docs", "/docs/", "/service-openapi.yaml", "/v1/nothing", "/healthz"} {
				r := w.Do(http.MethodGet, path+query, key)
				servertest.Expect(t, r, 400, kernel.CodeInvalidRequest, map[string]string{"Referrer-Policy": "no-referrer", "Location": ""})
				if account.HoldsKey(string(r.Body)) {
					t.Errorf("%s repeats the key: %s", path, r.Body)
				}
			}
		}
	}
	// In the path it is taken out before anybody sees it: there is no such route.
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/tx/"+w.Key, w.Key), 404, kernel.CodeUnsupportedRoute, nil)
	servertest.Expect(t, w.Do(http.MethodGet, "/"+w.Key, ""), 404, kernel.CodeUnsupportedRoute, nil)
	if !strings.Contains(w.Logs.String(), `"request_id"`) {
		t.Error("nothing was logged")
	}
}

func mistyped(key string) string {
	b := []byte(key)
	if b[20] == 'a' {
		b[20] = 'b'
	} else {
		b[20] = 'a'
	}
	return string(b)
}

// foreignKey is well-formed and was issued by somebody else.
func (w *world) foreignKey() string {
	w.T.Helper()
	key := sharedWorld(w.T, 1).Key
	w.Secrets = append(w.Secrets, key)
	return key
}

// TestOrigins is the matrix of browsers' requests: the open lane for anybody
// with a key in a header, the strict one as soon as other credentials travel.
func TestOrigins(t *testing.T) {
	w := sharedWorld(t, 41)
	exposed := "X-Request-Id, X-Service-Route-Class, X-Service-Rpc-Class, X-Ratelimit-Limit, X-Ratelimit-Remaining, X-Ratelimit-Policy, Retry-After, ETag, Last-Modified, X-Service-Route-Stability, WWW-Authenticate, X-Service-Query-Class, X-Service-Cost-Units"
	for _, c := range []struct {
		name        string
		origin      string
		headers     []string
		allow       string
		credentials string
	}{
		{"no origin", "", nil, "", ""},
		{"any origin", strangeOrigin, nil, "*", ""},
		{"null origin", "null", nil, "*", ""},
		{"allowed origin", allowedOrigin, nil, "*", ""},
		{"cookie, any origin", strangeOrigin, []string{"Cookie", "session=1"}, "", ""},
		{"cookie, allowed origin", allowedOrigin, []string{"Cookie", "session=1"}, allowedOrigin, "true"},
		{"bearer, any origin", strangeOrigin, []string{"Authorization", "Bearer x"}, "", ""},
		{"bearer, allowed origin", allowedOrigin, []string{"Authorization", "Bearer x"}, allowedOrigin, "true"},
		{"empty bearer, any origin", strangeOrigin, []string{"Authorization", ""}, "", ""},
		{"internal, any origin", strangeOrigin, []string{"X-Service-Internal-Caller", "web"}, "", ""},
		{"internal key, any origin", strangeOrigin, []string{"x-internal-key", "1"}, "", ""},
		{"internal, allowed origin", allowedOrigin, []string{"X-Service-Internal-Caller", "web"}, allowedOrigin, "true"},
		{"cookie, origin that only looks allowed", allowedOrigin + ".evil.example", []string{"Cookie", "session=1"}, "", ""},
		{"cookie, other scheme", "http://explorer.example", []string{"Cookie", "session=1"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := c.headers
			if c.origin != "" {
				headers = append([]string{"Origin", c.origin}, headers...)
			}
			want := map[string]string{"Access-Control-Allow-Origin": c.allow, "Access-Control-Allow-Credentials": c.credentials, "Access-Control-Expose-Headers": ""}
			if c.allow != "" {
				want["Access-Control-Expose-Headers"] = exposed
			}
			for _, path := range []string{statusPath, finalPath} {
				r := w.Do(http.MethodGet, path, w.Key, headers...)
				servertest.Expect(t, r, 200, "", want)
				for _, name := range []string{"Origin", "Accept-Encoding", "X-Service-Api-Key", "X-Api-Key"} {
					if !varies(r, name) {
						t.Errorf("Vary %q lacks %s", r.Header.Values("Vary"), name)
					}
				}
			}
			// A page must be able to read failures, too.
			servertest.Expect(t, w.Do(http.MethodGet, statusPath, "", headers...), 401, kernel.CodeUnauthorized, want)
			servertest.Expect(t, w.Do(http.MethodGet, "/v1/nothing", "", headers...), 404, kernel.CodeUnsupportedRoute, want)
		})
	}
}

func varies(r reply, name string) bool {
	for _, line := range r.Header.Values("Vary") {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), name) {
				return true
			}
		}
	}
	return false
}

// TestPreflights is the matrix of OPTIONS.
func TestPreflights(t *testing.T) {
	w := sharedWorld(t, 41)
	const allow = "GET, HEAD, OPTIONS"
	for _, c := range []struct {
		name        string
		path        string
		headers     []string
		status      int
		allow       string // Access-Control-Allow-Origin
		credentials string
	}{
		{"no browser", statusPath, nil, 204, "", ""},
		{"origin alone", statusPath, []string{"Origin", strangeOrigin}, 204, "*", ""},
		{"open lane", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-service-api-key"}, 204, "*", ""},
		{"open lane, short header, odd spelling", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", " X-Api-Key , X-Request-Id"}, 204, "*", ""},
		{"open lane, compatibility path", "/api" + statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET"}, 204, "*", ""},
		{"bearer announced, any origin", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 204, "", ""},
		{"bearer announced, allowed origin", statusPath, []string{"Origin", allowedOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 204, allowedOrigin, "true"},
		{"bearer announced in a second line", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-api-key", "Access-Control-Request-Headers", "authorization"}, 204, "", ""},
		{"internal announced, any origin", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-service-internal-caller"}, 204, "", ""},
		{"unknown header announced, any origin", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-other"}, 204, "", ""},
		{"with a cookie, any origin", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Cookie", "a=b"}, 204, "", ""},
		{"with an internal header, any origin", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "X-Internal-Key", "a"}, 204, "", ""},
		{"with a cookie, allowed origin", statusPath, []string{"Origin", allowedOrigin, "Access-Control-Request-Method", "GET", "Cookie", "a=b"}, 204, allowedOrigin, "true"},
		{"method that does not exist", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "DELETE"}, 204, "", ""},
		{"path that does not exist", "/v1/" + chainID + "/nothing", []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET"}, 404, "*", ""},
		{"path that does not exist, bearer announced", "/v1/" + chainID + "/nothing", []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 404, "", ""},
		{"path that does not exist, bearer announced, allowed origin", "/v1/nothing", []string{"Origin", allowedOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 404, allowedOrigin, "true"},
		{"every path", "/*", []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET"}, 404, "*", ""},
		{"conditional", statusPath, []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "if-modified-since, if-none-match"}, 204, "*", ""},
		{"a page", "/docs", []string{"Origin", strangeOrigin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}, 204, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.Do(http.MethodOptions, c.path, "", c.headers...)
			want := map[string]string{"Access-Control-Allow-Credentials": c.credentials, "WWW-Authenticate": ""}
			permitted := c.allow != "" && c.status == 204 && len(c.headers) > 2
			if c.status == 204 {
				want["Allow"], want["Vary"] = allow, "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
				if len(c.headers) <= 2 {
					want["Vary"] = "Origin"
				}
			}
			if permitted {
				want["Access-Control-Allow-Methods"], want["Access-Control-Max-Age"] = allow, "600"
			} else {
				want["Access-Control-Allow-Methods"], want["Access-Control-Allow-Headers"] = "", ""
			}
			want["Access-Control-Allow-Origin"] = c.allow
			servertest.Expect(t, r, c.status, kernel.CodeUnsupportedRoute, want)
			if got := strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "authorization"); got != (c.credentials == "true" && c.status == 204) {
				t.Errorf("Access-Control-Allow-Headers %q", r.Header.Get("Access-Control-Allow-Headers"))
			}
		})
	}
}

// TestMethods asks for the same address with every method.
func TestMethods(t *testing.T) {
	w := sharedWorld(t, 41)
	get := w.Do(http.MethodGet, finalPath, w.Key)
	head := w.Do(http.MethodHead, finalPath, w.Key)
	servertest.Expect(t, head, 200, "", map[string]string{"Content-Length": strconv.Itoa(len(get.Body)), "Etag": get.Header.Get("ETag"), "Content-Type": "application/json"})
	servertest.Expect(t, w.Do(http.MethodHead, statusPath, ""), 401, "", map[string]string{"WWW-Authenticate": invalidToken})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodTrace, "PURGE"} {
		for _, key := range []string{"", w.Key} {
			limit := ""
			if key != "" {
				limit = "1000000000"
			}
			r := w.Do(method, statusPath, key)
			servertest.Expect(t, r, 405, kernel.CodeMethodNotAllowed, map[string]string{"Allow": "GET, HEAD, OPTIONS", "X-Ratelimit-Limit": limit})
		}
	}
}

// TestPaths asks for addresses beside the table.
func TestPaths(t *testing.T) {
	w := sharedWorld(t, 41)
	chain := "/v1/" + chainID
	for _, c := range []struct {
		path   string
		status int
		code   kernel.Code
	}{
		{"/v1", 404, kernel.CodeUnsupportedRoute},
		{"/v2/" + chainID + "/status", 404, kernel.CodeUnsupportedRoute},
		{chain, 404, kernel.CodeUnsupportedRoute},
		{chain + "/", 404, kernel.CodeUnsupportedRoute},
		{chain + "/nothing", 404, kernel.CodeUnsupportedRoute},
		{chain + "/status/", 404, kernel.CodeUnsupportedRoute},
		{chain + "/status/more", 404, kernel.CodeUnsupportedRoute},
		{chain + "//status", 404, kernel.CodeUnsupportedRoute},
		{"//v1/" + chainID + "/status", 404, kernel.CodeUnsupportedRoute},
		{chain + "/./status", 404, kernel.CodeUnsupportedRoute},
		{chain + "/x/../status", 404, kernel.CodeUnsupportedRoute},
		{"/V1/" + chainID + "/status", 404, kernel.CodeUnsupportedRoute},
		{chain + "/Status", 404, kernel.CodeUnsupportedRoute},
		{"/api/api/v1/" + chainID + "/status", 404, kernel.CodeUnsupportedRoute},
		{"/api/" + chainID + "/status", 404, kernel.CodeUnsupportedRoute},
		{"/v1/meta/nothing", 404, kernel.CodeUnsupportedRoute},
		{"/v1/meta/status", 404, kernel.CodeNotFound},
		{"/v1/SN_MAIN/status", 404, kernel.CodeNotFound},
		{"/v1/sn_sepolia/status", 404, kernel.CodeNotFound},
		{"/v1/SN_MAIN/blocks", 404, kernel.CodeNotFound},
		{"/v1/SN_MAIN/txs", 404, kernel.CodeNotFound},
		{"/v1/SN_MAIN/search?q=1", 404, kernel.CodeNotFound},
		{"/v1/" + chainID + "%2Fstatus", 404, kernel.CodeUnsupportedRoute},
		{chain + "/block/3%2Ftxs", 400, kernel.CodeInvalidRequest},
		{chain + "/block/%33", 200, ""},
		{chain + "/block/", 404, kernel.CodeUnsupportedRoute},
		{chain + "/block/..%2f3", 404, kernel.CodeUnsupportedRoute},
		{chain + "/block/%00", 400, kernel.CodeInvalidRequest},
		{chain + "/block/%ff%fe", 400, kernel.CodeInvalidRequest},
	} {
		w.Do(http.MethodGet, chain+"/block/3/txs", w.Key) // kept: it must not answer for others
		if r := w.Do(http.MethodGet, c.path, w.Key); r.StatusCode != c.status || c.status >= 400 && r.Envelope().Code != c.code {
			t.Errorf("GET %s: %d %s, want %d %s", c.path, r.StatusCode, r.Body, c.status, c.code)
		}
	}
}

// TestNoText: what no database stores as text is refused before one is asked.
func TestNoText(t *testing.T) {
	w := newWorld(t, 5, withVerification)
	for _, bytes := range []string{"%00", "a%00b", "%ff"} {
		for path, names := range map[string]string{
			"/v1/SN_MAIN/verification-jobs/" + bytes:              "path:",
			"/v1/SN_MAIN/verification-jobs/" + bytes + "/receipt": "path:",
			"/v1/" + chainID + "/search?q=" + bytes:               "query.q:",
			"/v1/" + chainID + "/blocks?limit=" + bytes:           "query.limit:",
		} {
			r := w.Do(http.MethodGet, path, w.Key)
			if e := r.Envelope(); r.StatusCode != 400 || e.Code != kernel.CodeInvalidRequest || !strings.HasPrefix(e.Message, names) {
				t.Errorf("GET %s: %d %s", path, r.StatusCode, r.Body)
			}
		}
	}
}

// TestParameters is about what may stand in a path and a query.
func TestParameters(t *testing.T) {
	w := sharedWorld(t, 41)
	chain := "/v1/" + chainID
	good := []string{"/blocks?limit=1", "/blocks?limit=200", "/blocks?limit=201", "/blocks?limit=9223372036854775807", "/txs?limit=1000000",
		"/block/3?tx_limit=100000", "/block/3/txs?limit=101", "/tx/%s?logLimit=1001", "/blocks?cursor=", "/block/0", "/block/latest",
		"/block-at-timestamp?timestamp=1767225600", "/block-at-timestamp?timestamp=2026-01-01T00:00:00.5Z", "/block-at-timestamp?timestamp=2026-01-01T01:00:00%2B01:00",
		"/block-at-timestamp?timestamp=0&closest=after", "/block-at-timestamp?timestamp=-5&closest=after", "/search?q=%203%20", "/search?q=99999999"}
	hash := w.Chain.BlockAt(2).Transactions[0].Hash.String()
	for _, path := range good {
		path = strings.Replace(path, "%s", hash, 1)
		if r := w.Do(http.MethodGet, chain+path, w.Key); r.StatusCode != 200 {
			t.Errorf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
	}
	for _, c := range []struct{ path, names string }{
		{"/blocks?limit=x", "limit"}, {"/blocks?limit=1.5", "limit"},
		{"/blocks?limit=1e-2", "limit"}, {"/blocks?limit=%201", "limit"}, {"/blocks?limit=0x5", "limit"}, {"/blocks?limit=5e999", "limit"},
		{"/block/3?tx_limit=x", "tx_limit"}, {"/block/3/txs?limit=x", "limit"}, {"/tx/" + hash + "?logLimit=x", "logLimit"},
		{"/blocks?Limit=5", "Limit"}, {"/blocks?lim=5", "lim"}, {"/status?x=1", "x"}, {"/block/3?limit=1", "limit"},
		{"/blocks?limit=", "limit"}, {"/transfers?token=", "token"}, {"/transfers?address", "address"},
		{"/blocks?limit=1&limit=2", "limit"}, {"/search?q=1&q=2", "q"}, {"/blocks?limit=5;x=1", "query"}, {"/blocks?limit=%zz", "query"},
		{"/block/-1", "number_or_hash"}, {"/block/007", "number_or_hash"}, {"/block/+7", "number_or_hash"}, {"/block/1.5", "number_or_hash"}, {"/block/Latest", "number_or_hash"},
		{"/block/pending", "number_or_hash"}, {"/block/0x", "number_or_hash"}, {"/block/0xzz", "number_or_hash"}, {"/block/0x" + strings.Repeat("f", 64), "number_or_hash"},
		{"/block/" + strings.Repeat("1", 80), "number_or_hash"}, {"/block/18446744073709551616", "number_or_hash"},
		{"/tx/123", "tx_hash"}, {"/tx/0x", "tx_hash"}, {"/tx/0x" + strings.Repeat("1", 65), "tx_hash"}, {"/tx/latest", "tx_hash"},
		{"/block-at-timestamp", "timestamp"}, {"/block-at-timestamp?timestamp=", "timestamp"}, {"/block-at-timestamp?timestamp=now", "timestamp"},
		{"/block-at-timestamp?timestamp=2026-01-01", "timestamp"}, {"/block-at-timestamp?timestamp=2026-01-01T00:00:00", "timestamp"},
		{"/block-at-timestamp?timestamp=2026-01-01T01:00:00+01:00", "timestamp"}, {"/block-at-timestamp?timestamp=99999999999999", "timestamp"},
		{"/block-at-timestamp?timestamp=0&closest=near", "closest"}, {"/search", "q"}, {"/search?q=", "q"}, {"/search?q=0xzz", "q"},
	} {
		r := w.Do(http.MethodGet, chain+c.path, w.Key)
		if r.StatusCode != 400 || r.Envelope().Code != kernel.CodeInvalidRequest || !strings.Contains(r.Envelope().Message, c.names) {
			t.Errorf("GET %s: %d %s", c.path, r.StatusCode, r.Body)
		}
	}
	for _, path := range []string{"/block/99999", "/block/9223372036854775807", "/block/0x1", "/tx/0x1", "/block-at-timestamp?timestamp=0", "/block-at-timestamp?timestamp=-5",
		"/block-at-timestamp?timestamp=1969-01-01T00:00:00Z", "/block-at-timestamp?timestamp=9999-01-01T00:00:00Z&closest=after"} {
		if r := w.Do(http.MethodGet, chain+path, w.Key); r.StatusCode != 404 || r.Envelope().Code != kernel.CodeNotFound {
			t.Errorf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
	}
	// Clamped means the maximum, not the default.
	var p struct{ Items []json.RawMessage }
	w.Get("/txs?limit=1000", &p)
	if len(p.Items) != 200 {
		t.Errorf("clamped to %d", len(p.Items))
	}
	for _, low := range []string{"0", "-1", "-9223372036854775808"} {
		if w.Get("/txs?limit="+low, &p); len(p.Items) != 1 {
			t.Errorf("limit %s gives %d", low, len(p.Items))
		}
	}
	w.Get("/txs", &p)
	if len(p.Items) != 25 {
		t.Errorf("default %d", len(p.Items))
	}
	servertest.Expect(t, w.Do(http.MethodGet, chain+"/search?q="+strings.Repeat("1", 33_000), w.Key), 414, kernel.CodeURITooLong, nil)
	servertest.Expect(t, w.Do(http.MethodGet, chain+"/status", w.Key, "X-Other", strings.Repeat("x", 100_000)), 200, "", nil)
}
