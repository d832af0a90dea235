package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"chainexplorer/internal/durable"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Everything that only SQLite needs is in this file.

// busyTimeout is how long a statement waits for another process's write.
const busyTimeout = 10 * time.Second

// sqliteDialect is a file.
type sqliteDialect struct{ path string }

func (s *sqliteDialect) name() string { return s.path }

func (s *sqliteDialect) migrations() (string, goose.Dialect) { return "sqlite", goose.DialectSQLite3 }

// A transaction that reads sees one state in any case.
func (s *sqliteDialect) view() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

// The writer's transactions are immediate: they wait for other processes when
// they begin.
func (s *sqliteDialect) beginUpdate(context.Context, *sql.Tx) error { return nil }

// open makes a pool of a single connection: SQLite knows one writer, and waiting
// in line here obeys the context.
func (s *sqliteDialect) open(_ context.Context, d *DB, o Options) (err error) {
	if s.path, err = prepareFile(o.Path, o.MustExist, o.Logger); err != nil {
		return err
	}
	if d.write, err = openSQLite(s.path, writer); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

func (s *sqliteDialect) openReader(d *DB) (err error) {
	d.read, err = openSQLite(s.path, reader)
	return err
}

type role int

const (
	writer role = iota
	reader
	// locker uses a database as a lock only; see lockSchema.
	locker
)

// openSQLite opens a pool. Synchronous FULL makes every commit reach the disk:
// whoever was shown a key finds it again after a power cut.
func openSQLite(path string, r role) (*sql.DB, error) {
	q := url.Values{}
	q.Set("_busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()))
	q.Set("_dqs", "0")
	conns := 1
	switch r {
	case writer:
		q.Set("_foreign_keys", "1")
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "FULL")
		q.Set("_txlock", "immediate")
		q.Set("_pragma", "secure_delete(1)") // what is deleted by a promise is not left in free pages
	case reader:
		q.Set("_query_only", "1")
		conns = max(4, 2*runtime.GOMAXPROCS(0))
	case locker:
		q.Set("_txlock", "exclusive")
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// prepareFile makes sure that the file is there and that nobody else on the
// machine can read it. SQLite gives its log the same mode.
func prepareFile(name string, mustExist bool, log *slog.Logger) (string, error) {
	switch {
	case name == "":
		return "", errors.New("no file is named")
	case strings.Contains(name, "://"):
		return "", errors.New("it must be the path of a file, or an address that begins with postgres://")
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && mustExist:
		return "", fmt.Errorf("%w at %s", ErrNotExist, path)
	case errors.Is(err, os.ErrNotExist):
		if err := makeDatabase(path); err != nil {
			return "", err
		}
		log.Info("made a control database", "path", path)
		return path, nil
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s is a directory: name a file in it", path)
	case info.Size() == 0:
		return "", fmt.Errorf("%w: %s has 0 bytes", ErrEmpty, path)
	case info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("others can read %s and its mode cannot be changed: %w", path, err)
		}
		log.Warn("others could read the control database; its mode is 0600 now", "path", path)
	}
	return path, nil
}

// makeDatabase makes a database without tables. It gets its name when it is
// complete, so that an empty file is never one that is just being made.
func makeDatabase(path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := f.Close(); err != nil {
		return err
	}
	db, err := openSQLite(f.Name(), writer)
	if err != nil {
		return err
	}
	_, err = db.Exec(fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)) // writes the first page
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) { // another process was quicker
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// applicationID marks a file as ours for programs that look at files.
const applicationID = 0x63786462

func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (s *sqliteDialect) checkOurs(ctx context.Context, db *sql.DB) error {
	var tables int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'`).Scan(&tables)
	ours := false
	if err == nil {
		ours, err = s.hasTable(ctx, db, schemaTable)
	}
	var failure *sqlite.Error
	switch {
	case errors.As(err, &failure) && failure.Code() == sqlite3.SQLITE_NOTADB:
		return errors.New("the file is not a database: name another file")
	case err != nil:
		return err
	case tables > 0 && !ours:
		return errors.New("the file is a database of another program: name another file")
	}
	return nil
}

func (s *sqliteDialect) hasTable(ctx context.Context, db *sql.DB, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`, name).Scan(&n)
	return n > 0, err
}

// lockSchema locks an empty database beside the real one: its lock is dropped by
// the system when the process dies, and it leaves the real one free for the
// migrations' own transactions.
func (s *sqliteDialect) lockSchema(ctx context.Context, _ *DB, fn func() error) error {
	name := s.path + "-migrate"
	if err := makeFile(name); err != nil {
		return err
	}
	lock, err := openSQLite(name, locker)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // it holds nothing
	return within(ctx, lock, nil, func(*sql.Tx) error { return fn() })
}

// duplicateInSQLite says whether a unique value is taken.
func duplicateInSQLite(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || failure.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
