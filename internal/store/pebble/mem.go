package pebble

import (
	"io"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// OpenMem opens a new store in memory with small buffers and no log: the
// engine for the tests of other packages.
func OpenMem(tables []*store.Table) (Engine, error) {
	return Open(MemOptions(vfs.NewMem(), tables))
}

// MemOptions are the options of OpenMem on a file system of the caller's, for
// tests that open a store again, copy it as a crash would leave it
// (vfs.NewCrashableMem) or let its writes fail.
func MemOptions(fs vfs.FS, tables []*store.Table) Options {
	return Options{
		Dir:           "/store",
		FS:            fs,
		Tables:        tables,
		CacheBytes:    8 << 20,
		MemTableBytes: 1 << 20,
		Logger:        slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}
