package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// Everything that only PostgreSQL needs is in this file.

const (
	// controlSchema keeps our tables apart from those of chains and of other programs.
	controlSchema = "chainexplorer_control"
	// statementTimeout bounds a statement, and with it how long a writer waits
	// for another.
	statementTimeout = 10 * time.Second
	writers          = 4
)

// The keys of the advisory locks: one for changes of the schema, one for the
// transactions of Update.
const (
	lockForSchema = 0x63785f736368
	lockForUpdate = 0x63785f757064
)

// IsAddress tells the address of a PostgreSQL database from the path of a file.
func IsAddress(path string) bool {
	return strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://")
}

// postgresDialect is a schema of a PostgreSQL database.
type postgresDialect struct {
	config *pgx.ConnConfig
}

func (p *postgresDialect) name() string {
	return fmt.Sprintf("database %s on %s", p.config.Database, p.config.Host)
}

func (p *postgresDialect) migrations() (string, goose.Dialect) {
	return "postgres", goose.DialectPostgres
}

func (p *postgresDialect) view() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

// beginUpdate waits for the other writers of all processes. Changes are few, and
// repositories need not think about two at once, as on SQLite.
func (p *postgresDialect) beginUpdate(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lockForUpdate)
	return err
}

func (p *postgresDialect) open(ctx context.Context, d *DB, o Options) error {
	config, err := pgx.ParseConfig(o.Path)
	if err != nil {
		// The driver's message may repeat the address, which may hold a password.
		return errors.New("its address cannot be read: want postgres://user@host:port/database")
	}
	p.config = config
	for name, value := range map[string]string{
		"search_path": controlSchema, "application_name": "chainexplorer control", "synchronous_commit": "on",
		"statement_timeout":                   fmt.Sprint(statementTimeout.Milliseconds()),
		"idle_in_transaction_session_timeout": fmt.Sprint(statementTimeout.Milliseconds()),
	} {
		config.RuntimeParams[name] = value
	}
	config.AfterConnect = sessionIsOurs
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	d.write = p.pool(config, writers)
	if err := d.write.PingContext(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	present, err := p.hasTable(ctx, d.write, schemaTable)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", p.name(), err)
	case !present && o.MustExist:
		return fmt.Errorf("%w in %s", ErrNotExist, p.name())
	}
	return nil
}

// sessionIsOurs refuses a session that does not have the settings that it was opened with: all our statements
// would mean the tables of another schema.
func sessionIsOurs(ctx context.Context, c *pgconn.PgConn) error {
	r := c.ExecParams(ctx, "show search_path", nil, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	if len(r.Rows) != 1 || string(r.Rows[0][0]) != controlSchema {
		return errors.New("a session does not have the settings that it is opened with: a pooler in between ignores them; give the address of the server itself")
	}
	return nil
}

func (p *postgresDialect) pool(config *pgx.ConnConfig, size int) *sql.DB {
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

func (p *postgresDialect) openReader(d *DB) error {
	config := p.config.Copy()
	config.RuntimeParams["default_transaction_read_only"] = "on"
	d.read = p.pool(config, max(4, 2*runtime.GOMAXPROCS(0)))
	return nil
}

func (p *postgresDialect) checkOurs(ctx context.Context, db *sql.DB) error {
	var tables int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_tables WHERE schemaname = $1`, controlSchema).Scan(&tables)
	if err != nil {
		return err
	}
	ours, err := p.hasTable(ctx, db, schemaTable)
	if err != nil {
		return err
	}
	if tables > 0 && !ours {
		return fmt.Errorf("schema %s holds tables of another program: name another database", controlSchema)
	}
	return nil
}

func (p *postgresDialect) hasTable(ctx context.Context, db *sql.DB, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_tables WHERE schemaname = $1 AND tablename = $2`, controlSchema, name).Scan(&n)
	return n > 0, err
}

// lockSchema holds a lock in a transaction of its own, which the server ends when
// the process dies. The migrations use other connections.
func (p *postgresDialect) lockSchema(ctx context.Context, d *DB, fn func() error) error {
	return within(ctx, d.write, nil, func(tx *sql.Tx) error {
		// The wait is bounded by ctx, not by the timeouts of a statement.
		for _, statement := range []string{
			`SET LOCAL statement_timeout = 0`, `SET LOCAL idle_in_transaction_session_timeout = 0`,
			fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, lockForSchema),
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		if _, err := d.write.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+controlSchema); err != nil {
			return err
		}
		return fn()
	})
}

// duplicateInPostgres says whether a unique value is taken.
func duplicateInPostgres(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == "23505"
}

// IsDuplicate reports whether a statement failed because a unique value is taken.
func IsDuplicate(err error) bool { return duplicateInSQLite(err) || duplicateInPostgres(err) }
