package kernel

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"chainexplorer/internal/edge"
)

// net/http answers some requests by itself, before any handler sees them: those
// that do not parse, have no Host or too large headers, or expect what it does not
// know. NewListener makes these answers failures of ours: the envelope, a request
// id, the lane of browsers.

// WireOptions are for NewListener.
type WireOptions struct {
	Origins []string // as Options has them
	Logger  *slog.Logger
}

// NewListener wraps the listener of an http.Server.
func NewListener(l net.Listener, o WireOptions) net.Listener {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &listener{l, o}
}

type listener struct {
	net.Listener
	o WireOptions
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	tcp, ok := c.(*net.TCPConn)
	if err != nil || !ok {
		return c, err
	}
	return &conn{TCPConn: tcp, o: &l.o}, nil
}

// maxHead bounds what is remembered of a request: more than net/http reads of one
// before it refuses it.
const maxHead = 64 << 10

// conn is a connection that remembers what came in since the last answer, as far
// as it can be the head of a request.
type conn struct {
	*net.TCPConn
	o *WireOptions

	// begun says that something of an answer was written: what follows is its own, also where
	// it reads like an answer of net/http.
	begun bool

	mu   sync.Mutex // guards head
	head []byte
}

// Idle is called when an answer is complete, before the next one begins.
func (c *conn) Idle() { c.begun = false }

// Read is that of the connection.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if n > 0 {
		c.remember(b[:n])
	}
	return n, err
}

// remember keeps the beginning of what was read. It may be of a body that is a secret: what
// is not needed any more is cleared.
func (c *conn) remember(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b = b[:min(len(b), maxHead-len(c.head))]
	if need := len(c.head) + len(b); need > cap(c.head) {
		grown := append(make([]byte, 0, max(need, 2*cap(c.head))), c.head...)
		clear(c.head)
		c.head = grown
	}
	c.head = append(c.head, b...)
}

// forget clears what was remembered.
func (c *conn) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.head)
	if c.head = c.head[:0]; cap(c.head) > 8<<10 {
		c.head = nil
	}
}

// Write lets answers through, and replaces those of net/http. It writes each of
// those at once.
func (c *conn) Write(b []byte) (int, error) {
	status, reason, ok := 0, "", false
	if !c.begun {
		c.begun = true
		status, reason, ok = ownRefusal(b)
	}
	if !ok {
		c.forget()
		return c.TCPConn.Write(b)
	}
	head := c.take()
	if _, err := c.TCPConn.Write(c.o.refusal(status, reason, headersOf(head))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// take returns what was remembered, and forgets it. The buffer is used again unless
// it has become large.
func (c *conn) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := c.head
	if c.head = head[:0]; cap(head) > 8<<10 {
		c.head = nil
	}
	return head
}

// refusalHeaders are all that net/http sends with its own refusals. No answer of
// ours has just these: each has a request id.
var refusalHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// ownRefusal recognises an answer of net/http, and says what it is about.
func ownRefusal(b []byte) (status int, reason string, ok bool) {
	const version = "HTTP/1.1 "
	if !bytes.HasPrefix(b, []byte(version)) {
		return 0, "", false
	}
	end := bytes.IndexByte(b, '\r')
	if end < len(version)+4 || end > 200 {
		return 0, "", false
	}
	status, err := strconv.Atoi(string(b[len(version) : len(version)+3]))
	if err != nil || status != http.StatusExpectationFailed && !bytes.HasPrefix(b[end:], refusalHeaders) {
		return 0, "", false
	}
	_, reason, _ = strings.Cut(string(b[len(version)+4:end]), ": ")
	return status, reason, true
}

// headersOf reads headers out of a request that may be malformed: what looks like
// one counts, up to the empty line that ends them, because another request may have
// come behind it. The id of the request and its lane are all that depends on them.
func headersOf(head []byte) http.Header {
	h := http.Header{}
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && len(name) < 100 {
			h.Add(strings.TrimSpace(string(name)), strings.TrimSpace(string(value)))
		}
	}
	return h
}

// refusal is an answer with an envelope in place of one of net/http.
func (o *WireOptions) refusal(status int, reason string, asked http.Header) []byte {
	e, id := o.misread(status, reason), requestID(asked)
	o.Logger.Info("request refused", "request_id", id, "code", string(e.Code), "reason", reason)
	return o.wire(e, id, asked)
}

// Refused is what a client is told whose connection is refused before it asked. It
// is counted and not logged: who is refused here would fill the log.
func (o WireOptions) Refused(why edge.Refusal) []byte {
	e := RetryLater(1, nil, "The service has as many connections as it may have.")
	if why == edge.TooManyOfAddress {
		e = Because(ReasonClientAddress, "Your address has as many connections open as it may have.")
		e.RetryAfter = 1
	}
	return o.wire(e, requestID(nil), http.Header{})
}

// misread explains what net/http refused.
func (*WireOptions) misread(status int, reason string) *Error {
	e := Fail(CodeInvalidRequest, "The request is not well-formed HTTP.")
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		e = Fail(CodeHeadersTooLarge, "The address and the headers of the request are too large.")
	case status == http.StatusExpectationFailed:
		e = Fail(CodeInvalidRequest, "header.Expect: only 100-continue is known.")
	case status == http.StatusHTTPVersionNotSupported:
		e = Fail(CodeInvalidRequest, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
	case reason != "":
		e = Fail(CodeInvalidRequest, "The request is not well-formed HTTP: %s.", reason)
	}
	return e
}

// wire writes a failure as it goes over the wire.
func (o *WireOptions) wire(e *Error, id string, asked http.Header) []byte {
	h := http.Header{}
	h.Set(HeaderRequestID, id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	lane(h, o.Origins, asked, credentialed(asked) || announcesMore(asked))
	body := failureHeaders(h, e, id, nil)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	var b bytes.Buffer
	code := Codes[e.Code].Status
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", code, http.StatusText(code))
	h.Write(&b) //nolint:errcheck // a buffer never fails
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
