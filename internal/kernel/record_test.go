package kernel_test

import (
	"net/http"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/usage"
)

// next is what was recorded next.
func next(t *testing.T, events <-chan usage.Event) usage.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(time.Minute):
		t.Fatal("nothing was recorded")
		return usage.Event{}
	}
}

// TestRecordsRequests: every request with a valid key is told of once, as it was
// answered, and what comes without one is nobody's.
func TestRecordsRequests(t *testing.T) {
	servertest.Watched(t)
	events := make(chan usage.Event, 100)
	w := newWorld(t, 5, func(o *options) { o.Record = func(e usage.Event) { events <- e } })
	limited, reader := w.LimitedKey(account.Limits{LightPerMinute: 6}), w.NewKey(account.Write)
	w.Do(http.MethodGet, "/v1/"+chainID+"/block/1", w.Key)
	next(t, events)
	const status = "/v1/{chain}/status"
	for _, c := range []struct {
		name, method, path, key string
		headers                 []string
		want                    usage.Event // without who and when; no path: nothing is recorded
	}{
		{name: "no key", method: "GET", path: statusPath},
		{name: "an unknown key", method: "GET", path: statusPath, key: w.RevokedKey()},
		{name: "no such route", method: "GET", path: "/v1/" + chainID + "/nothing", key: limited},
		{name: "preflight", method: "OPTIONS", path: statusPath, key: limited, headers: []string{"Origin", allowedOrigin, "Access-Control-Request-Method", "GET"}},
		{"answered", "GET", statusPath, limited, nil, usage.Event{Method: "GET", Path: status, Class: "light", Status: 200, Budget: usage.Budget{Policy: "light;w=60", Limit: 6, Remaining: 3}}},
		{"under the other prefix", "HEAD", "/api" + statusPath, limited, nil, usage.Event{Method: "HEAD", Path: status, Class: "light", Status: 200, Budget: usage.Budget{Policy: "light;w=60", Limit: 6, Remaining: 2}}},
		{"a kept answer", "GET", "/v1/" + chainID + "/block/1", limited, nil, usage.Event{Method: "GET", Path: "/v1/{chain}/block/{number_or_hash}", Class: "light", Status: 200, Budget: usage.Budget{Policy: "light;w=60", Limit: 6, Remaining: 1}}},
		{"a bad request", "GET", statusPath + "?x=1", limited, nil, usage.Event{Method: "GET", Path: status, Class: "light", Status: 400, Failed: true, Budget: usage.Budget{Policy: "light;w=60", Limit: 6}}},
		{"too many", "GET", statusPath, limited, nil, usage.Event{Method: "GET", Path: status, Class: "light", Status: 429, Failed: true, Budget: usage.Budget{Policy: "light;w=60", Limit: 6, RetryAfter: 60}}},
		{"forbidden", "GET", statusPath, reader, nil, usage.Event{Method: "GET", Path: status, Class: "light", Status: 403, Failed: true, Budget: usage.Budget{Policy: "light;w=60", Limit: 1e9, Remaining: 1e9 - 8}}},
	} {
		r := w.Do(c.method, c.path, c.key, c.headers...)
		if c.want.Path == "" {
			continue // the next event is that of another request
		}
		got := next(t, events)
		if got.WorkspaceID == "" || got.KeyID == "" || !got.At.Equal(w.Clock.Now()) || got.RequestID != r.Header.Get("X-Request-Id") {
			t.Errorf("%s: by %s of %s at %s, %s", c.name, got.KeyID, got.WorkspaceID, got.At, got.RequestID)
		}
		got.RequestID, got.WorkspaceID, got.KeyID, got.At, got.Took = "", "", "", time.Time{}, 0
		if got != c.want {
			t.Errorf("%s: recorded %+v, want %+v", c.name, got, c.want)
		}
	}
	if len(events) > 0 {
		t.Errorf("and %+v", <-events)
	}
}
