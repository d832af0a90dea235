// Package control is the database of record: what cannot be rebuilt from a
// chain, such as workspaces, API keys and the audit log. It guarantees that a
// change is on disk when Update returns, that readers never wait for the
// writer, and that a database of a newer program is refused, not damaged.
//
// The repositories (one package per subject) write SQL that SQLite and
// PostgreSQL both understand: numbered parameters ($1), text ids, times as
// integer microseconds. What differs between the two is in sqlite.go and
// postgres.go. A statement that fails ends its transaction on PostgreSQL, so
// that a repository must not go on after an error.
package control

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"
)

// Options say which database to open.
type Options struct {
	// Path is the file of the database, which is made with mode 0600 when it is
	// not there, or the address of a PostgreSQL database (postgres://...), which
	// must exist; our tables are in a schema of their own there.
	Path string
	// MustExist refuses to make a new database.
	MustExist bool
	// BeforeUpgrade may be nil. It is asked before the schema of a database that is there is changed,
	// which an older program then refuses: an error leaves it as it is.
	BeforeUpgrade func(context.Context) error
	// Logger may be nil.
	Logger *slog.Logger
	// Now and Rand are the system's clock and randomness unless a test sets them.
	Now  func() time.Time
	Rand io.Reader
}

// ErrNotExist says that there is no database at the path and none may be made.
var ErrNotExist = errors.New("there is no control database")

// ErrEmpty says that the file has lost all that was in it: a new database in its
// place would make every key void without a word.
var ErrEmpty = errors.New("the file is empty, and was not when it was made: restore it from a backup, or remove it to begin with no keys")

// dialect is what differs between the two kinds of database.
type dialect interface {
	// open makes the writer's pool.
	open(ctx context.Context, d *DB, o Options) error
	// openReader makes the pool for readers, once the schema is there.
	openReader(d *DB) error
	// checkOurs refuses a database that another program made.
	checkOurs(ctx context.Context, db *sql.DB) error
	hasTable(ctx context.Context, db *sql.DB, name string) (bool, error)
	// migrations is the folder of the migrations, and their kind.
	migrations() (folder string, kind goose.Dialect)
	// lockSchema runs fn while no other process changes the schema.
	lockSchema(ctx context.Context, d *DB, fn func() error) error
	// beginUpdate makes the transaction the only one that writes.
	beginUpdate(ctx context.Context, tx *sql.Tx) error
	// guardsOf are the triggers that migrations make for the audit log, by name, and guards
	// those that there are and that are switched on, both in the same words.
	guardsOf(migrations []string) map[string]string
	guards(ctx context.Context, tx *sql.Tx) (map[string]string, error)
	// view are the options of a transaction that reads one state.
	view() *sql.TxOptions
	// name is what messages call the database.
	name() string
}

// DB is an open control database. It is safe for concurrent use, also by several
// processes on one database.
type DB struct {
	// write is for Update alone; read connections cannot change anything.
	write, read *sql.DB
	kind        dialect
	secrets     map[string]Secret
	now         func() time.Time
	rand        io.Reader
}

// Open opens the database, brings its schema up to date and reads its secrets.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	db, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("control database: %w", err)
	}
	return db, nil
}

func open(ctx context.Context, o Options) (_ *DB, err error) {
	d := &DB{now: o.Now, rand: o.Rand, kind: &sqliteDialect{}}
	if IsAddress(o.Path) {
		d.kind = &postgresDialect{}
	}
	defer func() {
		if err != nil {
			d.Close() //nolint:errcheck // the first error is the one to tell
		}
	}()
	if err := d.kind.open(ctx, d, o); err != nil {
		return nil, err
	}
	if err := d.prepare(ctx, o); err != nil {
		return nil, fmt.Errorf("%s: %w", d.kind.name(), err)
	}
	return d, nil
}

// prepare brings the schema up to date and reads the secrets.
func (d *DB) prepare(ctx context.Context, o Options) error {
	if err := d.kind.checkOurs(ctx, d.write); err != nil {
		return err
	}
	if err := d.migrateLocked(ctx, o); err != nil {
		return err
	}
	if err := d.kind.openReader(d); err != nil {
		return err
	}
	return d.loadSecrets(ctx)
}

// Close waits for running statements and closes the database.
func (d *DB) Close() error {
	var errs []error
	for _, db := range []*sql.DB{d.read, d.write} { // the writer last: it tidies up the log
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Reader is the pool for single read statements. Each sees every change that was
// acknowledged before it began, by this process or another.
func (d *DB) Reader() *sql.DB { return d.read }

// View runs fn on one consistent view of the database.
func (d *DB) View(ctx context.Context, fn func(*sql.Tx) error) error {
	return within(ctx, d.read, d.kind.view(), fn)
}

// Update runs fn in a transaction of the only writer. When it returns nil the
// change is on disk; otherwise nothing happened. fn must not call Update.
func (d *DB) Update(ctx context.Context, fn func(*sql.Tx) error) error {
	return within(ctx, d.write, nil, func(tx *sql.Tx) error {
		if err := d.kind.beginUpdate(ctx, tx); err != nil {
			return fmt.Errorf("wait for other writers: %w", err)
		}
		return fn(tx)
	})
}

func within(ctx context.Context, db *sql.DB, o *sql.TxOptions, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
