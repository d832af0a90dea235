package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"chainexplorer/internal/store"
)

// session are the settings that a connection of ours begins with: to a coordinator
// of Citus, or to a server that makes its plans itself.
func (e *Engine) session(coordinator bool, statement, idle time.Duration) map[string]string {
	s := map[string]string{
		"statement_timeout":   strconv.FormatInt(statement.Milliseconds(), 10),
		idleSetting:           strconv.FormatInt(idle.Milliseconds(), 10),
		"application_name":    "chainexplorer",
		"client_min_messages": "warning",
		"synchronous_commit":  "on",
	}
	if e.o.ReadOnly {
		s["default_transaction_read_only"] = "on"
	}
	if coordinator {
		// It makes plans of its own, and needs the values for them.
		s["citus.max_adaptive_executor_pool_size"] = "1"
		return s
	}
	// All our queries are ranges of a primary key. The planner is told so,
	// because a table that was just filled has no statistics that would tell it.
	s["plan_cache_mode"] = "force_generic_plan"
	for _, name := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "enable_sort", "jit"} {
		s[name] = "off"
	}
	s["max_parallel_workers_per_gather"] = "0"
	return s
}

// pool makes a pool; connections are opened when they are needed. A setting in
// the address wins over ours.
func (e *Engine) pool(ctx context.Context, size int, session map[string]string, change ...func(*pgx.ConnConfig)) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(e.o.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: the database's address: %w", store.ErrInvalid, err)
	}
	e.countTrips(cfg.ConnConfig)
	for _, set := range change {
		set(cfg.ConnConfig)
	}
	for name, value := range session {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	if idle := cfg.ConnConfig.RuntimeParams[idleSetting]; idle == session[idleSetting] {
		cfg.ConnConfig.AfterConnect = func(ctx context.Context, c *pgconn.PgConn) error { return sessionIsOurs(ctx, c, idle) }
	}
	cfg.MaxConns = int32(size)
	cfg.MinConns = 0
	cfg.MaxConnIdleTime = 5 * time.Minute
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

// idleSetting is what ends the transaction of a process that was stopped in the midst of it.
const idleSetting = "idle_in_transaction_session_timeout"

// sessionIsOurs refuses a session that does not have the settings that it was opened with: who stands by would wait for
// one that was stopped, without end.
func sessionIsOurs(ctx context.Context, c *pgconn.PgConn, idle string) error {
	r := c.ExecParams(ctx, `select extract(epoch from current_setting('`+idleSetting+`')::interval) * 1000 = $1::text::numeric`, [][]byte{[]byte(idle)}, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	if len(r.Rows) != 1 || string(r.Rows[0][0]) != "t" {
		return errors.New("a session does not have the settings that it is opened with: a pooler in between ignores them; give the address of the server itself")
	}
	return nil
}

// secretPart finds what an address may hold that no log should.
var secretPart = regexp.MustCompile(`(://[^:/@\s]*:)[^@/\s]*@|(password=)\S+`)

// redact hides passwords in messages of the driver.
func redact(err error) error {
	text := err.Error()
	if clean := secretPart.ReplaceAllString(text, "${1}${2}xxxxx@"); clean != text {
		return &redacted{text: clean, err: err}
	}
	return err
}

type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.err }

// fault turns an error of the driver into one that a caller of the store
// expects: the end of the context or of the engine, or a fault that says where
// it happened.
func (e *Engine) fault(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrLeaseHeld), errors.Is(err, ErrReadOnly):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case e.isClosing():
		return store.ErrClosed
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == codeCanceled {
		return fmt.Errorf("%s, store %s: the server took longer than the statement timeout: %w: %w", what, e.name, store.ErrUnavailable, err)
	}
	if passing(err) {
		return fmt.Errorf("%s, store %s: %w: %w", what, e.name, store.ErrUnavailable, redact(err))
	}
	return fmt.Errorf("%s, store %s: %w", what, e.name, redact(err))
}

// passing says that a fault is of the connection or of the server's state, and not
// of the statement: the server is away, starts, stops, is full, or was cut off.
func passing(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		var network net.Error
		var dial *pgconn.ConnectError
		return errors.As(err, &network) || errors.As(err, &dial) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed)
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "08", "40", "53", "57", "58": // connection, rolled back, resources, operator, system
		return true
	}
	return false
}

// The conditions that the engine reacts to.
const (
	codeCanceled       = "57014" // query_canceled, here by the statement timeout
	codeDivisionByZero = "22012"

	codeLockTimeout     = "55P03" // lock_not_available
	codeNotReady        = "55000" // object_not_in_prerequisite_state, here busy
	codeUndefinedObject = "42704"
)

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}
