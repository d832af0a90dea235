package pebble

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// failStopFS makes a failed write final: it reports the first error, and from
// then on no write of the engine reaches the directory. The calls that would
// have made one never return.
//
// They must not: Pebble takes a failed write of its log as the end of the
// process, panics while it does not hold a lock that a deferred call releases,
// and thereby ends the process in a way that cannot be caught. A goroutine
// that waits for ever does no harm, and a directory that is not written any
// more is the directory after a crash, which Pebble recovers well from.
//
// That holds while a store is being opened, too: Pebble repeats a failed flush of
// what it found in its log without a pause and without an end.
//
// Errors of reads, of removals, and outside the directory (a checkpoint on a full
// disk) pass through.
type failStopFS struct {
	vfs.FS
	dir  string
	fail func(error)

	// mu is held for reading during a write, and for writing to see the last
	// one end.
	mu      sync.RWMutex
	tripped chan struct{}
	trips   sync.Once

	lockMu  sync.Mutex
	lock    *directoryLock
	lockErr error

	notedMu sync.Mutex
	noted   manifestNote // what of the newest manifest is on the disk
}

func newFailStopFS(inner vfs.FS, dir string, fail func(error)) *failStopFS {
	return &failStopFS{FS: inner, dir: filepath.Clean(dir), fail: fail, tripped: make(chan struct{})}
}

// trip stops all writes that have not begun.
func (f *failStopFS) trip() { f.trips.Do(func() { close(f.tripped) }) }

// abandon waits for the writes that had begun before trip, and unlocks the
// directory in place of an engine that cannot be closed any more.
func (f *failStopFS) abandon() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lockMu.Lock()
	defer f.lockMu.Unlock()
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// write runs one write unless the file system has tripped, and trips it when
// the write fails.
func (f *failStopFS) write(fn func() error) error {
	f.mu.RLock()
	select {
	case <-f.tripped:
		f.mu.RUnlock()
		select {}
	default:
	}
	err := fn()
	f.mu.RUnlock()
	if err != nil {
		f.fail(err)
		select {}
	}
	return err
}

func (f *failStopFS) inside(name string) bool {
	rel, err := filepath.Rel(f.dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// writeFile runs a write that opens a file.
func (f *failStopFS) writeFile(name string, open func() (vfs.File, error)) (vfs.File, error) {
	if !f.inside(name) {
		return open()
	}
	var file vfs.File
	err := f.write(func() (err error) {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &failStopFile{File: file, fs: f}, nil
}

func (f *failStopFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.writeFile(name, func() (vfs.File, error) { return f.FS.Create(name, c) })
	if stopping, ok := file.(*failStopFile); ok && err == nil && filepath.Dir(name) == f.dir {
		if number, ok := manifestNumber(name); ok {
			return &manifestFile{failStopFile: stopping, written: manifestNote{number: number}}, nil
		}
	}
	return file, err
}

func (f *failStopFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.writeFile(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

func (f *failStopFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.writeFile(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, opts...) })
}

// OpenDir opens a directory to sync it, which is a write.
func (f *failStopFS) OpenDir(name string) (vfs.File, error) {
	return f.writeFile(name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

func (f *failStopFS) writePath(name string, fn func() error) error {
	if !f.inside(name) {
		return fn()
	}
	return f.write(fn)
}

func (f *failStopFS) Rename(oldname, newname string) error {
	return f.writePath(newname, func() error { return f.FS.Rename(oldname, newname) })
}

// Link fails harmlessly: Pebble copies the file then, as on file systems without links.
func (f *failStopFS) Link(oldname, newname string) error {
	var err error
	_ = f.writePath(newname, func() error { err = f.FS.Link(oldname, newname); return nil })
	return err
}

func (f *failStopFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.writePath(dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

// Remove fails harmlessly, but must not happen after the trip.
func (f *failStopFS) Remove(name string) error {
	var err error
	_ = f.writePath(name, func() error { err = f.FS.Remove(name); return nil })
	return err
}

func (f *failStopFS) RemoveAll(name string) error {
	var err error
	_ = f.writePath(name, func() error { err = f.FS.RemoveAll(name); return nil })
	return err
}

// Lock keeps the lock of the directory, so that abandon can release it, and
// the error, so that Open can name the reason.
func (f *failStopFS) Lock(name string) (io.Closer, error) {
	c, err := f.FS.Lock(name)
	f.lockMu.Lock()
	defer f.lockMu.Unlock()
	if err != nil {
		f.lockErr = err
		return nil, err
	}
	f.lock = &directoryLock{c: c}
	return f.lock, nil
}

func (f *failStopFS) lockError() error {
	f.lockMu.Lock()
	defer f.lockMu.Unlock()
	return f.lockErr
}

func (f *failStopFS) Unwrap() vfs.FS { return f.FS }

// directoryLock can be closed more than once: by Pebble and by abandon.
type directoryLock struct {
	once sync.Once
	c    io.Closer
	err  error
}

func (l *directoryLock) Close() error {
	l.once.Do(func() { l.err = l.c.Close() })
	return l.err
}

// failStopFile is a file opened for writing.
type failStopFile struct {
	vfs.File
	fs *failStopFS
}

func (f *failStopFile) Write(p []byte) (n int, err error) {
	err = f.fs.write(func() (err error) { n, err = f.File.Write(p); return err })
	return n, err
}

func (f *failStopFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.write(func() (err error) { n, err = f.File.WriteAt(p, off); return err })
	return n, err
}

func (f *failStopFile) Sync() error     { return f.fs.write(f.File.Sync) }
func (f *failStopFile) SyncData() error { return f.fs.write(f.File.SyncData) }
func (f *failStopFile) Close() error    { return f.fs.write(f.File.Close) }

// Preallocate is a hint, so its failure is none of the engine.
func (f *failStopFile) Preallocate(offset, length int64) error {
	var err error
	_ = f.fs.write(func() error { err = f.File.Preallocate(offset, length); return nil })
	return err
}

func (f *failStopFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.write(func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full, err
}
