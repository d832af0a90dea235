package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"chainexplorer/internal/control"
	"chainexplorer/internal/durable"
)

// ErrNotEmpty says that there is something where a backup should be restored to.
var ErrNotEmpty = errors.New("the directory is not empty")

// markName is a file in a data directory that is being restored. Who is killed meanwhile leaves it.
const markName = "restore.unfinished"

// Unfinished says whether a data directory was left by a restore that never ended, so that nobody
// takes what there is for all of it.
func Unfinished(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, markName))
	return err == nil
}

// Restore copies a backup into dir, which must be empty or missing, and checks
// that it opens and holds what the manifest says. When it fails dir is empty
// again. The backup itself is only read, so that it can be restored once more.
// Progress, unless nil, is told of the bytes that were copied, and how many there are.
func Restore(ctx context.Context, from, dir string, log *slog.Logger, progress func(done, total uint64)) (m Manifest, err error) {
	w, err := read(from)
	if m = w.Manifest; err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case len(entries) > 0:
		return m, fmt.Errorf("restore to %s: %w", dir, ErrNotEmpty)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return m, fmt.Errorf("restore: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("restore: %w", err), empty(dir))
		}
	}()
	mark := filepath.Join(dir, markName)
	if err := writeFile(mark, []byte("A backup is being copied here. Without a process that does so, remove the directory and restore again.\n")); err != nil {
		return m, err
	}
	if err := durable.SyncDir(dir); err != nil {
		return m, err
	}
	files, err := newCopier(from, newContents(w.Files), progress)
	if err != nil {
		return m, err
	}
	for _, c := range m.Chains {
		if err := restoreStore(ctx, files, dir, c, log); err != nil {
			return m, err
		}
	}
	if m.Control {
		if err := restoreControl(ctx, files, dir, m.Audit, log); err != nil {
			return m, err
		}
	}
	if err := files.want.missing(); err != nil {
		return m, err
	}
	if err := durable.SyncDir(dir); err != nil { // all is there before the mark goes
		return m, err
	}
	if err := os.Remove(mark); err != nil {
		return m, err
	}
	return m, durable.SyncDir(dir)
}

func restoreStore(ctx context.Context, files *copier, dir string, c Chain, log *slog.Logger) error {
	to := filepath.Join(dir, c.Name)
	if err := files.copyDir(ctx, c.Name, to); err != nil {
		return err
	}
	found, err := examine(ctx, to, c.Name, true, log)
	if err != nil {
		return err
	}
	found.Bytes = c.Bytes // the manifest's is of the moment before it was opened
	if found != c {
		return fmt.Errorf("the backup of %s holds block %d with digest %s, and its manifest says %d with %s", c.Name, found.Head, found.Digest, c.Head, c.Digest)
	}
	return nil
}

func restoreControl(ctx context.Context, files *copier, dir string, audit *control.AuditReport, log *slog.Logger) error {
	to := filepath.Join(dir, controlName)
	if err := files.copyFile(ctx, controlName, to); err != nil {
		return err
	}
	found, err := examineControl(ctx, to, log)
	if err != nil {
		return err
	}
	if audit != nil && found.Head != audit.Head {
		return fmt.Errorf("the audit log in the backup ends with %s, and its manifest says %s: one of them was changed", found.Head, audit.Head)
	}
	return nil
}

// empty takes everything out of a directory.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}
