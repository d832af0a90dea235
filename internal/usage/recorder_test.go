package usage_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/usage"
)

// logs is a log that several goroutines write.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// testDatabaseAway: while nothing can be written, what waits stays within its bounds,
// what has no room is told, and all the rest is written afterwards.
func testDatabaseAway(t *testing.T, path string) {
	reg, log := prometheus.NewRegistry(), &logs{}
	p := start(t, path, newClock(), usage.Options{Counts: 4, Details: 6, Metrics: usage.NewMetrics(reg), Logger: slog.New(slog.NewTextHandler(log, nil))})
	a, b := p.key(t, "acme", "a"), p.key(t, "other", "b")
	away, cancel := context.WithCancel(t.Context())
	cancel()
	p.recorder.Record(p.ask(a, "first"))
	if err := p.recorder.Flush(away); err == nil {
		t.Fatal("written to a database that is away")
	}
	for i := range 1000 {
		e := p.ask(a, fmt.Sprint(i))
		p.recorder.Record(e)
	}
	p.recorder.Record(p.ask(b, "without detail"))
	for hour := range 4 { // the third and fourth have no room
		p.clock.advance(time.Hour)
		p.recorder.Record(p.ask(a, fmt.Sprint("hour ", hour)))
	}
	for range 3 {
		if err := p.recorder.Flush(away); err == nil {
			t.Fatal("written to a database that is away")
		}
	}
	p.flush(t)
	if u := p.of(t, a.WorkspaceID); u.TotalRequests != 1003 || ids(u.RecentRequests) != "hour 1 hour 0 999 998 997 996 first " || !u.RecentRequestsTruncated {
		t.Errorf("%d requests: %s", u.TotalRequests, ids(u.RecentRequests))
	}
	if u := p.of(t, b.WorkspaceID); u.TotalRequests != 1 || len(u.RecentRequests) != 0 || !u.RecentRequestsTruncated {
		t.Errorf("the other workspace: %+v", u)
	}
	p.recorder.Record(p.ask(b, "after"))
	p.flush(t)
	if u := p.of(t, b.WorkspaceID); u.TotalRequests != 2 || ids(u.RecentRequests) != "after " {
		t.Errorf("once it is back: %+v", u)
	}
	text := log.String()
	if !strings.Contains(text, "not_counted=2") {
		t.Errorf("the log has %s", text)
	}
	for name, want := range map[string]float64{
		"chainexplorer_usage_requests_total": 1005, `chainexplorer_usage_dropped_total{what="count"}`: 2,
		`chainexplorer_usage_flushes_total{outcome="failed"}`: 4, `chainexplorer_usage_flushes_total{outcome="ok"}`: 3,
	} {
		if got := value(t, reg, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := value(t, reg, `chainexplorer_usage_dropped_total{what="detail"}`); got < 2 {
		t.Errorf("%v requests lack detail", got)
	}
}

// value is a counter's, by its name and label as they are exported.
func value(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			full := f.GetName()
			for _, l := range m.GetLabel() {
				full += fmt.Sprintf("{%s=%q}", l.GetName(), l.GetValue())
			}
			if full == name {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// testRun: what was recorded is written without being asked for, and the rest when
// the process ends.
func testRun(t *testing.T, path string) {
	reg := prometheus.NewRegistry()
	p := start(t, path, newClock(), usage.Options{Details: 8, Metrics: usage.NewMetrics(reg)})
	k := p.key(t, "acme", "a")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.recorder.Run(ctx)
	}()
	for i := range 4 { // half of what may wait: it is time
		p.recorder.Record(p.ask(k, fmt.Sprint(i)))
	}
	deadline := time.Now().Add(2 * time.Minute)
	for ; p.of(t, k.WorkspaceID).TotalRequests != 4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was written")
		}
	}
	p.recorder.Record(p.ask(k, "last"))
	end()
	<-ended
	if u := p.of(t, k.WorkspaceID); u.TotalRequests != 5 || u.RecentRequests[0].RequestID != "last" {
		t.Errorf("after the end: %d, %s", u.TotalRequests, ids(u.RecentRequests))
	}
	if got := value(t, reg, "chainexplorer_usage_requests_total"); got != 5 {
		t.Errorf("%v requests were counted", got)
	}
}

// TestLastWriteFails: what is lost when the process ends is told.
func TestLastWriteFails(t *testing.T) {
	log := &logs{}
	p := start(t, t.TempDir()+"/control.db", newClock(), usage.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	k := p.key(t, "acme", "a")
	for i := range 3 {
		p.recorder.Record(p.ask(k, fmt.Sprint(i)))
	}
	p.db.Close() //nolint:errcheck // it is to fail
	ctx, end := context.WithCancel(t.Context())
	end()
	p.recorder.Run(ctx)
	if text := log.String(); !strings.Contains(text, "requests=3") {
		t.Errorf("the log has %s", text)
	}
}

// BenchmarkRecord is what a request pays.
func BenchmarkRecord(b *testing.B) {
	p := start(b, b.TempDir()+"/control.db", newClock(), usage.Options{})
	e := p.ask(p.key(b, "acme", "a"), "svc-0123456789")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.recorder.Record(e)
		}
	})
}

// BenchmarkFlush is what a second with as many requests of a workspace as are kept takes.
func BenchmarkFlush(b *testing.B) {
	c := newClock()
	p := start(b, b.TempDir()+"/control.db", c, usage.Options{})
	e := p.ask(p.key(b, "acme", "a"), "svc-0123456789")
	for b.Loop() {
		for range usage.Recent {
			p.recorder.Record(e)
		}
		if err := p.recorder.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRecordAllocatesNothing keeps the hot path as the benchmark found it.
func TestRecordAllocatesNothing(t *testing.T) {
	p := start(t, t.TempDir()+"/control.db", newClock(), usage.Options{})
	e := p.fail(p.key(t, "acme", "a"), "svc-0123456789", 404)
	for range 2 * usage.Recent {
		p.recorder.Record(e)
	}
	if n := testing.AllocsPerRun(200, func() { p.recorder.Record(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
