// Package control is the database of record: what cannot be rebuilt from a
// chain, such as workspaces, API keys and the audit log. It guarantees that a
// change is on disk when Update returns, that readers never wait for the
// writer, and that a database of a newer program is refused, not damaged.
//
// The repositories (one package per subject) write SQL that SQLite and
// PostgreSQL both understand: numbered parameters ($1), text ids, times as
// integer microseconds. What differs between the two is in sqlite.go.
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
)

// Options say which database to open.
type Options struct {
	// Path is the file of the database. It is made with mode 0600 when it is not there.
	Path string
	// MustExist refuses to make a new database.
	MustExist bool
	// Logger may be nil.
	Logger *slog.Logger
	// Now and Rand are the system's clock and randomness unless a test sets them.
	Now  func() time.Time
	Rand io.Reader
}

// ErrNotExist says that there is no database at the path and none may be made.
var ErrNotExist = errors.New("there is no control database")

// DB is an open control database. It is safe for concurrent use, also by several
// processes on one file.
type DB struct {
	// write has a single connection: SQLite knows one writer, and waiting in line
	// here obeys the context. read connections cannot change anything.
	write, read *sql.DB
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
	path, err := prepareFile(o.Path, o.MustExist, o.Logger)
	if err != nil {
		return nil, err
	}
	d := &DB{now: o.Now, rand: o.Rand}
	if d.write, err = openSQLite(path, writer); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer func() {
		if err != nil {
			d.Close() //nolint:errcheck // the first error is the one to tell
		}
	}()
	if err := checkOurs(ctx, d.write); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := migrateLocked(ctx, path, d.write, o.Logger); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if d.read, err = openSQLite(path, reader); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := d.loadSecrets(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
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
	return within(ctx, d.read, &sql.TxOptions{ReadOnly: true}, fn)
}

// Update runs fn in a transaction of the only writer. When it returns nil the
// change is on disk; otherwise nothing happened. fn must not call Update.
func (d *DB) Update(ctx context.Context, fn func(*sql.Tx) error) error {
	return within(ctx, d.write, nil, fn)
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
