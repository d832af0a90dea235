package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestTraces: a collector gets the spans of requests, without the key.
func TestTraces(t *testing.T) {
	var posts atomic.Int32
	var leaked atomic.Bool
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.URL.Path == "/v1/traces" && len(body) > 0 {
			posts.Add(1)
		}
		leaked.Store(leaked.Load() || strings.Contains(string(body), "svc_live_secret"))
	}))
	defer collector.Close()
	wrap, stop, err := openTraces(t.Context(), collector.URL)
	if err != nil {
		t.Fatal(err)
	}
	h := wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	r := httptest.NewRequest(http.MethodGet, "/v1/SN_MAIN/status", nil)
	r.Header.Set("X-Service-Api-Key", "svc_live_secret")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	stop()
	if rec.Code != http.StatusTeapot {
		t.Errorf("status %d went through the wrapper", rec.Code)
	}
	if posts.Load() == 0 {
		t.Error("the collector got nothing")
	}
	if leaked.Load() {
		t.Error("the key was sent to the collector")
	}
	if _, _, err := openTraces(t.Context(), "collector:4318"); err == nil {
		t.Error("an endpoint without a scheme was taken")
	}
	// Without an endpoint nothing is wrapped.
	wrap, stop, err = openTraces(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	stop()
	rec = httptest.NewRecorder()
	wrap(http.NotFoundHandler()).ServeHTTP(rec, r)
	if rec.Code != http.StatusNotFound {
		t.Errorf("status %d", rec.Code)
	}
}
