package logs

import (
	"bytes"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// usual is a request as most are.
func usual() Request {
	return Request{At: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 3600)), ID: "svc-0123456789abcdefghjkmnpq", Method: "GET", Path: "/v1/SN_MAIN/block/1", Operation: "getBlock",
		Status: 200, Bytes: 4898, Took: 1234567 * time.Nanosecond, Key: "svc_pub", Remote: netip.MustParseAddr("127.0.0.1")}
}

// TestRequests: a request is written as the handler of the standard library writes it, whatever it says.
func TestRequests(t *testing.T) {
	list := []Request{usual(), {At: time.Unix(1, 0)}}
	for _, odd := range []string{`"quoted" \ <b>&amp;</b>`, "\x00\x1f\x7f\n\t", "\xff\xc0", "ü💡\u2028\u2029\ufffd", strings.Repeat("long ", 100)} {
		r := usual()
		r.ID, r.Method, r.Path, r.Operation, r.Key = odd, odd, odd, odd, odd
		list = append(list, r)
	}
	for _, took := range []time.Duration{0, 1, 999, 1500, 1234567891, 90*time.Minute + time.Millisecond, -time.Second} {
		r := usual()
		r.Took, r.Status, r.Bytes, r.Remote = took, 0, -1, netip.MustParseAddr("fe80::1%eth0")
		r.At = r.At.UTC().Truncate(time.Second)
		list = append(list, r)
	}
	for i := range list {
		var got, want bytes.Buffer
		list[i].Write(t.Context(), New(&got, false, slog.LevelInfo))
		list[i].Write(t.Context(), slog.NewJSONHandler(&want, &slog.HandlerOptions{ReplaceAttr: readable}))
		if got.String() != want.String() {
			t.Errorf("%s, want %s", got.String(), want.String())
		}
	}
}

// TestRequestsOfOthers: what is derived from the handler, and the one for people, write requests as
// they write all else.
func TestRequestsOfOthers(t *testing.T) {
	var out bytes.Buffer
	r := usual()
	r.Write(t.Context(), New(&out, false, slog.LevelInfo).WithAttrs([]slog.Attr{slog.String("chain", "SN_MAIN")}))
	r.Write(t.Context(), New(&out, false, slog.LevelInfo).WithGroup("g"))
	r.Write(t.Context(), New(&out, true, slog.LevelInfo))
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `"chain":"SN_MAIN","request_id":`) || !strings.Contains(lines[1], `"g":{"request_id":`) || !strings.Contains(lines[2], "operation=getBlock") {
		t.Errorf("%s", out.String())
	}
}

// TestLinesStayWhole has requests and other records written at once, and finds each in a line of its own.
func TestLinesStayWhole(t *testing.T) {
	const writers, each = 8, 50
	var out bytes.Buffer
	h := New(&out, false, slog.LevelInfo)
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			for range each {
				if r := usual(); n%2 == 0 {
					r.Write(t.Context(), h)
				} else {
					slog.New(h).Info("other", "n", n)
				}
			}
		})
	}
	all.Wait()
	if got := out.String(); strings.Count(got, "\n") != writers*each || strings.Count(got, "\n{\"time\":") != writers*each-1 || strings.Count(got, `"127.0.0.1"}`+"\n") != writers*each/2 {
		t.Errorf("%d lines: %s", strings.Count(got, "\n"), got)
	}
}

func BenchmarkRequest(b *testing.B) {
	h, r := New(io.Discard, false, slog.LevelInfo), usual()
	for b.Loop() {
		r.Write(b.Context(), h)
	}
}
