package kernel

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// Upload is a body that is larger than others and may take longer to arrive.
type Upload struct {
	Size int64 // in bytes, exactly
	// Pace is the least that a client must send, in bytes a second, at every moment since it began;
	// Stall is how long it may be behind that, or send nothing.
	Pace  int64
	Stall time.Duration
	// Watch sees the bytes as they arrive. Its error ends the reading.
	Watch io.Writer
}

// ReadUpload reads a body of a raw route that is not encoded and has exactly the size
// that is wanted, which its Content-Length must say. Who sends too slowly is cut off as soon as
// that is seen, and not when all the time is over that so many bytes may take.
func (s *Server) ReadUpload(w http.ResponseWriter, r *http.Request, u Upload) ([]byte, *Error) {
	x := w.(*exchange) // a raw route is only reached through ServeHTTP
	if r.ContentLength != u.Size {
		return nil, leaveBody(x, Fail(CodeInvalidRequest, "header.Content-Length: it is not %d.", u.Size))
	}
	line := http.NewResponseController(x.ResponseWriter)
	defer line.SetReadDeadline(time.Time{}) //nolint:errcheck // a recorder in a test has none
	paced := &pacedReader{Reader: r.Body, line: line, began: time.Now(), pace: u.Pace, stall: u.Stall}
	// Room is made for what has arrived, not for what was announced.
	data, err := readAll(io.TeeReader(io.LimitReader(paced, u.Size+1), u.Watch), min(u.Size, smallBody))
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return nil, leaveBody(x, refused)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, leaveBody(x, Fail(CodeRequestTimeout, "The body came too slowly: it must come at %d bytes a second, without a pause of %s.", u.Pace, u.Stall))
	case err != nil || int64(len(data)) != u.Size:
		return nil, leaveBody(x, Fail(CodeInvalidRequest, "body: it was cut off, or is not framed as HTTP wants it."))
	}
	return data, nil
}

// pacedReader gives each read the time that what came before has earned, and no more than a stall.
type pacedReader struct {
	io.Reader
	line  *http.ResponseController
	began time.Time
	got   int64
	pace  int64
	stall time.Duration
}

func (p *pacedReader) Read(b []byte) (int, error) {
	next := time.Now().Add(p.stall)
	if due := p.began.Add(p.stall + time.Duration(p.got)*time.Second/time.Duration(p.pace)); due.Before(next) {
		next = due
	}
	p.line.SetReadDeadline(next) //nolint:errcheck // a recorder in a test has none
	n, err := p.Reader.Read(b)
	p.got += int64(n)
	return n, err
}

// LeaveBody says that a raw route answers without reading the body: the connection ends
// after the answer.
func LeaveBody(w http.ResponseWriter) { w.Header().Set("Connection", "close") }
