package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"chainexplorer/internal/store"
)

// endTimeout bounds the end of a view's transaction, which nobody waits for.
const endTimeout = 5 * time.Second

// errEnded is the answer to a read after its view.
var errEnded = errors.New("the view has ended")

// View runs fn on a snapshot of its own.
func (e *Engine) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	r, err := e.openView(ctx)
	if err != nil {
		return e.fault(ctx, "begin a view", err)
	}
	defer e.endView(r) // also when fn panics or ends its goroutine
	return fn(r)
}

// openView takes a snapshot. A connection that the server closed while it was idle
// is replaced: nothing was read on it yet.
func (e *Engine) openView(ctx context.Context) (*reader, error) {
	if e.citus {
		if err := e.snapshots.wait(ctx); err != nil {
			return nil, err
		}
	}
	for try := 1; ; try++ {
		ring := e.ring.Load()
		r, err := e.tryView(ctx, ring)
		if err == nil {
			return r, nil
		}
		again := try <= e.o.PoolSize*len(ring.servers) && (pgconn.SafeToRetry(err) || r.broken())
		r.release()
		if e.citus && ctx.Err() == nil {
			again, err = e.mayBeginAgain(ctx, ring, err, again)
		}
		if !again || ctx.Err() != nil {
			if e.citus {
				e.snapshots.views.give()
			}
			return nil, err
		}
	}
}

// tryView takes a snapshot. The reader has what is to be given back also after an error.
func (e *Engine) tryView(ctx context.Context, on *ring) (r *reader, err error) {
	r = &reader{engine: e, ring: on, places: make([]place, len(on.servers))}
	if e.citus {
		r.snapshot, err = e.openSnapshot(ctx, on)
		if r.snapshot != nil {
			for i, conn := range r.snapshot.conns {
				r.places[i].conn = conn
			}
		}
		return r, err
	}
	conn, err := on.servers[0].read.Acquire(ctx)
	if err != nil {
		return r, err
	}
	r.places[0].conn = conn
	// The snapshot of a transaction is that of its first query.
	return r, conn.Conn().PgConn().Exec(ctx, "begin isolation level repeatable read, read only; select 1").Close()
}

// broken says whether a connection of the reader is closed.
func (r *reader) broken() bool {
	return slices.ContainsFunc(r.connections(), func(c *pgxpool.Conn) bool { return c.Conn().IsClosed() })
}

func (r *reader) connections() (list []*pgxpool.Conn) {
	for i := range r.places {
		if conn := r.places[i].conn; conn != nil {
			list = append(list, conn)
		}
	}
	return list
}

// release gives the connections of a view that did not begin back.
func (r *reader) release() {
	for _, conn := range r.connections() {
		conn.Release() // closes a connection that is in a transaction
	}
}

// endView takes the connections from the reader and gives them back.
func (e *Engine) endView(r *reader) {
	for i := range r.places {
		p := &r.places[i]
		p.mu.Lock() // a read under way elsewhere comes to its end
		p.ended = true
		p.mu.Unlock()
	}
	if e.citus && r.snapshot.sound() && !e.isClosing() {
		e.snapshots.keep(r.snapshot)
		e.snapshots.views.give()
		return
	}
	e.endings.Go(func() {
		if e.citus {
			r.snapshot.end()
			e.snapshots.views.give()
			return
		}
		conn := r.places[0].conn
		defer conn.Release() // closes a connection that is still in a transaction
		if conn.Conn().IsClosed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		conn.Conn().PgConn().Exec(ctx, "rollback").Close() //nolint:errcheck // the pool looks at the connection
	})
}

// reader reads one transaction, or under Citus one on each worker, of one state.
type reader struct {
	engine *Engine
	ring   *ring
	places []place // by server

	snapshot *snapshot // under Citus
}

// place is a connection, which does one thing at a time, so that reads wait for one
// another; none is under way while rows are handed out.
type place struct {
	mu    sync.Mutex
	conn  *pgxpool.Conn // guarded by mu
	ended bool          // guarded by mu
}

var _ store.Reader = (*reader)(nil)

// check says whether a read may go on.
func (r *reader) check(ctx context.Context) error {
	if r.engine.isClosing() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// on runs one read on the connection to a server.
func (r *reader) on(ctx context.Context, t *store.Table, server int, read func(*pgx.Conn) error) error {
	p := &r.places[server]
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := r.check(ctx); err != nil {
		return err
	}
	if p.ended {
		return errEnded
	}
	if err := read(p.conn.Conn()); err != nil {
		return r.engine.fault(ctx, "read table "+t.Name, err)
	}
	return nil
}
