package kernel_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestTimings: a process tells how long it took lately, by kind of request, as soon as there
// were enough of them, and forgets it.
func TestTimings(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5)
	var took time.Duration
	add := func(id string, class kernel.Class, fail error) {
		servertest.AddRead(w.Server, kernel.Route{ID: id, Method: http.MethodGet, Path: "/v1/test/" + id, Family: "Test", Summary: "Test.", Description: "Test.", Class: class, Scope: account.Read,
			Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock}, func(context.Context) error {
			w.Clock.Advance(took)
			return fail
		})
	}
	add("timed", kernel.Heavy, nil)
	add("broken", kernel.Batch, fmt.Errorf("it is broken"))
	of := func(kind string) kernel.Timing {
		t.Helper()
		for _, x := range w.Server.Timings() {
			if x.Kind == kind {
				return x
			}
		}
		t.Fatalf("nothing is told of %s", kind)
		return kernel.Timing{}
	}
	ask := func(n int, each time.Duration, path string) {
		t.Helper()
		took = each
		for range n {
			w.Server.ServeHTTP(discarded{http.Header{}}, request(t, path, w.Key))
		}
	}
	if x := of("heavy"); x.Requests != 0 || x.P50 != nil || x.P99 != nil {
		t.Errorf("before the first request: %+v", x)
	}
	ask(19, 3*time.Millisecond, "/v1/test/timed")
	if x := of("heavy"); x.Requests != 19 || x.P50 != nil {
		t.Errorf("too few tell %+v", x)
	}
	ask(179, 3*time.Millisecond, "/v1/test/timed")
	if x := of("heavy"); x.Requests != 198 || x.P50 == nil || x.P99 != nil {
		t.Errorf("half of the story is %+v", x)
	}
	ask(8, 700*time.Millisecond, "/v1/test/timed")
	x := of("heavy")
	for what, p := range map[string]struct {
		got   *time.Duration
		least time.Duration
	}{"half": {x.P50, 3 * time.Millisecond}, "99 of 100": {x.P99, 700 * time.Millisecond}} {
		if p.got == nil || *p.got < p.least || *p.got > p.least*6/5 {
			t.Errorf("%s took up to %v, want %v", what, p.got, p.least)
		}
	}
	if other := of("light"); other.Requests != 0 || x.Failed != 0 {
		t.Errorf("light has %+v of it, and %d failed", other, x.Failed)
	}
	ask(3, 0, "/v1/test/broken")
	if x := of("batch"); x.Requests != 3 || x.Failed != 3 {
		t.Errorf("what failed: %+v", x)
	}
	w.Clock.Advance(5 * time.Minute)
	if x := of("heavy"); x.Requests != 0 || x.P99 != nil {
		t.Errorf("it remembers for too long: %+v", x)
	}
}

// discarded takes an answer.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d discarded) WriteHeader(int)             {}

func request(t *testing.T, path, key string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = "192.0.2.1:1234"
	r.Header.Set("X-Service-Api-Key", key)
	return r
}
