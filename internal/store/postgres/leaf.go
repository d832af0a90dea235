package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"

	"chainexplorer/internal/store"
)

// Rows lie in leaves: a row of the SQL table holds neighbours of one partition,
// in order, under the key of the first. The leaves of a partition do not overlap,
// so the leaf of a key is the last one that begins at or before it. A leaf of one
// row has that row's value as it is. In others each row is
//
//	how many bytes of its key are those of the row before, and how many follow;
//	these; the length of the value; the value
//
// with numbers as varints; the first row has no key, because it stands beside.
const (
	// leafBytes is how large a leaf becomes before it is cut, unless one row is larger.
	// A change of a row writes its leaf; twice as large saves a twentieth of the room.
	leafBytes = 1000
	rowBytes  = 3 // about what a row takes beside its key and value
	// leafRows keeps the number of rows in an int2.
	leafRows = 4000
)

var errLeaf = errors.New("a leaf of the store is damaged")

// pair is a row of a partition.
type pair struct {
	key, value []byte
}

// leaf is a row of the SQL table.
type leaf struct {
	partition []byte // led by the table's id
	first     []byte
	rows      int
	value     []byte
}

// cursor reads the rows of a leaf in order. Its key is valid until the next step.
type cursor struct {
	key, value []byte
	rest       []byte
	left       int
	single     bool
	begun      bool
}

func (l *leaf) cursor() cursor {
	return cursor{key: append(make([]byte, 0, len(l.first)+16), l.first...), rest: l.value, left: l.rows, single: l.rows == 1}
}

// next goes to the next row. A leaf that is damaged has an end that is not one.
func (c *cursor) next() (bool, error) {
	if c.left <= 0 {
		if len(c.rest) > 0 || !c.begun {
			return false, errLeaf
		}
		return false, nil
	}
	c.left--
	if c.single {
		c.value, c.rest, c.begun = c.rest, nil, true
		return true, nil
	}
	if c.begun {
		shared, suffix, ok := c.number(), c.number(), true
		if ok = shared <= uint64(len(c.key)) && suffix <= uint64(len(c.rest)); !ok {
			return false, errLeaf
		}
		c.key = append(c.key[:shared], c.rest[:suffix]...)
		c.rest = c.rest[suffix:]
	}
	c.begun = true
	n := c.number()
	if n > uint64(len(c.rest)) {
		return false, errLeaf
	}
	c.value, c.rest = c.rest[:n:n], c.rest[n:]
	return true, nil
}

// number takes a varint off the rest; one that is damaged is longer than any rest.
func (c *cursor) number() uint64 {
	n, size := binary.Uvarint(c.rest)
	if size <= 0 {
		return 1 << 63
	}
	c.rest = c.rest[size:]
	return n
}

// find is the value of a key, or nil. A value that is there is not nil.
func (l *leaf) find(key []byte) ([]byte, error) {
	for c := l.cursor(); ; {
		ok, err := c.next()
		if !ok {
			return nil, err
		}
		switch bytes.Compare(c.key, key) {
		case 0:
			return solid(c.value), nil
		case 1:
			return nil, nil
		}
	}
}

// pairs are all rows of a leaf, in memory that belongs to them.
func (l *leaf) pairs() ([]pair, error) {
	out := make([]pair, 0, l.rows)
	keys := make([]byte, 0, l.rows*(len(l.first)+8))
	for c := l.cursor(); ; {
		ok, err := c.next()
		if !ok {
			return out, err
		}
		at := len(keys)
		keys = append(keys, c.key...) // when it moves, what was handed out stays
		out = append(out, pair{keys[at:len(keys):len(keys)], c.value})
	}
}

// common is how many bytes two keys share at their beginning.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// makeLeaf packs rows, of which there is at least one.
func makeLeaf(partition []byte, rows []pair) leaf {
	l := leaf{partition: partition, first: rows[0].key, rows: len(rows), value: rows[0].value}
	if len(rows) == 1 {
		return l
	}
	size := 0
	for _, r := range rows {
		size += len(r.key) + len(r.value) + 2*rowBytes
	}
	b := make([]byte, 0, size)
	for i, r := range rows {
		if i > 0 {
			shared := common(rows[i-1].key, r.key)
			b = binary.AppendUvarint(b, uint64(shared))
			b = binary.AppendUvarint(b, uint64(len(r.key)-shared))
			b = append(b, r.key[shared:]...)
		}
		b = binary.AppendUvarint(b, uint64(len(r.value)))
		b = append(b, r.value...)
	}
	l.value = b
	return l
}

// cut makes leaves of the rows of a partition. Those that were added to at their
// end are filled, because more will come there; others are cut into equal parts.
func cut(partition []byte, rows []pair, atEnd bool) []leaf {
	sizes := make([]int, len(rows))
	total := 0
	for i, r := range rows {
		sizes[i] = len(r.key) + len(r.value) + rowBytes
		if i > 0 {
			sizes[i] -= common(rows[i-1].key, r.key)
		}
		total += sizes[i]
	}
	most := leafBytes
	if parts := total/leafBytes + 1; parts > 1 && !atEnd {
		most = total/parts + 1
	}
	var out []leaf
	for start := 0; start < len(rows); {
		end, size := start+1, sizes[start]
		for end < len(rows) && size+sizes[end] <= most && end-start < leafRows {
			size += sizes[end]
			end++
		}
		out = append(out, makeLeaf(partition, rows[start:end]))
		start = end
	}
	return out
}

// merge applies changes, which are in order, to rows. It says whether all that is
// new lies behind what was there.
func merge(old []pair, ops []*store.Op) (rows []pair, atEnd bool) {
	rows = make([]pair, 0, len(old)+len(ops))
	atEnd = true
	i := 0
	for _, op := range ops {
		for i < len(old) && bytes.Compare(old[i].key, op.Sort) < 0 {
			rows = append(rows, old[i])
			i++
		}
		same := i < len(old) && bytes.Equal(old[i].key, op.Sort)
		if same {
			i++
		}
		if op.Delete {
			continue
		}
		if !same && i < len(old) {
			atEnd = false
		}
		rows = append(rows, pair{op.Sort, op.Value})
	}
	return append(rows, old[i:]...), atEnd
}
