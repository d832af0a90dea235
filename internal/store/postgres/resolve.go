package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/backoff"
)

// What a commit has prepared on a worker is named after its transaction on the
// coordinator. When a process ends between the two phases, whoever meets what it
// left asks the coordinator for the outcome of that transaction, which its log
// keeps, and ends it alike. While that transaction goes on nothing is decided.

const (
	outcomeCommitted = "committed"
	outcomeOpen      = "in progress"

	// strange stands for what somebody else has prepared, Citus itself perhaps.
	strange = "?"
)

// errUnsettled says that a worker has a commit that is neither done nor undone there.
var errUnsettled = errors.New("a worker was away when a commit ended, and does not have all of it yet")

const (
	// settleTime is how long a view waits for what was cut off.
	settleTime  = 10 * time.Second
	settlePause = 20 * time.Millisecond
)

func gidPrefix(schema string) string    { return "cx:" + schema + ":" }
func gidOf(schema, xid string) string   { return gidPrefix(schema) + xid }
func xidOf(schema, gid string) string   { return strings.TrimPrefix(gid, gidPrefix(schema)) }
func (e *Engine) xid(gid string) string { return xidOf(e.o.Schema, gid) }

// unsettledSQL asks for the names of what is prepared of our commits, and whether
// somebody else has prepared something on some tables. A prepared transaction has no
// process; its locks are found by that of its own number.
func unsettledSQL(schema string, tables []string) string {
	return `select concat_ws(' ', (select string_agg(gid, ' ') from pg_prepared_xacts where database = current_database() and starts_with(gid, '` + gidPrefix(schema) + `')),
		case when exists (select from pg_prepared_xacts where database = current_database() and not starts_with(gid, 'cx:')) then
			(select '` + strange + `' where exists (select from pg_prepared_xacts x
				join pg_locks i on i.locktype = 'transactionid' and i.transactionid = x.transaction and i.pid is null
				join pg_locks l on l.virtualtransaction = i.virtualtransaction and l.pid is null and l.locktype = 'relation'
				where x.database = current_database() and not starts_with(x.gid, 'cx:')
				and l.database = (select oid from pg_database where datname = current_database()) and l.relation in (` + strings.Join(tables, ", ") + `))) end)`
}

// querier is a connection, or a pool of them.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// outcomes are what became of transactions of the coordinator. One that its log
// does not have any more has none.
func outcomes(ctx context.Context, coordinator querier, xids []string) (map[string]string, error) {
	rows, err := coordinator.Query(ctx, `select x, coalesce(pg_xact_status(x::xid8), '') from unnest($1::text[]) x`, xids)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	var xid, outcome string
	_, err = pgx.ForEachRow(rows, []any{&xid, &outcome}, func() error {
		out[xid] = outcome
		return nil
	})
	return out, err
}

// unfinished says whether something is among what a worker has prepared that has
// to be ended first: anything but commits that nobody has decided on.
func (e *Engine) unfinished(ctx context.Context, coordinator querier, left string) (bool, error) {
	names := strings.Fields(left)
	if len(names) == 0 {
		return false, nil
	}
	var xids []string
	for _, name := range names {
		if name == strange {
			return true, nil
		}
		xids = append(xids, e.xid(name))
	}
	found, err := outcomes(ctx, coordinator, xids)
	for _, outcome := range found {
		if outcome != outcomeOpen {
			return true, err
		}
	}
	return false, err
}

// settle ends what others left prepared on workers. What Citus has begun it finishes
// once a minute; it is asked to do so now, if we may.
func (e *Engine) settle(ctx context.Context, servers []*server) error {
	for try := 0; ; try++ {
		open := false
		for _, s := range servers {
			here, err := e.settleOn(ctx, s)
			if err != nil {
				return err
			}
			open = open || here
		}
		if !open {
			return nil
		}
		if try%50 == 1 {
			if _, err := e.write.Exec(ctx, "select recover_prepared_transactions()"); err != nil {
				e.log.Warn("a commit is not finished on all workers, and Citus has to do that in its own time", "err", redact(err))
			}
		}
		if !pause(ctx) {
			return errUnsettled
		}
	}
}

// settleOn ends what can be ended on one worker, and says whether something stays.
func (e *Engine) settleOn(ctx context.Context, s *server) (open bool, err error) {
	var left string
	if err := s.write.QueryRow(ctx, s.unsettled).Scan(&left); err != nil || left == "" {
		return false, err
	}
	var xids []string
	for _, name := range strings.Fields(left) {
		if name == strange {
			open = true
		} else {
			xids = append(xids, e.xid(name))
		}
	}
	if len(xids) == 0 {
		return open, nil
	}
	found, err := outcomes(ctx, e.write, xids)
	if err != nil {
		return false, err
	}
	for xid, outcome := range found {
		switch outcome {
		case outcomeOpen:
			continue
		case "":
			return false, fmt.Errorf("worker %s has %s prepared, and the coordinator does not know its outcome any more: commit or roll it back by hand", s.name, gidOf(e.o.Schema, xid))
		}
		if err := e.endOn(ctx, s, gidOf(e.o.Schema, xid), outcome == outcomeCommitted); err != nil {
			return false, err
		}
		e.log.Info("ended what a commit had left on a worker", "worker", s.name, "outcome", outcome)
	}
	return open, nil
}

// endLeft ends our own commit after a failure, as the coordinator did.
func (e *Engine) endLeft(ctx context.Context, servers []*server, xid string) (committed bool, err error) {
	for {
		found, err := outcomes(ctx, e.write, []string{xid})
		if err != nil {
			return false, err
		}
		if found[xid] != outcomeOpen {
			committed = found[xid] == outcomeCommitted
			break
		}
		if !pause(ctx) { // the server has not noticed that the connection is gone
			return false, ctx.Err()
		}
	}
	var g errgroup.Group
	for _, s := range servers {
		g.Go(func() error { return e.endOn(ctx, s, gidOf(e.o.Schema, xid), committed) })
	}
	return committed, g.Wait()
}

func (e *Engine) endOn(ctx context.Context, s *server, gid string, commit bool) error {
	conn, err := s.write.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return endPrepared(ctx, conn.Conn(), gid, commit)
}

// endPrepared ends one transaction. Somebody else may do so at the same time.
func endPrepared(ctx context.Context, conn *pgx.Conn, gid string, commit bool) error {
	verb := "rollback"
	if commit {
		verb = "commit"
	}
	for {
		err := conn.PgConn().Exec(ctx, verb+" prepared '"+gid+"'").Close()
		switch {
		case hasCode(err, codeUndefinedObject):
			return nil
		case !hasCode(err, codeNotReady) || !pause(ctx):
			return err
		}
	}
}

// pause waits a moment, and says whether there is time left.
func pause(ctx context.Context) bool { return backoff.Wait(ctx, settlePause) == nil }
