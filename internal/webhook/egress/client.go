package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// The bounds of a request.
const (
	Timeout     = 15 * time.Second
	maxAnswer   = 64 << 10
	bodyTime    = 100 * time.Millisecond // that the body of an answer may take
	maxHeaders  = 16 << 10
	idleTime    = 30 * time.Second
	longestWait = time.Hour // that a receiver may ask for
)

// ErrUnreachable is all that is told of a request without an answer.
var ErrUnreachable = errors.New("no answer: the address could not be reached, may not be delivered to, or did not answer in time")

// errClosed keeps a connection from being made.
var errClosed = errors.New("the address is not public")

// Answer is what a receiver said, as far as anybody wants to know.
type Answer struct {
	Status     int
	RetryAfter time.Duration // of 429 and 503, 0 for none
}

// OK says that the receiver took the message.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status <= 299 }

// Client sends requests. It is safe for concurrent use.
type Client struct {
	policy    Policy
	transport *http.Transport
	timeout   time.Duration
	now       func() time.Time
}

// Options of a Client.
type Options struct {
	Policy
	Timeout  time.Duration    // of a request; the default when zero
	Resolver *net.Resolver    // the system's when nil
	Roots    *tls.Config      // of tests, which have certificates of their own
	Now      func() time.Time // the system's clock when nil
	PerHost  int              // connections to one host; 16 when zero
}

// secureKey is under which a request says that it goes by https.
type secureKey struct{}

// New makes a Client. Close it when it is not needed any more.
func New(o Options) *Client {
	c := &Client{policy: o.Policy, timeout: o.Timeout, now: o.Now}
	if c.timeout <= 0 {
		c.timeout = Timeout
	}
	if c.now == nil {
		c.now = time.Now
	}
	if o.PerHost <= 0 {
		o.PerHost = 16
	}
	dialer := &net.Dialer{Timeout: c.timeout, KeepAlive: -1, Resolver: o.Resolver, ControlContext: c.control}
	c.transport = &http.Transport{
		Proxy:       nil, // whatever the environment says
		DialContext: dialer.DialContext, TLSClientConfig: o.Roots, TLSHandshakeTimeout: c.timeout, ForceAttemptHTTP2: true,
		DisableCompression: true, MaxResponseHeaderBytes: maxHeaders, MaxIdleConns: 256, MaxIdleConnsPerHost: 2, MaxConnsPerHost: o.PerHost, IdleConnTimeout: idleTime,
	}
	return c
}

// Close ends connections that nobody uses.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// control looks at every address that a connection is about to be made to.
func (c *Client) control(ctx context.Context, network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	secure, _ := ctx.Value(secureKey{}).(bool)
	if err != nil || network != "tcp4" && network != "tcp6" || !c.policy.Permits(to.Addr(), secure) {
		return errClosed
	}
	return nil
}

// Post sends a body. The error is ErrUnreachable whatever happened, or that the caller's own
// context has ended.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (Answer, error) {
	if err := c.policy.Check(url); err != nil {
		return Answer{}, ErrUnreachable
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, ErrUnreachable
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req = req.WithContext(context.WithValue(limited, secureKey{}, req.URL.Scheme == "https"))
	res, err := c.transport.RoundTrip(req) // which follows no redirect and knows no cookie
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		return Answer{}, ErrUnreachable
	}
	drain(res.Body, cancel)
	out := Answer{Status: res.StatusCode}
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable {
		out.RetryAfter = c.retryAfter(res.Header.Get("Retry-After"))
	}
	return out, nil
}

// drain reads a body, so that its connection can be used again, and cuts it off when it is
// not there at once: the status was all that matters.
func drain(body io.ReadCloser, cut func()) {
	defer time.AfterFunc(bodyTime, cut).Stop()
	io.Copy(io.Discard, io.LimitReader(body, maxAnswer)) //nolint:errcheck // what it says is of no interest
	body.Close()                                         //nolint:errcheck // nothing was written
}

// retryAfter reads seconds, or a date.
func (c *Client) retryAfter(text string) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, longestWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(c.now())), longestWait)
	}
	return 0
}
