package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"chainexplorer/internal/backoff"
)

const (
	sendTimeout = 10 * time.Second
	// tries bounds how often a batch is sent; the SDK keeps a bounded queue meanwhile.
	tries = 4
	// answerBytes is what is read of a collector's answer, so that the connection is kept.
	answerBytes = 64 << 10
)

// waits are between the tries.
var waits = backoff.Policy{Min: time.Second, Max: 5 * time.Second}

// busy are the statuses after which a collector is to be asked again.
var busy = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// exporter posts spans to a collector.
type exporter struct {
	url    string
	header http.Header
	client *http.Client
}

// ExportSpans sends a batch. The SDK bounds it by the context, and tells of its error.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body := encode(spans)
	for try := 1; ; try++ {
		again, err := e.send(ctx, body)
		if err == nil {
			return nil
		}
		if again && try < tries && backoff.Wait(ctx, waits.After(try)) == nil {
			continue
		}
		return fmt.Errorf("send %d spans to the collector: %w", len(spans), err)
	}
}

// send posts a batch once, and says whether it may be sent again.
func (e *exporter) send(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := e.client.Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()                                     //nolint:errcheck // it was only read
	io.Copy(io.Discard, io.LimitReader(resp.Body, answerBytes)) //nolint:errcheck // what it says is of no use
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	return slices.Contains(busy, resp.StatusCode), fmt.Errorf("status %d", resp.StatusCode)
}

// Shutdown has nothing to end: the SDK sends what is left before.
func (e *exporter) Shutdown(context.Context) error { return nil }

// errHeaders does not repeat what it complains of, which may be a secret.
var errHeaders = errors.New("the headers for the collector are not name=value,name=value with percent-encoded values")

func parseHeaders(text string) (http.Header, error) {
	header := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !found || name == "" || strings.ContainsAny(name, " \t\r\n:") {
			return nil, errHeaders
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || strings.ContainsAny(value, "\r\n\x00") {
			return nil, errHeaders
		}
		header.Set(name, value)
	}
	return header, nil
}
