package kernel_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

func limited(t *testing.T, r reply, reason kernel.Reason) {
	t.Helper()
	servertest.Expect(t, r, 429, kernel.CodeRateLimited, nil)
	if e := r.Envelope(); e.Reason != reason || r.Header.Get("Retry-After") == "" || e.DocSlug != "api/rate-limits" {
		t.Errorf("reason %q, Retry-After %q: %s", e.Reason, r.Header.Get("Retry-After"), r.Body)
	}
}

// TestSlowSendersLeaveRoom: many connections of one key send one byte of a body.
// They hold no place to work, not even all the places to read bodies, and everybody
// else is answered.
func TestSlowSendersLeaveRoom(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5, func(o *options) { o.MaxInFlight = 8 })
	other, _ := w.Stranger("other", account.Enterprise, account.Limits{})
	const path = "/v1/" + chainID + "/address/summaries"
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Api-Key: %s\r\nContent-Length: 30\r\n\r\n{", path, w.Key)
	const perKey = 256 / 8
	conns := make([]net.Conn, 3*perKey)
	for i := range conns {
		conns[i] = w.Dial(head)
	}
	// Which of them got in is not told, but all others are refused at once.
	refused := make(chan reply, len(conns))
	var all sync.WaitGroup
	for _, c := range conns {
		all.Go(func() {
			if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
				body, _ := io.ReadAll(res.Body)
				refused <- reply{Response: res, Body: body}
			}
		})
	}
	for range len(conns) - perKey {
		r := <-refused
		limited(t, r, kernel.ReasonConcurrency)
		if !r.Close {
			t.Error("the connection stays open with half a body in it")
		}
	}
	for range 20 { // one after the other, while the slow ones hold on
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, other), 200, "", nil)
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil) // even of the same key
		req := w.Request(http.MethodPost, path, `{"addresses":["0x1"]}`)
		req.Header.Set("X-Service-Api-Key", other)
		servertest.Expect(t, w.Send(req), 200, "", nil)
	}
	for _, c := range conns {
		c.Close() //nolint:errcheck // of no interest any more
	}
	all.Wait()
}

// TestBodyInTime: a body that does not arrive ends the request, and says so.
func TestBodyInTime(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5, func(o *options) { o.BodyTimeout = 50 * time.Millisecond })
	c := w.Dial(fmt.Sprintf("POST /v1/%s/address/summaries HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: %s\r\nContent-Length: 30\r\n\r\n{", chainID, w.Key))
	servertest.Expect(t, w.Read(c), 408, kernel.CodeRequestTimeout, nil)
}

// TestGreedyWorkersLeaveRoom: a key, and the keys of a workspace together, get a part
// of the places to work.
func TestGreedyWorkersLeaveRoom(t *testing.T) {
	servertest.Watched(t)
	w := servertest.NewHooked(t, func(o *options) { o.MaxInFlight, o.MaxInFlightWorkspace, o.MaxInFlightKey = 4, 3, 2 })
	second := w.NewKey(account.DefaultScopes)
	other, _ := w.Stranger("other", account.Enterprise, account.Limits{})
	var done sync.WaitGroup
	hold := func(key string) {
		done.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/v1/test/wait", nil)
			req.Header.Set("X-Service-Api-Key", key)
			res, err := servertest.Transport.RoundTrip(req)
			if err != nil || res.StatusCode != 200 {
				t.Errorf("a waiting request: %v %v", res, err)
				return
			}
			res.Body.Close() //nolint:errcheck // not read
		})
		<-w.Entered
	}
	hold(w.Key)
	hold(w.Key)
	limited(t, w.Do(http.MethodGet, statusPath, w.Key), kernel.ReasonConcurrency)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, second), 200, "", nil)
	hold(second)
	limited(t, w.Do(http.MethodGet, statusPath, second), kernel.ReasonConcurrency)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, other), 200, "", nil)
	hold(other)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, other), 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "1"})
	for range 4 {
		w.Leave <- struct{}{}
	}
	done.Wait()
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
}

// TestKeysDoNotMultiplyBudgets: all keys of a workspace draw on one.
func TestKeysDoNotMultiplyBudgets(t *testing.T) {
	w := newWorld(t, 5)
	first, space := w.Stranger("small", account.Free, account.Limits{})
	keys := []string{first, w.KeyOf(space, account.Limits{}), w.KeyOf(space, account.Limits{})}
	ask := func(key string) reply {
		req := w.Request(http.MethodPost, "/v1/"+chainID+"/address/summaries", `{"addresses":["0x1"]}`)
		req.Header.Set("X-Service-Api-Key", key)
		return w.Send(req)
	}
	limit := account.Free.Policy().BatchPerMinute
	for i := range limit {
		servertest.Expect(t, ask(keys[i%len(keys)]), 200, "", map[string]string{"X-Ratelimit-Remaining": fmt.Sprint(limit - i - 1)})
	}
	for _, key := range keys {
		limited(t, ask(key), kernel.ReasonMinuteBudget)
	}
	// A key with less has its own besides, and what it spends is the workspace's.
	w.Clock.Advance(time.Minute)
	small := w.KeyOf(space, account.Limits{BatchPerMinute: 2})
	servertest.Expect(t, ask(small), 200, "", map[string]string{"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "1"})
	servertest.Expect(t, ask(small), 200, "", nil)
	limited(t, ask(small), kernel.ReasonMinuteBudget)
	servertest.Expect(t, ask(first), 200, "", map[string]string{"X-Ratelimit-Remaining": fmt.Sprint(limit - 3)})
	// A key with more may go beyond the others, and they still find it spent.
	large := w.KeyOf(space, account.Limits{BatchPerMinute: limit + 3})
	for range limit {
		servertest.Expect(t, ask(large), 200, "", nil)
	}
	limited(t, ask(large), kernel.ReasonMinuteBudget)
	limited(t, ask(first), kernel.ReasonMinuteBudget)
}

// TestBurst: what comes at once is bounded, and fills up again evenly.
func TestBurst(t *testing.T) {
	w := newWorld(t, 5)
	key, space := w.Stranger("small", account.Free, account.Limits{}) // 120 a minute, 20 at once
	second := w.KeyOf(space, account.Limits{})
	for i := range 20 {
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, []string{key, second}[i%2]), 200, "", nil)
	}
	r := w.Do(http.MethodGet, statusPath, second)
	limited(t, r, kernel.ReasonBurst)
	servertest.Expect(t, r, 429, kernel.CodeRateLimited, map[string]string{"Retry-After": "1", "X-Ratelimit-Remaining": "100", "X-Ratelimit-Limit": "120"})
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/search?q=1", key), 200, "", nil) // another class
	w.Clock.Advance(time.Second)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), 200, "", map[string]string{"X-Ratelimit-Remaining": "99"}) // the refused one cost nothing
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), 200, "", nil)
	limited(t, w.Do(http.MethodGet, statusPath, key), kernel.ReasonBurst)
	// The even pace goes on until the minute's budget is used up.
	for i := 22; i < 120; i++ {
		w.Clock.Advance(500 * time.Millisecond)
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), 200, "", nil)
	}
	w.Clock.Advance(time.Second)
	limited(t, w.Do(http.MethodGet, statusPath, key), kernel.ReasonMinuteBudget)
}

// TestCallersWithoutKey are limited by their address, whatever they ask for, and
// nobody with a key notices.
func TestCallersWithoutKey(t *testing.T) {
	w := newWorld(t, 5, func(o *options) { o.AnonymousPerMinute = 120 })        // 30 at once
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil) // a key that was not seen before costs nothing when it is good
	for i := range 30 {
		servertest.Expect(t, w.Do(http.MethodGet, []string{"/docs/api", "/", "/openapi.json"}[i%3], ""), 200, "", nil)
	}
	for _, path := range []string{"/docs/api", "/", "/docs", "/openapi.yaml", "/nothing", statusPath} {
		limited(t, w.Do(http.MethodGet, path, ""), kernel.ReasonClientAddress)
	}
	limited(t, w.Do(http.MethodPost, statusPath, ""), kernel.ReasonClientAddress)
	limited(t, w.Do(http.MethodGet, statusPath, mistyped(w.Key)), kernel.ReasonClientAddress)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		servertest.Expect(t, w.Do(http.MethodGet, path, ""), 200, "", nil)
	}
	w.Clock.Advance(time.Minute)
	// Keys that are not valid cost ten times as much.
	for range 3 {
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, mistyped(w.Key)), 401, kernel.CodeUnauthorized, nil)
	}
	limited(t, w.Do(http.MethodGet, statusPath, mistyped(w.Key)), kernel.ReasonClientAddress)
	limited(t, w.Do(http.MethodGet, "/docs", ""), kernel.ReasonClientAddress)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
}

// TestClientAddress: who is told apart behind proxies, and who is not.
func TestClientAddress(t *testing.T) {
	const ok, no = 200, 429
	type ask struct {
		forwarded string
		status    int
	}
	for name, c := range map[string]struct {
		proxies []string
		asks    []ask
	}{
		"no proxy is trusted": {nil, []ask{{"1.2.3.4", ok}, {"1.2.3.5", no}, {"", no}}},
		"a trusted one": {[]string{"127.0.0.0/8"}, []ask{{"1.2.3.4", ok}, {"1.2.3.4", no}, {"1.2.3.5", ok}, {"9.9.9.9, 1.2.3.5", no},
			{"", ok}, {"", no}, {"unknown", no}, {"::ffff:1.2.3.5", no}}},
		"a chain of them": {[]string{"127.0.0.0/8", "10.0.0.0/8"}, []ask{{"1.2.3.4, 10.0.0.1", ok}, {"1.2.3.4", no}, {"1.2.3.4, 11.0.0.1", ok}, {"5.6.7.8, 11.0.0.1, 10.2.0.1", no}}},
		"IPv6":            {[]string{"127.0.0.1/32"}, []ask{{"2001:db8:0:1::1", ok}, {"2001:db8:0:1:ffff::2", no}, {"2001:db8:0:2::1", ok}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, func(o *options) {
				o.AnonymousPerMinute = 4 // one at once
				for _, p := range c.proxies {
					o.TrustedProxies = append(o.TrustedProxies, netip.MustParsePrefix(p))
				}
			})
			for _, a := range c.asks {
				var headers []string
				if a.forwarded != "" {
					headers = []string{"X-Forwarded-For", a.forwarded}
				}
				if r := w.Do(http.MethodGet, "/robots.txt", "", headers...); r.StatusCode != a.status {
					t.Errorf("%q: %d, want %d", a.forwarded, r.StatusCode, a.status)
				}
			}
		})
	}
}
