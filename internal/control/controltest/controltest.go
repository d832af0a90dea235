// Package controltest gives tests new control databases. Their schema is made once in a
// process and copied, because making it takes longer than most tests do with it. That
// control.Open makes it is tested with that package.
package controltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"chainexplorer/internal/control"
	"chainexplorer/internal/store/postgres/pgtest"
)

// File is the path of a new database in a file, which is gone with the test.
func File(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "control.db")
	if err := WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// WriteFile makes a new database in a file.
func WriteFile(path string) error {
	text, err := file()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// Server is the address of a new database on the PostgreSQL server that the tests of a
// package share. The package's TestMain must call pgtest.Main.
func Server(t testing.TB) string {
	t.Helper()
	return pgtest.Copy(t, "control", empty)
}

// file is what is in the file of a database that nobody used.
var file = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "controltest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of no use to anybody
	path := filepath.Join(dir, "control.db")
	if err := empty(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// empty makes a database without secrets: each copy gets its own when it is opened.
func empty(path string) error {
	ctx := context.Background()
	db, err := control.Open(ctx, control.Options{Path: path})
	if err != nil {
		return err
	}
	err = db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM secret`)
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("make a control database to copy: %w", err)
	}
	return nil
}
