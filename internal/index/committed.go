package index

import "chainexplorer/internal/store"

// committed remembers rows that this process committed lately and that blocks
// may ask for again, such as the balances of busy holders. It holds at most
// twice keepRows rows and keepBytes bytes, those that were written or asked for last. Whatever may
// have changed the store behind its back empties it: see Indexer.load.
type committed struct {
	// Rows of older are moved to newer when they are asked for. When newer is
	// full it becomes older, and what nobody asked for is gone.
	newer, older *overlay
}

const (
	keepRows = 1 << 16
	// keepBytes is of keys and values, also of those that others of their rows followed.
	keepBytes = 12 << 20
)

func (c *committed) forget() { c.newer, c.older = nil, nil }

// learn takes over the rows of a batch that was committed, of these tables. They are copied:
// what a batch holds is cut from the memory of whole blocks.
func (c *committed) learn(o *overlay, tables *[256]bool) {
	list := o.rows.List()
	for i := range list {
		if ch := &list[i]; tables[ch.ID] {
			c.put(hashOf(o.rows.Key(ch)), &o.rows, ch)
		}
	}
}

func (c *committed) put(hash uint32, of *store.Changes, ch *store.Change) {
	if c.newer == nil || c.newer.rows.Len() >= keepRows || c.newer.rows.Held() >= keepBytes {
		c.newer, c.older = newOverlay(nil), c.newer
	}
	c.newer.copyOf(hash, of, ch)
}

func (c *committed) get(hash uint32, key []byte) (value []byte, known bool) {
	if c.newer == nil {
		return nil, false
	}
	if i := c.newer.find(hash, key); i >= 0 {
		return c.newer.value(i), true
	}
	if c.older == nil {
		return nil, false
	}
	i := c.older.find(hash, key)
	if i < 0 {
		return nil, false
	}
	value = c.older.value(i)
	c.put(hash, &c.older.rows, &c.older.rows.List()[i])
	return value, true
}
