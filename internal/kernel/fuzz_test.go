package kernel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// FuzzCursor: whatever a client sends as a cursor, it is refused without a
// panic, or it is one that was made for this very scope.
func FuzzCursor(f *testing.F) {
	c := kernel.NewCursors([]byte("secret"))
	f.Add("", "scope", []byte{}, 0)
	f.Add(c.Seal("scope", []byte{1, 2}), "scope", []byte{1, 2}, 3)
	f.Add("AQ", "listBlocks\x00SN_MAIN", []byte("12345678"), 30)
	f.Fuzz(func(t *testing.T, foreign, scope string, position []byte, at int) {
		if len(position) > 300 || len(scope) > 1<<15 {
			return
		}
		good := c.Seal(scope, position)
		got, fault := c.Open(scope, good)
		if fault != nil || !bytes.Equal(got, position) {
			t.Fatalf("own cursor: %v %v", got, fault)
		}
		if pos, fault := c.Open(scope, foreign); fault == nil && c.Seal(scope, pos) != foreign {
			t.Fatalf("a cursor that was never made: %q", foreign)
		}
		if _, fault := c.Open(scope+"x", good); fault == nil {
			t.Fatal("a cursor of another scope")
		}
		if _, fault := kernel.NewCursors([]byte("other")).Open(scope, good); fault == nil {
			t.Fatal("a cursor of another secret")
		}
		b := []byte(good)
		i := int(uint(at) % uint(len(b)))
		for _, other := range []byte{b[i] ^ 1, b[i] ^ 0x20, 'A', '='} {
			changed := bytes.Clone(b)
			if changed[i] = other; other == b[i] {
				continue
			}
			if _, fault := c.Open(scope, string(changed)); fault == nil {
				t.Fatalf("a changed cursor: %q from %q", changed, good)
			}
		}
		for _, changed := range []string{good[:i], good + "A", good + "=", good + "\n", " " + good} {
			if _, fault := c.Open(scope, changed); fault == nil {
				t.Fatalf("a changed cursor: %q from %q", changed, good)
			}
		}
	})
}

// FuzzTimestamp: what parses is Unix seconds or RFC 3339 with a zone, and the
// seconds around it are in order.
func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"0", "-1", "1767225600", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00", "9999-12-31T23:59:59Z", "+5", "1e3", "0000-01-01T00:00:00Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := kernel.TimestampOf("x", s)
		if err != nil {
			return
		}
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && at.Unix() != n {
			t.Fatalf("%q became %d", s, at.Unix())
		}
		if text := at.UTC().Format(time.RFC3339); !utf8.ValidString(text) {
			t.Fatalf("%q prints as %q", s, text)
		}
	})
}

// FuzzNumber: what is taken for the number of a block is that number.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "00", "9223372036854775807", "9223372036854775808", "-1", "１", "5.0", "50e-1", "5e0", "5.5", "-0", "1e4000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := kernel.NumberOf(s)
		if !ok {
			return
		}
		if same, ok := new(big.Rat).SetString(s); !ok || same.Cmp(new(big.Rat).SetInt(new(big.Int).SetUint64(n))) != 0 {
			t.Fatalf("%q became %d", s, n)
		}
	})
}

// fuzzed is a kernel with a list, whose budgets are new at every request.
func fuzzed(f *testing.F) *served {
	f.Helper()
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	s := serve(f, func(o *kernel.Options) {
		o.Origins, o.AnonymousPerMinute, o.CacheBytes = []string{allowedOrigin}, -1, 1
		o.Now = func() time.Time { return now }
	})
	type page struct {
		Limit  kernel.Limit `query:"limit" doc:"How many."`
		Cursor string       `query:"cursor" doc:"Where to go on."`
	}
	kernel.Register(s.k, kernel.Route{ID: "list", Method: http.MethodGet, Path: "/v1/list", Family: "Test", Summary: "Test.", Description: "Test.",
		Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External,
		Depends: kernel.OnClock, Page: kernel.Page{Usual: 5, Most: 10}},
		func(context.Context, *page) (*counted, error) {
			now = now.Add(time.Minute)
			return &counted{}, nil
		})
	return s
}

var wellFormedID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// FuzzHeaders: no header breaks the kernel, and none gets further than it may.
func FuzzHeaders(f *testing.F) {
	f.Add("svc_live_x", "", "id-1", "gzip;q=0.5, br", `W/"a", "b-gzip"`, "https://x.example", "a;b=1&a=2")
	f.Add("", "svc_live_", "a b", "*;q=0", "*", "null", "limit=1&limit=2")
	f.Add("a", "b", "", ";;q=", `"`, "", "%zz")
	f.Add("a, b", "", "", "", "", allowedOrigin, "limit=007&cursor=")
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, long, short, id, encoding, none, origin, query string) {
		h := http.Header{"Accept-Encoding": {encoding}, "If-None-Match": {none}, kernel.HeaderRequestID: {id}, "Origin": {origin}}
		ask := func(query string, more ...string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest(http.MethodGet, "/v1/list", nil), httptest.NewRecorder()
			r.URL.RawQuery, r.Header = query, h.Clone()
			for i := 0; i < len(more); i += 2 {
				r.Header.Set(more[i], more[i+1])
			}
			s.k.ServeHTTP(w, r)
			if got := w.Header().Get(kernel.HeaderRequestID); !wellFormedID.MatchString(got) || got != id && !strings.HasPrefix(got, "svc-") {
				t.Fatalf("request id %q became %q", id, got)
			}
			if w.Code >= 500 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if w.Header().Get("Content-Encoding") != "" && !strings.Contains(strings.ToLower(encoding), "gzip") {
				t.Fatalf("gzip after %q", encoding)
			}
			return w
		}

		// No key that can be sent here is good, and two are one too many.
		var keys []string
		if long != "" {
			keys = append(keys, kernel.HeaderKey, long)
		}
		if short != "" {
			keys = append(keys, kernel.HeaderKeyShort, short)
		}
		want := kernel.CodeUnauthorized
		switch key := long + short; {
		case len(keys) == 4:
			want = kernel.CodeConflictingKeys
		case strings.ContainsAny(key, " \t\"'`,;"):
			want = kernel.CodeMalformedKey
		}
		h.Set("Accept-Encoding", "identity")
		w := ask("", keys...)
		var told struct{ Code kernel.Code }
		if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil || told.Code != want {
			t.Fatalf("keys %q: %d %s (%v), want %s", keys, w.Code, w.Body, err, want)
		}
		h.Set("Accept-Encoding", encoding)

		// With a good key the query is taken, or refused.
		w = ask(query, kernel.HeaderKey, s.key)
		switch q, err := url.ParseQuery(query); w.Code {
		case http.StatusOK, http.StatusNotModified:
			if err != nil {
				t.Fatalf("query %q was taken", query)
			}
			for name, values := range q {
				if len(values) > 1 || name != "limit" && name != "cursor" {
					t.Fatalf("query %q was taken, with %d times %s", query, len(values), name)
				}
			}
			if tag := w.Header().Get("Etag"); w.Code == http.StatusNotModified && !strings.Contains(none, strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)) && !strings.Contains(none, "*") {
				t.Fatalf("%q matches %q", none, tag)
			}
		case http.StatusBadRequest, http.StatusUnauthorized: // such as for a key in it
		default:
			t.Fatalf("query %q: %d %s", query, w.Code, w.Body)
		}
		if kernel.AcceptsGzip(h) && !strings.Contains(strings.ToLower(encoding), "gzip") {
			t.Fatalf("gzip after %q", encoding)
		}
		if tag, ok := kernel.Matches(h["If-None-Match"], "0123", "0123-gzip"); ok && !strings.Contains(none, tag) && !strings.Contains(none, "*") {
			t.Fatalf("%q matches %q", none, tag)
		}

		// Who comes with a cookie may do so from the listed origins alone.
		w = ask("", "Cookie", "a=b", kernel.HeaderKey, s.key)
		if allowed := w.Header().Get("Access-Control-Allow-Origin"); allowed != "" && allowed != allowedOrigin {
			t.Fatalf("origin %q got %q with credentials", origin, allowed)
		}
	})
}
