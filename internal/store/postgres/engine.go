// Package postgres is the store engine for many processes: one schema of a
// PostgreSQL database per chain, plain or spread over machines by Citus.
//
// It guarantees that
//   - a commit is one transaction: it is there as a whole or not at all, and
//     when Commit returned nil it is as durable as the server makes it;
//   - a commit checks its lease inside its transaction and keeps the lease from
//     changing hands until it is over. Whoever takes an expired lease over ends
//     the transactions of the one before, so that a holder that was paused or
//     cut off can neither write when it wakes up nor hold up its successor;
//   - leases of different names have rows of their own. Commits under them wait
//     for one another only where they write to the same table, and for the
//     moment in which the server puts a transaction that announces itself into
//     its log. Taking a lease over ends nothing but commits under that lease;
//   - a view is a read-only transaction at repeatable read: one snapshot, taken
//     before View calls its function;
//   - a schema of another program, of another layout or with other tables is
//     refused, not damaged.
//
// All tables are in one SQL table, _leaves (n int2, p bytea, k bytea, v bytea,
// primary key (p, k)). p is the table's id and the partition; a row of it is a leaf,
// which holds n neighbours of that partition and is named k after the first (see
// leaf.go). Names that begin with an underscore are the engine's own. Every read is
// a range of that index. GetMany is one round trip, and so is a Scan when as many
// leaves as usually hold that many rows do; longer scans and walks go page by page,
// so that memory stays bounded whatever the limit is. Opening a view is one more
// round trip, which Look spares; ending one is not waited for. A commit reads the leaves that its rows
// belong into and writes those that became others: two round trips for a block.
//
// A read whose context ends while the server is at it ends the transaction, and
// with it the view: later reads of the same view fail.
//
// # Citus
//
// When the database has the extension (or Options.Citus asks for it), the leaves are
// distributed by p. Each shard is a table of a worker, and leaves are read there, on
// connections of our own: Get and Scan ask one shard, GetMany those that have some of
// the keys, all workers at once; Walk and Checkpoint read all shards (see ring.go).
// Changes go straight to the workers as well, which prepare them side by side; the
// coordinator checks the lease and decides (see spread.go). Whoever meets what a
// process left undecided or unfinished ends it as the coordinator's log says (see
// resolve.go). A shard that is being moved waits for what is prepared on it.
//
// A view is the same there, although a snapshot is one worker's: it takes its
// snapshots on all of them before it calls its function, at a moment at which no
// commit is becoming visible: a lock keeps the two apart, for as long as either
// takes. The same lock lets one commit after the other become visible, whatever their
// leases. It has the head and the fork count of one commit and the rows of the same
// one. The snapshots are kept for the next view, which asks the coordinator whether
// something was committed since (see snapshot.go). Shards that were moved are
// noticed when a view or a commit begins.
//
// PgBouncer and the like must be in session mode: the engine uses prepared
// statements and LISTEN.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/store"
)

// Options say where and how the store is kept. URL, Schema and Tables are
// required.
type Options struct {
	URL    string // postgres://user:password@host:port/database, or the key=value form
	Schema string // the schema of the chain; made when it is not there
	Tables []*store.Table

	PoolSize         int           // connections for views; 16 when 0
	StatementTimeout time.Duration // of one read; 15 seconds when 0
	CommitTimeout    time.Duration // of a whole commit; 2 minutes when 0

	// ReadOnly opens a schema that exists and refuses every change.
	ReadOnly bool
	// Existing opens a schema that exists and is up to date, and makes nothing in
	// it. Rows and leases can be written.
	Existing bool

	// Follow keeps a connection that learns of every commit, for Commits.
	Follow bool

	// Citus says whether tables are distributed: by default when the database
	// has the extension. It counts when a schema is made.
	Citus      CitusMode
	ShardCount int // of a distributed table; when 0 eight for each worker, and at least 16

	// Now is the clock of the lease in tests. When nil it is the database's,
	// which all processes share.
	Now func() time.Time
	// Dies says in tests at which step of a commit this process is killed (see spread.go).
	Dies    func(step string) bool
	Logger  *slog.Logger          // slog.Default when nil
	Metrics prometheus.Registerer // where the engine registers its metrics; none when nil
}

const (
	defaultPoolSize         = 16
	minPoolSize             = 4
	writerCommits           = 1
	otherCommits            = 2
	writePoolSize           = writerCommits + otherCommits + 3 // the rest is for leases
	defaultStatementTimeout = 15 * time.Second
	defaultCommitTimeout    = 2 * time.Minute

	// How long the server waits for a client that went silent in the middle of a
	// commit, which keeps others from writing, or of a view, which keeps nobody
	// from anything but may do other work between two reads.
	commitIdle = 30 * time.Second
	viewIdle   = 15 * time.Minute
)

// ErrReadOnly is the answer to every change of a store opened with
// Options.ReadOnly.
var ErrReadOnly = errors.New("store was opened read-only")

// ErrNoStore says that there is nothing to open for who makes nothing.
var ErrNoStore = errors.New("there is no store")

// ErrOutdated says that a schema must be brought up to date by who may do that.
var ErrOutdated = errors.New("open the store for writing once, so that it is brought up to date")

// schemaName leaves room for prefixes in names of at most 63 bytes.
var schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// Engine is an open store. It serves store.Engine.
type Engine struct {
	o      Options
	name   string // for messages: the schema
	schema *store.Schema
	sql    *statements
	own    ownStatements
	log    *slog.Logger
	citus  bool
	ring   atomic.Pointer[ring]

	read, write *pgxpool.Pool // to the server that we were named
	metrics     *collector    // nil when not asked for

	arranging sync.Mutex
	endpoints map[string]*endpoint // guarded by arranging; under Citus, by name
	snapshots snapshots            // under Citus

	turns   turns        // of commits
	filling [256]filling // by table

	commits     atomic.Uint64
	commitBytes atomic.Uint64
	trips       atomic.Uint64
	followed    followed

	closing   chan struct{}
	closeOnce sync.Once

	mu      sync.Mutex
	closed  bool           // guarded by mu: no call may begin
	running sync.WaitGroup // calls that began; Add only under mu while not closed
	endings sync.WaitGroup // views that are being ended
}

var _ store.Engine = (*Engine)(nil)

// Open opens the store and makes its schema when there is none. Several
// processes may have one open; ctx bounds the opening alone.
func Open(ctx context.Context, o Options) (*Engine, error) {
	schema, err := store.NewSchema(o.Tables)
	if err != nil {
		return nil, err
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	e := &Engine{
		o: o, name: o.Schema, schema: schema, log: o.Logger.With("store", o.Schema),
		own:       newOwnStatements(o.Schema),
		endpoints: map[string]*endpoint{}, turns: newTurns(), closing: make(chan struct{}),
	}
	e.snapshots.views = make(turn, o.PoolSize)
	e.snapshots.expired = func() { e.endSnapshots(false) }
	if err := e.open(ctx); err != nil {
		err = fmt.Errorf("open store %s: %w", o.Schema, redact(err))
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (o *Options) fill() error {
	if !schemaName.MatchString(o.Schema) {
		return fmt.Errorf("%w: schema %q is not lower-case letters, digits and underscores, at most 40", store.ErrInvalid, o.Schema)
	}
	if o.URL == "" {
		return fmt.Errorf("%w: the database's address is not set", store.ErrInvalid)
	}
	if o.PoolSize < 0 || o.StatementTimeout < 0 || o.CommitTimeout < 0 || o.ShardCount < 0 {
		return fmt.Errorf("%w: a negative setting of the store", store.ErrInvalid)
	}
	if o.PoolSize == 0 {
		o.PoolSize = defaultPoolSize
	}
	o.PoolSize = max(o.PoolSize, minPoolSize) // views may nest
	if o.StatementTimeout == 0 {
		o.StatementTimeout = defaultStatementTimeout
	}
	if o.CommitTimeout == 0 {
		o.CommitTimeout = defaultCommitTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return nil
}

func (e *Engine) open(ctx context.Context) error {
	if err := e.prepare(ctx); err != nil {
		return err
	}
	var err error
	silent, idle := commitIdle, viewIdle
	if e.citus {
		// It has nothing to do while the workers work.
		silent, idle = max(commitIdle, e.o.CommitTimeout), gateIdle
	}
	if e.write, err = e.pool(ctx, writePoolSize, e.session(e.citus, e.o.CommitTimeout, silent)); err != nil {
		return err
	}
	if e.read, err = e.pool(ctx, e.o.PoolSize, e.session(e.citus, e.o.StatementTimeout, idle)); err != nil {
		return err
	}
	e.sql = newStatements(e.own.leaves)
	if !e.citus {
		e.ring.Store(e.oneServer())
	} else if err := e.arrange(ctx); err != nil {
		return err
	} else if !e.o.ReadOnly {
		if err := e.checkSettings(ctx); err != nil {
			return err
		}
	}
	if e.o.Metrics != nil {
		c := newCollector(e, e.o.Metrics)
		if err := e.o.Metrics.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
		e.metrics = c
	}
	if e.o.Follow {
		e.follow()
	}
	return nil
}

// prepare looks at the schema or makes it. Only then it is known how connections
// are to be set.
func (e *Engine) prepare(ctx context.Context) error {
	p, err := e.pool(ctx, 1, e.session(e.citus, e.o.CommitTimeout, commitIdle))
	if err != nil {
		return err
	}
	defer p.Close()
	return e.migrate(ctx, p)
}

// begin admits a call; the caller ends it with e.running.Done.
func (e *Engine) begin(ctx context.Context) error {
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

// beginChange is begin for calls that write.
func (e *Engine) beginChange(ctx context.Context) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	if e.o.ReadOnly {
		e.running.Done()
		return ErrReadOnly
	}
	return nil
}

func (e *Engine) isClosing() bool {
	select {
	case <-e.closing:
		return true
	default:
		return false
	}
}

// Close ends the engine after the running views and commits. The reads of a
// running view fail with store.ErrClosed from now on.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.mu.Lock()
		e.closed = true
		e.mu.Unlock()
		close(e.closing)
		e.running.Wait()
		e.endings.Wait()
		e.endSnapshots(true)
		if e.metrics != nil {
			e.metrics.unregister()
		}
		pools := []*pgxpool.Pool{e.read, e.write}
		for _, to := range e.endpoints {
			pools = append(pools, to.read, to.write)
		}
		for _, p := range pools {
			if p != nil {
				p.Close()
			}
		}
	})
	return nil
}
