package pebble

import (
	"context"
	"slices"
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
	keptIterators = 8
	// keptFor is for how long they are kept at most.
	keptFor = time.Second
)

// iterators are those of one state that nobody uses. The zero value is ready.
type iterators struct {
	mu     sync.Mutex
	idle   [2][]*iterator // guarded by mu: by kind, those given back last at the end
	timer  *time.Timer    // guarded by mu: closes them in a while; nil where there are none
	closed bool           // guarded by mu: none is kept any more

	closing sync.WaitGroup // of those whose time is over
}

// iterator is one that is used again, best for rows of the same table: the files where they are is what it has open.
type iterator struct {
	*lsm.Iterator
	kind  kind
	table byte
	key   keyBuffer // for the key that is looked for
}

// kind is what an iterator is for.
type kind int

const (
	unfiltered  kind = iota
	withFilters      // looks at the filters of the bottom level, for rows that may not be there
)

// take returns an iterator over what is from lower on and below upper; nil is no bound. It is for one
// goroutine, which gives it back.
func (s *iterators) take(ctx context.Context, view *lsm.Snapshot, k kind, table byte, lower, upper []byte) (*iterator, error) {
	if it := s.last(k, table); it != nil {
		it.table = table
		it.SetContext(ctx)
		it.SetBounds(lower, upper)
		return it, nil
	}
	it, err := view.NewIterWithContext(ctx, &lsm.IterOptions{LowerBound: lower, UpperBound: upper, UseL6Filters: k == withFilters})
	if err != nil {
		return nil, err
	}
	return &iterator{Iterator: it, kind: k, table: table}, nil
}

// last is the one that was given back last of those for the table, or else the one that nobody used for the longest time;
// nil where there are few, so that there will be one for each table that is looked at often.
func (s *iterators) last(k kind, table byte) *iterator {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.idle[k]
	i := len(list) - 1
	for i >= 0 && list[i].table != table {
		i--
	}
	if i < 0 {
		if len(list) < keptIterators/2 {
			return nil
		}
		i = 0
	}
	it := list[i]
	s.idle[k] = slices.Delete(list, i, i+1)
	return it
}

// give takes an iterator back, and returns what went wrong with it. What it showed is not looked at any more.
func (s *iterators) give(it *iterator) error {
	if it.Error() != nil {
		return it.Close() // which returns it
	}
	it.SetContext(context.Background())
	if s.keep(it) {
		return nil
	}
	return it.Close()
}

func (s *iterators) keep(it *iterator) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.idle[it.kind]
	if s.closed || len(list) >= keptIterators {
		return false
	}
	s.idle[it.kind] = append(list, it)
	if s.timer == nil {
		s.timer = time.AfterFunc(keptFor, s.expire)
	}
	return true
}

// expire closes those that nobody uses.
func (s *iterators) expire() {
	s.mu.Lock()
	over := s.idle
	if s.timer != nil {
		s.timer.Stop() // it would keep the state in memory
	}
	s.idle, s.timer = [2][]*iterator{}, nil
	s.closing.Add(1)
	s.mu.Unlock()
	defer s.closing.Done()
	for _, list := range over {
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
