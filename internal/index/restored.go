package index

import "chainexplorer/internal/store"

// restored are the rows that get back what they were before blocks that are undone. Blocks
// come newest first, so that of a row which many of them changed the value before the
// oldest is kept.
type restored struct {
	keys   register
	values [][]byte // nil for a row that was not there
	bytes  int      // of keys and values
}

// add takes over what a block found.
func (r *restored) add(back *TakenBack) {
	found := &back.again.keys
	for _, n := range back.written {
		value := back.again.value(n)
		at, known := r.keys.numberOf(found.list[n].hash, found.at(n))
		if known {
			r.bytes += len(value) - len(r.values[at])
			r.values[at] = value
			continue
		}
		r.values = append(r.values, value)
		r.bytes += len(r.keys.at(at)) + len(value)
	}
}

// put adds the changes to a commit.
func (r *restored) put(tables *[256]*store.Table, b *store.Batch) {
	for i, value := range r.values {
		k := r.keys.key(i, tables[r.keys.at(i)[0]])
		if value == nil {
			b.Delete(k)
		} else {
			b.Put(k, value)
		}
	}
}
