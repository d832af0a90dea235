package gateway_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/servertest"
)

// batchOf is a batch of one call many times.
func batchOf(call string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(call+",", n), ",") + "]"
}

// named counts the answers of a batch by the failure that they name; "" for none.
func named(as []answer) map[string]int {
	out := map[string]int{}
	for _, a := range as {
		out[a.name()]++
	}
	return out
}

// TestBatchesOfNothing: what is no call costs like the cheapest one, wherever it stands,
// and every answer tells what is left.
func TestBatchesOfNothing(t *testing.T) {
	w := newWorld(t, 3)
	key := w.LimitedKey(account.Limits{LightPerMinute: 60, HeavyPerMinute: 9, Burst: 100})
	for _, c := range []struct {
		body                string
		left                string
		unreadable, limited int
	}{
		{`[{},1,null]`, "57", 3, 0},
		{`{}`, "56", 1, 0},
		{`[{"jsonrpc":"2.0","id":1,"method":7}]`, "55", 1, 0},
		{batchOf("{}", wire.MaxBatch), "5", wire.MaxBatch, 0},
		{batchOf("{}", wire.MaxBatch), "0", 5, wire.MaxBatch - 5},
		{batchOf("{}", wire.MaxBatch), "0", 0, wire.MaxBatch},
		{`[{}]`, "0", 0, 1},
	} {
		r := w.post(rpcPath, key, c.body)
		as := []answer{}
		if strings.HasPrefix(c.body, "[") {
			as = w.many(r)
		} else {
			as = append(as, w.one(r))
		}
		if n := named(as); n["invalid_request"] != c.unreadable || n["rate_limited"] != c.limited || len(as) != c.unreadable+c.limited {
			t.Errorf("%.40s: %v", c.body, n)
		}
		h := r.Header
		if h.Get("X-Ratelimit-Limit") != "60" || h.Get("X-Ratelimit-Remaining") != c.left || h.Get("X-Ratelimit-Policy") != "light;w=60" || h.Get("X-Service-Route-Class") != "light" {
			t.Errorf("%.40s: %s of %s left, by %s", c.body, h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Limit"), h.Get("X-Ratelimit-Policy"))
		}
		if (h.Get("Retry-After") != "") != (c.limited > 0) {
			t.Errorf("%.40s: Retry-After %q", c.body, h.Get("Retry-After"))
		}
	}
}

// TestNonsenseOverSockets: a message that cannot be read costs as a request does, and so
// does the connection.
func TestNonsenseOverSockets(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 3)
	conn, _, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.LimitedKey(account.Limits{LightPerMinute: 4, HeavyPerMinute: 9, Burst: 100}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow() //nolint:errcheck // the test is over
	for i, want := range []string{"parse_error", "invalid_request", "invalid_request", "rate_limited", "rate_limited"} {
		say(t, conn, []string{`{`, `[]`, `[{}]`, `{`, `[{}]`}[i])
		if got := heard(t, conn); !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("%d: want %s, got %s", i, want, got)
		}
	}
}

// TestFullBatches: on every plan a batch may have as many calls as are published, and
// where the minute's budget ends the first calls are answered and the others are told
// when to come back.
func TestFullBatches(t *testing.T) {
	w := newWorld(t, 3)
	full := batchOf(request("1", "starknet_blockNumber", ""), wire.MaxBatch)
	for _, name := range account.PlanNames() {
		key, _ := w.Stranger("of-"+name, account.Plan(name), account.Limits{})
		limit := account.Plan(name).Policy().LightPerMinute
		r := w.post(rpcPath, key, full)
		if n := named(w.many(r)); n[""] != wire.MaxBatch || r.Header.Get("X-Ratelimit-Remaining") != strconv.Itoa(limit-wire.MaxBatch) || r.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %v, %s left", name, n, r.Header.Get("X-Ratelimit-Remaining"))
		}
	}
	key, _ := w.Stranger("small", account.Free, account.Limits{}) // 120 a minute, 20 at once
	for i := range 3 {
		r := w.post(rpcPath, key, full)
		as := w.many(r)
		good := min(wire.MaxBatch, 120-i*wire.MaxBatch)
		for at, a := range as {
			if (a.Error == nil) != (at < good) {
				t.Fatalf("batch %d: call %d: %+v", i, at, a.Error)
			}
		}
		if left := r.Header.Get("X-Ratelimit-Remaining"); left != strconv.Itoa(max(120-(i+1)*wire.MaxBatch, 0)) {
			t.Errorf("batch %d: %s left", i, left)
		}
		wait := ""
		if last := as[len(as)-1].Error; last != nil {
			wait = strconv.Itoa(last.Data.RetryAfterSeconds)
		}
		if r.Header.Get("Retry-After") != wait || r.StatusCode != 200 {
			t.Errorf("batch %d: %d, Retry-After %q, the last call says %q", i, r.StatusCode, r.Header.Get("Retry-After"), wait)
		}
	}
	// A batch is one request of a burst. One that comes beyond it is refused as a whole,
	// costs nothing, and tells what is left of the minute.
	key, _ = w.Stranger("hasty", account.Free, account.Limits{})
	number := request("1", "starknet_blockNumber", "")
	for range 20 {
		w.post(rpcPath, key, batchOf(number, 2))
	}
	r := w.post(rpcPath, key, batchOf(number, 3))
	if n := named(w.many(r)); n["rate_limited"] != 3 || r.Header.Get("X-Ratelimit-Remaining") != "80" || r.Header.Get("Retry-After") != "1" {
		t.Errorf("beyond the burst: %v, %s left, Retry-After %q", n, r.Header.Get("X-Ratelimit-Remaining"), r.Header.Get("Retry-After"))
	}
	w.Clock.Advance(time.Second)
	if n := named(w.many(w.post(rpcPath, key, batchOf(number, wire.MaxBatch)))); n[""] != wire.MaxBatch {
		t.Errorf("a second later: %v", n)
	}
}

// gated is a service whose only node answers nonces when it is told to.
func gated(t *testing.T, change func(*servertest.Options)) (w *world, entered chan struct{}, open func()) {
	t.Helper()
	entered, gate := make(chan struct{}, 64), make(chan struct{})
	s := &scripted{bodies: map[string][]string{}, answer: func(r *http.Request, method string, _ json.RawMessage) (string, bool) {
		if method != "starknet_getNonce" {
			return "", false
		}
		entered <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
		case <-time.After(time.Minute): // a test that fails ends
		}
		return `"result":"0x1"`, true
	}}
	return s.serve(t, change), entered, sync.OnceFunc(func() { close(gate) })
}

// nonce asks for a nonce that nobody else asks for.
func (w *world) nonce(key string, of int) servertest.Reply {
	return w.post(rpcPath, key, request(strconv.Itoa(of), "starknet_getNonce", `["latest","0x`+strconv.FormatInt(int64(of), 16)+`"]`))
}

// TestCallsHaveTheirPlaces: calls that wait for a node hold places of their key and its
// workspace, as many as requests have on other routes, and one too many is told that it
// is us who are full.
func TestCallsHaveTheirPlaces(t *testing.T) {
	w, entered, open := gated(t, func(o *servertest.Options) { o.MaxInFlightWorkspace, o.MaxInFlightKey = 3, 2 })
	second := w.NewKey(account.DefaultScopes)
	other, _ := w.Stranger("other", account.Enterprise, account.Limits{})
	var done sync.WaitGroup
	hold := func(key string, of int) {
		done.Go(func() {
			if r := w.nonce(key, of); r.StatusCode != 200 {
				t.Errorf("call %d: %d %s", of, r.StatusCode, r.Body)
			}
		})
		<-entered
	}
	full := func(key string, of int) {
		t.Helper()
		r := w.nonce(key, of)
		if a := w.one(r); r.StatusCode != 503 || a.name() != "local_saturation" || a.Error.Code != -32005 || a.Error.Data.RetryAfterSeconds != 1 || r.Header.Get("Retry-After") != "1" {
			t.Errorf("call %d: %d %s", of, r.StatusCode, r.Body)
		}
	}
	hold(w.Key, 1)
	hold(w.Key, 2)
	full(w.Key, 3)
	hold(second, 4)
	full(second, 5)
	hold(other, 6)
	// The other routes have places of their own.
	servertest.Expect(t, w.Do(http.MethodGet, servertest.StatusPath, w.Key), 200, "", nil)
	open()
	done.Wait()
	if r := w.nonce(w.Key, 7); r.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", r.StatusCode, r.Body)
	}
}

// TestWaitingInVain: a call that waits for other calls of its key until it is too late
// says so. No node is to blame.
func TestWaitingInVain(t *testing.T) {
	w, entered, open := gated(t, func(o *servertest.Options) { o.Gateway.NodeShare, o.Gateway.NodeWait = 1, 20*time.Millisecond })
	var done sync.WaitGroup
	done.Go(func() {
		if r := w.nonce(w.Key, 1); r.StatusCode != 200 {
			t.Errorf("the call at the node: %d %s", r.StatusCode, r.Body)
		}
	})
	<-entered
	r := w.nonce(w.Key, 2)
	if a := w.one(r); r.StatusCode != 503 || a.name() != "local_saturation" || r.Header.Get("Retry-After") == "" {
		t.Errorf("the call that waits: %d %s", r.StatusCode, r.Body)
	}
	open()
	done.Wait()
}
