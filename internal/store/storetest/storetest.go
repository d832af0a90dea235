// Package storetest is the contract of store.Engine as tests. Every engine
// runs the whole suite; an engine that passes it can be exchanged for another
// without anyone noticing but the clock.
//
// The package also compares stores row by row (Dump, Digest, Diff), which
// tests elsewhere use to say that two ways led to the same index.
package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/store"
)

// Store is one empty store that the suite may open, close and open again.
type Store struct {
	// Open opens the store, or opens it again after Close. The suite closes
	// what it opened.
	Open func(t *testing.T) store.Engine
	// OpenCopy opens what Checkpoint wrote to dir, with the same tables.
	OpenCopy func(t *testing.T, dir string) store.Engine
	// CopyDir returns a path for a checkpoint that does not exist yet.
	CopyDir func(t *testing.T) string
	// Clock is the clock that the engine's leases follow; nil when the engine
	// has one of its own, which leaves out the tests of leases that run out.
	Clock *Clock
	// Brief asks for fewer random commits against the model, which come one after the
	// other: the race detector has seen them all after a few.
	Brief bool
	// Shared says that the store may be open more than once, as in several
	// processes, which adds the tests of two engines on one store.
	Shared bool
}

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at a fixed moment.
func NewClock() *Clock { return &Clock{now: time.Unix(1_700_000_000, 0)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// The tables of the suite: ids next to each other, both ends of the range of
// ids, and partitions of no, one and many bytes.
var (
	single = &store.Table{ID: 1, Name: "single", PartitionLen: 0}
	narrow = &store.Table{ID: 2, Name: "narrow", PartitionLen: 1, Listed: true}
	wide   = &store.Table{ID: 3, Name: "wide", PartitionLen: 32, Present: true} // a hint, not a promise
	series = &store.Table{ID: 4, Name: "series", PartitionLen: 1, Listed: true, SortLen: 1 + store.NumberBytes, Series: true}
	last   = &store.Table{ID: 254, Name: "last", PartitionLen: 2, Ascending: true} // as above
)

// Tables returns the tables that every store of the suite has.
func Tables() []*store.Table { return []*store.Table{single, narrow, wide, series, last} }

// Run runs the suite. newStore makes a new, empty store for each test.
func Run(t *testing.T, newStore func(t *testing.T, tables []*store.Table) Store) {
	tests := []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"Rows", testRows},
		{"Each", testEach},
		{"Boundaries", testBoundaries},
		{"Scans", testScans},
		{"InvalidUse", testInvalidUse},
		{"Ownership", testOwnership},
		{"Model", testModel},
		{"Walk", testWalk},
		{"LargeValues", testLargeValues},
		{"ManyRows", testManyRows},
		{"BatchOrder", testBatchOrder},
		{"ConsistentViews", testConsistentViews},
		{"ConcurrentReaders", testConcurrentReaders},
		{"ViewError", testViewError},
		{"Fencing", testFencing},
		{"Lease", testLease},
		{"LeaseExpiry", testLeaseExpiry},
		{"EpochsAcrossOpens", testEpochsAcrossOpens},
		{"LeaseNames", testLeaseNames},
		{"LeaseNamesExpire", testLeaseNamesExpire},
		{"LeaseNamesAcrossOpens", testLeaseNamesAcrossOpens},
		{"LeaseNamesBounded", testLeaseNamesBounded},
		{"LeasesAtOnce", testLeasesAtOnce},
		{"TwoEngines", testTwoEngines},
		{"TwoEnginesNames", testTwoEnginesNames},
		{"Durability", testDurability},
		{"Checkpoint", testCheckpoint},
		{"Compact", testCompact},
		{"Stats", testStats},
		{"Counter", testCounter},
		{"Cutter", testCutter},
		{"Series", testSeries},
		{"Streamer", testStreamer},
		{"StreamerRefusals", testStreamerRefusals},
		{"Announcer", testAnnouncer},
		{"Cancel", testCancel},
		{"UseAfterClose", testUseAfterClose},
		{"CloseDuringViews", testCloseDuringViews},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, newStore(t, Tables())) })
	}
}

// writer commits under one lease and fails the test when it cannot.
type writer struct {
	t      *testing.T
	engine store.Engine
	lease  store.Lease
}

// open opens the store and takes the lease.
func open(t *testing.T, s Store) *writer {
	t.Helper()
	e := s.Open(t)
	t.Cleanup(func() { _ = e.Close() })
	l, err := e.Acquire(t.Context(), store.Writer, "suite", time.Hour)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	return &writer{t: t, engine: e, lease: l}
}

func (w *writer) commit(fill func(b *store.Batch)) {
	w.t.Helper()
	b := &store.Batch{Epoch: w.lease.Epoch}
	fill(b)
	if err := w.engine.Commit(w.t.Context(), b); err != nil {
		w.t.Fatalf("commit: %v", err)
	}
}

func (w *writer) put(k store.Key, value string) {
	w.t.Helper()
	w.commit(func(b *store.Batch) { b.Put(k, []byte(value)) })
}

func (w *writer) view(fn func(ctx context.Context, r store.Reader)) {
	w.t.Helper()
	view(w.t, w.engine, fn)
}

func view(t *testing.T, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) error {
		fn(t.Context(), r)
		return nil
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
}

func key(t *store.Table, partition, sort string) store.Key {
	return store.Key{Table: t, Partition: []byte(partition), Sort: []byte(sort)}
}

// scan collects a scan as "sort=value" strings.
func scan(ctx context.Context, r store.Reader, rg store.Range) ([]string, error) {
	var rows []string
	for row, err := range r.Scan(ctx, rg) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, fmt.Sprintf("%s=%s", row.Sort, row.Value))
	}
	return rows, nil
}
