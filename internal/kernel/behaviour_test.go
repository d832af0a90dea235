package kernel_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestRateLimits spends the budgets of keys and classes on an injected clock.
func TestRateLimits(t *testing.T) {
	w := newWorld(t, 5)
	key := w.LimitedKey(account.Limits{LightPerMinute: 4, HeavyPerMinute: 2})
	light, heavy := statusPath, "/v1/"+chainID+"/search?q=1"
	ask := func(path, key string, status int, limit, left, policy, retry string) {
		t.Helper()
		servertest.Expect(t, w.Do(http.MethodGet, path, key), status, kernel.CodeRateLimited, map[string]string{
			"X-Ratelimit-Limit": limit, "X-Ratelimit-Remaining": left, "X-Ratelimit-Policy": policy, "Retry-After": retry,
			"X-Service-Route-Class": strings.TrimSuffix(policy, ";w=60")})
	}
	ask(light, key, 200, "4", "3", "light;w=60", "")
	w.Clock.Advance(10 * time.Second)
	ask(light, key, 200, "4", "2", "light;w=60", "")
	ask(light, key, 200, "4", "1", "light;w=60", "")
	ask("/api"+light, key, 200, "4", "0", "light;w=60", "")
	ask(light, key, 429, "4", "0", "light;w=60", "50")
	ask(heavy, key, 200, "2", "1", "heavy;w=60", "") // the other class is unaffected
	w.Clock.Advance(49*time.Second + 500*time.Millisecond)
	ask(light, key, 429, "4", "0", "light;w=60", "1")
	ask(light, w.Key, 200, "1000000000", "999999995", "light;w=60", "") // another key has what the workspace has left
	w.Clock.Advance(500 * time.Millisecond)
	ask(light, key, 200, "4", "3", "light;w=60", "") // the window ended
	ask(heavy, key, 200, "2", "0", "heavy;w=60", "") // that of the other class did not
	ask(heavy, key, 429, "2", "0", "heavy;w=60", "10")
	// A refused key, a failure in the caller's request, a 304: who spends?
	w.Do(http.MethodGet, statusPath, "")
	servertest.Expect(t, w.Do(http.MethodGet, light+"?x=1", key), 400, kernel.CodeInvalidRequest, map[string]string{"X-Ratelimit-Remaining": "2"})
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/nothing", key), 404, kernel.CodeUnsupportedRoute, map[string]string{"X-Ratelimit-Remaining": "1"})
	servertest.Expect(t, w.Do(http.MethodHead, light, key), 200, "", map[string]string{"X-Ratelimit-Remaining": "0"})
}

// TestRequestIDs are echoed when a log can hold them, and replaced when not.
func TestRequestIDs(t *testing.T) {
	w := newWorld(t, 5)
	for _, id := range []string{"a", "A-1.b_c:9", strings.Repeat("x", 128)} {
		for _, path := range []string{statusPath, "/nothing", "/healthz"} {
			if r := w.Do(http.MethodGet, path, w.Key, "X-Request-Id", id); r.Header.Get("X-Request-Id") != id {
				t.Errorf("%q became %q", id, r.Header.Get("X-Request-Id"))
			}
		}
	}
	seen := map[string]bool{}
	for _, headers := range [][]string{nil, {"X-Request-Id", ""}, {"X-Request-Id", strings.Repeat("x", 129)}, {"X-Request-Id", "a b"}, {"X-Request-Id", "a/b"},
		{"X-Request-Id", `"a"`}, {"X-Request-Id", "é"}, {"X-Request-Id", "a", "X-Request-Id", "b"}, {"X-Request-Id", w.Key}, {"X-Request-Id", "trace:" + strings.ToUpper(w.Key)}} {
		r := w.Do(http.MethodGet, statusPath, "", headers...)
		id := r.Header.Get("X-Request-Id")
		if !strings.HasPrefix(id, "svc-") || len(id) != 28 || seen[id] || len(r.Header.Values("X-Request-Id")) != 1 {
			t.Errorf("%q became %q", headers, id)
		}
		seen[id] = true
		if !strings.Contains(w.Logs.String(), `"request_id":"`+id+`"`) {
			t.Errorf("%s is not in the log", id)
		}
	}
}

// TestValidators asks for finalized answers twice.
func TestValidators(t *testing.T) {
	w := newWorld(t, 41)
	chain := "/v1/" + chainID
	final := w.Chain.BlockAt(25) // finalized, not accepted on L1
	settled, unproved := w.Chain.BlockAt(4), w.Chain.BlockAt(5)
	w.Verify(settled.Number)
	for _, c := range []struct {
		path  string
		cache string
		etag  bool
	}{
		{fmt.Sprintf("/block/%d", settled.Number), "private, max-age=3600, immutable", true},
		{"/block/" + settled.Hash.String(), "private, max-age=3600, immutable", true},
		{"/tx/" + settled.Transactions[0].Hash.String(), "private, max-age=3600, immutable", true},
		{fmt.Sprintf("/block/%d/txs?limit=2", settled.Number), "private, max-age=3600, immutable", true},
		{fmt.Sprintf("/block/%d", unproved.Number), "private, no-cache", true}, // it may be verified later
		{fmt.Sprintf("/block/%d", final.Number), "private, no-cache", true},
		{"/tx/" + final.Transactions[0].Hash.String(), "private, no-cache", true},
		{"/block/latest", "private, no-store", false},
		{"/block/latest/txs", "private, no-store", false},
		{"/block/40", "private, no-store", false},
		{"/block/31", "private, no-store", false},
		{"/status", "private, no-store", false},
		{"/blocks", "private, no-store", false},
		{"/txs", "private, no-store", false},
		{"/search?q=1", "private, no-store", false},
	} {
		path := chain + c.path
		plain := w.Do(http.MethodGet, path, w.Key)
		zipped := w.Do(http.MethodGet, path, w.Key, "Accept-Encoding", "gzip")
		servertest.Expect(t, plain, 200, "", map[string]string{"Cache-Control": c.cache, "Content-Encoding": "", "Content-Length": strconv.Itoa(len(plain.Body))})
		if string(zipped.Plain()) != string(plain.Body) {
			t.Fatalf("%s: the encodings differ", c.path)
		}
		tag, ztag := plain.Header.Get("ETag"), zipped.Header.Get("ETag")
		if (tag != "") != c.etag || strings.HasPrefix(tag, "W/") {
			t.Fatalf("%s: ETag %q", c.path, tag)
		}
		if !c.etag {
			servertest.Expect(t, w.Do(http.MethodGet, path, w.Key, "If-None-Match", "*"), 200, "", nil)
			continue
		}
		if encoded := zipped.Header.Get("Content-Encoding") == "gzip"; (tag != ztag) != encoded {
			t.Errorf("%s: validators %s and %s", c.path, tag, ztag)
		}
		for _, none := range []string{tag, ztag, "W/" + tag, `"x", ` + tag, "*"} {
			for _, encoding := range []string{"", "gzip"} {
				r := w.Do(http.MethodGet, path, w.Key, "If-None-Match", none, "Accept-Encoding", encoding)
				want := strings.TrimPrefix(none[strings.LastIndex(none, " ")+1:], "W/")
				if none == "*" {
					want = map[string]string{"": tag, "gzip": ztag}[encoding]
				}
				servertest.Expect(t, r, 304, "", map[string]string{"Etag": want, "Cache-Control": c.cache, "Content-Type": "", "Content-Encoding": ""})
				if r.Header.Get("X-Ratelimit-Remaining") == "" || !varies(r, "Accept-Encoding") {
					t.Errorf("%s: 304 without the headers of a 200: %v", c.path, r.Header)
				}
			}
		}
		for _, none := range []string{`"x"`, strings.Trim(tag, `"`), `"*"`, tag[:len(tag)-2] + `"`} {
			servertest.Expect(t, w.Do(http.MethodGet, path, w.Key, "If-None-Match", none), 200, "", nil)
		}
		servertest.Expect(t, w.Do(http.MethodGet, path, "", "If-None-Match", tag), 401, kernel.CodeUnauthorized, nil)
		if head := w.Do(http.MethodHead, path, w.Key); head.Header.Get("ETag") != tag {
			t.Errorf("%s: HEAD has %q", c.path, head.Header.Get("ETag"))
		}
	}
}

// TestCompression looks at what decides about gzip.
func TestCompression(t *testing.T) {
	w := sharedWorld(t, 41)
	list := "/v1/" + chainID + "/txs"
	for _, c := range []struct {
		headers []string
		gzip    bool
	}{
		{nil, false}, {[]string{"Accept-Encoding", "gzip"}, true}, {[]string{"Accept-Encoding", "br, GZIP;q=0.5"}, true},
		{[]string{"Accept-Encoding", "gzip;q=0"}, false}, {[]string{"Accept-Encoding", "gzip; q=0.000"}, false}, {[]string{"Accept-Encoding", "br"}, false},
		{[]string{"Accept-Encoding", "br", "Accept-Encoding", "gzip"}, true}, {[]string{"Accept-Encoding", "identity"}, false}, {[]string{"Accept-Encoding", "gzip;q=x"}, false},
	} {
		r := w.Do(http.MethodGet, list, w.Key, c.headers...)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != c.gzip || r.Header.Get("Content-Length") != strconv.Itoa(len(r.Body)) {
			t.Errorf("%v: %v", c.headers, r.Header)
		}
	}
	if r := w.Do(http.MethodGet, statusPath, w.Key, "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer was compressed")
	}
}

// TestFaults is about what goes wrong inside: callers learn nothing of it, and
// operators find all of it under the request id.
func TestFaults(t *testing.T) {
	w := servertest.NewHooked(t, func(o *options) { o.Timeout = 50 * time.Millisecond })
	for _, path := range []string{"/v1/test/panic", "/api/v1/test/panic", "/v1/test/broken"} {
		r := w.Do(http.MethodGet, path, w.Key, "X-Request-Id", "fault-1", "Origin", strangeOrigin)
		servertest.Expect(t, r, 500, kernel.CodeInternal, map[string]string{"Access-Control-Allow-Origin": "*", "X-Request-Id": "fault-1"})
		if strings.Contains(string(r.Body), "secret") || strings.Contains(string(r.Body), ".go") {
			t.Errorf("the answer tells: %s", r.Body)
		}
	}
	for _, want := range []string{"the secret of the panic", "the secret of the failure", "routes.go", `"request_id":"fault-1"`} {
		if !strings.Contains(w.Logs.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/test/slow", w.Key), 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "2"})
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil) // the panics took nothing with them
}

// TestBusy fills the service up to its limit.
func TestBusy(t *testing.T) {
	servertest.Watched(t)
	w := servertest.NewHooked(t, func(o *options) { o.MaxInFlight, o.MaxInFlightWorkspace, o.MaxInFlightKey = 2, 2, 2 })
	other, _ := w.Stranger("other", account.Enterprise, account.Limits{})
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/v1/test/wait", nil)
			req.Header.Set("X-Service-Api-Key", w.Key)
			res, err := servertest.Transport.RoundTrip(req)
			if err != nil || res.StatusCode != 200 {
				t.Errorf("the waiting request: %v %v", res, err)
				return
			}
			res.Body.Close() //nolint:errcheck // not read
		})
		<-w.Entered
	}
	r := w.Do(http.MethodGet, statusPath, other)
	w.Leave <- struct{}{}
	servertest.Expect(t, r, 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "1"})
	servertest.Expect(t, w.Do(http.MethodGet, "/healthz", ""), 200, "", nil)
	w.Leave <- struct{}{}
	done.Wait()
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
}

// stuck is a client that does not read.
type stuck struct {
	http.ResponseWriter
	writing, read chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	close(s.writing)
	<-s.read
	return s.ResponseWriter.Write(b)
}

// TestSlowReaders lets a client that does not read hold everything it can get.
func TestSlowReaders(t *testing.T) {
	servertest.Watched(t)
	w := servertest.NewHooked(t, func(o *options) { o.MaxInFlight = 1 })
	slow := &stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var done sync.WaitGroup
	done.Go(func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, statusPath, nil)
		r.Header.Set("X-Service-Api-Key", w.Key)
		w.Server.ServeHTTP(slow, r)
	})
	<-slow.writing
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
	close(slow.read)
	done.Wait()
}

// TestBodies is about routes that take one.
func TestBodies(t *testing.T) {
	w := servertest.NewHooked(t)
	servertest.Expect(t, w.Post("application/json", `{"items":["a"]}`), 200, "", nil)
	servertest.Expect(t, w.Post("application/json; charset=utf-8", `{"items":[]}`), 200, "", nil)
	servertest.Expect(t, w.Post("application/json", `{"items":["`+strings.Repeat("a", 200)+`"]}`), 413, kernel.CodePayloadTooLarge, nil)
	servertest.Expect(t, w.Post("text/plain", `{"items":[]}`), 415, kernel.CodeUnsupportedMedia, nil)
	servertest.Expect(t, w.Post("application/xml", `<items/>`), 415, kernel.CodeUnsupportedMedia, nil)
	for _, body := range []string{"", "{", "null", "[]", `{"items":"a"}`, `{"items":[],"more":1}`, `{"items":[1]}`, `{}`} {
		servertest.Expect(t, w.Post("application/json", body), 400, kernel.CodeInvalidRequest, nil)
	}
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/test/write", w.Key), 405, kernel.CodeMethodNotAllowed, map[string]string{"Allow": "POST, OPTIONS"})
}

// TestCursors passes cursors where they do not belong.
func TestCursors(t *testing.T) {
	w := sharedWorld(t, 41)
	chain := "/v1/" + chainID
	var p struct{ NextCursor *string }
	w.Get("/blocks?limit=2", &p)
	cursor := *p.NextCursor
	changed := []byte(cursor)
	changed[3] ^= 1
	for _, path := range []string{"/blocks?cursor=" + string(changed), "/blocks?cursor=" + cursor[:len(cursor)-1], "/blocks?cursor=" + cursor + "A", "/blocks?cursor=x",
		"/blocks?cursor=" + strings.Repeat("A", 4000), "/txs?cursor=" + cursor, "/block/3/txs?cursor=" + cursor, "/blocks?cursor=5", "/blocks?cursor=%00"} {
		if r := w.Do(http.MethodGet, chain+path, w.Key); r.StatusCode != 400 || r.Envelope().Code != kernel.CodeInvalidCursor {
			t.Errorf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
	}
	// It may be used again, with another limit and under the other path.
	for _, path := range []string{chain + "/blocks?limit=5&cursor=" + cursor, "/api" + chain + "/blocks?cursor=" + cursor} {
		servertest.Expect(t, w.Do(http.MethodGet, path, w.Key), 200, "", nil)
	}
}
