package backup

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/durable"
)

func sortChains(list []Chain) {
	arrange.By(list, func(a, b Chain) int { return strings.Compare(a.Name, b.Name) })
}

// size adds up the files of a directory.
func size(dir string) (n uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += uint64(info.Size())
		}
		return err
	})
	return n, err
}

// copier copies the files of a backup, holds them against its manifest, and says how far it
// has come.
type copier struct {
	folder      string
	want        contents
	done, total uint64
	progress    func(done, total uint64)
}

func newCopier(folder string, want contents, progress func(done, total uint64)) (*copier, error) {
	c := &copier{folder: folder, want: want, progress: progress}
	if progress == nil {
		c.progress = func(uint64, uint64) {}
	}
	var err error
	c.total, err = size(folder)
	return c, err
}

// copyDir copies regular files; a store has no others. The copy shares nothing
// with the original, to which the store's log and manifest would be appended.
func (c *copier) copyDir(ctx context.Context, name, to string) error {
	from := filepath.Join(c.folder, name)
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, rest); {
		case d.IsDir():
			return os.Mkdir(target, 0o700)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", path)
		default:
			return c.copyFile(ctx, filepath.Join(name, rest), target)
		}
	})
	if err != nil {
		return err
	}
	return durable.SyncDir(to)
}

// copyFile makes a file that did not exist, and that only its owner can read.
func (c *copier) copyFile(ctx context.Context, name, to string) (err error) {
	in, err := os.Open(filepath.Join(c.folder, name))
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	var bytes uint64
	h := sha256.New()
	both := io.Writer(out)
	if !rowFile(name) {
		both = io.MultiWriter(out, h)
	}
	if err := inPieces(ctx, both, in, func(n int64) {
		bytes += uint64(n)
		c.done += uint64(n)
		c.progress(c.done, c.total)
	}); err != nil {
		return err
	}
	if err := c.want.check(filepath.ToSlash(name), bytes, sum(h)); err != nil {
		return err
	}
	return out.Sync()
}

func writeFile(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
