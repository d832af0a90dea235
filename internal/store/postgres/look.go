package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"chainexplorer/internal/store"
)

var _ store.Looker = (*Engine)(nil)

// Look reads rows in one round trip: a statement has a snapshot of its own. Under
// Citus it is a view, because one worker's snapshot is not another's.
func (e *Engine) Look(ctx context.Context, ks []store.Key) (values [][]byte, err error) {
	if e.citus || len(ks) == 0 {
		err = e.View(ctx, func(r store.Reader) error {
			values, err = r.GetMany(ctx, ks)
			return err
		})
		return values, err
	}
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	defer e.running.Done()
	for i := range ks {
		if err := e.schema.CheckKey(&ks[i]); err != nil {
			return nil, err
		}
	}
	for try := 1; ; try++ {
		values, again, err := e.tryLook(ctx, ks)
		if err == nil || !again || try > e.o.PoolSize || ctx.Err() != nil {
			return values, e.fault(ctx, "read table "+ks[0].Table.Name, err)
		}
	}
}

// tryLook reads once. A connection that the server closed while it was idle, and on
// which nothing was read yet, is no reason to fail.
func (e *Engine) tryLook(ctx context.Context, ks []store.Key) (values [][]byte, again bool, err error) {
	conn, err := e.read.Acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	defer conn.Release()
	values = make([][]byte, len(ks))
	batch := &pgx.Batch{}
	for in, asked := range e.ring.Load().byShard(ks) {
		batch.Queue(in.sql.getMany, asked.ps, asked.sorts).Query(asked.find(ks, values))
	}
	if err = conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, pgconn.SafeToRetry(err) || conn.Conn().IsClosed(), err
	}
	return values, false, nil
}
