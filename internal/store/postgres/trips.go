package postgres

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// countTrips lets the connections count how often they wait for a server.
func (e *Engine) countTrips(c *pgx.ConnConfig) {
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, trips: &e.trips}, nil
	}
}

// countedConn counts round trips: answers that begin behind something that was sent.
type countedConn struct {
	net.Conn
	trips *atomic.Uint64
	sent  atomic.Bool
}

// Write serves net.Conn.
func (c *countedConn) Write(b []byte) (int, error) {
	c.sent.Store(true)
	return c.Conn.Write(b)
}

// Read serves net.Conn.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.sent.Swap(false) {
		c.trips.Add(1)
	}
	return n, err
}

// RoundTrips is how often the engine has waited for an answer of a server, all
// servers together.
func (e *Engine) RoundTrips() uint64 { return e.trips.Load() }
