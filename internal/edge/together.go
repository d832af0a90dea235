package edge

import (
	"bytes"
	"context"
	"sync"
)

// net/http writes an answer of more than 4 KiB in two pieces: as much as its buffer holds of the head and the body, and
// the rest. Each takes a call of the system, and the client wakes up for each. An answer that is there as a whole
// can go out at once.

// Together says that the answer to the request of this context is there: its head is about to be written, and
// then so many bytes of a body, by the goroutine that serves the request.
func Together(ctx context.Context, body int) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok && body > 0 && body < piece {
		c.body = body
	}
}

// held are the beginnings of answers whose rest is awaited. They are used again for other answers.
var held = sync.Pool{New: func() any { return &[]byte{} }}

var headEnd = []byte("\r\n\r\n")

// gather writes an answer that is there as a whole when all of it has come. What is written first has the head.
func (c *conn) gather(b []byte) (int, error) {
	if c.held == nil {
		head := bytes.Index(b, headEnd)
		c.missing = head + len(headEnd) + c.body - len(b)
		if c.body = 0; head < 0 || c.missing <= 0 {
			return c.write(b)
		}
		c.held = held.Get().(*[]byte)
		*c.held = append((*c.held)[:0], b...)
		return len(b), nil
	}
	*c.held = append(*c.held, b...)
	if c.missing -= len(b); c.missing > 0 {
		return len(b), nil
	}
	before := len(*c.held) - len(b)
	n, err := c.release()
	return max(n-before, 0), err
}

// release writes what is held.
func (c *conn) release() (int, error) {
	c.body = 0
	if c.held == nil {
		return 0, nil
	}
	all := c.held
	c.held = nil
	n, err := c.write(*all)
	held.Put(all)
	return n, err
}
