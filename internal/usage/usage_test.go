package usage_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/usage"
)

// testTells holds what is told against what was recorded, and its form against the
// contract.
func testTells(t *testing.T, path string) {
	c := newClock()
	p := start(t, path, c, usage.Options{})
	a, b, other := p.key(t, "acme", "a"), p.key(t, "acme", "b"), p.key(t, "other", "c")
	if u := p.of(t, a.WorkspaceID); u.TotalRequests != 0 || len(u.PerKey) != 2 || u.PerKey[0].LastRequestAt != nil || u.RecentRequests == nil || u.RecentRequestsTruncated {
		t.Errorf("before any request: %+v", u)
	}
	p.recorder.Record(p.ask(a, "r1"))
	c.advance(time.Second)
	call := p.ask(a, "r2")
	call.Method, call.Path, call.Call, call.Class = "POST", "/v1/{chain}/rpc", "starknet_call", "heavy"
	call.Budget = usage.Budget{Policy: "heavy;w=60", Limit: 10, Remaining: 9}
	p.recorder.Record(call)
	p.flush(t)
	c.advance(2 * time.Hour)
	refused := p.fail(a, "r3", 429)
	refused.Budget.Remaining, refused.Budget.RetryAfter = 0, 7
	p.recorder.Record(refused)
	c.advance(time.Second)
	forbidden := p.fail(a, "r4", 403)
	forbidden.Budget = usage.Budget{}
	p.recorder.Record(forbidden)
	p.recorder.Record(p.ask(other, "r5"))
	p.flush(t)
	p.flush(t) // with nothing to write

	u := p.of(t, a.WorkspaceID)
	if u.TotalRequests != 4 || u.TotalFailures != 2 || u.PerKeyTruncated || u.RecentRequestsTruncated || u.RecentFailuresTruncated {
		t.Errorf("totals %+v", u)
	}
	if want := []usage.ClassUsage{{LoadClass: "heavy", TotalRequests: 1, SuccessCount: 1}, {LoadClass: "light", TotalRequests: 3, SuccessCount: 1, FailureCount: 2}}; !slices.Equal(u.PerClass, want) {
		t.Errorf("by class %+v", u.PerClass)
	}
	if got, failed := ids(u.RecentRequests), ids(u.RecentFailures); got != "r4 r3 r2 r1 " || failed != "r4 r3 " {
		t.Errorf("requests %s, failures %s", got, failed)
	}
	if want := c.now(); !u.WindowEnd.Equal(want) || !u.WindowStart.Equal(want.Add(-usage.DefaultWindow).Truncate(time.Hour)) {
		t.Errorf("window from %s to %s", u.WindowStart, u.WindowEnd)
	}
	of := map[string]usage.PerKey{}
	for _, k := range u.PerKey {
		of[k.APIKey.PublicID] = k
	}
	first := of[a.PublicID]
	if first.TotalRequests != 4 || first.SuccessCount != 2 || first.FailureCount != 2 || !first.LastRequestAt.Equal(c.now()) || !first.LastFailureAt.Equal(c.now()) {
		t.Errorf("key a: %+v", first)
	}
	if s := first.LatestRateLimitState; s == nil || s.LoadClass != "light" || s.LimitPerMinute != 100 || s.Remaining != 0 || *s.RetryAfterSeconds != 7 || !s.ObservedAt.Equal(c.now().Add(-time.Second)) {
		t.Errorf("what a was told last: %+v", s)
	}
	if k := of[b.PublicID]; k.TotalRequests != 0 || k.LastRequestAt != nil || k.LatestRateLimitState != nil || k.APIKey.Label != "b" {
		t.Errorf("key b: %+v", k)
	}
	last, rpc := u.RecentRequests[0], u.RecentRequests[2]
	if last.RateLimitState != nil || last.StatusCode != 403 || last.APIKeyLabel != "a" || last.APIKeyEnvironment != string(account.Live) || !slices.Equal(last.APIKeyScopes, account.DefaultScopes.Names()) || *last.LatencyMs != 12 {
		t.Errorf("last %+v", last)
	}
	if rpc.RoutePath != "/v1/{chain}/rpc#starknet_call" || rpc.Method != "POST" || rpc.LoadClass != "heavy" || rpc.RateLimitState.Policy != "heavy;w=60" || rpc.RateLimitState.RetryAfterSeconds != nil {
		t.Errorf("call %+v", rpc)
	}
	checkForm(t, u)
	steps, err := p.Series(t.Context(), a.WorkspaceID, 0)
	if err != nil || len(steps) != 3 || steps[0].LoadClass != "heavy" || steps[2].Requests != 2 || steps[2].Failures != 2 || !steps[2].Hour.Equal(c.now().Truncate(time.Hour)) {
		t.Errorf("by the hour: %+v, %v", steps, err)
	}
	hour, err := p.Of(t.Context(), a.WorkspaceID, time.Hour)
	if err != nil || hour.TotalRequests != 2 || ids(hour.RecentRequests) != "r4 r3 " || hour.RecentRequestsTruncated {
		t.Errorf("in an hour: %+v, %v", hour, err)
	}
}

// checkForm holds the names of the fields against the contract; perClass is ours.
func checkForm(t *testing.T, u usage.Usage) {
	t.Helper()
	text, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	first := func(v any) any { return v.([]any)[0] }
	request := whole["recentRequests"].([]any)[2]
	for _, c := range []struct {
		of   any
		want string
	}{
		{whole, "windowStart windowEnd totalRequests totalFailures perClass perKey perKeyTruncated recentRequests recentRequestsTruncated recentFailures recentFailuresTruncated"},
		{first(whole["perKey"]), "apiKey totalRequests successCount failureCount lastRequestAt lastFailureAt latestRateLimitState"},
		{request, "requestId apiKeyPublicId apiKeyLabel apiKeyEnvironment apiKeyScopes method routePath loadClass statusCode latencyMs rateLimitState observedAt"},
		{request.(map[string]any)["rateLimitState"], "loadClass limitPerMinute remaining policy retryAfterSeconds observedAt"},
	} {
		want := strings.Fields(c.want)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(c.of.(map[string]any))); !slices.Equal(got, want) {
			t.Errorf("fields %v, want %v", got, want)
		}
	}
}

// testExact: several processes record at once, each on many goroutines, and write
// while they do. Then they start anew and go on.
func testExact(t *testing.T, path string) {
	c := newClock()
	const processes, goroutines, each = 2, 4, 250
	var keys []account.Key
	first := start(t, path, c, usage.Options{})
	for i := range 3 {
		keys = append(keys, first.key(t, "acme", fmt.Sprint(i)))
	}
	for round := range 2 {
		var all sync.WaitGroup
		for n := range processes {
			p := start(t, path, c, usage.Options{})
			all.Go(func() {
				var work sync.WaitGroup
				done := make(chan struct{})
				for g := range goroutines {
					work.Go(func() {
						for i := range each {
							e := p.ask(keys[i%len(keys)], fmt.Sprintf("r%d-%d-%d-%d", round, n, g, i))
							if i%10 == 0 {
								e = p.fail(keys[i%len(keys)], e.RequestID, 404)
							}
							p.recorder.Record(e)
						}
					})
				}
				go func() {
					defer close(done)
					work.Wait()
				}()
				for writing := true; writing; {
					select {
					case <-done:
						writing = false
					default:
					}
					if err := p.recorder.Flush(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		c.advance(20 * time.Minute) // and over the end of an hour
	}
	u := first.of(t, keys[0].WorkspaceID)
	const requests, failures = 2 * processes * goroutines * each, 2 * processes * goroutines * each / 10
	var sum, failed int64
	for _, k := range u.PerKey {
		sum += k.TotalRequests
		failed += k.FailureCount
	}
	if u.TotalRequests != requests || u.TotalFailures != failures || sum != requests || failed != failures {
		t.Errorf("%d requests and %d failures, %d and %d by key; want %d and %d", u.TotalRequests, u.TotalFailures, sum, failed, requests, failures)
	}
	if len(u.RecentRequests) != usage.Recent || !u.RecentRequestsTruncated || len(u.RecentFailures) != usage.Recent || !u.RecentFailuresTruncated {
		t.Errorf("%d requests and %d failures are listed", len(u.RecentRequests), len(u.RecentFailures))
	}
}

// testRetention: the tables hold no more than they should, and old rows go.
func testRetention(t *testing.T, path string) {
	c := newClock()
	p := start(t, path, c, usage.Options{})
	k := p.key(t, "acme", "a")
	n := 0
	for range 5 {
		for range 70 {
			n++
			p.recorder.Record(p.fail(k, fmt.Sprint(n), 400))
			c.advance(time.Millisecond)
		}
		p.flush(t)
	}
	if rows := p.number(t, `SELECT COUNT(*) FROM usage_event`); rows != 2*usage.Recent {
		t.Errorf("%d requests are stored", rows)
	}
	u := p.of(t, k.WorkspaceID)
	if len(u.RecentRequests) != usage.Recent || u.RecentRequests[0].RequestID != "350" || u.RecentRequests[usage.Recent-1].RequestID != "251" || u.TotalRequests != 350 {
		t.Errorf("of %d: %s", u.TotalRequests, ids(u.RecentRequests))
	}
	step := func(d time.Duration, events, counts int64) {
		t.Helper()
		c.advance(d)
		other := p.key(t, fmt.Sprint("other", c.now()), "b") // somebody else's request makes room
		p.recorder.Record(p.ask(other, "x"))
		p.flush(t)
		of := fmt.Sprintf(` WHERE workspace_id = '%s'`, k.WorkspaceID)
		if got := p.number(t, `SELECT COUNT(*) FROM usage_event`+of); got != events {
			t.Errorf("after %s: %d requests", d, got)
		}
		if got := p.number(t, `SELECT COUNT(*) FROM usage_count`+of); got != counts {
			t.Errorf("after %s: %d counts", d, got)
		}
		if got := p.number(t, `SELECT COUNT(*) FROM usage_budget`+of); got != counts {
			t.Errorf("after %s: %d budgets", d, got)
		}
	}
	step(usage.KeepEvents-time.Minute, 2*usage.Recent, 1)
	step(time.Hour, 0, 1)
	if u := p.of(t, k.WorkspaceID); u.TotalRequests != 350 || len(u.RecentRequests) != 0 || !u.RecentRequestsTruncated {
		t.Errorf("a week later: %d, %v", u.TotalRequests, u.RecentRequestsTruncated)
	}
	step(usage.KeepCounts-usage.KeepEvents, 0, 0)
	if got := p.number(t, `SELECT COUNT(*) FROM usage_writer`); got != 1 {
		t.Errorf("%d writers", got)
	}
}

// testNobody: what belongs to no workspace is not written.
func testNobody(t *testing.T, path string) {
	p := start(t, path, newClock(), usage.Options{})
	p.recorder.Record(usage.Event{RequestID: "r", KeyID: "key_x", Class: "light", At: p.clock.now()})
	p.recorder.Record(usage.Event{RequestID: "r", WorkspaceID: "ws_x", Class: "light", At: p.clock.now()})
	p.flush(t)
	if got := p.number(t, `SELECT COUNT(*) FROM usage_count`) + p.number(t, `SELECT COUNT(*) FROM usage_event`); got != 0 {
		t.Errorf("%d rows", got)
	}
}

func testTotals(t *testing.T, path string) {
	p := start(t, path, newClock(), usage.Options{})
	a := p.key(t, "acme", "a")
	p.key(t, "zero", "b")
	p.recorder.Record(p.ask(a, "1"))
	p.recorder.Record(p.fail(a, "2", 500))
	p.flush(t)
	list, more, err := p.Totals(t.Context(), time.Hour)
	if err != nil || more || len(list) != 2 || list[0].Workspace != "acme" || list[0].TotalRequests != 2 || list[0].TotalFailures != 1 || !list[0].LastRequestAt.Equal(p.clock.now()) ||
		list[1].Workspace != "zero" || list[1].TotalRequests != 0 || list[1].LastRequestAt != nil {
		t.Errorf("%+v, %v, %v", list, more, err)
	}
}

// TestLostAcknowledgement: the connection breaks at every place of a write, also after
// the server did it and before that was heard of. Nothing is lost or counted twice.
func TestLostAcknowledgement(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	proxy := pgtest.NewProxy(t, server)
	c := newClock()
	through, direct := start(t, proxy.URL("postgres"), c, usage.Options{}), start(t, server.URL(), c, usage.Options{})
	k := direct.key(t, "acme", "a")
	total := func() int64 {
		return direct.number(t, `SELECT CAST(COALESCE(SUM(requests), 0) AS BIGINT) FROM usage_count`)
	}
	recorded, failed, unheard := int64(0), 0, 0
	for bytes := int64(0); ; bytes += 5 {
		through.recorder.Record(through.ask(k, fmt.Sprint(bytes)))
		recorded++
		proxy.CutAfterReplies(bytes)
		err := through.recorder.Flush(t.Context())
		proxy.CutAfterReplies(-1)
		if err == nil && bytes > 100 {
			break // the whole conversation is shorter
		}
		if err != nil {
			failed++
			if total() == recorded {
				unheard++
			}
		}
		for tries := 0; err != nil; tries++ {
			if err = through.recorder.Flush(t.Context()); err != nil && tries == 10 {
				t.Fatal(err)
			}
		}
		if got := total(); got != recorded {
			t.Fatalf("cut after %d bytes: %d of %d", bytes, got, recorded)
		}
	}
	if unheard == 0 {
		t.Errorf("of %d failed writes none had been done", failed)
	}
	t.Logf("%d writes failed, %d of them after they were done", failed, unheard)
}
