package voyager

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	"chainexplorer/internal/explorer/block"
)

// The bounds of the table of pages.
const (
	maxPages       = 32_768 // of all callers
	maxPagesCaller = 1_024  // of a key
	pageLife       = 10 * time.Minute
)

// pageKey names a page of a caller's list. Callers share nothing: where one of them is in a list
// is nobody else's business, and none can push another out of its walk.
type pageKey struct {
	caller string
	query  [sha256.Size]byte // of what is asked for, and the size of its pages
	page   uint64
}

// mark is where a page begins.
type mark struct {
	// top is the newest block of the list. While the chain has it, the list is as it was.
	top block.Ref
	// after is where the page before ended, in a list that is walked.
	after []byte
	// total is how many rows the list has; nil when nobody counted.
	total *uint64
}

type remembered struct {
	key  pageKey
	mark mark
	at   time.Time
	all  *list.Element // in the order of use of all
	own  *list.Element // and of its caller
}

// pageTable remembers where pages begin, those asked for lately. It is safe for concurrent use.
type pageTable struct {
	now              func() time.Time
	most, mostCaller int

	mu      sync.Mutex // guards what follows
	entries map[pageKey]*remembered
	all     *list.List            // the most recently used first
	callers map[string]*list.List // likewise, of each caller; none is empty
}

func newPageTable(now func() time.Time) *pageTable {
	return &pageTable{now: now, most: maxPages, mostCaller: maxPagesCaller, entries: map[pageKey]*remembered{}, all: list.New(), callers: map[string]*list.List{}}
}

// get returns where a page begins.
func (t *pageTable) get(key pageKey) (mark, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	if e == nil {
		return mark{}, false
	}
	now := t.now()
	if now.Sub(e.at) > pageLife {
		t.remove(e)
		return mark{}, false
	}
	e.at = now
	t.all.MoveToFront(e.all)
	t.callers[key.caller].MoveToFront(e.own)
	return e.mark, true
}

// put remembers where a page begins.
func (t *pageTable) put(key pageKey, m mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.entries[key]; old != nil {
		t.remove(old)
	}
	own := t.callers[key.caller]
	if own == nil {
		own = list.New()
		t.callers[key.caller] = own
	}
	e := &remembered{key: key, mark: m, at: t.now()}
	e.all, e.own = t.all.PushFront(e), own.PushFront(e)
	t.entries[key] = e
	if own.Len() > t.mostCaller {
		t.remove(own.Back().Value.(*remembered)) // all that the lists hold
	}
	if t.all.Len() > t.most {
		t.remove(t.all.Back().Value.(*remembered))
	}
}

// forget drops the pages of a caller's list.
func (t *pageTable) forget(key pageKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.callers[key.caller]
	if own == nil {
		return
	}
	for at := own.Front(); at != nil; {
		e := at.Value.(*remembered) // all that the lists hold
		at = at.Next()
		if e.key.query == key.query {
			t.remove(e)
		}
	}
}

func (t *pageTable) remove(e *remembered) {
	delete(t.entries, e.key)
	t.all.Remove(e.all)
	own := t.callers[e.key.caller]
	own.Remove(e.own)
	if own.Len() == 0 {
		delete(t.callers, e.key.caller)
	}
}
