package pebble

import (
	"context"
	"sync"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"
)

// To open and to close an iterator takes about as long as to find a row with it: it looks at every level,
// and opens a table of each. Requests ask for a few rows of the same state, one after the other, so that
// iterators of it are used again. They keep tables and memtables of their time from being let go, hence
// none is kept for long.

const (
	// keptIterators is how many of a kind are kept: for so many reads at a time.
	keptIterators = 4
	// keptFor is for how long they are kept at most.
	keptFor = time.Second
)

// iterators are those of one state that nobody uses. The zero value is ready.
type iterators struct {
	mu     sync.Mutex
	idle   [2][]*lsm.Iterator // guarded by mu: by kind
	timer  *time.Timer        // guarded by mu: closes them in a while; nil where there are none
	closed bool               // guarded by mu: none is kept any more

	closing sync.WaitGroup // of those whose time is over
}

// kind is what an iterator is for.
type kind int

const (
	unfiltered  kind = iota
	withFilters      // looks at the filters of the bottom level, for rows that may not be there
)

// take returns an iterator over what is from lower on and below upper; nil is no bound. It is for one
// goroutine, which gives it back.
func (s *iterators) take(ctx context.Context, view *lsm.Snapshot, k kind, lower, upper []byte) (*lsm.Iterator, error) {
	if it := s.last(k); it != nil {
		it.SetContext(ctx)
		it.SetBounds(lower, upper)
		return it, nil
	}
	return view.NewIterWithContext(ctx, &lsm.IterOptions{LowerBound: lower, UpperBound: upper, UseL6Filters: k == withFilters})
}

// last is the one that was given back last; nil where there is none.
func (s *iterators) last(k kind) *lsm.Iterator {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle[k])
	if n == 0 {
		return nil
	}
	it := s.idle[k][n-1]
	s.idle[k][n-1] = nil
	s.idle[k] = s.idle[k][:n-1]
	return it
}

// give takes an iterator back, and returns what went wrong with it. What it showed is not looked at any more.
func (s *iterators) give(it *lsm.Iterator, k kind) error {
	if it.Error() != nil {
		return it.Close() // which returns it
	}
	it.SetContext(context.Background())
	if s.keep(it, k) {
		return nil
	}
	return it.Close()
}

func (s *iterators) keep(it *lsm.Iterator, k kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.idle[k]) >= keptIterators {
		return false
	}
	s.idle[k] = append(s.idle[k], it)
	if s.timer == nil {
		s.timer = time.AfterFunc(keptFor, s.expire)
	}
	return true
}

// expire closes those that nobody uses.
func (s *iterators) expire() {
	s.mu.Lock()
	idle := s.idle
	if s.timer != nil {
		s.timer.Stop() // it would keep the state in memory
	}
	s.idle, s.timer = [2][]*lsm.Iterator{}, nil
	s.closing.Add(1)
	s.mu.Unlock()
	defer s.closing.Done()
	for _, list := range idle {
		for _, it := range list {
			it.Close() //nolint:errcheck // nothing went wrong with it
		}
	}
}

// close is expire for good, when nobody reads the state any more.
func (s *iterators) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.expire()
	s.closing.Wait()
}
