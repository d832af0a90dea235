package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
)

// TestRateLimits spends the budgets of keys and classes on an injected clock.
func TestRateLimits(t *testing.T) {
	w := newWorld(t, 5)
	key := w.limitedKey(account.Limits{LightPerMinute: 3, HeavyPerMinute: 2})
	light, heavy := statusPath, "/v1/"+chainID+"/search?q=1"
	ask := func(path, key string, status int, limit, left, policy, retry string) {
		t.Helper()
		expect(t, w.do(http.MethodGet, path, key), status, kernel.CodeRateLimited, map[string]string{
			"X-Ratelimit-Limit": limit, "X-Ratelimit-Remaining": left, "X-Ratelimit-Policy": policy, "Retry-After": retry,
			"X-Service-Route-Class": strings.TrimSuffix(policy, ";w=60")})
	}
	ask(light, key, 200, "3", "2", "light;w=60", "")
	w.clock.advance(10 * time.Second)
	ask(light, key, 200, "3", "1", "light;w=60", "")
	ask("/api"+light, key, 200, "3", "0", "light;w=60", "")
	ask(light, key, 429, "3", "0", "light;w=60", "50")
	ask(heavy, key, 200, "2", "1", "heavy;w=60", "") // the other class is unaffected
	w.clock.advance(49*time.Second + 500*time.Millisecond)
	ask(light, key, 429, "3", "0", "light;w=60", "1")
	ask(light, w.key, 200, "1000000000", "999999996", "light;w=60", "") // another key has what the workspace has left
	w.clock.advance(500 * time.Millisecond)
	ask(light, key, 200, "3", "2", "light;w=60", "") // the window ended
	ask(heavy, key, 200, "2", "0", "heavy;w=60", "") // that of the other class did not
	ask(heavy, key, 429, "2", "0", "heavy;w=60", "10")
	// A refused key, a failure in the caller's request, a 304: who spends?
	w.do(http.MethodGet, statusPath, "")
	expect(t, w.do(http.MethodGet, light+"?x=1", key), 400, kernel.CodeInvalidRequest, map[string]string{"X-Ratelimit-Remaining": "1"})
	expect(t, w.do(http.MethodGet, "/v1/"+chainID+"/nothing", key), 404, kernel.CodeUnsupportedRoute, map[string]string{"X-Ratelimit-Remaining": ""})
	expect(t, w.do(http.MethodHead, light, key), 200, "", map[string]string{"X-Ratelimit-Remaining": "0"})
}

// TestCapabilitiesTellTheBudget: what this very request left, and how long to wait
// when that is nothing.
func TestCapabilitiesTellTheBudget(t *testing.T) {
	w := newWorld(t, 5)
	key := w.limitedKey(account.Limits{LightPerMinute: 2, HeavyPerMinute: 7})
	ask := func(want string) {
		t.Helper()
		var out struct {
			Caller struct{ RateLimit json.RawMessage }
		}
		r := w.do(http.MethodGet, "/v1/meta/capabilities", key)
		if err := json.Unmarshal(r.body, &out); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Compact(&got, out.Caller.RateLimit); err != nil || got.String() != want {
			t.Errorf("%s, %v; want %s", got.String(), err, want)
		}
	}
	ask(`{"loadClass":"light","limitPerMinute":2,"remaining":1,"retryAfterSeconds":null,"lightPerMinute":2,"heavyPerMinute":7,"batchPerMinute":6000,"burst":3000,"bucketScope":"key"}`)
	w.clock.advance(20 * time.Second)
	ask(`{"loadClass":"light","limitPerMinute":2,"remaining":0,"retryAfterSeconds":40,"lightPerMinute":2,"heavyPerMinute":7,"batchPerMinute":6000,"burst":3000,"bucketScope":"key"}`)
}

// TestRequestIDs are echoed when a log can hold them, and replaced when not.
func TestRequestIDs(t *testing.T) {
	w := newWorld(t, 5)
	for _, id := range []string{"a", "A-1.b_c:9", strings.Repeat("x", 128)} {
		for _, path := range []string{statusPath, "/nothing", "/healthz"} {
			if r := w.do(http.MethodGet, path, w.key, "X-Request-Id", id); r.Header.Get("X-Request-Id") != id {
				t.Errorf("%q became %q", id, r.Header.Get("X-Request-Id"))
			}
		}
	}
	seen := map[string]bool{}
	for _, headers := range [][]string{nil, {"X-Request-Id", ""}, {"X-Request-Id", strings.Repeat("x", 129)}, {"X-Request-Id", "a b"}, {"X-Request-Id", "a/b"},
		{"X-Request-Id", `"a"`}, {"X-Request-Id", "é"}, {"X-Request-Id", "a", "X-Request-Id", "b"}, {"X-Request-Id", w.key}, {"X-Request-Id", "trace:" + strings.ToUpper(w.key)}} {
		r := w.do(http.MethodGet, statusPath, "", headers...)
		id := r.Header.Get("X-Request-Id")
		if !strings.HasPrefix(id, "svc-") || len(id) != 28 || seen[id] || len(r.Header.Values("X-Request-Id")) != 1 {
			t.Errorf("%q became %q", headers, id)
		}
		seen[id] = true
		if !strings.Contains(w.logs.String(), `"request_id":"`+id+`"`) {
			t.Errorf("%s is not in the log", id)
		}
	}
}

// TestLaterVerification: the answer about a block that was kept is not sent any more
// when the block was verified since.
func TestLaterVerification(t *testing.T) {
	w := newWorld(t, 41)
	status := func() string {
		var b api.Block
		w.get("/block/3", &b)
		return b.Verification.Status
	}
	if first, again := status(), status(); first != "not_checked" || again != first {
		t.Fatalf("%s, then %s", first, again)
	}
	w.verify(3)
	if now := status(); now != "verified" {
		t.Errorf("%s after the block was verified", now)
	}
}

// TestValidators asks for finalized answers twice.
func TestValidators(t *testing.T) {
	w := newWorld(t, 41)
	chain := "/v1/" + chainID
	final := w.chain.BlockAt(25) // finalized, not accepted on L1
	settled, unproved := w.chain.BlockAt(4), w.chain.BlockAt(5)
	w.verify(settled.Number)
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
		plain := w.do(http.MethodGet, path, w.key)
		zipped := w.do(http.MethodGet, path, w.key, "Accept-Encoding", "gzip")
		expect(t, plain, 200, "", map[string]string{"Cache-Control": c.cache, "Content-Encoding": "", "Content-Length": strconv.Itoa(len(plain.body))})
		if string(zipped.plain()) != string(plain.body) {
			t.Fatalf("%s: the encodings differ", c.path)
		}
		tag, ztag := plain.Header.Get("ETag"), zipped.Header.Get("ETag")
		if (tag != "") != c.etag || strings.HasPrefix(tag, "W/") {
			t.Fatalf("%s: ETag %q", c.path, tag)
		}
		if !c.etag {
			expect(t, w.do(http.MethodGet, path, w.key, "If-None-Match", "*"), 200, "", nil)
			continue
		}
		if encoded := zipped.Header.Get("Content-Encoding") == "gzip"; (tag != ztag) != encoded {
			t.Errorf("%s: validators %s and %s", c.path, tag, ztag)
		}
		for _, none := range []string{tag, ztag, "W/" + tag, `"x", ` + tag, "*"} {
			for _, encoding := range []string{"", "gzip"} {
				r := w.do(http.MethodGet, path, w.key, "If-None-Match", none, "Accept-Encoding", encoding)
				want := strings.TrimPrefix(none[strings.LastIndex(none, " ")+1:], "W/")
				if none == "*" {
					want = map[string]string{"": tag, "gzip": ztag}[encoding]
				}
				expect(t, r, 304, "", map[string]string{"Etag": want, "Cache-Control": c.cache, "Content-Type": "", "Content-Encoding": ""})
				if r.Header.Get("X-Ratelimit-Remaining") == "" || !varies(r, "Accept-Encoding") {
					t.Errorf("%s: 304 without the headers of a 200: %v", c.path, r.Header)
				}
			}
		}
		for _, none := range []string{`"x"`, strings.Trim(tag, `"`), `"*"`, tag[:len(tag)-2] + `"`} {
			expect(t, w.do(http.MethodGet, path, w.key, "If-None-Match", none), 200, "", nil)
		}
		expect(t, w.do(http.MethodGet, path, "", "If-None-Match", tag), 401, kernel.CodeUnauthorized, nil)
		if head := w.do(http.MethodHead, path, w.key); head.Header.Get("ETag") != tag {
			t.Errorf("%s: HEAD has %q", c.path, head.Header.Get("ETag"))
		}
	}
}

// TestCompression looks at what decides about gzip.
func TestCompression(t *testing.T) {
	w := newWorld(t, 41)
	list := "/v1/" + chainID + "/txs"
	for _, c := range []struct {
		headers []string
		gzip    bool
	}{
		{nil, false}, {[]string{"Accept-Encoding", "gzip"}, true}, {[]string{"Accept-Encoding", "br, GZIP;q=0.5"}, true},
		{[]string{"Accept-Encoding", "gzip;q=0"}, false}, {[]string{"Accept-Encoding", "gzip; q=0.000"}, false}, {[]string{"Accept-Encoding", "br"}, false},
		{[]string{"Accept-Encoding", "br", "Accept-Encoding", "gzip"}, true}, {[]string{"Accept-Encoding", "identity"}, false}, {[]string{"Accept-Encoding", "gzip;q=x"}, false},
	} {
		r := w.do(http.MethodGet, list, w.key, c.headers...)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != c.gzip || r.Header.Get("Content-Length") != strconv.Itoa(len(r.body)) {
			t.Errorf("%v: %v", c.headers, r.Header)
		}
	}
	if r := w.do(http.MethodGet, statusPath, w.key, "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer was compressed")
	}
}

// TestKeptAnswersEndWithFork asks for an answer that was kept forever, before
// and after forks at every depth, below the finalized tier and below L1.
func TestKeptAnswersEndWithFork(t *testing.T) {
	w := newWorld(t, 60)
	for _, cut := range []int{3, 15, 45} {
		head, _ := w.chain.Head()
		number := head - uint64(cut) + 1
		path := fmt.Sprintf("/v1/%s/block/%d", chainID, number)
		before := w.do(http.MethodGet, path, w.key)
		w.do(http.MethodGet, path, w.key)
		w.chain.Fork(cut)
		w.chain.Extend(1)
		w.catchUp()
		after := w.do(http.MethodGet, path, w.key, "If-None-Match", before.Header.Get("ETag"))
		if d := difference(wantBlock(w.chain.BlockAt(number), 50), after.body); after.StatusCode != 200 || d != "" {
			t.Fatalf("after a fork of %d: %d %s", cut, after.StatusCode, d)
		}
	}
}

// hooked is a world with routes that misbehave.
type hooked struct {
	*world
	entered, leave chan struct{}
}

func newHooked(t *testing.T, change ...func(*options)) *hooked {
	w := &hooked{newWorld(t, 5, change...), make(chan struct{}), make(chan struct{})}
	route := func(id, method string, maxBody int64) kernel.Route {
		return kernel.Route{ID: id, Method: method, Path: "/v1/test/" + id, Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light, Scope: account.Read,
			Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock, MaxBody: maxBody, Statuses: []int{413, 415}}
	}
	addRead(w.server, route("panic", "GET", 0), func(context.Context) error { panic("the secret of the panic") })
	addRead(w.server, route("broken", "GET", 0), func(context.Context) error { return fmt.Errorf("the secret of the failure") })
	addRead(w.server, route("slow", "GET", 0), func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("query: %w", ctx.Err())
	})
	addRead(w.server, route("wait", "GET", 0), func(context.Context) error {
		w.entered <- struct{}{}
		<-w.leave
		return nil
	})
	addWrite(w.server, route("write", "POST", 100), func(context.Context, *testBody) error { return nil })
	w.contract = contractOf(t, w.server)
	return w
}

func (w *hooked) post(contentType, body string) reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/v1/test/write", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", w.key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return w.send(req)
}

// TestFaults is about what goes wrong inside: callers learn nothing of it, and
// operators find all of it under the request id.
func TestFaults(t *testing.T) {
	w := newHooked(t, func(o *options) { o.Timeout = 50 * time.Millisecond })
	for _, path := range []string{"/v1/test/panic", "/api/v1/test/panic", "/v1/test/broken"} {
		r := w.do(http.MethodGet, path, w.key, "X-Request-Id", "fault-1", "Origin", strangeOrigin)
		expect(t, r, 500, kernel.CodeInternal, map[string]string{"Access-Control-Allow-Origin": "*", "X-Request-Id": "fault-1"})
		if strings.Contains(string(r.body), "secret") || strings.Contains(string(r.body), ".go") {
			t.Errorf("the answer tells: %s", r.body)
		}
	}
	for _, want := range []string{"the secret of the panic", "the secret of the failure", "behaviour_test.go", `"request_id":"fault-1"`} {
		if !strings.Contains(w.logs.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	expect(t, w.do(http.MethodGet, "/v1/test/slow", w.key), 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "2"})
	expect(t, w.do(http.MethodGet, statusPath, w.key), 200, "", nil) // the panics took nothing with them
}

// TestBusy fills the service up to its limit.
func TestBusy(t *testing.T) {
	w := newHooked(t, func(o *options) { o.MaxInFlight, o.MaxInFlightWorkspace, o.MaxInFlightKey = 2, 2, 2 })
	other, _ := w.stranger("other", account.Enterprise, account.Limits{})
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/test/wait", nil)
			req.Header.Set("X-Service-Api-Key", w.key)
			res, err := transport.RoundTrip(req)
			if err != nil || res.StatusCode != 200 {
				t.Errorf("the waiting request: %v %v", res, err)
				return
			}
			res.Body.Close() //nolint:errcheck // not read
		})
		<-w.entered
	}
	r := w.do(http.MethodGet, statusPath, other)
	w.leave <- struct{}{}
	expect(t, r, 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "1"})
	expect(t, w.do(http.MethodGet, "/healthz", ""), 200, "", nil)
	w.leave <- struct{}{}
	done.Wait()
	expect(t, w.do(http.MethodGet, statusPath, w.key), 200, "", nil)
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
	w := newHooked(t, func(o *options) { o.MaxInFlight = 1 })
	slow := &stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var done sync.WaitGroup
	done.Go(func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, statusPath, nil)
		r.Header.Set("X-Service-Api-Key", w.key)
		w.server.ServeHTTP(slow, r)
	})
	<-slow.writing
	expect(t, w.do(http.MethodGet, statusPath, w.key), 200, "", nil)
	close(slow.read)
	done.Wait()
}

// TestBodies is about routes that take one.
func TestBodies(t *testing.T) {
	w := newHooked(t)
	expect(t, w.post("application/json", `{"items":["a"]}`), 200, "", nil)
	expect(t, w.post("application/json; charset=utf-8", `{"items":[]}`), 200, "", nil)
	expect(t, w.post("application/json", `{"items":["`+strings.Repeat("a", 200)+`"]}`), 413, kernel.CodePayloadTooLarge, nil)
	expect(t, w.post("text/plain", `{"items":[]}`), 415, kernel.CodeUnsupportedMedia, nil)
	expect(t, w.post("application/xml", `<items/>`), 415, kernel.CodeUnsupportedMedia, nil)
	for _, body := range []string{"", "{", "null", "[]", `{"items":"a"}`, `{"items":[],"more":1}`, `{"items":[1]}`, `{}`} {
		expect(t, w.post("application/json", body), 400, kernel.CodeInvalidRequest, nil)
	}
	expect(t, w.do(http.MethodGet, "/v1/test/write", w.key), 405, kernel.CodeMethodNotAllowed, map[string]string{"Allow": "POST, OPTIONS"})
}

// TestWhileTheChainMoves reads from several goroutines while blocks and forks
// arrive. Each answer must be one that the chain gave at some moment.
func TestWhileTheChainMoves(t *testing.T) {
	w := newWorld(t, 45)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.readConsistently(i, n)
			}
		})
	}
	for _, cut := range []int{0, 2, 0, 14, 1, 0, 38, 3} {
		if cut > 0 {
			w.chain.Fork(cut)
		}
		w.chain.Extend(2)
		w.catchUp()
	}
	stop()
	readers.Wait()
}

// try reads a route below the chain; while a fork is undone the newest blocks
// may be missing.
func (w *world) try(path string, out any) bool {
	r := w.do(http.MethodGet, "/v1/"+chainID+path, w.key)
	if r.StatusCode == http.StatusNotFound && strings.HasPrefix(path, "/block/") {
		return false
	}
	if err := json.Unmarshal(r.body, out); err != nil || r.StatusCode != http.StatusOK {
		w.t.Errorf("GET %s: %d %s", path, r.StatusCode, r.body)
		return false
	}
	return true
}

func (w *world) readConsistently(reader, n int) {
	var b api.Block
	var p api.BlockPage
	var s api.Status
	if !w.try("/block/"+[]string{"latest", strconv.Itoa(5 + n%40), "44"}[(reader+n)%3], &b) || !w.try("/blocks?limit=10", &p) || !w.try("/status", &s) {
		return
	}
	truth, _ := w.chain.BlockByHash(b.BlockHash)
	if truth == nil || truth.Number != b.BlockNumber || len(truth.Transactions) != int(b.TxCount) || truth.ParentHash != b.ParentHash {
		w.t.Errorf("block %d %s never was", b.BlockNumber, b.BlockHash)
		return
	}
	for i, tx := range b.Transactions {
		if tx.TxHash != truth.Transactions[i].Hash {
			w.t.Errorf("block %d: transaction %d is of another block", b.BlockNumber, i)
		}
	}
	for i, item := range p.Items[1:] {
		if item.BlockHash != p.Items[i].ParentHash {
			w.t.Errorf("a page mixes branches at block %d", item.BlockNumber)
		}
	}
	if head, _ := w.chain.BlockByHash(*s.HeadBlockHash); head == nil || head.Number != *s.LatestIndexedBlockNumber || *s.IndexedBlockSpan != head.Number+1 {
		w.t.Errorf("status: head %s", s.HeadBlockHash)
	}
}

// TestCursors passes cursors where they do not belong.
func TestCursors(t *testing.T) {
	w := newWorld(t, 41)
	chain := "/v1/" + chainID
	var p page
	w.get("/blocks?limit=2", &p)
	cursor := *p.NextCursor
	changed := []byte(cursor)
	changed[3] ^= 1
	for _, path := range []string{"/blocks?cursor=" + string(changed), "/blocks?cursor=" + cursor[:len(cursor)-1], "/blocks?cursor=" + cursor + "A", "/blocks?cursor=x",
		"/blocks?cursor=" + strings.Repeat("A", 4000), "/txs?cursor=" + cursor, "/block/3/txs?cursor=" + cursor, "/blocks?cursor=5", "/blocks?cursor=%00"} {
		if r := w.do(http.MethodGet, chain+path, w.key); r.StatusCode != 400 || r.envelope().Code != kernel.CodeInvalidCursor {
			t.Errorf("GET %s: %d %s", path, r.StatusCode, r.body)
		}
	}
	// It may be used again, with another limit and under the other path.
	for _, path := range []string{chain + "/blocks?limit=5&cursor=" + cursor, "/api" + chain + "/blocks?cursor=" + cursor} {
		expect(t, w.do(http.MethodGet, path, w.key), 200, "", nil)
	}
}
