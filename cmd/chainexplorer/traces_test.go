package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestTraces: a collector gets the spans of requests with the headers that the operator
// set for it, and without an endpoint nothing is wrapped.
func TestTraces(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a")
	var posts atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" && r.Header.Get("X-Team") == "a" {
			posts.Add(1)
		}
	}))
	defer collector.Close()
	for endpoint, want := range map[string]int32{"": 0, collector.URL: 1} {
		wrap, stop, err := openTraces(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		wrap(http.NotFoundHandler()).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/v1/SN_MAIN/status", nil))
		stop()
		if rec.Code != http.StatusNotFound || posts.Load() != want {
			t.Errorf("%q: status %d, and %d posts instead of %d", endpoint, rec.Code, posts.Swap(0), want)
		}
		posts.Store(0)
	}
	var usage *usageError
	if _, _, err := openTraces("collector:4318"); !errors.As(err, &usage) {
		t.Errorf("an endpoint without a scheme: %v", err)
	}
}
