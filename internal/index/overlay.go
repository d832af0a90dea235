package index

import (
	"bytes"
	"context"
	"hash/maphash"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/names"
)

// overlay holds rows that are not committed yet and may be asked for, so that the
// blocks of one batch see each other. Of a row that many of them change, such as
// a balance, only the last change is kept.
type overlay struct {
	rows  store.Changes
	names names.Table // of rows
	// below is the overlay of the batch that is being committed, if any.
	below *overlay
}

var seed = maphash.MakeSeed()

// hashOf is the hash of a row's key, as overlayKey has it.
func hashOf(key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

func newOverlay(below *overlay) *overlay { return &overlay{below: below} }

func overlayKey(buf []byte, k store.Key) []byte { return appendOverlayKey(buf[:0], k) }

func appendOverlayKey(buf []byte, k store.Key) []byte {
	buf = append(buf, k.Table.ID)
	buf = append(buf, k.Partition...) // of fixed length: no separator is needed
	return append(buf, k.Sort...)
}

// share lets it take changes of a block's, whose memory it holds from then on.
func (o *overlay) share(of *store.Changes) sharing { return sharing{o, of, o.rows.Share(of)} }

// sharing is how it comes to changes of a block's.
type sharing struct {
	o  *overlay
	of *store.Changes
	in store.Shared
}

func (s sharing) add(c *store.Change) {
	key := s.of.Key(c)
	hash := hashOf(key)
	if i := s.o.find(hash, key); i >= 0 {
		s.in.Replace(i, *c)
		return
	}
	s.o.names.Add(hash, s.o.rows.Len())
	s.in.Append(*c)
}

// copyOf is add of a change that stands in a list, of which it keeps a copy.
func (o *overlay) copyOf(hash uint32, of *store.Changes, c *store.Change) {
	i := o.find(hash, of.Key(c))
	o.rows.Copy(of, c)
	if i >= 0 { // it takes the place of the row's earlier change
		o.rows.MoveLast(i)
	} else {
		o.names.Add(hash, o.rows.Len()-1)
	}
}

// packBytes is from how much memory on it is packed.
const packBytes = 1 << 20

// pack lets the memory of changes go whose places others took, when it is most of all.
func (o *overlay) pack() {
	if o.rows.Held() < packBytes || o.rows.Held() < 2*o.rows.Bytes() {
		return
	}
	var packed store.Changes
	list := o.rows.List()
	packed.Reserve(len(list)+len(list)/4, 0)
	for i := range list {
		packed.Copy(&o.rows, &list[i])
	}
	o.rows = packed
}

// find is where a row's change stands, -1 if there is none.
func (o *overlay) find(hash uint32, key []byte) int {
	list := o.rows.List()
	return o.names.Find(hash, func(at int) bool { return bytes.Equal(o.rows.Key(&list[at]), key) })
}

// get returns a row's value, nil for one that is known not to be there.
func (o *overlay) get(hash uint32, key []byte) (value []byte, known bool) {
	for l := o; l != nil; l = l.below {
		if i := l.find(hash, key); i >= 0 {
			return l.value(i), true
		}
	}
	return nil, false
}

// own is get of this overlay alone.
func (o *overlay) own(k store.Key) (value []byte, known bool) {
	var buf [96]byte
	key := overlayKey(buf[:0], k)
	if i := o.find(hashOf(key), key); i >= 0 {
		return o.value(i), true
	}
	return nil, false
}

// value is what a change leaves of a row: nil if it is deleted, and only then.
func (o *overlay) value(i int) []byte {
	c := &o.rows.List()[i]
	if c.Delete {
		return nil
	}
	return o.rows.Value(c)
}

// commit adds the changes to a commit.
func (o *overlay) commit(b *store.Batch) {
	in, list := b.Changes().Share(&o.rows), o.rows.List()
	for i := range list {
		in.Append(list[i])
	}
}

// getMany answers from the overlay and from what was committed lately, and asks
// the store once for the rest.
func (o *overlay) getMany(ctx context.Context, lately *committed, engine store.Engine, keys []store.Key, q *questions) ([][]byte, error) {
	q.ask(keys)
	o.touch(q)
	out := make([][]byte, len(keys))
	var missing []store.Key
	var where []int
	var room []byte // of values that were remembered
	for i, k := range keys {
		key := q.key(i)
		v, known := o.get(q.hashes[i], key)
		if !known {
			room, v, known = lately.get(room, key)
		}
		if known {
			out[i] = v
			continue
		}
		missing = append(missing, k)
		where = append(where, i)
	}
	if len(missing) == 0 {
		return out, nil
	}
	values, err := store.Look(ctx, engine, missing)
	for i, v := range values {
		out[where[i]] = v
	}
	return out, err
}

// touch looks at the memory of the rows that are asked for, all at once: see
// store.Changes.Touch. Nine of ten are here, and each is somewhere else.
func (o *overlay) touch(q *questions) {
	list := o.rows.List()
	q.rows = q.rows[:0]
	for _, hash := range q.hashes {
		if place := o.names.Likely(hash); place >= 0 {
			q.rows = append(q.rows, list[place])
		}
	}
	o.rows.Touch(q.rows)
}

// questions are the keys of the rows that a block asks for.
type questions struct {
	text   []byte // of all keys, as overlayKey has them
	ends   []int  // of keys in text
	hashes []uint32
	rows   []store.Change // that may be the answers
}

func (q *questions) ask(keys []store.Key) {
	q.text, q.ends, q.hashes = q.text[:0], q.ends[:0], q.hashes[:0]
	for i := range keys {
		from := len(q.text)
		q.text = appendOverlayKey(q.text, keys[i])
		q.ends = append(q.ends, len(q.text))
		q.hashes = append(q.hashes, hashOf(q.text[from:]))
	}
}

func (q *questions) key(i int) []byte {
	from := 0
	if i > 0 {
		from = q.ends[i-1]
	}
	return q.text[from:q.ends[i]]
}
