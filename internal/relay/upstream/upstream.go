// Package upstream carries one request of the prover relay to the proving service, and
// says what became of it.
//
// A proof costs a machine minutes and is not asked for twice behind the caller's back.
// So the outcome tells three things apart: the prover answered, the prover cannot have
// the request, and nobody can know. Only what the prover cannot have, or refused for
// want of room, may be sent again.
//
// The exchange is written here and not left to http.Transport, for two reasons. It must
// be known whether the last byte of the request went out: the transport reports that
// before it flushes, and not at all when a deadline strikes. And the request holds a
// private viewing key: the transport copies bodies through buffers that it keeps. Here
// the caller's bytes go from the caller's buffer to the connection. HTTP/1.1, one
// connection an exchange, no proxy, no redirects: beside a proof that is nothing.
//
// Cost of an exchange: one connection (and its TLS handshake), one copy of the answer.
// The request is not copied.
package upstream

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Kind is what an exchange came to.
type Kind int

const (
	// Unknown: the prover may have the request, and no answer of it can be read. It must
	// not be sent again by itself.
	Unknown Kind = iota
	// Succeeded: there is a result.
	Succeeded
	// Refused: the prover judged the request, and would judge it so again.
	Refused
	// Unavailable: the prover answered that it failed, for reasons of its own.
	Unavailable
	// Busy: the prover answered that it has no room. Nothing was proven.
	Busy
	// Unsent: the prover does not have the whole request.
	Unsent
)

func (k Kind) String() string {
	names := [...]string{"unknown", "succeeded", "refused", "unavailable", "busy", "unsent"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Outcome is what an exchange came to.
type Outcome struct {
	Kind Kind
	// Class is one word of a fixed set for it: for metrics and logs, which must not see
	// what the prover wrote.
	Class string
	// Alert says that the operator should look: the relay and the prover do not fit.
	Alert bool

	Result []byte // Succeeded: the result, as the prover wrote it
	Code   int64  // Refused: the prover's code
	Error  []byte // Refused: the prover's error, as it wrote it

	// RetryAfter is how long the prover asked to be left alone; zero if it did not say.
	RetryAfter time.Duration
}

// Options say where the prover is, and what it may cost.
type Options struct {
	URL         string        // http or https
	Timeout     time.Duration // of one exchange; 5 minutes unless set
	MaxResponse int64         // bytes of an answer; 8 MiB unless set
	TLS         *tls.Config   // for tests; the system's authorities unless set
}

const (
	defaultTimeout     = 5 * time.Minute
	defaultMaxResponse = 8 << 20
	// connectTimeout is for the connection and the handshake, which need no proof.
	connectTimeout = 10 * time.Second
)

// Prover is the proving service at one address. It may be used by many at once.
type Prover struct {
	host     string // with port
	hostname string
	secure   bool
	target   string // of the request line
	header   string // what is the same in all requests
	timeout  time.Duration
	max      int64
	tls      *tls.Config
}

// New returns the prover at an address. It does not call it.
func New(o Options) (*Prover, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		// The parser's error repeats the address, which may hold a password.
		return nil, errors.New("the prover's address is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the prover's address must begin with http:// or https://")
	}
	if u.Hostname() == "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("the prover's address must name a host, and have no fragment")
	}
	if o.Timeout < 0 || o.MaxResponse < 0 {
		return nil, errors.New("the prover's time and size must not be negative")
	}
	p := &Prover{
		hostname: u.Hostname(), secure: u.Scheme == "https", target: u.RequestURI(),
		timeout: o.Timeout, max: o.MaxResponse, tls: o.TLS,
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[p.secure]
	}
	p.host = net.JoinHostPort(p.hostname, port)
	if p.timeout == 0 {
		p.timeout = defaultTimeout
	}
	if p.max == 0 {
		p.max = defaultMaxResponse
	}
	var h strings.Builder
	fmt.Fprintf(&h, "Host: %s\r\nUser-Agent: chainexplorer\r\nContent-Type: application/json\r\nAccept: application/json\r\n", u.Host)
	h.WriteString("Accept-Encoding: identity\r\nConnection: close\r\n")
	if u.User != nil {
		password, _ := u.User.Password()
		fmt.Fprintf(&h, "Authorization: Basic %s\r\n", base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	p.header = h.String()
	return p, nil
}

// Address is where the prover is, without what might be secret in its URL.
func (p *Prover) Address() string { return p.host }

// connect opens a connection that ends with ctx.
func (p *Prover) connect(ctx context.Context) (net.Conn, string, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.host)
	if err != nil {
		return nil, "connect", fmt.Errorf("connect to the prover: %w", err)
	}
	if !p.secure {
		return conn, "", nil
	}
	cfg := &tls.Config{}
	if p.tls != nil {
		cfg = p.tls.Clone()
	}
	cfg.ServerName, cfg.NextProtos = p.hostname, []string{"http/1.1"}
	guarded := tls.Client(conn, cfg)
	if err := guarded.HandshakeContext(ctx); err != nil {
		conn.Close() //nolint:errcheck // nothing was sent
		return nil, "tls", fmt.Errorf("agree on TLS with the prover: %w", err)
	}
	return guarded, "", nil
}
