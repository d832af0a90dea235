package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// This file sends one HTTP request to one node and reads one bounded body.

const (
	// maxErrorBody is how much is read of a body that came with an error status.
	maxErrorBody = 64 << 10
)

// post sends body to n and returns the answer's bytes. Every failure is a
// *NodeError, except that the caller's own end is the context's error.
func (p *Pool) post(ctx context.Context, n *node, body []byte, l lane) ([]byte, error) {
	attempt, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	req := n.request(body).WithContext(attempt)
	started := time.Now()
	h := l.hold
	if h == nil { // the answer is small and used at once
		h = newHold(p.cfg.Budget)
		defer h.release()
	}
	data, err := p.roundTrip(n, req, h, l.limit)
	p.cfg.Metrics.observe(n.name, time.Since(started), len(data))
	n.leave(err, l)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return data, err
}

// guestRestMost is how long callers are kept from a kind of request at most: whoever
// brought the node to ask for it must not take it from the others for long.
const guestRestMost = 10 * time.Second

// leave keeps requests away from a node that asked for it: everyone's, or callers' of
// the same kind if it was a caller's that it did not like.
func (n *node) leave(err error, l lane) {
	var ne *NodeError
	switch {
	case !errors.As(err, &ne) || ne.rest <= 0:
	case l.guest:
		n.restFor(l.kind, time.Now().Add(min(ne.rest, guestRestMost)))
	default:
		n.rest(time.Now().Add(ne.rest))
	}
}

// request posts body to n. Nothing of the address is parsed anew for it.
func (n *node) request(body []byte) *http.Request {
	header := http.Header{"Content-Type": typeJSON, "Accept": typeJSON, "Accept-Encoding": encodingGzip}
	if n.addr.local {
		// Compressing between two processes of one machine costs more than it saves.
		header["Accept-Encoding"] = encodingNone
	}
	return &http.Request{
		Method: http.MethodPost, URL: n.addr.http, Host: n.addr.http.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		// For a connection that turns out to be closed before anything was sent over it.
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
}

// Values of headers, which nobody changes.
var (
	typeJSON     = []string{"application/json"}
	encodingGzip = []string{"gzip"}
	encodingNone = []string{"identity"}
)

func (p *Pool) roundTrip(n *node, req *http.Request, h *hold, limit int64) ([]byte, error) {
	res, err := p.do(n, req)
	if err != nil {
		return nil, n.transportError(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, p.statusError(n, res)
	}
	hint := n.bodySize.Load()
	data, err := readBody(req.Context(), res, limit, min(hint, limit), h)
	if err == nil && res.ContentLength < 0 {
		n.bodySize.Store(max(int64(len(data)), hint-hint/8))
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		e := n.fail("too_large", err)
		e.permanent = true
		return nil, e
	case errors.Is(err, errNoRoom):
		return nil, n.fail("no_room", err)
	case err != nil:
		return nil, n.transportError(fmt.Errorf("reading the response: %w", err))
	}
	return data, nil
}

// do sends a request. The transport is asked itself where a client would add nothing to
// it but copies: redirects are not followed in any case.
func (p *Pool) do(n *node, req *http.Request) (*http.Response, error) {
	c := p.cfg.HTTP
	if c.Transport == nil || c.Jar != nil || c.Timeout > 0 || n.addr.http.User != nil {
		return c.Do(req)
	}
	return c.Transport.RoundTrip(req)
}

// transportError names the failure without the address: the errors of net/http
// quote it, keys included.
func (n *node) transportError(err error) *NodeError {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var ne net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return n.fail("timeout", err)
	case errors.Is(err, ErrMalformed), errors.Is(err, io.ErrUnexpectedEOF):
		return n.fail("malformed", err)
	}
	return n.fail("transport", err)
}

// fail makes a NodeError whose text holds no secret.
func (n *node) fail(outcome string, err error) *NodeError {
	if text := err.Error(); n.addr.redact(text) != text {
		err = errors.New(n.addr.redact(text))
	}
	return &NodeError{Node: n.name, Err: err, outcome: outcome}
}

// statusError turns an HTTP status into a failure and keeps the node's wish to
// be left alone for a while.
func (p *Pool) statusError(n *node, res *http.Response) *NodeError {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what could be read is enough
	text := strings.TrimSpace(clip(string(body), 200))
	if text == "" {
		text = http.StatusText(res.StatusCode)
	}
	e := n.fail("http_error", errors.New(text))
	e.Status = res.StatusCode
	e.body = body
	switch c := res.StatusCode; {
	case c == http.StatusTooManyRequests:
		e.outcome = "rate_limited"
		e.rest = p.restTime(n, res)
	case c == http.StatusServiceUnavailable:
		if res.Header.Get("Retry-After") != "" {
			e.rest = p.restTime(n, res)
		}
	case c >= 500, c == http.StatusRequestTimeout, c == http.StatusTooEarly:
	case c >= 300 && c < 400:
		e.permanent = true
		e.Err = errors.New("redirects are not followed")
	default:
		e.permanent = true
	}
	return e
}

// restTime is how long the node asked not to be bothered.
func (p *Pool) restTime(n *node, res *http.Response) time.Duration {
	d, ok := parseRetryAfter(res.Header.Get("Retry-After"), time.Now())
	if !ok {
		d = p.backoff(n.failures())
	}
	return min(d, p.cfg.MaxRetryAfter)
}

// parseRetryAfter reads seconds or an HTTP date.
func parseRetryAfter(v string, now time.Time) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0, false
	}
	if s, err := strconv.ParseUint(v, 10, 32); err == nil {
		return time.Duration(s) * time.Second, true
	}
	if strings.Trim(v, "0123456789") == "" { // more seconds than anyone waits
		return time.Duration(1<<32) * time.Second, true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0), true
	}
	return 0, false
}
