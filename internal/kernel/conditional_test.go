package kernel_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// report is a dated answer that a test can change.
type report struct {
	text string
	at   time.Time
	made bool // it counts as modified when it was made
}

const reportPath = "/v1/test/report"

// serveReport adds a dated route to the tables of some processes.
func serveReport(r *report, servers ...*kernel.Server) {
	for _, s := range servers {
		kernel.Register(s, kernel.Route{ID: "report", Method: http.MethodGet, Path: reportPath, Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light,
			Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Unsupported, Audience: kernel.External, Depends: kernel.OnEnrichment, Dated: true,
			Headers: map[string]string{kernel.HeaderStability: "beta"}},
			func(ctx context.Context, _ *struct{}) (*struct{ Body struct{ Text string } }, error) {
				out := &struct{ Body struct{ Text string } }{}
				out.Body.Text = r.text
				if req := kernel.RequestOf(ctx); r.made {
					req.ModifiedWhenMade("test_cache", r.at)
				} else {
					req.ModifiedAt(r.at)
				}
				return out, nil
			})
	}
}

func httpDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// TestDatedAnswers goes through the conditions of a dated route.
func TestDatedAnswers(t *testing.T) {
	w := newWorld(t, 5)
	rep := &report{text: strings.Repeat("long enough to be compressed ", 100), at: w.Clock.Now().Add(-time.Hour)}
	serveReport(rep, w.Server)
	get := func(headers ...string) reply { return w.Do(http.MethodGet, reportPath, w.Key, headers...) }
	plain, zipped := get(), get("Accept-Encoding", "gzip")
	tag, modified := fmt.Sprintf(`W/"%x"`, sha256.Sum256(plain.Body)), httpDate(rep.at)
	want := map[string]string{"Etag": tag, "Last-Modified": modified, "Cache-Control": "private, no-cache", "Server-Timing": "", kernel.HeaderStability: "beta"}
	servertest.Expect(t, plain, 200, "", want)
	servertest.Expect(t, zipped, 200, "", want)
	if zipped.Header.Get("Content-Encoding") != "gzip" || string(zipped.Plain()) != string(plain.Body) {
		t.Errorf("%v", zipped.Header)
	}
	old, young := httpDate(rep.at.Add(-time.Second)), httpDate(rep.at.Add(time.Second))
	strong := strings.TrimPrefix(tag, "W/")
	for _, c := range []struct {
		status  int
		headers []string
	}{
		{304, []string{"If-None-Match", tag}},
		{304, []string{"If-None-Match", strong}},
		{304, []string{"If-None-Match", `"x", ` + tag, "If-Modified-Since", old}},
		{304, []string{"If-None-Match", `"x"`, "If-None-Match", tag}},
		{304, []string{"If-None-Match", "*"}},
		{200, []string{"If-None-Match", `"x"`}},
		{200, []string{"If-None-Match", `W/"x"`, "If-Modified-Since", modified}}, // the validator comes first
		{200, []string{"If-None-Match", `"x"`, "If-Modified-Since", young}},
		{304, []string{"If-Modified-Since", modified}},
		{304, []string{"If-Modified-Since", young}},
		{304, []string{"If-Modified-Since", rep.at.UTC().Format(time.RFC850)}},
		{200, []string{"If-Modified-Since", old}},
		{304, []string{"If-Modified-Since", httpDate(w.Clock.Now())}},
		{200, []string{"If-Modified-Since", httpDate(w.Clock.Now().Add(time.Hour))}}, // nobody was told that
		{200, []string{"If-Modified-Since", "yesterday"}},
		{200, []string{"If-Modified-Since", rep.at.UTC().Format(time.RFC3339)}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, encoding := range []string{"", "gzip"} {
				r := w.Do(method, reportPath, w.Key, append([]string{"Accept-Encoding", encoding}, c.headers...)...)
				servertest.Expect(t, r, c.status, "", want)
				if c.status == 304 && (len(r.Body) > 0 || r.Header.Get("Content-Type") != "" || r.Header.Get("X-Ratelimit-Remaining") == "") {
					t.Errorf("%s %v: %v %s", method, c.headers, r.Header, r.Body)
				}
			}
		}
	}
	servertest.Expect(t, w.Do(http.MethodGet, reportPath, "", "If-None-Match", tag), 401, kernel.CodeUnauthorized, map[string]string{"Etag": "", kernel.HeaderStability: "beta"})
	limited := w.LimitedKey(account.Limits{LightPerMinute: 1})
	servertest.Expect(t, w.Do(http.MethodGet, reportPath, limited, "If-None-Match", tag), 304, "", map[string]string{"X-Ratelimit-Remaining": "0"})
	servertest.Expect(t, w.Do(http.MethodGet, reportPath, limited, "If-None-Match", tag), 429, kernel.CodeRateLimited, nil)

	// The answer has changed: its date may be older than what the client has.
	rep.text = "other"
	servertest.Expect(t, get("If-None-Match", tag), 200, "", nil)
	rep.text, rep.at = "none", time.Time{}
	empty := get("If-Modified-Since", modified)
	servertest.Expect(t, empty, 200, "", map[string]string{"Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"})
	servertest.Expect(t, get("If-Modified-Since", empty.Header.Get("Last-Modified")), 304, "", nil)
}

// TestDatesOfOneSecond: a client that goes by dates alone is never told to keep what
// has changed within the second that its date names.
func TestDatesOfOneSecond(t *testing.T) {
	w := newWorld(t, 5)
	rep := &report{text: "first", at: w.Clock.Now().Add(200 * time.Millisecond)}
	serveReport(rep, w.Server)
	w.Clock.Advance(300 * time.Millisecond)
	first := w.Do(http.MethodGet, reportPath, w.Key)
	rep.text, rep.at = "second", w.Clock.Now()
	w.Clock.Advance(100 * time.Millisecond)
	since := func(date string) reply {
		return w.Do(http.MethodGet, reportPath, w.Key, "If-Modified-Since", date)
	}
	second := since(first.Header.Get("Last-Modified"))
	servertest.Expect(t, second, 200, "", nil)
	w.Clock.Advance(time.Second)
	for _, r := range []reply{first, second} {
		servertest.Expect(t, since(r.Header.Get("Last-Modified")), 200, "", map[string]string{"Last-Modified": httpDate(rep.at)})
	}
	servertest.Expect(t, since(httpDate(rep.at)), 304, "", map[string]string{"Last-Modified": httpDate(rep.at)})
	// A clock that is ahead of ours does not make answers of the future.
	rep.at = w.Clock.Now().Add(time.Hour)
	servertest.Expect(t, since(httpDate(w.Clock.Now())), 200, "", map[string]string{"Last-Modified": httpDate(w.Clock.Now())})
}

// TestGenerations: an answer counts as modified when the process first made it, in
// every process for itself, and validators are the same in all.
func TestGenerations(t *testing.T) {
	w, other := newWorld(t, 5), newWorld(t, 5)
	rep := &report{text: "first", at: w.Clock.Now().Add(-time.Minute), made: true}
	serveReport(rep, w.Server, other.Server)
	other.Clock.Advance(90 * time.Second) // it is asked first later
	get := func(w *world, headers ...string) reply {
		return w.Do(http.MethodGet, reportPath, w.Key, headers...)
	}
	made := httpDate(w.Clock.Now())
	first := get(w)
	servertest.Expect(t, first, 200, "", map[string]string{"Last-Modified": made, "Server-Timing": "test_cache_miss"})
	servertest.Expect(t, get(w, "If-Modified-Since", made), 304, "", map[string]string{"Last-Modified": made, "Server-Timing": "test_cache_hit"})
	w.Clock.Advance(time.Minute)
	servertest.Expect(t, w.Do(http.MethodGet, "/api"+reportPath, w.Key), 200, "", map[string]string{"Last-Modified": made, "Server-Timing": "test_cache_hit"})
	elsewhere := get(other, "If-Modified-Since", made)
	servertest.Expect(t, elsewhere, 200, "", map[string]string{"Last-Modified": httpDate(other.Clock.Now()), "Etag": first.Header.Get("ETag"), "Server-Timing": "test_cache_miss"})
	servertest.Expect(t, get(other, "If-None-Match", first.Header.Get("ETag")), 304, "", nil)

	// It changes in a second in which another process still made the one before.
	w.Clock.Advance(30 * time.Second) // both clocks agree now
	rep.text, rep.at = "zero", w.Clock.Now().Add(-time.Minute)
	before := get(w)
	servertest.Expect(t, before, 200, "", map[string]string{"Last-Modified": httpDate(w.Clock.Now())})
	w.Clock.Advance(100 * time.Millisecond)
	other.Clock.Advance(100 * time.Millisecond)
	rep.text, rep.at = "one", w.Clock.Now()
	servertest.Expect(t, get(other, "If-Modified-Since", before.Header.Get("Last-Modified")), 200, "", nil)
	w.Clock.Advance(time.Minute)

	// It changes several times within a second, and back again, to what was written
	// then, or long ago.
	for i, text := range []string{"second", "third", "fourth", "first"} {
		rep.text, rep.at = text, w.Clock.Now()
		if i%2 == 0 {
			rep.at = rep.at.Add(-time.Hour)
		}
		before = get(w)
		if i == 0 {
			servertest.Expect(t, before, 200, "", map[string]string{"Last-Modified": httpDate(w.Clock.Now())})
		}
		w.Clock.Advance(10 * time.Millisecond)
		rep.text += "!"
		servertest.Expect(t, get(w, "If-Modified-Since", before.Header.Get("Last-Modified")), 200, "", map[string]string{"Server-Timing": "test_cache_miss"})
	}
	w.Clock.Advance(10 * time.Second)
	last := get(w).Header.Get("Last-Modified")
	servertest.Expect(t, get(w, "If-Modified-Since", last), 304, "", map[string]string{"Server-Timing": "test_cache_hit"})
}
