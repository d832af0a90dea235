package traces_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"chainexplorer/internal/traces"
)

// collector takes what is posted, and answers with the statuses in turn and 200 after them.
type collector struct {
	mu       sync.Mutex
	statuses []int
	requests []*http.Request
	bodies   [][]byte
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests, c.bodies = append(c.requests, r), append(c.bodies, body)
	status := http.StatusOK
	if n := len(c.requests) - 1; n < len(c.statuses) {
		status = c.statuses[n]
	}
	if status == 0 {
		return nil, errors.New("nobody is there")
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
}

// ask has requests traced and everything sent, and returns what the caller saw.
func (c *collector) ask(t *testing.T, o traces.Options, h http.Handler, r ...*http.Request) (last *httptest.ResponseRecorder) {
	t.Helper()
	o.Endpoint, o.Version, o.Transport = "http://collector.example", "v1.2.3", c
	tracer, err := traces.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range r {
		last = httptest.NewRecorder()
		tracer.Wrap(h).ServeHTTP(last, r)
	}
	tracer.Close()
	return last
}

// values are the attributes as others' code for the protocol reads them.
func values(list []*common.KeyValue) map[string]any {
	m := map[string]any{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			m[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			m[a.GetKey()] = v.IntValue
		}
	}
	return m
}

// TestSpans: what is sent is read by the code that is made from the protocol's own
// description, and tells how the request ended and nothing of its headers.
func TestSpans(t *testing.T) {
	c := &collector{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{chain}/status", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		w.Write([]byte("short")) //nolint:errcheck // a recorder
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	status := httptest.NewRequest(http.MethodGet, "/v1/SN_MAIN/status?q=svc_live_secret", nil)
	status.Header.Set("X-Service-Api-Key", "svc_live_secret")
	status.Header.Set("User-Agent", "svc_live_secret")
	c.ask(t, traces.Options{Headers: "Authorization=Bearer%20x%3D, x-team = a"}, mux, status,
		httptest.NewRequest("BREW", "/broken", nil), httptest.NewRequest(http.MethodGet, "/nowhere%ff", nil))
	if len(c.requests) != 1 {
		t.Fatalf("%d posts", len(c.requests))
	}
	if u := c.requests[0].URL.String(); u != "http://collector.example/v1/traces" {
		t.Errorf("posted to %s", u)
	}
	for name, want := range map[string]string{"Content-Type": "application/x-protobuf", "Authorization": "Bearer x=", "X-Team": "a"} {
		if got := c.requests[0].Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if bytes.Contains(c.bodies[0], []byte("svc_live_secret")) {
		t.Error("the key was sent to the collector")
	}
	var data otlp.TracesData // the same bytes as of the request that holds it
	if err := proto.Unmarshal(c.bodies[0], &data); err != nil {
		t.Fatal(err)
	}
	if len(data.GetResourceSpans()) != 1 || len(data.GetResourceSpans()[0].GetScopeSpans()) != 1 {
		t.Fatalf("not one resource and scope: %v", &data)
	}
	resource := data.GetResourceSpans()[0]
	if of := values(resource.GetResource().GetAttributes()); of["service.name"] != "chainexplorer" || of["service.version"] != "v1.2.3" {
		t.Errorf("resource %v", of)
	}
	if scope := resource.GetScopeSpans()[0].GetScope().GetName(); scope != "chainexplorer/internal/traces" {
		t.Errorf("scope %q", scope)
	}
	spans := resource.GetScopeSpans()[0].GetSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	ids := map[string]bool{}
	for i, want := range []struct {
		name   string
		status otlp.Status_StatusCode
		values map[string]any
	}{
		{"GET /v1/{chain}/status", otlp.Status_STATUS_CODE_UNSET, map[string]any{"http.request.method": "GET", "url.path": "/v1/SN_MAIN/status",
			"url.scheme": "http", "network.protocol.version": "1.1", "http.route": "/v1/{chain}/status", "http.response.status_code": int64(418), "http.response.body.size": int64(5)}},
		{"_OTHER /broken", otlp.Status_STATUS_CODE_ERROR, map[string]any{"http.request.method": "_OTHER", "url.path": "/broken", "http.response.status_code": int64(502), "http.response.body.size": int64(0)}},
		{"GET", otlp.Status_STATUS_CODE_UNSET, map[string]any{"url.path": "/nowhere\ufffd", "http.response.status_code": int64(404)}},
	} {
		s := spans[i]
		if s.GetName() != want.name || s.GetStatus().GetCode() != want.status || s.GetKind() != otlp.Span_SPAN_KIND_SERVER {
			t.Errorf("span %d is %v", i, s)
		}
		got := values(s.GetAttributes())
		for name, v := range want.values {
			if got[name] != v {
				t.Errorf("%s: %s is %v, want %v", want.name, name, got[name], v)
			}
		}
		ids[string(s.GetTraceId())], ids[string(s.GetSpanId())] = true, true
		if len(s.GetTraceId()) != 16 || len(s.GetSpanId()) != 8 || len(s.GetParentSpanId()) != 0 ||
			s.GetStartTimeUnixNano() == 0 || s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
			t.Errorf("ids and times of %v", s)
		}
	}
	if len(ids) != 6 {
		t.Errorf("%d different ids of 6", len(ids))
	}
}

// TestTheAnswerGoesThrough: what handlers do with the connection still reaches it.
func TestTheAnswerGoesThrough(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	})
	rec := (&collector{}).ask(t, traces.Options{}, h, httptest.NewRequest(http.MethodGet, "/", nil))
	if rec.Code != http.StatusAccepted || !rec.Flushed {
		t.Errorf("status %d, flushed %v", rec.Code, rec.Flushed)
	}
}

// TestACollectorThatIsBusy is asked again, and one that refuses is not, nor for ever.
func TestACollectorThatIsBusy(t *testing.T) {
	for _, c := range []struct {
		name     string
		statuses []int
		posts    int
	}{
		{"busy, then gone, then well", []int{http.StatusServiceUnavailable, 0}, 3},
		{"it refuses", []int{http.StatusBadRequest}, 1},
		{"busy for ever", []int{429, 429, 429, 429, 429, 429}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := &collector{statuses: c.statuses}
				tracer, err := traces.Open(traces.Options{Endpoint: "https://collector.example/in/traces", Transport: to})
				if err != nil {
					t.Fatal(err)
				}
				tracer.Wrap(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
				// The SDK sends every few seconds; what is asked again is asked before Close.
				time.Sleep(time.Minute) // of the bubble's clock
				synctest.Wait()
				tracer.Close()
				to.mu.Lock()
				defer to.mu.Unlock()
				if len(to.requests) != c.posts {
					t.Errorf("%d posts, want %d", len(to.requests), c.posts)
				}
				for i, r := range to.requests {
					if r.URL.Path != "/in/traces" || !bytes.Equal(to.bodies[i], to.bodies[0]) {
						t.Errorf("post %d to %s has %d bytes", i, r.URL, len(to.bodies[i]))
					}
				}
			})
		})
	}
}

// TestRefused: what is no address and what are no headers, without repeating a secret.
func TestRefused(t *testing.T) {
	for _, endpoint := range []string{"collector:4318", "http://", "ftp://collector.example", "://"} {
		if _, err := traces.Open(traces.Options{Endpoint: endpoint}); err == nil || !strings.Contains(err.Error(), endpoint) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	for _, headers := range []string{"secret", "=secret", "a b=secret", "a=secret%", "a=secret%0d%0ab"} {
		if _, err := traces.Open(traces.Options{Endpoint: "http://collector.example", Headers: headers}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", headers, err)
		}
	}
}
