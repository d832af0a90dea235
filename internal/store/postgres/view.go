package postgres

import (
	"context"
	"errors"
	"fmt"
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
	conn, err := e.openView(ctx)
	if err != nil {
		return e.fault(ctx, "begin a view", err)
	}
	r := &reader{engine: e, conn: conn.Conn()}
	defer e.endView(r, conn) // also when fn panics or ends its goroutine
	return fn(r)
}

// openView begins a transaction and takes its snapshot. A connection that the
// server closed while it was idle is replaced: nothing was read on it yet.
func (e *Engine) openView(ctx context.Context) (*pgxpool.Conn, error) {
	for try := 1; ; try++ {
		conn, err := e.read.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err = e.beginSnapshot(ctx, conn.Conn()); err == nil {
			return conn, nil
		}
		stale := conn.Conn().IsClosed() || pgconn.SafeToRetry(err) || errors.Is(err, errRearranged)
		conn.Release()
		if !stale || ctx.Err() != nil || try > e.o.PoolSize {
			return nil, err
		}
		if errors.Is(err, errRearranged) {
			chosen, err := e.choosePins(ctx)
			if err != nil {
				return nil, fmt.Errorf("find the workers: %w", err)
			}
			e.pins.Store(chosen)
		}
	}
}

// beginSnapshot begins a read-only transaction that sees one state from now on.
func (e *Engine) beginSnapshot(ctx context.Context, conn *pgx.Conn) error {
	if !e.citus {
		// The snapshot of a transaction is that of its first query.
		return conn.PgConn().Exec(ctx, "begin isolation level repeatable read, read only; select 1").Close()
	}
	err := e.beginPinned(ctx, conn.PgConn())
	if err != nil {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		conn.Close(bye) //nolint:errcheck // it is given up
	}
	return err
}

// endView takes the connection from the reader and gives it back.
func (e *Engine) endView(r *reader, conn *pgxpool.Conn) {
	r.mu.Lock() // a read under way elsewhere comes to its end
	r.ended = true
	r.mu.Unlock()
	e.endings.Go(func() {
		defer conn.Release() // closes a connection that is still in a transaction
		if conn.Conn().IsClosed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		conn.Conn().PgConn().Exec(ctx, "rollback").Close() //nolint:errcheck // the pool looks at the connection
	})
}

// reader reads one transaction. A connection does one thing at a time, so reads
// wait for one another; none is under way while rows are handed out.
type reader struct {
	engine *Engine

	mu    sync.Mutex
	conn  *pgx.Conn // guarded by mu
	ended bool      // guarded by mu
}

var _ store.Reader = (*reader)(nil)

// check says whether a read may go on.
func (r *reader) check(ctx context.Context) error {
	if r.engine.isClosing() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// on runs one read on the connection.
func (r *reader) on(ctx context.Context, t *store.Table, read func(*pgx.Conn) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.check(ctx); err != nil {
		return err
	}
	if r.ended {
		return errEnded
	}
	if err := read(r.conn); err != nil {
		return r.engine.fault(ctx, "read table "+t.Name, err)
	}
	return nil
}
