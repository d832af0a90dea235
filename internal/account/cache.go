package account

import "sync"

const (
	shards = 16
	// generation is how many entries of a shard are younger than its last turn.
	generation = 2048
)

// cache is a bounded map from digests or tags. A shard keeps two generations: when the
// young one is full it becomes the old one, and the old one is forgotten. That
// bounds it to 2*shards*generation entries, and an entry that is written again
// at times (each valid one is, twice a second) never gets lost.
type cache[K digest | tag, E any] struct {
	shards [shards]shard[K, E]
}

type shard[K digest | tag, E any] struct {
	mu         sync.RWMutex
	young, old map[K]E // guarded by mu
}

func newCache[K digest | tag, E any]() *cache[K, E] {
	c := &cache[K, E]{}
	for i := range c.shards {
		c.shards[i].young, c.shards[i].old = map[K]E{}, map[K]E{}
	}
	return c
}

func (c *cache[K, E]) shard(d *K) *shard[K, E] { return &c.shards[(*d)[0]%shards] }

func (c *cache[K, E]) get(d *K) (E, bool) {
	s := c.shard(d)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e, ok := s.young[*d]; ok {
		return e, true
	}
	e, ok := s.old[*d]
	return e, ok
}

func (c *cache[K, E]) put(d *K, e E) {
	s := c.shard(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[*d]; !ok && len(s.young) >= generation {
		clear(s.old)
		s.young, s.old = s.old, s.young
	}
	s.young[*d] = e
}

func (c *cache[K, E]) drop(d *K) {
	s := c.shard(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.young, *d)
	delete(s.old, *d)
}

func (c *cache[K, E]) len() int {
	n := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.RLock()
		n += len(s.young) + len(s.old)
		s.mu.RUnlock()
	}
	return n
}
