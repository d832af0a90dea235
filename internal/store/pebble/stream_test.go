package pebble_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/storetest"
)

// laters is another table whose keys ascend.
var laters = &store.Table{ID: 9, Name: "laters", PartitionLen: 8, Ascending: true}

// openStreams opens a store whose streams are tables from the first row on.
func openStreams(t *testing.T, disk vfs.FS) (pebble.Engine, store.Lease) {
	t.Helper()
	o := pebble.MemOptions(disk, []*store.Table{heads, entries, laters})
	o.BulkBytes = 1
	e := openLog(t, o)
	return e, lease(t, e, "writer")
}

// streamed is a stream with a row of both ascending tables for each number.
func streamed(t *testing.T, e store.Streamer, numbers ...uint64) store.Stream {
	t.Helper()
	s := e.Stream()
	for _, n := range numbers {
		c := &store.Changes{}
		c.Put(laters, store.AppendUint64(nil, n), nil, []byte("later"))
		c.Put(entries, store.AppendUint64(nil, n), nil, payload(n))
		c.Put(heads, nil, nil, nil)
		if err := s.Add(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestStreamsLeaveNothing: however a stream ends, but by a commit, neither a file nor a
// goroutine is left of it. The test itself ends when no goroutine is left.
func TestStreamsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem()
		e, l := openStreams(t, disk)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		other, otherLease := openStreams(t, vfs.NewMem())
		batch := func(s store.Stream) *store.Batch {
			b := &store.Batch{Epoch: l.Epoch}
			b.Attach(s)
			return b
		}
		tables := []*store.Table{heads, entries, laters}
		for _, end := range []struct {
			name string
			by   func(s store.Stream) error
			want error
		}{
			{"dropped", func(s store.Stream) error { s.Drop(); return nil }, nil},
			{"a batch emptied", func(s store.Stream) error { batch(s).Reset(); return nil }, nil},
			{"canceled", func(s store.Stream) error { return e.Commit(canceled, batch(s)) }, context.Canceled},
			{"fenced", func(s store.Stream) error {
				b := batch(s)
				b.Epoch++
				return e.Commit(t.Context(), b)
			}, store.ErrFenced},
			{"invalid", func(s store.Stream) error {
				b := batch(s)
				b.Put(store.Key{Table: heads, Partition: []byte("none")}, nil)
				return e.Commit(t.Context(), b)
			}, store.ErrInvalid},
			{"rows beside it", func(s store.Stream) error {
				b := batch(s)
				b.Put(entryKey(1), nil)
				return e.Commit(t.Context(), b)
			}, store.ErrInvalid},
			{"falling keys", func(s store.Stream) error {
				c := &store.Changes{}
				c.Put(entries, make([]byte, 8), nil, nil)
				if err := s.Add(t.Context(), c); !errors.Is(err, store.ErrInvalid) {
					t.Errorf("falling keys: %v", err)
				}
				return e.Commit(t.Context(), batch(s))
			}, store.ErrInvalid},
			{"another store", func(s store.Stream) error {
				b := batch(s)
				b.Epoch = otherLease.Epoch
				return other.Commit(t.Context(), b)
			}, store.ErrInvalid},
		} {
			s := streamed(t, e, 1, 2, 3)
			if synctest.Wait(); len(commitFiles(t, disk)) != 2 {
				t.Fatalf("%s: there are the files %s, want two", end.name, commitFiles(t, disk))
			}
			if err := end.by(s); !errors.Is(err, end.want) {
				t.Errorf("%s: %v, want %v", end.name, err, end.want)
			}
			if left := commitFiles(t, disk); left != nil {
				t.Errorf("%s: %s are left", end.name, left)
			}
			if lines, err := storetest.Dump(t.Context(), e, tables); err != nil || len(lines) > 0 {
				t.Errorf("%s: %d rows are there, %v", end.name, len(lines), err)
			}
		}
		b := batch(streamed(t, e, 1, 2, 3))
		if err := e.Commit(t.Context(), b); err != nil {
			t.Error(err)
		}
		if lines, err := storetest.Dump(t.Context(), e, tables); err != nil || len(lines) != 6 {
			t.Errorf("%d rows are there, %v", len(lines), err)
		}
		streamed(t, e, 4, 5) // nobody ends it
		for _, e := range []pebble.Engine{e, other} {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if left := commitFiles(t, disk); left != nil {
			t.Errorf("a closed store leaves %s", left)
		}
	})
}

// TestStreamAwaitsRoom: a stream begins no file while the disk has too little room.
func TestStreamAwaitsRoom(t *testing.T) {
	disk := vfs.NewMem()
	o := pebble.MemOptions(disk, logs)
	o.BulkBytes, o.MinFree = 1, 100<<20
	e := openLog(t, o)
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 99 << 20, TotalBytes: 1 << 40})
	ctx, cancel := context.WithCancel(t.Context())
	added := make(chan error, 1)
	s := e.Stream()
	go func() {
		c := &store.Changes{}
		c.Put(entries, make([]byte, 8), nil, nil)
		added <- s.Add(ctx, c)
	}()
	eventually(t, "the pause", func() bool { _, paused := e.Paused(); return paused })
	if files := commitFiles(t, disk); files != nil {
		t.Errorf("%s are there", files)
	}
	cancel()
	if err := <-added; !errors.Is(err, context.Canceled) {
		t.Errorf("a stream that was given up: %v", err)
	}
	s.Drop()
}

// TestStreamAfterFailure: a stream whose disk fails tells so and holds nobody up.
func TestStreamAfterFailure(t *testing.T) {
	var full atomic.Bool
	e, l := openStreams(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errDisk
		}
		return nil
	})))
	s, left := streamed(t, e, 1), streamed(t, e, 1)
	full.Store(true)
	var err error
	for n := uint64(2); err == nil; n++ {
		c := &store.Changes{}
		c.Put(entries, store.AppendUint64(nil, n), nil, payload(n))
		err = s.Add(t.Context(), c)
	}
	if !errors.Is(err, store.ErrStopped) {
		t.Errorf("add on a full disk: %v", err)
	}
	b := &store.Batch{Epoch: l.Epoch}
	b.Attach(s)
	if err := e.Commit(t.Context(), b); !errors.Is(err, store.ErrStopped) {
		t.Errorf("commit on a full disk: %v", err)
	}
	s.Drop()
	if err := e.Close(); !errors.Is(err, store.ErrStopped) {
		t.Errorf("close: %v", err)
	}
	left.Drop()
}

// TestStreamHoldsNothing: what a stream has written is let go while it is open.
func TestStreamHoldsNothing(t *testing.T) {
	e, _ := openStreams(t, vfs.NewMem())
	s := e.Stream()
	const lists = 200
	var gone atomic.Int64
	for n := range uint64(lists) {
		c := &store.Changes{}
		c.Put(entries, store.AppendUint64(nil, n), nil, payload(n))
		runtime.AddCleanup(c, func(struct{}) { gone.Add(1) }, struct{}{})
		if err := s.Add(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the end of lists that were written", func() bool {
		runtime.GC()
		return gone.Load() > lists-10
	})
	s.Drop()
}
