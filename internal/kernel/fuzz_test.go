package kernel

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzCursor: whatever a client sends as a cursor, it is refused without a
// panic, or it is one that was made for this very scope.
func FuzzCursor(f *testing.F) {
	c := NewCursors([]byte("secret"))
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
		if _, fault := NewCursors([]byte("other")).Open(scope, good); fault == nil {
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
		at, err := TimestampOf("x", s)
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

// FuzzHeaders: no header breaks the kernel, and none gets further than it may.
func FuzzHeaders(f *testing.F) {
	f.Add("svc_live_x", "", "id-1", "gzip;q=0.5, br", `W/"a", "b-gzip"`, "https://x.example", "a;b=1&a=2")
	f.Add("", "svc_live_", "a b", "*;q=0", "*", "null", "limit=1&limit=2")
	f.Add("a", "b", "", ";;q=", `"`, "", "%zz")
	f.Fuzz(func(t *testing.T, long, short, id, encoding, none, origin, query string) {
		h := http.Header{"Accept-Encoding": {encoding}, "If-None-Match": {none}, HeaderRequestID: {id}, "Origin": {origin}}
		if long != "" {
			h.Set(HeaderKey, long)
		}
		if short != "" {
			h.Set(HeaderKeyShort, short)
		}
		key, fault := presentedKey(h)
		switch {
		case long != "" && short != "" && (fault == nil || fault.Code != CodeConflictingKeys):
			t.Fatalf("two keys: %q %v", key, fault)
		case fault == nil && key != long && key != short, fault == nil && strings.ContainsAny(key, " \t\"'`,;"):
			t.Fatalf("key %q of %q and %q", key, long, short)
		}
		r := &http.Request{Header: h}
		if got := requestID(h); !validRequestID(got) || got != id && !strings.HasPrefix(got, "svc-") {
			t.Fatalf("request id %q became %q", id, got)
		}
		if AcceptsGzip(h) && !strings.Contains(strings.ToLower(encoding), "gzip") {
			t.Fatalf("gzip after %q", encoding)
		}
		if tag, ok := Matches(h["If-None-Match"], "0123", "0123-gzip"); ok && !strings.Contains(none, tag) && !strings.Contains(none, "*") {
			t.Fatalf("%q matches %q", none, tag)
		}
		route := &Route{query: map[string]queryParameter{"limit": {integer: true}, "cursor": {}}}
		if query, fault := route.checkQuery(query, &Request{}); fault == nil {
			q, err := url.ParseQuery(query)
			if err != nil {
				t.Fatalf("query %q", query)
			}
			for name, values := range q {
				if len(values) > 1 {
					t.Fatalf("query %q: %s twice", query, name)
				}
			}
		}
		s := &Server{Origins: []string{"https://explorer.example"}}
		w := &exchange{ResponseWriter: httptest.NewRecorder(), record: Request{credentialed: true}}
		s.cors(w, r)
		if allowed := w.Header().Get("Access-Control-Allow-Origin"); allowed != "" && allowed != "https://explorer.example" {
			t.Fatalf("origin %q got %q with credentials", origin, allowed)
		}
	})
}
