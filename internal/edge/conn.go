package edge

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// piece is how much is written before progress is judged.
	piece = 64 << 10
	// writeBuffer is what the system holds of an answer. With more of it a client that
	// reads slowly looks for long like one that does not read.
	writeBuffer = 128 << 10
	// patience is, in stalls, how much time can be saved up by reading fast.
	patience = 3
)

// conn is a connection with a place.
type conn struct {
	net.Conn
	l      *Listener
	peer   *peer
	who    netip.Prefix
	exempt bool

	among         *list.List    // those that wait, while it does; guarded by the listener
	inAll, inPeer *list.Element // as above

	writing atomic.Int64 // since when a write waits, in nanoseconds; 0 when none does
	mu      sync.Mutex   // guards until
	until   time.Time    // the write deadline that was set from outside
	left    time.Duration

	// Of an answer that is there as a whole: the length of its body before its head is written,
	// and then what is held of it and how many bytes are missing.
	body    int
	held    *[]byte
	missing int
}

func newConn(nc net.Conn, l *Listener, p *peer, who netip.Prefix, exempt bool) *conn {
	if b, ok := nc.(interface{ SetWriteBuffer(int) error }); ok {
		b.SetWriteBuffer(writeBuffer) //nolint:errcheck // progress is only seen later then
	}
	return &conn{Conn: nc, l: l, peer: p, who: who, exempt: exempt, left: l.o.Stall}
}

// Write writes, at once or when the answer is complete: see Together.
func (c *conn) Write(b []byte) (int, error) {
	if c.body > 0 || c.held != nil {
		return c.gather(b)
	}
	return c.write(b)
}

// write gives the client time as long as it reads: each piece must be taken within
// the stall time, and all of them together at the least speed. What was read faster
// counts for later, up to a point.
func (c *conn) write(b []byte) (n int, err error) {
	defer c.writing.Store(0)
	for {
		start := time.Now()
		c.writing.Store(start.UnixNano())
		deadline, ours := start.Add(min(c.l.o.Stall, c.left)), true
		if until := c.deadline(); !until.IsZero() && until.Before(deadline) {
			deadline, ours = until, false
		}
		if err := c.Conn.SetWriteDeadline(deadline); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(b[n:min(len(b), n+piece)])
		n += m
		c.left = min(patience*c.l.o.Stall, c.left-time.Since(start)+time.Duration(m)*time.Second/Slowest)
		c.left = max(c.left, c.l.o.Stall/100) // a deadline in the past fails even where there is room
		if err != nil {
			if ours && errors.Is(err, os.ErrDeadlineExceeded) {
				c.l.slow.Inc()
			}
			return n, err
		}
		if n == len(b) {
			return n, nil
		}
	}
}

func (c *conn) deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until
}

// SetWriteDeadline bounds writes beside what bounds them here.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.until = t
	c.mu.Unlock()
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline bounds reads too.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite ends what is sent.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// done says that the answer is on its way, and that the connection only waits for the
// client to see it.
func (c *conn) done() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.await(c)
}

// Close gives the place back.
func (c *conn) Close() error {
	c.l.mu.Lock()
	c.l.forget(c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}
