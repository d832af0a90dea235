package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

// distribute spreads a table by p, its shards beside those of another table.
func (e *Engine) distribute(ctx context.Context, tx pgx.Tx, name, with string) error {
	if with == "" {
		_, err := tx.Exec(ctx, `select create_distributed_table($1::regclass, 'p', colocate_with => 'none', shard_count => $2)`, name, e.o.ShardCount)
		return err
	}
	_, err := tx.Exec(ctx, `select create_distributed_table($1::regclass, 'p', colocate_with => $2)`, name, with)
	return err
}

// oldestCitus is the first version whose workers have the isolation level of the
// coordinator's transaction.
const oldestCitus = 1102

// checkCitus refuses a version on which views would not be what they promise.
func checkCitus(ctx context.Context, tx pgx.Tx) error {
	var version string
	var number int
	err := tx.QueryRow(ctx, `select extversion, split_part(extversion, '.', 1)::int * 100 + split_part(split_part(extversion, '.', 2), '-', 1)::int
		from pg_extension where extname = 'citus'`).Scan(&version, &number)
	if err != nil {
		return fmt.Errorf("ask for the version of Citus: %w", err)
	}
	if number < oldestCitus {
		return fmt.Errorf("the database has Citus %s, and 11.2 or newer is needed", version)
	}
	return nil
}

// pins are how a view takes its snapshot on every worker at once: the table _pin
// has no rows, its shards lie where those of all tables lie, and a question for
// one p per worker touches each of them.
type pins struct {
	layout string // which shard is on which worker, as of the choice
	touch  string // the question
}

// choosePins finds one p per worker that has shards.
func (e *Engine) choosePins(ctx context.Context) (*pins, error) {
	p := &pins{}
	var workers int
	err := e.write.QueryRow(ctx, `select count(distinct p.groupid) from pg_dist_shard s join pg_dist_placement p using (shardid)
		where s.logicalrelid = $1::regclass`, e.own.pin).Scan(&workers)
	if err != nil {
		return nil, err
	}
	if err := e.write.QueryRow(ctx, e.own.layout).Scan(&p.layout); err != nil {
		return nil, err
	}
	rows, err := e.write.Query(ctx, `select distinct on (p.groupid) encode(int4send(i), 'hex') from generate_series(1, $2) i
		join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column($1::regclass, int4send(i)) order by p.groupid, i`,
		e.own.pin, 64*e.o.ShardCount)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	if len(list) != workers || workers == 0 {
		return nil, fmt.Errorf("%d of %d workers found", len(list), workers)
	}
	p.touch = "select count(*) from " + e.own.pin + " where p in ('\\x" + strings.Join(list, "', '\\x") + "')"
	return p, nil
}

// errRearranged says that shards moved since the pins were chosen.
var errRearranged = errors.New("shards were moved")

// beginPinned begins a transaction whose snapshots, one on every worker, are of
// one state: a commit holds the view lock while it makes its changes visible on
// one worker after the other, and the snapshots are taken while no commit does.
// Everything is sent at once, so that a client that is paused holds up nobody.
// After an error the connection may still hold the lock and must be closed.
func (e *Engine) beginPinned(ctx context.Context, conn *pgconn.PgConn) error {
	chosen := e.pins.Load()
	pipe := conn.StartPipeline(ctx)
	send := func(sql string) { pipe.SendQueryParams(sql, nil, nil, nil, nil) }
	// Before the transaction, because its own snapshot is that of its first query.
	send(e.own.lockViews)
	pipe.SendPipelineSync()
	send("begin isolation level repeatable read, read only")
	send(e.own.layout)
	send(chosen.touch)
	send(e.own.freeViews)
	err := pipe.Sync()
	layout := ""
	for answers := 0; err == nil; {
		var result any
		result, err = pipe.GetResults()
		if err != nil || result == nil {
			break
		}
		if r, ok := result.(*pgconn.ResultReader); ok {
			answer := r.Read()
			if err = answer.Err; err == nil && answers == 2 && len(answer.Rows) == 1 {
				layout = string(answer.Rows[0][0])
			}
			answers++
		}
	}
	if err := errors.Join(err, pipe.Close()); err != nil {
		return err
	}
	if layout != chosen.layout {
		return errRearranged
	}
	return nil
}
