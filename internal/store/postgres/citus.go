package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// CitusMode says whether the tables of a new schema are distributed.
type CitusMode int

const (
	// CitusAuto distributes when the database has the extension, or can make it.
	CitusAuto CitusMode = iota
	// CitusOff keeps the tables on one server.
	CitusOff
	// CitusOn fails when the extension cannot be had.
	CitusOn
)

// ErrMoved is what a view returns under Citus when a commit came while it ran,
// so that what it read may be from before and after. Reading again cures it.
var ErrMoved = errors.New("the store changed under the view: read again")

// wantCitus decides for a new schema, and makes the extension when it can.
func (e *Engine) wantCitus(ctx context.Context, tx pgx.Tx) (bool, error) {
	if e.o.Citus == CitusOff {
		return false, nil
	}
	var present, possible bool
	err := tx.QueryRow(ctx, `select exists (select from pg_extension where extname = 'citus'),
		exists (select from pg_available_extensions where name = 'citus')
			and current_setting('shared_preload_libraries') like '%citus%'`).Scan(&present, &possible)
	if err != nil {
		return false, err
	}
	if !present && possible {
		// In a transaction of its own: without the right to do so it fails, and
		// plain tables are the answer.
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `create extension if not exists citus`)
			return err
		})
		if present = err == nil; err != nil {
			e.log.Warn("Citus is installed but cannot be used: tables stay on one server", "err", err)
		}
	}
	if e.o.Citus == CitusOn && !present {
		return false, fmt.Errorf("%w: the database has no Citus extension", store.ErrInvalid)
	}
	return present, nil
}

// distribute spreads a table by p, its shards beside those of the other tables.
func (e *Engine) distribute(ctx context.Context, tx pgx.Tx, name, with string) error {
	if with == "" {
		_, err := tx.Exec(ctx, `select create_distributed_table($1::regclass, 'p', colocate_with => 'none', shard_count => $2)`, name, e.o.ShardCount)
		return err
	}
	_, err := tx.Exec(ctx, `select create_distributed_table($1::regclass, 'p', colocate_with => $2)`, name, pgx.Identifier{e.o.Schema, with}.Sanitize())
	return err
}

// number is the number of the last commit, when views must be compared with it.
func (e *Engine) number(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	err = conn.QueryRow(ctx, e.own.commits).Scan(&n)
	return n, err
}

// unmoved fails when another process committed since the view began.
func (e *Engine) unmoved(ctx context.Context, before int64) error {
	conn, err := e.read.Acquire(ctx) // the view's own transaction would not see it
	if err != nil {
		return e.fault(ctx, "end a view", err)
	}
	defer conn.Release()
	now, err := e.number(ctx, conn.Conn())
	if err != nil {
		return e.fault(ctx, "end a view", err)
	}
	if now != before && now != e.last.Load() {
		return ErrMoved
	}
	return nil
}
