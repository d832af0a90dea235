// Package traces tells an OpenTelemetry collector of every request: a span with the
// method, the path, the route and how it ended. It tells nothing that a header carries.
//
// The spans are those of OpenTelemetry's SDK. How they are sent, OTLP over HTTP, is
// written here, because the SDK's own sender brings all of gRPC into the program for
// a few messages that this package writes in a hundred lines.
package traces

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	// collectorPath is where a collector takes spans unless the operator says otherwise.
	collectorPath = "/v1/traces"
	// lastWords bounds how long the end of the process waits for the collector.
	lastWords = 2 * time.Second
)

// Options say where the spans go.
type Options struct {
	// Endpoint is the address of the collector, such as http://127.0.0.1:4318.
	Endpoint string
	// Headers are sent to it, spelled as OpenTelemetry does: name=value,name=value with
	// the values percent-encoded. They may hold a secret.
	Headers string
	// Version is the program's.
	Version string
	// Transport is the usual one unless a test sets it.
	Transport http.RoundTripper
}

// Tracer makes spans and sends them in batches.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Open begins to send. Nobody is asked yet: a collector may come later, or go.
func Open(o Options) (*Tracer, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a collector, such as http://127.0.0.1:4318", o.Endpoint)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = collectorPath
	}
	header, err := parseHeaders(o.Headers)
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&exporter{url: u.String(), header: header, client: &http.Client{Timeout: sendTimeout, Transport: o.Transport}}),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "chainexplorer"), attribute.String("service.version", o.Version))))
	return &Tracer{provider: provider, tracer: provider.Tracer("chainexplorer/internal/traces")}, nil
}

// Close sends what is left, if the collector takes it soon.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	t.provider.Shutdown(ctx) //nolint:errcheck // the collector is gone: nobody to tell
}

// Wrap makes a span of every request that the handler answers.
func (t *Tracer) Wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := methodOf(r.Method)
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		ctx, span := t.tracer.Start(r.Context(), method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", method),
			attribute.String("url.scheme", scheme),
			attribute.String("url.path", r.URL.Path),
			attribute.String("network.protocol.version", strings.TrimPrefix(r.Proto, "HTTP/"))))
		r = r.WithContext(ctx)
		x := &answer{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			if route := routeOf(r.Pattern); route != "" {
				span.SetName(method + " " + route)
				span.SetAttributes(attribute.String("http.route", route))
			}
			span.SetAttributes(attribute.Int("http.response.status_code", x.status), attribute.Int64("http.response.body.size", x.size))
			if x.status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}()
		h.ServeHTTP(x, r)
	})
}

// methods are those that are told by name; any other is a stranger's word.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace}

func methodOf(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "_OTHER"
}

// routeOf is the path of the pattern by which a mux found the handler.
func routeOf(pattern string) string {
	if i := strings.IndexByte(pattern, '/'); i >= 0 {
		return pattern[i:]
	}
	return ""
}

// answer notes how a request ended.
type answer struct {
	http.ResponseWriter
	status int
	size   int64
	began  bool
}

func (x *answer) WriteHeader(status int) {
	if !x.began && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		x.began, x.status = true, status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *answer) Write(b []byte) (int, error) {
	x.began = true
	n, err := x.ResponseWriter.Write(b)
	x.size += int64(n)
	return n, err
}

// Unwrap lets handlers flush, set deadlines and take the connection over.
func (x *answer) Unwrap() http.ResponseWriter { return x.ResponseWriter }
