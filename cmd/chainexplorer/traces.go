package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// openTraces sends a span per request to an OpenTelemetry collector; without an
// endpoint it does nothing. Spans carry the method and the path, no headers.
func openTraces(ctx context.Context, endpoint string) (wrap func(http.Handler) http.Handler, stop func(), err error) {
	if endpoint == "" {
		return func(h http.Handler) http.Handler { return h }, func() {}, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, nil, &usageError{fmt.Sprintf("traces: %q is not the address of a collector, such as http://127.0.0.1:4318", endpoint)}
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces" // where a collector takes them unless the operator says otherwise
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()))
	if err != nil {
		return nil, nil, fmt.Errorf("traces: %w", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter),
		trace.WithResource(resource.NewSchemaless(semconv.ServiceName("chainexplorer"), semconv.ServiceVersion(version()))))
	wrap = func(h http.Handler) http.Handler {
		return otelhttp.NewHandler(h, "http", otelhttp.WithTracerProvider(provider))
	}
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		provider.Shutdown(ctx) //nolint:errcheck // the collector is gone: nobody to tell
	}
	return wrap, stop, nil
}
