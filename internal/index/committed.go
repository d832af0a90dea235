package index

import "chainexplorer/internal/store"

// committed remembers rows that this process committed lately and that blocks
// may ask for again, such as the balances of busy holders. It holds at most
// twice keepRows rows, those that were written or asked for last. Whatever may
// have changed the store behind its back empties it: see Indexer.load.
type committed struct {
	// Rows of older are moved to newer when they are asked for. When newer is
	// full it becomes older, and what nobody asked for is gone.
	newer, older map[string][]byte // nil is a row that was deleted
}

const keepRows = 1 << 16

func (c *committed) forget() { c.newer, c.older = nil, nil }

// learn takes over the rows of a batch that was committed, of these tables.
func (c *committed) learn(o *overlay, tables *[256]bool) {
	for key, i := range o.at {
		if op := &o.ops[i]; tables[op.Table.ID] {
			c.put(key, own(rowValue(op)))
		}
	}
}

// own copies a value: what a batch holds is cut from the memory of whole blocks.
func own(value []byte) []byte {
	if value == nil {
		return nil
	}
	return append(make([]byte, 0, len(value)), value...)
}

func (c *committed) put(key string, value []byte) {
	if c.newer == nil || len(c.newer) >= keepRows {
		c.newer, c.older = map[string][]byte{}, c.newer
	}
	c.newer[key] = value
}

func (c *committed) get(k store.Key) (value []byte, known bool) {
	var buf [96]byte
	key := overlayKey(buf[:0], k)
	if value, known = c.newer[string(key)]; known {
		return value, true
	}
	if value, known = c.older[string(key)]; known {
		c.put(string(key), value)
	}
	return value, known
}
