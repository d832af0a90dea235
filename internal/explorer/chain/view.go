package chain

import (
	"context"
	"sync/atomic"

	"chainexplorer/internal/explorer"
)

// View runs fn on one consistent view of an index, with its state, which fn may not
// change: views of one state share it. It costs what Read does.
func View(ctx context.Context, x explorer.Index, fn func(r explorer.Reader, s *State) error) error {
	return x.View(ctx, func(r explorer.Reader) error {
		s, err := shared(ctx, r)
		if err != nil {
			return err
		}
		return fn(r, s)
	})
}

// RevisionMemo remembers the revision of one index for as long as nothing is written.
type RevisionMemo struct{ last atomic.Pointer[revisionAfter] }

// revisionAfter is the revision of an index after so many commits.
type revisionAfter struct {
	commits  uint64
	revision Revision
}

// Now reads the revision of an index, or remembers it where the index can
// tell without a view that nothing was written.
func (m *RevisionMemo) Now(ctx context.Context, x explorer.Index) (Revision, error) {
	commits, told := explorer.Commits(x) // before the view, which may be newer but not older
	if k := m.last.Load(); told && k != nil && k.commits == commits {
		return k.revision, nil
	}
	return m.read(ctx, x, commits, told)
}

// read is apart so that what is remembered costs no allocation.
func (m *RevisionMemo) read(ctx context.Context, x explorer.Index, commits uint64, told bool) (now Revision, err error) {
	err = x.View(ctx, func(r explorer.Reader) error {
		now, err = Now(ctx, r)
		return err
	})
	if told && err == nil {
		m.last.Store(&revisionAfter{commits, now})
	}
	return now, err
}
