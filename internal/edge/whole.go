package edge

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// net/http copies, sorts and checks the headers of an answer, hands its body through two buffers, and writes one of
// more than 4 KiB in two pieces: each takes a call of the system, and the client wakes up for each. An answer that
// is there as a whole needs none of that. What has to be net/http's is to say how the connection goes on: it
// decides whether it ends, and keeps count of its requests. So it is told of an answer without a body, and what it
// writes of that, a date and perhaps the end of the connection, goes out as a part of the head of the real one.

const (
	// mostHeaders is of how many headers an answer is written here.
	mostHeaders = 24
	// front is the room for the first line, and for what net/http writes.
	front = 192
	// stand is the status that net/http is told of: it has neither a body nor a length.
	stand = http.StatusNotModified
)

var (
	standLine = []byte("HTTP/1.1 304 Not Modified\r\n")
	headEnd   = []byte("\r\n\r\n")
	errStand  = errors.New("edge: the head of an answer is not as expected")
)

// Line is a header with its values, one line each.
type Line struct {
	Name   string // in its canonical form
	Values []string
}

// Answer makes an answer that is there as a whole the one to a request, with the headers of w, which are gone
// afterwards, and others, which take the place of those of w with the same name. It goes out when the handler is
// done. Answer reports false where it does not do that, such as on a connection that is encrypted: nothing is
// changed then. The body is not used any more when it returns.
func Answer(w http.ResponseWriter, r *http.Request, status int, lines []Line, body []byte) bool {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || c.asked != w || c.whole != nil || len(body) >= piece || r.Method == http.MethodHead || !r.ProtoAtLeast(1, 1) {
		return false
	}
	h := w.Header()
	out := wholes.Get().(*[]byte)
	b := slices.Grow((*out)[:0], front+len(body)+1<<10)[:front]
	if *out, ok = appendHead(b, h, lines); !ok {
		wholes.Put(out)
		return false
	}
	*out = append(append(*out, "\r\n"...), body...)
	ends := h["Connection"] // which is for net/http to say
	clear(h)
	if ends != nil {
		h["Connection"] = ends
	}
	c.whole, c.status = out, status
	w.WriteHeader(stand)
	return true
}

// wholes are answers as they go over the wire, behind the room for their front. They are used again for others.
var wholes = sync.Pool{New: func() any { return &[]byte{} }}

// appendHead writes headers, by their names. It reports false for what net/http would look at closer.
func appendHead(b []byte, h http.Header, lines []Line) ([]byte, bool) {
	var room [mostHeaders]Line
	if len(h)+len(lines) > len(room) {
		return b, false
	}
	all := append(room[:0], lines...)
	for name, values := range h {
		switch name {
		case "Connection":
			continue
		case "Date", "Trailer", "Transfer-Encoding":
			return b, false
		}
		if !slices.ContainsFunc(lines, func(l Line) bool { return l.Name == name }) {
			all = append(all, Line{name, values})
		}
	}
	slices.SortFunc(all, func(x, y Line) int { return strings.Compare(x.Name, y.Name) })
	from, n := len(b), 0
	for _, line := range all {
		for _, value := range line.Values {
			b = append(b, line.Name...)
			b = append(b, ": "...)
			b = append(b, value...)
			b = append(b, "\r\n"...)
			n++
		}
	}
	// A line that ended within a name or a value would begin another header.
	return b, bytes.Count(b[from:], []byte("\n")) == n && bytes.Count(b[from:], []byte("\r")) == n
}

// send writes the answer in place of what net/http makes of the one that stands for it: that has no body, so that
// its head comes in one piece.
func (c *conn) send(b []byte) (int, error) {
	out := c.whole
	c.whole = nil
	defer wholes.Put(out)
	rest, ok := bytes.CutPrefix(b, standLine)
	if !ok || !bytes.HasSuffix(b, headEnd) {
		return 0, errStand
	}
	var room [front]byte
	first := append(room[:0], "HTTP/1.1 "...)
	first = strconv.AppendInt(first, int64(c.status), 10)
	first = append(first, ' ')
	first = append(first, http.StatusText(c.status)...)
	first = append(first, "\r\n"...)
	first = append(first, rest[:len(rest)-2]...) // whose last line is empty: headers follow
	if len(first) > front {
		return 0, errStand
	}
	all := (*out)[front-len(first):]
	copy(all, first)
	if _, err := c.write(all); err != nil {
		return 0, err
	}
	return len(b), nil
}
