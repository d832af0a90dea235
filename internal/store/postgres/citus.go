package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"time"

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

const (
	// A commit that touches all shards sends a statement for each, so that many cost
	// time; but with few one worker has more of the busy ones, and a cluster cannot
	// grow to more workers than it has shards.
	workerShards = 8
	minShards    = 16
)

// distribute spreads a table by p, its shards beside those of another table.
func (e *Engine) distribute(ctx context.Context, tx pgx.Tx, name, with string) error {
	if with == "" {
		_, err := tx.Exec(ctx, `select create_distributed_table($1::regclass, 'p', colocate_with => 'none', shard_count => case when $2 > 0 then $2 else
			greatest((select count(*)::int from pg_dist_node where shouldhaveshards and noderole = 'primary') * $3, $4) end)`,
			name, e.o.ShardCount, workerShards, minShards)
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

// lockTime is how long a commit waits for a lock of a worker before it looks for
// the reason.
const lockTime = 2 * time.Second

// errRearranged says that shards were moved since they were looked for.
var errRearranged = errors.New("shards were moved")

// mayBeginAgain says whether a view that could not begin should try once more.
func (e *Engine) mayBeginAgain(ctx context.Context, tried *ring, err error, again bool) (bool, error) {
	if errors.Is(err, errUnsettled) {
		wait, cancel := context.WithTimeout(ctx, settleTime)
		defer cancel()
		return e.settle(wait, tried.servers) == nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if again {
		return true, err
	}
	// A worker that cannot be reached may have been replaced.
	if arranged := e.arrange(ctx); arranged != nil {
		return false, errors.Join(err, arranged)
	}
	return e.ring.Load() != tried, err
}

// endpointOf are the connections to a worker, which stay when shards move. We reach
// it as we reach the coordinator, but for its address.
func (e *Engine) endpointOf(name, host string, port uint16) (*endpoint, error) {
	if known := e.endpoints[name]; known != nil {
		return known, nil
	}
	to := &endpoint{name: name}
	move := func(c *pgx.ConnConfig) { moveTo(&c.Config, host, port) }
	if name == "" {
		move = func(*pgx.ConnConfig) {}
	}
	var err error
	if to.read, err = e.pool(context.Background(), e.o.PoolSize, e.session(false, e.o.StatementTimeout, viewIdle), move); err != nil {
		return nil, err
	}
	session := e.session(false, e.o.CommitTimeout, commitIdle)
	session["lock_timeout"] = strconv.FormatInt(lockTime.Milliseconds(), 10)
	if to.write, err = e.pool(context.Background(), 2*(writerCommits+otherCommits), session, move); err != nil {
		to.read.Close()
		return nil, err
	}
	e.endpoints[name] = to
	return to, nil
}

// moveTo makes the settings of a connection those of one to another server. An
// address may name several coordinators, and several ways to each, with and
// without encryption: the ways to the first are kept.
func moveTo(c *pgconn.Config, host string, port uint16) {
	was, at := c.Host, c.Port
	named := func(t *tls.Config) *tls.Config {
		if t == nil || t.ServerName == "" {
			return t
		}
		t = t.Clone()
		t.ServerName = host
		return t
	}
	c.Host, c.Port, c.TLSConfig = host, port, named(c.TLSConfig)
	var kept []*pgconn.FallbackConfig
	for _, f := range c.Fallbacks {
		if f.Host == was && f.Port == at {
			kept = append(kept, &pgconn.FallbackConfig{Host: host, Port: port, TLSConfig: named(f.TLSConfig)})
		}
	}
	c.Fallbacks = kept
}
