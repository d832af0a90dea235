package kernel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// beside serves the same world once more, as another process would.
func (w *world) beside(o options) *world {
	w.T.Helper()
	server, _ := o.Open(w.T)
	srv := httptest.NewServer(server)
	w.T.Cleanup(srv.Close)
	other := *w.World
	other.Server, other.URL = server, srv.URL
	return &world{&other}
}

// TestSharedBudgets: two servers on one database accept exactly the budget of a key
// between them, whoever is asked, and seldom ask the database.
func TestSharedBudgets(t *testing.T) {
	servertest.Watched(t)
	url := controltest.Server(t)
	var draws atomic.Int64
	share := func() func(context.Context, control.Draw) (control.Drawn, error) {
		db, err := control.Open(t.Context(), control.Options{Path: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
		return func(ctx context.Context, q control.Draw) (control.Drawn, error) {
			draws.Add(1)
			// However long a busy machine takes: a server that gives up counts by itself.
			return db.Draw(context.WithoutCancel(ctx), q)
		}
	}
	var o options
	one := newWorld(t, 5, func(p *options) { p.Draw = share(); o = *p })
	o.Draw = share()
	two := one.beside(o)
	for _, limit := range []int64{1, 7, 400} {
		key := one.LimitedKey(account.Limits{LightPerMinute: int(limit)})
		before := draws.Load()
		var accepted, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			w := []*world{one, two}[i%2]
			all.Go(func() {
				for range limit/4 + 2 { // each server gets a budget and more
					req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+statusPath, nil)
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("X-Service-Api-Key", key)
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					res.Body.Close() //nolint:errcheck // only the status counts
					switch res.StatusCode {
					case http.StatusOK:
						accepted.Add(1)
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Errorf("status %d", res.StatusCode)
					}
				}
			})
		}
		all.Wait()
		asked := draws.Load() - before
		t.Logf("limit %d: %d accepted, %d refused, %d questions", limit, accepted.Load(), refused.Load(), asked)
		if accepted.Load() != limit {
			t.Errorf("%d requests were accepted, the limit is %d", accepted.Load(), limit)
		}
		if limit == 400 && asked > limit/4 {
			t.Errorf("the database was asked %d times for %d requests", asked, limit)
		}
		// The window ends by the servers' clock and by the database's.
		for _, w := range []*world{one, two} {
			servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), 429, kernel.CodeRateLimited, map[string]string{"X-Ratelimit-Remaining": "0"})
		}
	}
}

// TestBudgetsWithoutDatabase: while it does not answer, each process counts on its
// own and asks again after a second.
func TestBudgetsWithoutDatabase(t *testing.T) {
	servertest.Watched(t)
	var asked atomic.Int64
	var used int64 // by the database's count
	away := atomic.Bool{}
	w := newWorld(t, 5, func(o *options) {
		o.Draw = func(_ context.Context, q control.Draw) (control.Drawn, error) {
			if q.Limit != 3 { // the workspace's, of which there is enough
				return control.Drawn{Granted: q.Want, Used: q.Want, Ends: 30 * time.Second}, nil
			}
			asked.Add(1)
			if away.Load() {
				return control.Drawn{}, errors.New("nobody answers")
			}
			given := min(1, q.Limit-used)
			used += given
			return control.Drawn{Granted: given, Used: used, Ends: 30 * time.Second}, nil
		}
	})
	key := w.LimitedKey(account.Limits{LightPerMinute: 3})
	ask := func(status int, left, retry string, questions int64) {
		t.Helper()
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), status, kernel.CodeRateLimited,
			map[string]string{"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": left, "Retry-After": retry})
		if n := asked.Swap(0); n != questions {
			t.Errorf("%d questions, want %d", n, questions)
		}
	}
	ask(200, "2", "", 1)
	away.Store(true)
	ask(200, "2", "", 1) // counted here from now on
	ask(200, "1", "", 0)
	w.Clock.Advance(time.Second)
	ask(200, "0", "", 1)
	ask(429, "0", "59", 0)
	if n := strings.Count(w.Logs.String(), "counted by this process alone"); n != 2 {
		t.Errorf("logged %d times", n)
	}
	away.Store(false)
	w.Clock.Advance(time.Second)
	ask(200, "1", "", 1) // the database knows of two
	ask(200, "0", "", 1)
	ask(429, "0", "30", 0) // used up: no question until the window ends
	w.Clock.Advance(30 * time.Second)
	used = 0
	ask(200, "2", "", 1)
	w.Clock.Advance(time.Minute)
	used = 0
	away.Store(true)
	ask(200, "2", "", 1)
	away.Store(false)
	w.Clock.Advance(-24 * time.Hour) // a clock that is set back
	ask(200, "2", "", 1)             // is no reason to go on alone
}
