package kernel

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/unpack"
)

const (
	// maxBodies bounds the requests whose bodies are being read at once. They hold no
	// other place meanwhile, so that clients that send slowly are only in the way of
	// one another.
	maxBodies = 256
	// bodyTime is how long a body may take to arrive unless the options say otherwise.
	bodyTime = 5 * time.Second
)

// takeBody reads the body of a request whole, before the request is given a place
// to work, and hands on a request that has it in memory.
func (s *Server) takeBody(x *exchange, r *http.Request) (*http.Request, *Error) {
	route := x.record.Route
	if route.MaxBody == 0 {
		if route.Session && r.ContentLength != 0 {
			// What somebody asks for in vain must not happen otherwise than they meant.
			return r, leaveBody(x, Fail(CodeInvalidRequest, "This route takes no body: send the request without one."))
		}
		return r, nil
	}
	if e := s.bodies.Enter(r.Context(), x.record.Caller, "whose bodies are being read"); e != nil {
		return r, leaveBody(x, e)
	}
	defer s.bodies.Leave(x.record.Caller)
	text, e := s.readBody(x, r, route.MaxBody, io.Discard)
	if e != nil {
		return r, leaveBody(x, e)
	}
	if kind := r.Header.Get("Content-Type"); !route.Verbatim && (kind == "" || isJSON(kind)) { // Huma refuses the others
		if text, e = tidyJSON(text); e != nil {
			return r, e
		}
	}
	with := *r // a copy: a handler must not change the request it was given
	with.Body, with.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return &with, nil
}

// leaveBody ends the connection after an answer that did not wait for the body:
// what is left of it would be read as the next request, or waited for.
func leaveBody(x *exchange, e *Error) *Error {
	x.Header().Set("Connection", "close")
	return e
}

func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), JSONType)
}

// readBody reads at most so many bytes, compressed or not, in time, under the eyes of
// watch, which ends it with an *Error.
func (s *Server) readBody(x *exchange, r *http.Request, most int64, watch io.Writer) ([]byte, *Error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header["Content-Encoding"], ",")))
	if encoding != "" && encoding != "identity" && encoding != "gzip" {
		x.Header().Set("Accept-Encoding", "gzip")
		return nil, Fail(CodeUnsupportedMedia, "header.Content-Encoding: %q is not taken; gzip is.", Clip(encoding, 40))
	}
	line := http.NewResponseController(x.ResponseWriter)
	if line.SetReadDeadline(time.Now().Add(s.bodyTime)) == nil { // a recorder in a test has none
		// Once the body is read, what is read beside the work is whether the client is
		// still there, and that has no time.
		defer line.SetReadDeadline(time.Time{}) //nolint:errcheck // it worked before
	}
	body := io.Reader(r.Body)
	if encoding == "gzip" {
		// What is compressed is bounded as what it stands for is: no body of ours needs
		// more of it.
		z, err := unpack.Gzip(io.LimitReader(r.Body, most+1))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, Fail(CodeInvalidRequest, "body: it is declared as gzip in Content-Encoding, and is not.")
		}
		if err != nil {
			return nil, s.late()
		}
		body = z
	}
	size := int64(512) // what is compressed, or of unknown length, grows
	if encoding != "gzip" && r.ContentLength >= 0 {
		size = min(r.ContentLength, smallBody)
	}
	text, err := readAll(io.TeeReader(io.LimitReader(body, most+1), watch), size)
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, s.late()
	case int64(len(text)) > most:
		return nil, tooLarge(most)
	case errors.Is(err, unpack.ErrPadded):
		return nil, Fail(CodeInvalidRequest, "body: it is larger as gzip than what it stands for; send it as it is.")
	case err != nil && encoding == "gzip":
		return nil, Fail(CodeInvalidRequest, "body: it is declared as gzip in Content-Encoding, and is not, or was cut off.")
	case err != nil:
		return nil, Fail(CodeInvalidRequest, "body: it was cut off, or is not framed as HTTP wants it.")
	}
	return text, nil
}

// smallBody is how much is made room for before it has arrived.
const smallBody = 64 << 10

// readAll is io.ReadAll, with room for so many bytes at first, and for one more, so that
// the end shows without growing.
func readAll(r io.Reader, size int64) ([]byte, error) {
	b := make([]byte, 0, size+1)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, err
		case len(b) == cap(b):
			b = slices.Grow(b, len(b))
		}
	}
}

func tooLarge(most int64) *Error {
	return Fail(CodePayloadTooLarge, "The body is larger than %d bytes.", most)
}

func (s *Server) late() *Error {
	return Fail(CodeRequestTimeout, "The body did not arrive within %s.", s.bodyTime)
}
