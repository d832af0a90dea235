package upstream

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"chainexplorer/internal/explorer/chain"
)

// keeper keeps results that cannot change any more, bounded by bytes, least recently
// used ones leaving first. Errors are never kept.
type keeper struct {
	max     int64
	metrics *Metrics
	now     func() time.Time

	mu    sync.Mutex // guards what follows
	size  int64
	byKey map[entryKey]*list.Element
	order list.List // of *entry, most recently used first
}

// entryKey holds the number of forks that the index went through, so that a fork
// orphans everything at once.
type entryKey struct {
	at  chain.Revision
	key digest
}

type entry struct {
	key    entryKey
	result json.RawMessage
	since  time.Time
}

// life is how long a result is kept at most. Most of what nodes say cannot be held
// against anything: a lie must not last.
const life = 10 * time.Minute

// entryOverhead is about what an entry takes beside its result.
const entryOverhead = 200 + sha256.Size

func (e *entry) size() int64 { return int64(len(e.result)) + entryOverhead }

func newKeeper(max int64, m *Metrics, now func() time.Time) *keeper {
	return &keeper{max: max, metrics: m, now: now, byKey: map[entryKey]*list.Element{}}
}

func (k *keeper) enabled() bool { return k.max > 0 }

func (k *keeper) get(key entryKey) (json.RawMessage, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	el := k.byKey[key]
	if el == nil {
		return nil, false
	}
	e := el.Value.(*entry)
	if k.now().Sub(e.since) >= life {
		k.remove(el)
		k.metrics.setKept(k.size, len(k.byKey))
		return nil, false
	}
	k.order.MoveToFront(el)
	return e.result, true
}

// put keeps a copy of a result: what it was cut from is given back to the nodes'
// budget.
func (k *keeper) put(key entryKey, result json.RawMessage) {
	e := &entry{key: key, result: result, since: k.now()}
	if e.size() > k.max/16 {
		return
	}
	e.result = bytes.Clone(result)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKey[key] != nil {
		return
	}
	k.byKey[key] = k.order.PushFront(e)
	k.size += e.size()
	for k.size > k.max {
		k.remove(k.order.Back())
	}
	k.metrics.setKept(k.size, len(k.byKey))
}

// remove needs mu.
func (k *keeper) remove(el *list.Element) {
	old := k.order.Remove(el).(*entry)
	delete(k.byKey, old.key)
	k.size -= old.size()
}
