package account

import "sync"

const (
	shards = 16
	// generation is how many entries of a shard are younger than its last turn.
	generation = 2048
)

// cache is a bounded map from digests. A shard keeps two generations: when the
// young one is full it becomes the old one, and the old one is forgotten. That
// bounds it to 2*shards*generation entries, and an entry that is written again
// at times (each valid one is, twice a second) never gets lost.
type cache[E any] struct {
	shards [shards]shard[E]
}

type shard[E any] struct {
	mu         sync.RWMutex
	young, old map[digest]E // guarded by mu
}

func newCache[E any]() *cache[E] {
	c := &cache[E]{}
	for i := range c.shards {
		c.shards[i].young, c.shards[i].old = map[digest]E{}, map[digest]E{}
	}
	return c
}

func (c *cache[E]) shard(d *digest) *shard[E] { return &c.shards[d[0]%shards] }

func (c *cache[E]) get(d *digest) (E, bool) {
	s := c.shard(d)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e, ok := s.young[*d]; ok {
		return e, true
	}
	e, ok := s.old[*d]
	return e, ok
}

func (c *cache[E]) put(d *digest, e E) {
	s := c.shard(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[*d]; !ok && len(s.young) >= generation {
		clear(s.old)
		s.young, s.old = s.old, s.young
	}
	s.young[*d] = e
}

func (c *cache[E]) drop(d *digest) {
	s := c.shard(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.young, *d)
	delete(s.old, *d)
}

func (c *cache[E]) len() int {
	n := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.RLock()
		n += len(s.young) + len(s.old)
		s.mu.RUnlock()
	}
	return n
}
