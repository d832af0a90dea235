// Package pages remembers where the pages of lists begin, for callers who ask for them by number.
//
// Callers share nothing: where one of them is in a list is nobody else's business, and none can
// push another out of its walk, but for all together that have more pages than there is room for.
//
// Costs: a page takes about 200 bytes and is found, remembered and dropped under one mutex; dropping a
// list looks at all pages of its caller.
package pages

import (
	"container/list"
	"sync"
	"time"

	"chainexplorer/internal/explorer/block"
)

// Bounds are those of a table.
type Bounds struct {
	All    int // pages of all callers
	Caller int // pages of one
	Life   time.Duration
}

// Key names a page of a caller's list.
type Key struct {
	Caller string
	List   [32]byte // a digest of what is asked for, and of the size of its pages
	Page   uint64
}

// Mark is where a page begins.
type Mark struct {
	// Top is the newest block of the list. While the chain has it, the list is as it was.
	Top block.Ref
	// After is where the page before ended, in a list that is walked.
	After []byte
	// Total is how many rows the list has; nil when nobody counted.
	Total *uint64
}

type remembered struct {
	key  Key
	mark Mark
	at   time.Time
	all  *list.Element // in the order of use of all
	own  *list.Element // and of its caller
}

// Table remembers where pages begin, those asked for lately. It is safe for concurrent use.
type Table struct {
	now    func() time.Time
	bounds Bounds

	mu      sync.Mutex // guards what follows
	entries map[Key]*remembered
	all     *list.List            // the most recently used first
	callers map[string]*list.List // likewise, of each caller; none is empty
}

// New makes an empty table.
func New(now func() time.Time, b Bounds) *Table {
	return &Table{now: now, bounds: b, entries: map[Key]*remembered{}, all: list.New(), callers: map[string]*list.List{}}
}

// Len is how many pages are remembered.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

// Get returns where a page begins.
func (t *Table) Get(key Key) (Mark, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	if e == nil {
		return Mark{}, false
	}
	now := t.now()
	if now.Sub(e.at) > t.bounds.Life {
		t.remove(e)
		return Mark{}, false
	}
	e.at = now
	t.all.MoveToFront(e.all)
	t.callers[key.Caller].MoveToFront(e.own)
	return e.mark, true
}

// Put remembers where a page begins.
func (t *Table) Put(key Key, m Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.entries[key]; old != nil {
		t.remove(old)
	}
	own := t.callers[key.Caller]
	if own == nil {
		own = list.New()
		t.callers[key.Caller] = own
	}
	e := &remembered{key: key, mark: m, at: t.now()}
	e.all, e.own = t.all.PushFront(e), own.PushFront(e)
	t.entries[key] = e
	if own.Len() > t.bounds.Caller {
		t.remove(own.Back().Value.(*remembered)) // all that the lists hold
	}
	if t.all.Len() > t.bounds.All {
		t.remove(t.all.Back().Value.(*remembered))
	}
}

// Forget drops the pages of a caller's list.
func (t *Table) Forget(key Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.callers[key.Caller]
	if own == nil {
		return
	}
	for at := own.Front(); at != nil; {
		e := at.Value.(*remembered) // all that the lists hold
		at = at.Next()
		if e.key.List == key.List {
			t.remove(e)
		}
	}
}

func (t *Table) remove(e *remembered) {
	delete(t.entries, e.key)
	t.all.Remove(e.all)
	own := t.callers[e.key.Caller]
	own.Remove(e.own)
	if own.Len() == 0 {
		delete(t.callers, e.key.Caller)
	}
}
