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

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Everything that only SQLite needs is in this file.

const (
	gooseDialect = goose.DialectSQLite3
	// busyTimeout is how long a statement waits for another process's write.
	busyTimeout = 10 * time.Second
)

type role int

const (
	writer role = iota
	reader
	// locker uses a database as a lock only; see migrateLocked.
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
		return "", errors.New("it must be the path of a file, not an address")
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
		if err := makeFile(path); err != nil {
			return "", err
		}
		log.Info("made a control database", "path", path)
		return path, syncDir(filepath.Dir(path))
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s is a directory: name a file in it", path)
	case info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("others can read %s and its mode cannot be changed: %w", path, err)
		}
		log.Warn("others could read the control database; its mode is 0600 now", "path", path)
	}
	return path, nil
}

func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// syncDir makes a new file's name survive a power cut.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // it has no such call
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return f.Sync()
}

// checkOurs refuses a database that another program made.
func checkOurs(ctx context.Context, db *sql.DB) error {
	var tables int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'`).Scan(&tables)
	ours := false
	if err == nil {
		ours, err = hasTable(ctx, db, schemaTable)
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

func hasTable(ctx context.Context, db *sql.DB, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`, name).Scan(&n)
	return n > 0, err
}

// migrateLocked lets one process at a time change the schema. The lock is an empty
// database beside the real one: its lock is dropped by the system when the process
// dies, and it leaves the real one free for the migrations' own transactions.
func migrateLocked(ctx context.Context, path string, db *sql.DB, log *slog.Logger) error {
	if pending, err := migrationsPending(ctx, db); err != nil || !pending {
		return err
	}
	name := path + "-migrate"
	if err := makeFile(name); err != nil {
		return err
	}
	lock, err := openSQLite(name, locker)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // it holds nothing
	return within(ctx, lock, nil, func(*sql.Tx) error { return migrate(ctx, db, log) })
}

// IsDuplicate reports whether a statement failed because a unique value is taken.
func IsDuplicate(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || failure.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
