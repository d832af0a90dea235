package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"chainexplorer/internal/durable"
)

const (
	// A row group ends at the first of these. What it holds before it is written is the
	// memory that a file takes, so both bound it, however large single rows are.
	groupRows  = 100_000
	groupBytes = 16 << 20
	// batchRows is how many rows are handed to the encoder at once.
	batchRows = 256
	pageBytes = 256 << 10
	// A column with more than this of different values in a row group goes on without a
	// dictionary.
	dictionaryBytes = 2 << 20
	// unfinished is how the name of a file ends that is being written.
	unfinished = ".unfinished"
)

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

// table encodes rows of one kind into a file. The bytes depend on the rows and the
// metadata alone.
type table[T any] struct {
	file  *file
	w     *parquet.GenericWriter[T]
	batch []T
	rows  int64 // of this row group
	bytes int64
}

func newTable[T any](f *file, meta map[string]string) *table[T] {
	w := parquet.NewGenericWriter[T](f, &parquet.WriterConfig{
		CreatedBy:       "chainexplorer",
		PageBufferSize:  pageBytes,
		WriteBufferSize: 64 << 10,
		DataPageVersion: 1, // every reader has it
		// One for all files: an encoder keeps megabytes.
		Compression:        &parquet.Zstd,
		KeyValueMetadata:   meta,
		DictionaryMaxBytes: dictionaryBytes,
		// A felt is 66 bytes of text: its bounds are to be whole.
		ColumnIndexSizeLimit: func([]string) int { return feltBytes },
	})
	return &table[T]{file: f, w: w, batch: make([]T, 0, batchRows)}
}

// add takes a row of about so many bytes.
func (t *table[T]) add(row *T, size int) error {
	t.batch = append(t.batch, *row)
	t.rows++
	t.file.rows++
	t.bytes += int64(size)
	full := t.rows >= groupRows || t.bytes >= groupBytes
	if len(t.batch) < batchRows && !full {
		return nil
	}
	if err := t.flush(); err != nil {
		return err
	}
	if !full {
		return nil
	}
	t.rows, t.bytes = 0, 0
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("end a row group: %w", err)
	}
	return nil
}

func (t *table[T]) flush() error {
	if _, err := t.w.Write(t.batch); err != nil {
		return fmt.Errorf("encode rows: %w", err)
	}
	clear(t.batch) // lets go of what the rows point to
	t.batch = t.batch[:0]
	return nil
}

// end writes what is left, and the footer.
func (t *table[T]) end() error {
	if err := t.flush(); err != nil {
		return err
	}
	t.w.SetKeyValueMetadata("chainexplorer.rows", strconv.FormatInt(t.file.rows, 10))
	if err := t.w.Close(); err != nil {
		return fmt.Errorf("end the file: %w", err)
	}
	return nil
}
