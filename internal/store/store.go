// Package store is the ordered-table interface that the read model is written
// against. Two engines serve it: store/pebble on one machine, store/postgres
// on many; store/storetest holds the contract that both must keep.
//
// A row's address is (table, partition, sort). The partition is what a query
// asks about, sort orders the rows inside it, and both compare as bytes.
// Scans never cross a partition, so that an engine may spread partitions over
// machines. A partition has a fixed length per table, which lets an engine
// join partition and sort without a separator.
//
// A Batch copies the rows that it is given, and those of its cuts belong to it until the
// commit returns; slices that a Reader returns belong to the caller, except where a method
// says otherwise.
package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Table is one ordered table. Subjects declare theirs as package variables,
// and an engine is opened with the list of all of them.
type Table struct {
	ID           byte   // unique in an index, neither 0 nor 255; the first byte of an embedded key
	Name         string // unique, a valid SQL identifier in lower case
	PartitionLen int    // bytes of every partition of this table
	// Present says that GetMany is asked only for rows that are there, whose keys
	// were found in other rows: an engine need not look first whether they can be.
	Present bool
	// Ascending says that a new row's key is behind those of all rows that are there,
	// but for blocks that are indexed again after a fork. An engine may lay rows that
	// come together down where they are to stay. The ids of such tables are above those
	// of all others: an engine that merges what lies between two keys would otherwise
	// be at their place most of the time.
	Ascending bool
	// Listed says that rows are read by scans, hardly ever by their whole keys: an engine
	// need not be quick to say that one is not there.
	Listed bool
	// SortLen is the length of every sort of this table, or 0 where they differ.
	SortLen int
	// Series says that a sort ends with a number of eight bytes, big endian, and that rows
	// that agree in all before it, a series, come in the order of that number. An engine
	// may keep those of settled batches together: see Batch.Settled.
	Series bool
}

// NumberBytes is the length of the number that a sort of a series ends with.
const NumberBytes = 8

// Key is the address of a row.
type Key struct {
	Table     *Table
	Partition []byte
	Sort      []byte
}

// Row is one row of a scan. Its slices are valid until the next step.
type Row struct {
	Sort  []byte
	Value []byte
}

// Entry is one row of a walk. Its slices are valid until the next step.
type Entry struct {
	Partition []byte
	Sort      []byte
	Value     []byte
}

// Range is a bounded part of one partition: From is included, To is not, nil
// is open (an empty To that is not nil holds no rows). Limit must be positive.
type Range struct {
	Table     *Table
	Partition []byte
	From, To  []byte
	Reverse   bool
	Limit     int
}

// Visitor looks at one row of Reader.Each.
type Visitor func(i int, value []byte) error

// Reader reads one consistent view. It is safe for concurrent use while the
// View call that handed it out runs, and must not be kept after it.
type Reader interface {
	// Get returns the row's value, or ErrNotFound.
	Get(ctx context.Context, k Key) ([]byte, error)
	// GetMany returns the values in the order of ks, nil for a row that is not
	// there, in one round trip. A row with an empty value is not nil.
	GetMany(ctx context.Context, ks []Key) ([][]byte, error)
	// Each shows the rows of ks that are there to visitors, in one round trip, in
	// no order: where many rows are read to take little of each, nothing is copied.
	// Rows may be shared out among goroutines, each of which makes a visitor of its
	// own. It is given the row's place in ks and its value, which it must not keep
	// or change. The first error of a visitor ends it and is returned.
	Each(ctx context.Context, ks []Key, visitor func() Visitor) error
	// Scan yields at most r.Limit rows in key order, or in reverse.
	Scan(ctx context.Context, r Range) iter.Seq2[Row, error]
	// Walk yields all rows of a table by partition and sort, starting behind
	// after when it is not nil. It is for checks and copies, never for a request.
	Walk(ctx context.Context, t *Table, after *Key) iter.Seq2[Entry, error]
}

// Engine keeps the tables of one chain.
type Engine interface {
	// View runs fn on one consistent view: no commit shows half. It returns
	// what fn returned. The view holds every commit that returned before the
	// call and none that was not durable.
	View(ctx context.Context, fn func(Reader) error) error
	// Commit applies the batch atomically and durably if b.Epoch is the epoch
	// of the current lease of the name b.Lease, and fails with ErrFenced,
	// changing nothing, if not. A lease stays current after it ran out, until
	// another of its name is granted or it is released. After an error that is not one of this package's the batch may
	// or may not have been applied, never a part of it. A canceled context
	// stops a commit that has not begun to write, not one that has.
	Commit(ctx context.Context, b *Batch) error

	// Acquire takes the lease of a name (see CheckLeaseName) for ttl. It fails
	// with ErrLeaseHeld while another owner's has not run out. Every success has
	// a higher epoch than all of this name before it, also when the owner is the
	// same. Leases of different names have nothing to do with each other: nobody
	// waits for the holder of another, nor can fence it off. A store remembers
	// every name, for its epoch's sake, and refuses a new one beyond MaxLeases.
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (Lease, error)
	// Renew extends a lease by ttl from now, or fails with ErrFenced when a
	// newer one of its name was granted or it was released. A lease that ran out
	// but was not followed by another can be renewed.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)
	// Release ends a lease early. Releasing one that is no longer current is no error.
	Release(ctx context.Context, l Lease) error

	// Stats reports the engine's size and work.
	Stats(ctx context.Context) (Stats, error)
	// Checkpoint writes a consistent copy of the store to dir, which must not
	// exist. The copy can be opened as a store of its own.
	Checkpoint(ctx context.Context, dir string) error
	// Compact rewrites the store to its smallest form.
	Compact(ctx context.Context) error
	// Close ends the engine. It waits for running views, whose reads may fail
	// with ErrClosed from then on; it must not be called inside a view. All
	// other calls fail with ErrClosed after it, and closing again is no error.
	Close() error
}

// Counter is an Engine that can tell without a view that nothing was committed.
// What is made of views can be kept by its number.
type Counter interface {
	// Commits is another number after every commit of this process that returned,
	// and after others' as soon as the engine knows of them. Where it cannot know,
	// it is another with every call.
	Commits() uint64
}

// Cutter is an Engine that takes batches with cuts. One that is none refuses them
// with ErrInvalid.
type Cutter interface {
	// TakesCuts does nothing: to have it is the ability.
	TakesCuts()
}

// Streamer is an Engine that writes rows of ascending tables down while the batch that they
// belong to is being gathered, so that nobody has to hold them, and packs rows of series, so
// that they take less memory. One that is none refuses batches with a stream with ErrInvalid.
type Streamer interface {
	// Stream begins one. It has to be committed with a batch or dropped.
	Stream() Stream
}

// Stream takes rows of ascending tables and of series that are to be committed with a batch:
// see Batch.Attach. Until then no view has them.
type Stream interface {
	// Add takes the changes of ascending tables and of series out of a list, which must not
	// be reset any more, and leaves the others. The keys of a table have to ascend from
	// change to change and from list to list, and the numbers of a series, of which no row
	// goes: where they do not it fails with ErrInvalid, of a series also later, when the
	// batch is committed. After an error the stream cannot be committed.
	Add(ctx context.Context, c *Changes) error
	// Bytes is the size of all keys and values that it took.
	Bytes() int
	// Held is how much memory they take.
	Held() int
	// Drop gives them up. When the stream has ended it does nothing.
	Drop()
}

// Announcer is an Engine whose store other processes write to, and which hears of it.
type Announcer interface {
	// Changes has a value soon after commits under the lease of a name, by whatever
	// process; those that follow one another closely may share one. The channel is
	// closed when ctx or the engine ends.
	Changes(ctx context.Context, lease string) <-chan struct{}
}

// Lease is the right to commit under a name. Name and Epoch go into every batch.
type Lease struct {
	Name    string
	Owner   string
	Epoch   uint64
	Expires time.Time
}

// Stats is what an engine knows of itself.
type Stats struct {
	DiskBytes   uint64 // what the store takes on disk now
	MemoryBytes uint64 // caches and buffers
	Commits     uint64 // since the engine was opened
	CommitBytes uint64 // keys and values given to Commit since then
	MergedBytes uint64 // that merging what is stored has written since then
	BulkRows    uint64 // that large commits left to be merged since then, one for what lies together
}

// The errors of an engine. Others are faults of the machine.
var (
	ErrInvalid   = errors.New("invalid use of the store")
	ErrNotFound  = errors.New("row not found")
	ErrFenced    = errors.New("commit refused: another process holds a newer lease")
	ErrLeaseHeld = errors.New("another process holds the lease")
	ErrClosed    = errors.New("store is closed")
	ErrStopped   = errors.New("the store has stopped") // after a fault of the disk; open it again
	// ErrDamaged: what is stored there is not what was written; other rows may be sound.
	ErrDamaged = errors.New("the store is damaged")
	// ErrUnavailable: the server of the store cannot be asked; the same may work later.
	ErrUnavailable = errors.New("the store cannot be reached")
)

// Looker is an engine for which a view that reads once is cheaper when it knows that.
type Looker interface {
	// Look returns what GetMany of a new view would.
	Look(ctx context.Context, ks []Key) ([][]byte, error)
}

// Look reads rows of one new view.
func Look(ctx context.Context, e Engine, ks []Key) (values [][]byte, err error) {
	if l, ok := e.(Looker); ok {
		return l.Look(ctx, ks)
	}
	err = e.View(ctx, func(r Reader) error {
		values, err = r.GetMany(ctx, ks)
		return err
	})
	return values, err
}
