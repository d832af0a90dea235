package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// diskStore is an index in a directory that is read whatever becomes of the disk.
// Where there is no room to open it for writing it is opened for reading, and
// where a write has stopped it the last durable state is shown; reopen begins
// anew. Calls wait while it is being opened again.
type diskStore struct {
	options pebble.Options
	log     *slog.Logger

	mu     sync.Mutex
	engine pebble.Engine // guarded by mu; nil while it is being opened
	opened chan struct{} // guarded by mu; closed when engine or fault is set
	fault  error         // guarded by mu: why nothing is written, or nil
	past   uint64        // guarded by mu: commits of earlier engines
}

var _ store.Engine = (*diskStore)(nil)

// openDiskStore opens an index for writing, or for reading when the disk is full or
// a file is damaged. What can be read then is for each call to find out: this index
// must not keep those of other chains from being served.
func openDiskStore(ctx context.Context, o pebble.Options) (*diskStore, error) {
	d := &diskStore{options: o, log: o.Logger.With("store", o.Dir), opened: make(chan struct{})}
	if err := d.open(ctx); err != nil && !noRoom(err) && !pebble.Damaged(err) {
		return nil, err
	}
	return d, nil
}

// noRoom tells a full disk, or one whose quota is used up.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// open sets the engine, and returns why nothing can be written.
func (d *diskStore) open(ctx context.Context) error {
	e, err := openPebble(ctx, d.options)
	if err != nil && ctx.Err() == nil {
		// There may be nothing to read: then every call says why.
		reading := d.options
		reading.ReadOnly = true
		e, _ = openPebble(ctx, reading) //nolint:errcheck // the first error is the one to tell
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.engine, d.fault = e, err
	close(d.opened)
	if err != nil {
		d.log.Error("the index cannot be written", "err", err, "readable", e != nil)
	}
	return err
}

// stopped notes why the engine writes no more.
func (d *diskStore) stopped(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = err
}

// stands is why nothing is written until the store is opened again.
func (d *diskStore) stands() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault
}

// trouble tells the callers of the API why nothing new is indexed, or nothing.
func (d *diskStore) trouble() string {
	d.mu.Lock()
	e, fault := d.engine, d.fault
	d.mu.Unlock()
	if fault == nil && e != nil {
		fault = e.Stopped()
	}
	switch {
	case noRoom(fault):
		return "the disk is full: the index can be read, and goes on when there is room"
	case pebble.Damaged(fault) && e == nil:
		return "a file of the index is damaged, and it cannot be read: run fsck, and restore a backup or index again"
	case pebble.Damaged(fault):
		return "a file of the index is damaged: what is sound can be read; run fsck, and restore a backup or index again"
	case fault != nil:
		return "a write to the disk failed: the index can be read, and is being opened again"
	case e != nil:
		if s, paused := e.Paused(); paused {
			return "indexing is paused: " + s.String()
		}
		if l, lost := e.Lost(); lost {
			return l.String() + "; the blocks are being indexed again"
		}
	}
	return ""
}

const (
	// openingRoom is the least room with which it makes sense to open a store.
	openingRoom = 16 << 20
	roomPoll    = 2 * time.Second
	leastReopen = 5 * time.Second
	mostReopen  = 5 * time.Minute
)

// awaitRoom waits until opening again may help: until the disk that was full has
// room, and for the given time when something else failed.
func (d *diskStore) awaitRoom(ctx context.Context, wait time.Duration) error {
	full := noRoom(d.stands())
	if full {
		wait = roomPoll
	}
	for {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
		free, err := pebble.FreeSpace(d.options.Dir)
		if !full || err != nil || free >= max(d.options.MinFree, openingRoom) {
			return nil
		}
	}
}

// reopen closes the store and opens it for writing. Views that run when it is
// closed fail.
func (d *diskStore) reopen(ctx context.Context) error {
	d.mu.Lock()
	old := d.engine
	d.engine, d.opened = nil, make(chan struct{})
	if old != nil {
		d.past += old.Commits() + 1
	}
	d.mu.Unlock()
	if old != nil {
		old.Close() //nolint:errcheck // that it has stopped is known
	}
	return d.open(ctx)
}

// use calls fn with the engine, once there is one.
func (d *diskStore) use(ctx context.Context, fn func(pebble.Engine) error) error {
	d.mu.Lock()
	opened := d.opened
	d.mu.Unlock()
	select {
	case <-opened:
	case <-ctx.Done():
		return ctx.Err()
	}
	d.mu.Lock()
	e, fault := d.engine, d.fault
	d.mu.Unlock()
	switch {
	case e != nil:
		return fn(e)
	case fault != nil:
		return fault
	}
	return store.ErrClosed // it is being opened once more
}

// View serves store.Engine.
func (d *diskStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return d.use(ctx, func(e pebble.Engine) error { return e.View(ctx, fn) })
}

// Commit serves store.Engine.
func (d *diskStore) Commit(ctx context.Context, b *store.Batch) error {
	return d.use(ctx, func(e pebble.Engine) error { return e.Commit(ctx, b) })
}

// Acquire serves store.Engine.
func (d *diskStore) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (l store.Lease, err error) {
	err = d.use(ctx, func(e pebble.Engine) (err error) { l, err = e.Acquire(ctx, name, owner, ttl); return err })
	return l, err
}

// Renew serves store.Engine.
func (d *diskStore) Renew(ctx context.Context, held store.Lease, ttl time.Duration) (l store.Lease, err error) {
	err = d.use(ctx, func(e pebble.Engine) (err error) { l, err = e.Renew(ctx, held, ttl); return err })
	return l, err
}

// Release serves store.Engine.
func (d *diskStore) Release(ctx context.Context, l store.Lease) error {
	return d.use(ctx, func(e pebble.Engine) error { return e.Release(ctx, l) })
}

// Stats serves store.Engine.
func (d *diskStore) Stats(ctx context.Context) (s store.Stats, err error) {
	err = d.use(ctx, func(e pebble.Engine) (err error) { s, err = e.Stats(ctx); return err })
	return s, err
}

// Checkpoint serves store.Engine.
func (d *diskStore) Checkpoint(ctx context.Context, dir string) error {
	return d.use(ctx, func(e pebble.Engine) error { return e.Checkpoint(ctx, dir) })
}

// Compact serves store.Engine.
func (d *diskStore) Compact(ctx context.Context) error {
	return d.use(ctx, func(e pebble.Engine) error { return e.Compact(ctx) })
}

// Commits rises with every commit and with every opening: as long as it stays the
// same, so does what a new view sees.
func (d *diskStore) Commits() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.engine == nil {
		return d.past
	}
	return d.past + d.engine.Commits()
}

// Close serves store.Engine.
func (d *diskStore) Close() error {
	d.mu.Lock()
	e := d.engine
	d.mu.Unlock()
	if e == nil {
		return nil
	}
	if err := e.Close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	return nil
}
