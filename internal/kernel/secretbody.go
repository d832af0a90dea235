package kernel

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// secretPace is what a client must send, in bytes a second, but for the time that every
// body has.
const secretPace = 64 << 10

// ReadSecret reads a body of at most so many bytes that is not encoded, into one buffer:
// nothing that is read is left anywhere but in what it returns, and in the few kilobytes
// through which the connection is read. It is cleared when it is refused.
func (s *Server) ReadSecret(w http.ResponseWriter, r *http.Request, most int64) ([]byte, *Error) {
	x := w.(*exchange) // a raw route is only reached through ServeHTTP
	if len(r.Header["Content-Encoding"]) > 0 {
		return nil, leaveBody(x, Fail(CodeUnsupportedMedia, "header.Content-Encoding: the body is sent as it is, without one."))
	}
	if r.ContentLength > most {
		return nil, leaveBody(x, tooLarge(most))
	}
	size := most
	if r.ContentLength >= 0 {
		size = r.ContentLength
	}
	line := http.NewResponseController(x.ResponseWriter)
	defer line.SetReadDeadline(time.Time{}) //nolint:errcheck // a recorder in a test has none
	paced := &pacedReader{Reader: r.Body, line: line, began: time.Now(), pace: secretPace, stall: s.bodyTime}
	body := make([]byte, size+1) // one more, so that the end shows
	n, err := io.ReadFull(paced, body)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF { //nolint:errorlint // ReadFull returns them as they are
		if r.ContentLength < 0 || int64(n) == r.ContentLength {
			return body[:n], nil
		}
	}
	clear(body)
	switch {
	case err == nil:
		return nil, leaveBody(x, tooLarge(most))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, leaveBody(x, s.late())
	}
	return nil, leaveBody(x, Fail(CodeInvalidRequest, "body: it was cut off, or is not framed as HTTP wants it."))
}
