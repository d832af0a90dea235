package decoded

import (
	"container/list"
	"context"
	"sync"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Cache keeps the ABIs that were used last, ready for decoding. A class is what
// its hash says, so that nothing in it goes stale; a class that could not be
// had is not kept. It is safe for concurrent use.
type Cache struct {
	events lru[*reading]
	calls  lru[*doors]
}

// NewCache makes a cache of about this many bytes for events, and as many for
// calls: a page needs one or the other, and neither pushes the other out.
func NewCache(bytes int) *Cache {
	return &Cache{lru[*reading]{limit: bytes}, lru[*doors]{limit: bytes}}
}

// lru keeps what was used last of classes.
type lru[T any] struct {
	limit int

	mu    sync.Mutex // guards what follows
	size  int
	order list.List // of *entry[T], the one used last in front
	items map[felt.Felt]*list.Element
}

type entry[T any] struct {
	hash  felt.Felt
	cost  int
	value T
}

// costOf estimates the memory of a schema by its stored form: names and types
// are slices of structs then.
func costOf(stored int) int { return 256 + 6*stored }

func (c *lru[T]) get(h *felt.Felt) (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[*h]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[T]).value, true
}

func (c *lru[T]) put(h felt.Felt, value T, cost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.items[h]; there || cost > c.limit {
		return
	}
	if c.items == nil {
		c.items = map[felt.Felt]*list.Element{}
	}
	c.items[h] = c.order.PushFront(&entry[T]{h, cost, value})
	c.size += cost
	for c.size > c.limit {
		last := c.order.Back()
		e := last.Value.(*entry[T])
		c.order.Remove(last)
		delete(c.items, e.hash)
		c.size -= e.cost
	}
}

// split tells the classes that are cached from those to be read, each once.
func (c *lru[T]) split(hashes []felt.Felt, known *byClass[T]) (wanted []felt.Felt) {
	known.reset()
	for i := range hashes {
		h := &hashes[i]
		if known.classes.Find(h) >= 0 {
			continue
		}
		k, cached := c.get(h)
		if !cached {
			wanted = append(wanted, *h)
		}
		known.set(h, k)
	}
	return wanted
}

// load says how to read the events of each class. Those that are not cached
// are read at once.
func (c *Cache) load(ctx context.Context, r store.Reader, hashes []felt.Felt, known *byClass[*reading]) (degraded bool) {
	wanted := c.events.split(hashes, known)
	if len(wanted) == 0 {
		return false
	}
	failed := &reading{failed: true}
	abis, errs, err := class.ABIsOf(ctx, r, wanted)
	for i, h := range wanted {
		k := failed
		switch {
		case err != nil || errs[i] != nil:
		case abis[i] == nil:
			k = &reading{}
		default:
			if one, err := newReading(abis[i]); err == nil {
				k = one
			}
		}
		if known.set(&h, k); k == failed {
			degraded = true
			continue
		}
		if abis[i] == nil {
			continue
		}
		if !abis[i].Status.Wanted() {
			c.events.put(h, k, costOf(len(abis[i].Schema)))
		}
	}
	return degraded
}
