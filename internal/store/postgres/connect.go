package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"chainexplorer/internal/store"
)

// session are the settings that every connection of ours begins with. All our
// queries are ranges of a primary key; the planner is told so, because a table
// that was just filled has no statistics that would tell it.
func session(statement time.Duration, readOnly bool) map[string]string {
	s := map[string]string{
		"statement_timeout":                   strconv.FormatInt(statement.Milliseconds(), 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt(idleTimeout.Milliseconds(), 10),
		"application_name":                    "chainexplorer",
		"plan_cache_mode":                     "force_generic_plan",
		"enable_seqscan":                      "off",
		"enable_bitmapscan":                   "off",
		"enable_hashjoin":                     "off",
		"enable_mergejoin":                    "off",
		"enable_sort":                         "off",
		"jit":                                 "off",
		"max_parallel_workers_per_gather":     "0",
		"client_min_messages":                 "warning",
		"synchronous_commit":                  "on",
		"bytea_output":                        "hex",
	}
	if readOnly {
		s["default_transaction_read_only"] = "on"
	}
	return s
}

// pool makes a pool; connections are opened when they are needed. A setting in
// the address wins over ours.
func (e *Engine) pool(ctx context.Context, size int, statement time.Duration) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(e.o.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: the database's address: %w", store.ErrInvalid, err)
	}
	for name, value := range session(statement, e.o.ReadOnly) {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	cfg.MaxConns = int32(size)
	cfg.MinConns = 0
	cfg.MaxConnIdleTime = 5 * time.Minute
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	return pgxpool.NewWithConfig(ctx, cfg)
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
		return fmt.Errorf("%s, store %s: the server took longer than the statement timeout: %w", what, e.name, err)
	}
	return fmt.Errorf("%s, store %s: %w", what, e.name, redact(err))
}

// The conditions that the engine reacts to.
const (
	codeCanceled       = "57014" // query_canceled, here by the statement timeout
	codeDivisionByZero = "22012"
	codeUnique         = "23505" // unique_violation
)

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}
