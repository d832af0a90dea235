// Package pebble is the embedded store engine: one directory, one process.
//
// It guarantees that
//   - a commit that returned nil survives a crash of the process or the
//     machine, and a commit is there as a whole or not at all;
//   - a view never shows a commit before it is durable;
//   - the first failed write stops the engine: every later commit fails, views
//     go on showing the last durable state, and nothing more is written, so
//     that opening the directory again is the same as after a crash;
//   - a second engine on the same directory is refused.
//
// A key on disk is the table's id, the partition and the sort, joined. Id 0
// holds the engine's own records. Commits of 4 MiB and more, as when a chain is caught up
// with, are written as tables of their own and taken over past the log and the
// memtables: 16 to 64 MiB are the best size for bulk loading, since the fewer tables
// there are, the less often they are merged. Rows of ascending tables may be streamed to
// theirs before the commit, so that those megabytes are of rows that have to be merged,
// and settled neighbours of a series become one key.
// Reader.GetMany is the better way to ask for a row that may not exist: it
// consults the Bloom filters of the bottom level, which Get does not.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/store"
)

// Options says where and how the store is kept. Dir and Tables are required.
type Options struct {
	Dir    string
	FS     vfs.FS // the machine's file system when nil
	Tables []*store.Table

	CacheBytes    int64 // block cache and memtables; 128 MiB when 0
	MemTableBytes int64 // one memtable, of which up to four are held; 16 MiB when 0
	Compression   Compression
	// BulkBytes is from how many bytes on a commit goes past the log, as tables of its
	// own; 4 MiB when 0.
	BulkBytes int

	// ReadOnly opens an existing store and refuses every change, and a
	// checkpoint. The directory is locked all the same.
	ReadOnly bool

	// MinFree is the room on the disk, in bytes, below which commits wait; 0 never
	// lets them wait.
	MinFree uint64

	// Height says how high a batch brings what is stored, if it does: it is what a
	// loss of commits is told by. Nil tells nothing.
	Height func(c *store.Changes) (height uint64, ok bool)
	// HeightRow is the row that Height finds heights in: a store without it has none,
	// which is not the height 0. Nil where that is of no interest.
	HeightRow *store.Key

	Now     func() time.Time      // the clock of the lease; time.Now when nil
	Logger  *slog.Logger          // slog.Default when nil
	Metrics prometheus.Registerer // where the engine registers its metrics; none when nil
}

// Engine is an open store. It is an interface, though nothing else serves it, because
// whoever has a struct compiles the generic types in it, to the last of their methods:
// those of Pebble take most of a second in each package that holds a store.
type Engine interface {
	store.Engine
	store.Counter
	store.Cutter
	store.Streamer
	// Stopped is the error that stopped the engine, or nil.
	Stopped() error
	// Paused tells whether commits wait for room on the disk.
	Paused() (Shortage, bool)
	// Lost tells of commits that were acknowledged and are gone, until they are made up for.
	Lost() (Loss, bool)
}

// engine serves Engine.
type engine struct {
	dir       string
	db        *lsm.DB
	disk      *failStopFS
	schema    *store.Schema
	now       func() time.Time
	log       *slog.Logger
	readOnly  bool
	settings  *lsm.Options
	bulkBytes int
	bulkFiles atomic.Uint64 // that were written so far
	metrics   *collector    // nil when not asked for
	stop      *failure
	leaves    leafLengths
	settled   atomic.Uint64 // numbers below it are: see leaf.go; it rises with the writer's token

	minFree  uint64
	shortage atomic.Pointer[Shortage] // while commits wait for room

	// writer holds one token. Whoever has it may write to the
	// store and publish a snapshot; nobody else does. Commits under different
	// leases take turns: there is one log to write to.
	writer chan struct{}

	leasing sync.Mutex
	leases  map[string]lease // by name; guarded by leasing

	height       func(c *store.Changes) (uint64, bool)
	heightRow    *store.Key
	last         mark                 // guarded by the writer's token
	acknowledged vfs.File             // as above; nil until the first commit
	lost         atomic.Pointer[Loss] // until the height is reached again

	commits     atomic.Uint64
	commitBytes atomic.Uint64
	bulkRows    atomic.Uint64

	closing   chan struct{} // closed when Close begins
	closeOnce sync.Once
	closeErr  error

	mu      sync.Mutex
	closed  bool                 // guarded by mu: no call may begin
	current *snapshot            // guarded by mu: the last durable state
	streams map[*stream]struct{} // guarded by mu: those that write
	running sync.WaitGroup       // calls that began; Add only under mu while not closed

	releases sync.WaitGroup // snapshots that are being closed
}

// ErrReadOnly is the answer to every change of a store opened with
// Options.ReadOnly.
var ErrReadOnly = errors.New("store was opened read-only")

// Open opens the store in o.Dir and creates it if there is none.
//
// Pebble locks its directory, so no other process can have the store open;
// leases found in it belong to a process that is gone. Open therefore takes
// them as released, and a restarted process need not wait for them to run out.
// Their epochs still count: the next lease of a name has a higher one.
func Open(o Options) (Engine, error) {
	e, err := open(o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func open(o Options) (*engine, error) {
	if o.Dir == "" {
		return nil, fmt.Errorf("%w: the store's directory is not set", store.ErrInvalid)
	}
	schema, err := store.NewSchema(o.Tables)
	if err != nil {
		return nil, err
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	e := &engine{
		dir:      o.Dir,
		schema:   schema,
		now:      o.Now,
		log:      o.Logger.With("store", o.Dir),
		readOnly: o.ReadOnly,
		minFree:  o.MinFree,
		height:   o.Height, heightRow: o.HeightRow,
		bulkBytes: o.BulkBytes,
		stop:      newFailure(),
		leaves:    leafLengthsOf(o.Tables),
		writer:    make(chan struct{}, 1),
		closing:   make(chan struct{}),
		streams:   make(map[*stream]struct{}),
	}
	e.disk = newFailStopFS(o.FS, o.Dir, e.fail)
	settings, err := settings(o)
	if err != nil {
		return nil, err
	}
	if e.bulkBytes == 0 {
		e.bulkBytes = defaultBulkBytes
	}
	e.settings = settings
	settings.FS = e.disk
	settings.Logger = eventLog{log: e.log, fatal: e.fail}
	settings.EventListener = e.listener()
	if err := e.checkManifest(); err != nil {
		return nil, e.openError(err)
	}
	if err := e.openDB(settings); err != nil {
		return nil, e.openError(err)
	}
	if err := e.start(o.Metrics); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", o.Dir, err), e.Close())
	}
	return e, nil
}

// openDB opens Pebble. When a write fails meanwhile it does not come back, and the
// directory is let go as a crash would leave it.
func (e *engine) openDB(settings *lsm.Options) error {
	var db *lsm.DB
	err := e.guarded(func() (err error) {
		db, err = lsm.Open(e.dir, settings)
		return err
	})
	if err == nil {
		e.db = db
		return nil
	}
	if e.stop.get() != nil {
		err = errors.Join(err, e.disk.abandon())
	}
	return err
}

func (e *engine) start(metrics prometheus.Registerer) error {
	if err := e.stop.get(); err != nil {
		return err
	}
	var err error
	if !e.readOnly {
		if err := e.guarded(e.removeBulk); err != nil {
			return fmt.Errorf("remove what a commit left: %w", err)
		}
	}
	if e.leases, err = e.loadLeases(); err != nil {
		return err
	}
	if err := e.recall(); err != nil {
		return err
	}
	e.current = &snapshot{view: e.db.NewSnapshot(), refs: 1}
	if metrics != nil {
		c := newCollector(e, metrics)
		if err := metrics.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
		e.metrics = c
	}
	return nil
}

func (e *engine) openError(err error) error {
	var path *fs.PathError
	if locked := e.disk.lockError(); locked != nil && !errors.As(locked, &path) {
		return fmt.Errorf("open store %s: the directory is in use by another process: %w", e.dir, locked)
	}
	if e.readOnly && !e.exists() {
		return fmt.Errorf("open store %s: there is no store in this directory", e.dir)
	}
	return fmt.Errorf("open store %s: %w", e.dir, err)
}

func (e *engine) exists() bool {
	found, err := lsm.Peek(e.dir, e.disk)
	return err == nil && found.Exists
}

// begin admits a call; the caller ends it with e.running.Done.
func (e *engine) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return store.ErrClosed
	}
	e.running.Add(1)
	return nil
}

func (e *engine) isClosing() bool {
	select {
	case <-e.closing:
		return true
	default:
		return false
	}
}

// Close ends the engine after the running views and commits. The reads of a
// running view fail with store.ErrClosed from now on. It returns the error
// that stopped the engine, if one did.
func (e *engine) Close() error {
	e.closeOnce.Do(func() { e.closeErr = e.shut() })
	return e.closeErr
}

func (e *engine) shut() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	close(e.closing)
	e.running.Wait()
	e.dropStreams()
	if e.metrics != nil {
		e.metrics.unregister()
	}
	err := e.guarded(func() error {
		if e.current != nil {
			e.release(e.current)
		}
		e.releases.Wait()
		if e.acknowledged != nil {
			if err := e.acknowledged.Close(); err != nil {
				return err
			}
		}
		return e.db.Close()
	})
	if e.stop.get() == nil {
		if err != nil {
			return fmt.Errorf("close store %s: %w", e.dir, err)
		}
		return nil
	}
	// Pebble cannot be closed once a write of its failed: its goroutines may
	// wait for the disk for ever. They cannot write any more, so the directory
	// can be let go.
	if err := e.disk.abandon(); err != nil {
		e.log.Error("release the store's directory", "err", err)
	}
	return fmt.Errorf("close store %s: %w", e.dir, e.stop.get())
}
