package gateway

import (
	"sync"

	"chainexplorer/internal/gateway/method"
)

const (
	mib = 1 << 20

	// maxBody is the largest request: a transaction that declares the largest class
	// that the network takes, several times over.
	maxBody = 8 * mib
	// maxBatchAnswer bounds the answers of a batch together.
	maxBatchAnswer = method.MaxBatchBytes
	// batchAtOnce is how many calls of a batch are at work together, where a key has
	// that many places.
	batchAtOnce = 8
	// maxCalls bounds the calls at work. A key and a workspace have as many places as on
	// the other routes, apart from those; calls that wait for a node hold theirs.
	maxCalls = 1024

	// smallBytes is what every call may have in memory without asking.
	smallBytes = 64 << 10
	// roomBytes bounds larger bodies and answers in memory, of all callers, and
	// roomOfKey those of one key.
	roomBytes, roomOfKey = 512 * mib, 128 * mib
)

// room is memory that callers share. It is safe for concurrent use.
type room struct {
	all, each int64

	mu   sync.Mutex // guards what follows
	used int64
	by   map[string]int64 // by key; none at zero
}

func newRoom(all, each int64) *room { return &room{all: all, each: each, by: map[string]int64{}} }

// take asks for room for so many bytes; the small ones are free. give must be called
// when they are not needed any more, unless ok is false.
func (r *room) take(key string, bytes int64) (give func(), ok bool) {
	if bytes <= smallBytes {
		return func() {}, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+bytes > r.all || r.by[key]+bytes > r.each {
		return nil, false
	}
	r.used += bytes
	r.by[key] += bytes
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.used -= bytes
		if r.by[key] -= bytes; r.by[key] <= 0 {
			delete(r.by, key)
		}
	}, true
}
