package edge

import (
	"container/list"
	"errors"
	"net"
	"net/http"
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
	mu      sync.Mutex   // guards until and set
	until   time.Time    // the write deadline that was set from outside
	set     time.Time    // the one that was set here
	left    time.Duration

	asked http.ResponseWriter // that net/http, or unread, answers the request of now with
	// An answer that is there as a whole, until net/http writes what stands for it, and its status: see Answer.
	whole  *[]byte
	status int
}

func newConn(nc net.Conn, l *Listener, p *peer, who netip.Prefix, exempt bool) *conn {
	if b, ok := nc.(interface{ SetWriteBuffer(int) error }); ok {
		b.SetWriteBuffer(writeBuffer) //nolint:errcheck // progress is only seen later then
	}
	return &conn{Conn: nc, l: l, peer: p, who: who, exempt: exempt, left: l.o.Stall}
}

// Write writes what net/http says, or the answer that it stands for.
func (c *conn) Write(b []byte) (int, error) {
	if c.whole != nil {
		return c.send(b)
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
		ours, err := c.limit(start)
		if err != nil {
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

// limit sets the deadline of a write that begins now, and says whether it is ours. For a client that is in time one
// that was set a moment ago is good enough: it is set with some time to spare, and most answers then set none.
func (c *conn) limit(now time.Time) (ours bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := now.Add(min(c.l.o.Stall, c.left))
	if !c.until.IsZero() && c.until.Before(deadline) {
		return false, c.Conn.SetWriteDeadline(c.until)
	}
	if c.until.IsZero() && c.left > c.l.o.Stall {
		spare := c.l.o.Stall / 8
		if late := c.set.Sub(deadline); 0 <= late && late <= spare {
			return true, nil
		}
		deadline = deadline.Add(spare)
	}
	c.set = deadline
	return true, c.Conn.SetWriteDeadline(deadline)
}

// SetWriteDeadline bounds writes beside what bounds them here. net/http lifts the bound after every request, where there
// mostly is none: what was set here stays then, and is good for the next answer, too.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.IsZero() && c.until.IsZero() {
		return nil
	}
	c.until, c.set = t, time.Time{}
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
