package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"

	"chainexplorer/internal/durable"
)

// unfinished is how the name of a file ends that is being written.
const unfinished = ".unfinished"

// file is a Parquet file that is being written. It gets its name when it is complete and
// on the disk.
type file struct {
	path  string
	f     *os.File
	sum   hash.Hash
	size  int64
	rows  int64
	write io.Writer
}

func create(path string) (*file, error) {
	f, err := os.Create(hidden(path))
	if err != nil {
		return nil, err
	}
	out := &file{path: path, f: f, sum: sha256.New()}
	out.write = io.MultiWriter(f, out.sum)
	return out, nil
}

// hidden is the name of a file until it is whole. Nobody's pattern for the files meets it.
func hidden(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+unfinished)
}

// Write is for the encoder.
func (f *file) Write(b []byte) (int, error) {
	n, err := f.write.Write(b)
	f.size += int64(n)
	return n, err
}

// finish gives the file its name, in place of what had it.
func (f *file) finish() error {
	if err := f.f.Sync(); err != nil {
		return errors.Join(err, f.discard())
	}
	if err := f.f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.f.Name()))
	}
	if err := os.Rename(f.f.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(f.f.Name()))
	}
	return durable.SyncDir(filepath.Dir(f.path))
}

// discard leaves nothing of it.
func (f *file) discard() error {
	return errors.Join(f.f.Close(), os.Remove(f.f.Name()))
}

func (f *file) digest() string { return hex.EncodeToString(f.sum.Sum(nil)) }
