package main

import (
	"cmp"
	"fmt"
	"net/http"
	"os"

	"chainexplorer/internal/traces"
)

// openTraces sends a span per request to an OpenTelemetry collector; without an
// endpoint it does nothing.
func openTraces(endpoint string) (wrap func(http.Handler) http.Handler, stop func(), err error) {
	if endpoint == "" {
		return func(h http.Handler) http.Handler { return h }, func() {}, nil
	}
	// The names are OpenTelemetry's: who operates a collector knows them, and what they
	// hold may be a secret, which has no business on a command line.
	headers := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	t, err := traces.Open(traces.Options{Endpoint: endpoint, Headers: headers, Version: version()})
	if err != nil {
		return nil, nil, &usageError{fmt.Sprintf("traces: %v", err)}
	}
	return t.Wrap, t.Close, nil
}
