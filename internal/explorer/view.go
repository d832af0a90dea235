package explorer

import (
	"context"
	"errors"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Reader is one consistent view of an index. Whoever answers requests hands it from
// query to query and knows nothing of the store behind it.
type Reader = store.Reader

// Index is what views are opened on: a store, or whatever has one inside.
type Index interface {
	// View runs fn on one consistent view and returns what fn returned.
	View(ctx context.Context, fn func(Reader) error) error
}

// Commits is another number after everything that is written to an index, as
// store.Counter has it; false where that takes a view to tell.
func Commits(x Index) (uint64, bool) {
	if c, ok := x.(store.Counter); ok {
		return c.Commits(), true
	}
	return 0, false
}

// Unavailable says that an index could not be read, and may be again.
func Unavailable(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrStopped)
}

// Unreadable says that files of the index are not what was written, and that the same question
// gets no answer before somebody has mended them.
func Unreadable(err error) bool { return errors.Is(err, store.ErrDamaged) }

// Damaged says that a row was read and means nothing.
func Damaged(err error) bool { return errors.Is(err, record.ErrCorrupt) }
