package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// Pebble takes a manifest whose last entries cannot be read as one that a crash cut, too,
// and goes on with the tables that it named before: then rows are missing in the midst of
// the others, and the files that they are in are removed as nobody's. So what of the
// manifest is on the disk for sure is noted with every commit, behind its mark in the file
// of what was acknowledged:
//
//	number of the manifest (8) | its length (8) | CRC-32 of so much of it (4) | CRC-32 of the commit's number and these (4)
//
// Entries behind that are not known of: those of the merges since the last commit.
type manifestNote struct {
	number, length uint64
	sum            uint32
}

const (
	manifestPrefix = "MANIFEST-"
	noteBytes      = 24
)

// manifestNumber is the number of a manifest by its name, and false for other files.
func manifestNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(filepath.Base(name), manifestPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// encode is what is noted behind the mark of a commit.
func (n manifestNote) encode(commit uint64) []byte {
	b := store.AppendUint64(store.AppendUint64(nil, n.number), n.length)
	b = append(b, store.AppendUint64(nil, uint64(n.sum))[4:]...)
	sum := crc32.ChecksumIEEE(append(store.AppendUint64(nil, commit), b...))
	return append(b, store.AppendUint64(nil, uint64(sum))[4:]...)
}

// decodeNote reads what was noted with a commit. There is none where an earlier version noted it.
func decodeNote(b []byte, commit uint64) (n manifestNote, ok bool) {
	if len(b) < noteBytes {
		return n, false
	}
	n.number, _, _ = store.Uint64(b)
	n.length, _, _ = store.Uint64(b[8:])
	sum, _, _ := store.Uint64(append(make([]byte, 4), b[16:20]...))
	n.sum = uint32(sum)
	return n, bytes.Equal(n.encode(commit), b[:noteBytes])
}

// checkManifest holds the manifest against what was noted of it, before Pebble believes it.
func (e *engine) checkManifest() error {
	_, noted, err := e.readAcknowledged()
	if err != nil || noted.length == 0 {
		return err
	}
	found, err := lsm.Peek(e.dir, e.disk)
	if err != nil || !found.Exists {
		return nil //nolint:nilerr // opening it says what is wrong
	}
	// A newer one was written whole when it was begun. An older one is there when a crash came before the newer counted.
	if number, ok := manifestNumber(found.ManifestFilename); !ok || number != noted.number {
		return nil
	}
	name := manifestPrefix + fmt.Sprintf("%06d", noted.number)
	f, err := e.disk.Open(e.disk.PathJoin(e.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // as above
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	sum := crc32.NewIEEE()
	n, err := io.Copy(sum, io.LimitReader(f, int64(noted.length)))
	if err != nil {
		return err
	}
	if uint64(n) < noted.length || sum.Sum32() != noted.sum {
		return fmt.Errorf("%s is not what was written: %w", name, lsm.ErrCorruption)
	}
	return nil
}

// manifestNote is what is known of the newest manifest; its length is 0 while none was written.
func (f *failStopFS) manifestNote() manifestNote {
	f.notedMu.Lock()
	defer f.notedMu.Unlock()
	return f.noted
}

// manifestFile is a manifest that is written from its beginning, by one goroutine at a time.
type manifestFile struct {
	*failStopFile
	written manifestNote
}

func (f *manifestFile) Write(p []byte) (n int, err error) {
	// Before, because a file may use the buffer; a write that fails is the last one.
	sum := crc32.Update(f.written.sum, crc32.IEEETable, p)
	n, err = f.failStopFile.Write(p)
	f.written.length += uint64(n)
	f.written.sum = sum
	return n, err
}

func (f *manifestFile) Sync() error     { return f.synced(f.failStopFile.Sync) }
func (f *manifestFile) SyncData() error { return f.synced(f.failStopFile.SyncData) }

func (f *manifestFile) synced(sync func() error) error {
	written := f.written
	if err := sync(); err != nil {
		return err
	}
	f.fs.notedMu.Lock()
	defer f.fs.notedMu.Unlock()
	if written.number >= f.fs.noted.number {
		f.fs.noted = written
	}
	return nil
}
