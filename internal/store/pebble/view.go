package pebble

import (
	"context"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// snapshot is a durable state that views share. Pebble shows a batch to
// readers before it is synced; taking the snapshot when the sync has returned
// keeps a state that a crash could undo from being seen.
type snapshot struct {
	view  *lsm.Snapshot
	refs  int // guarded by Engine.mu; the engine itself holds one on the current
	shelf store.Shelf
	spare iterators
}

// publish makes next the state that views see. The caller holds the writer's
// token.
func (e *engine) publish(next *lsm.Snapshot) {
	e.mu.Lock()
	last := e.current
	e.current = &snapshot{view: next, refs: 1}
	e.mu.Unlock()
	e.release(last)
}

// release closes the snapshot after its last user. Closing may wait for a
// compaction to be planned, and for ever if the disk fails just then, so
// nobody waits for it but Close.
func (e *engine) release(s *snapshot) {
	e.mu.Lock()
	s.refs--
	unused := s.refs == 0
	e.mu.Unlock()
	if unused && e.stop.get() == nil {
		// The only error is that of closing twice.
		e.releases.Go(func() {
			s.spare.close()
			_ = s.view.Close()
		})
	}
}

// View runs fn on the last durable state. It works on an engine that has
// stopped, too.
func (e *engine) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	e.mu.Lock()
	s := e.current
	s.refs++
	e.mu.Unlock()
	defer e.release(s)
	return fn(&reader{engine: e, view: s.view, shelf: &s.shelf, spare: &s.spare})
}
