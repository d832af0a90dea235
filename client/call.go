package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"chainexplorer/internal/backoff"
)

// request is a call of an operation.
type request struct {
	operation string
	method    string
	path      string // escaped
	query     url.Values
	header    http.Header
	body      any    // to be JSON, or an io.Reader
	kind      string // of the body
	again     bool   // may be sent twice: nothing happens twice
	session   bool   // of a person, not of a key
}

// do calls an operation until there is an answer, or an error that another attempt would
// not change.
func (c *Client) do(ctx context.Context, r request, into any) error {
	for name, values := range r.header {
		if values[0] == "" { // not given: without its key it may happen twice
			delete(r.header, name)
			r.again = false
		}
	}
	var body []byte
	stream, isStream := r.body.(io.Reader)
	if r.body != nil && !isStream {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return fmt.Errorf("%s: write the body: %w", r.operation, err)
		}
	}
	for attempt := 1; ; attempt++ {
		if body != nil {
			stream = bytes.NewReader(body)
		}
		err := c.once(ctx, r, stream, into)
		if err == nil {
			return nil
		}
		wait, again := c.retry(r, err, attempt)
		if !again || isStream || attempt >= c.options.Attempts || wait > c.options.MaxWait {
			return err
		}
		if ended := backoff.Wait(ctx, wait); ended != nil {
			return fmt.Errorf("%s: %w (it was to be tried again after: %w)", r.operation, ended, err)
		}
	}
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, r request, body io.Reader, into any) error {
	target := c.base.Scheme + "://" + c.base.Host + c.base.EscapedPath() + r.path
	if q := r.query.Encode(); q != "" {
		target += "?" + q
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return fmt.Errorf("%s: %w", r.operation, err)
	}
	maps.Copy(req.Header, r.header)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.options.UserAgent)
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	switch {
	case r.session && c.options.Session != "":
		req.Header.Set("Authorization", "Bearer "+c.options.Session)
	case !r.session && c.options.APIKey != "":
		req.Header.Set("X-Service-Api-Key", c.options.APIKey)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return &transportError{operation: r.operation, err: err}
	}
	defer res.Body.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxAnswer+1))
	if err != nil {
		return &transportError{operation: r.operation, err: fmt.Errorf("read the answer: %w", err)}
	}
	if int64(len(data)) > c.options.MaxAnswer {
		return fmt.Errorf("%s: the answer has more than %d bytes", r.operation, c.options.MaxAnswer)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return errorOf(r.operation, res, data)
	}
	if into == nil || res.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: the answer cannot be read: %w", r.operation, err)
	}
	return nil
}

// transportError says that there was no whole answer.
type transportError struct {
	operation string
	err       error
}

func (e *transportError) Error() string { return e.operation + ": " + e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

// retry says whether an attempt is worth another one, and when.
func (c *Client) retry(r request, err error, attempt int) (time.Duration, bool) {
	pause := min(time.Second<<(attempt-1), 16*time.Second)
	var lost *transportError
	if errors.As(err, &lost) {
		return pause, r.again && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	var e *Error
	if !errors.As(err, &e) {
		return 0, false
	}
	switch {
	case e.Retryable():
		return max(e.RetryAfter, pause/4), true
	case e.Code == "" && (e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout):
		return max(e.RetryAfter, pause), r.again // of something in between, which may have passed the call on
	}
	return 0, false
}

func addText(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func addTexts(v url.Values, name string, values []string) {
	if len(values) > 0 {
		v[name] = values
	}
}

func addNumber(v url.Values, name string, value int64) {
	if value != 0 {
		v.Set(name, strconv.FormatInt(value, 10))
	}
}

// joined is the first with the second's values.
func joined(a, b url.Values) url.Values {
	maps.Copy(a, b)
	return a
}
