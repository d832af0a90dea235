package kernel

import (
	"sync"
	"time"
)

// buckets are token buckets: each holds up to a number of tokens, fills evenly,
// and is full when it is new. At most so many are kept; who comes beyond that
// shares one with all others beyond.
type buckets[K comparable] struct {
	now  func() time.Time
	most int

	mu    sync.Mutex // guards what follows
	by    map[K]*bucket
	rest  *bucket
	swept time.Time
}

type bucket struct {
	left float64
	at   time.Time // when left was that much
}

// pace is how a bucket fills: perMinute tokens, of which it holds burst at most.
// A burst is never above a minute's worth, so that a bucket that nobody used for
// a minute is full and can be forgotten.
type pace struct{ perMinute, burst int }

func newBuckets[K comparable](now func() time.Time, most int) *buckets[K] {
	return &buckets[K]{now: now, most: most, by: map[K]*bucket{}}
}

// take spends tokens. When there are too few it spends none and says how long it
// takes until there are enough.
func (b *buckets[K]) take(key K, tokens int, p pace) (wait time.Duration, ok bool) {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	t, capacity := b.fill(key, p, now)
	missing := min(float64(tokens), capacity) - t.left
	if missing > 0 {
		return time.Duration(missing / float64(p.perMinute) * float64(time.Minute)), false
	}
	t.left -= float64(tokens)
	return 0, true
}

// give puts tokens back.
func (b *buckets[K]) give(key K, tokens int, p pace) {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	t, capacity := b.fill(key, p, now)
	t.left = min(capacity, t.left+float64(tokens))
}

// fill returns a bucket with what it holds now.
func (b *buckets[K]) fill(key K, p pace, now time.Time) (t *bucket, capacity float64) {
	capacity = float64(max(min(p.burst, p.perMinute), 1))
	if t = b.by[key]; t == nil {
		if t = b.rest; len(b.by) < b.most || b.sweep(now) {
			t = &bucket{left: capacity, at: now}
			b.by[key] = t
		} else if t == nil {
			t = &bucket{left: capacity, at: now}
			b.rest = t
		}
	}
	if since := now.Sub(t.at); since > 0 {
		t.left = min(capacity, t.left+since.Minutes()*float64(p.perMinute))
	}
	t.at = now
	return t, capacity
}

// sweep forgets full buckets, at most once a second, and says whether there is
// room then.
func (b *buckets[K]) sweep(now time.Time) bool {
	if since := now.Sub(b.swept); since >= 0 && since < time.Second {
		return false
	}
	b.swept = now
	for key, t := range b.by {
		if since := now.Sub(t.at); since >= time.Minute || since < 0 {
			delete(b.by, key)
		}
	}
	return len(b.by) < b.most
}
