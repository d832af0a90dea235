package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// file is a file of a backup as it was written.
type file struct {
	Path  string `json:"path"` // from the backup's folder on, with slashes
	Bytes uint64 `json:"bytes"`
	// SHA256 is in hex. The large files of rows have none, so that a backup, which only
	// links them, need not read them: they have checksums of their own, which a restore holds
	// every row against.
	SHA256 string `json:"sha256,omitempty"`
}

// rowFile says whether a file holds rows, with a checksum for every block of them.
func rowFile(path string) bool { return strings.HasSuffix(path, ".sst") }

// listFiles lists what is in a backup that has no manifest yet.
func listFiles(ctx context.Context, folder string) (list []file, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		f := file{Path: filepath.ToSlash(rest), Bytes: uint64(info.Size())}
		if !rowFile(f.Path) {
			if f.SHA256, err = digest(ctx, path); err != nil {
				return err
			}
		}
		list = append(list, f)
		return nil
	})
	return list, err
}

func digest(ctx context.Context, path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	h := sha256.New()
	if err := inPieces(ctx, h, in, func(int64) {}); err != nil {
		return "", err
	}
	return sum(h), nil
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// inPieces copies, so that a large file does not outlast ctx.
func inPieces(ctx context.Context, to io.Writer, from io.Reader, each func(n int64)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(to, from, 16<<20)
		each(n)
		switch err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// contents are the files that a backup must have. Those from before files were
// listed have nil, of which nothing is asked.
type contents map[string]file

func newContents(list []file) contents {
	if list == nil {
		return nil
	}
	c := contents{}
	for _, f := range list {
		c[f.Path] = f
	}
	return c
}

// check takes a file off the list that was read to its end.
func (c contents) check(path string, bytes uint64, sha256 string) error {
	if c == nil {
		return nil
	}
	switch want, ok := c[path]; {
	case !ok:
		return fmt.Errorf("the backup has a file %s that is not in its manifest", path)
	case want.Bytes != bytes:
		return fmt.Errorf("%s has %d bytes in the backup, and its manifest says %d", path, bytes, want.Bytes)
	case want.SHA256 != "" && want.SHA256 != sha256:
		return fmt.Errorf("%s is not what the backup's manifest says: it was changed or damaged", path)
	}
	delete(c, path)
	return nil
}

// missing is the error of files that were not there.
func (c contents) missing() error {
	for path := range c {
		return fmt.Errorf("the backup lacks the file %s, which its manifest lists", path)
	}
	return nil
}
