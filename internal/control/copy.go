package control

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// ErrNotFile says that the database is not a file that could be copied.
var ErrNotFile = errors.New("the control database is kept by PostgreSQL: back it up with pg_dump")

// IsFile says whether the database is a file.
func (d *DB) IsFile() bool {
	_, ok := d.kind.(*sqliteDialect)
	return ok
}

// CopyTo writes the database as it is now to a new file that only its owner can
// read. Readers and other processes go on; changes by this one wait.
func (d *DB) CopyTo(ctx context.Context, path string) error {
	if !d.IsFile() {
		return ErrNotFile
	}
	// An empty file is filled and keeps its mode.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("copy the control database: %w", err)
	}
	defer f.Close() //nolint:errcheck // Sync tells
	if _, err := d.write.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		return fmt.Errorf("copy the control database to %s: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("copy the control database to %s: %w", path, err)
	}
	return nil
}
