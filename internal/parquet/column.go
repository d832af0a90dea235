package parquet

import (
	"encoding/binary"
	"fmt"
)

const (
	// A page ends with the row in which it has so much, before it is packed.
	pageBytes = 256 << 10
	// indexBytes is what a value takes until then that is in the dictionary.
	indexBytes = 4
	// A column goes on without its dictionary, until the row group ends, when that has become
	// larger than this.
	dictionaryBytes = 2 << 20
)

// Field is a column of the schema.
type Field struct {
	Name string
	Type Type
	// Optional says that there may be no value, and List that there is a list of values, none
	// of which is missing. A column is at most one of them.
	Optional, List bool
	// Dictionary is for values of which many are equal.
	Dictionary bool
}

// Column takes the values of a column, one of each row in turn. It panics when it is given
// what its field does not say.
type Column struct {
	Field
	w *Writer

	dict  *dictionary
	plain bool // the dictionary has become too large

	// What is in the page that is being filled.
	page        page
	values      []byte
	indexes     []uint32
	bits        int    // in the values, where they are bits
	repetitions hybrid // whether a value goes on with a list
	definitions hybrid // whether there is a value

	left    int // values that the open list still lacks
	scratch [8]byte
	chunk   chunk
}

// Bool takes a value.
func (c *Column) Bool(v bool) {
	c.scratch[0] = 0
	if v {
		c.scratch[0] = 1
	}
	c.put(boolean, c.scratch[:1])
}

// Int32 takes a value.
func (c *Column) Int32(v int32) {
	binary.LittleEndian.PutUint32(c.scratch[:], uint32(v))
	c.put(int32s, c.scratch[:4])
}

// Int64 takes a value; one of a Timestamp, too.
func (c *Column) Int64(v int64) {
	binary.LittleEndian.PutUint64(c.scratch[:], uint64(v))
	c.put(int64s, c.scratch[:])
}

// Uint64 takes a value.
func (c *Column) Uint64(v uint64) { c.Int64(int64(v)) }

// Text takes a value, which it copies.
func (c *Column) Text(v []byte) { c.put(byteArray, v) }

// Decimal takes a value, which it copies.
func (c *Column) Decimal(v []byte) { c.put(fixed, v) }

// Null says that a row has no value.
func (c *Column) Null() {
	if !c.Optional {
		panic(fmt.Sprintf("parquet: no value for %s, which has one in every row", c.Name))
	}
	c.begin()
	c.page.levels++
	c.page.missing++
	c.definitions.put(0)
}

// BeginList says how many values the list of a row has. They follow.
func (c *Column) BeginList(n int) {
	if !c.List || c.left > 0 {
		panic(fmt.Sprintf("parquet: no list of %s begins here", c.Name))
	}
	c.begin()
	c.left = n
	c.page.levels += int64(max(n, 1))
	c.repetitions.put(0)
	if n == 0 {
		c.page.missing++
		c.definitions.put(0)
		return
	}
	for range n - 1 {
		c.repetitions.put(1)
	}
	for range n {
		c.definitions.put(1)
	}
}

// begin begins a row. Pages end with rows, so that readers can skip to one.
func (c *Column) begin() {
	if c.dict != nil && !c.plain && len(c.dict.values) > dictionaryBytes {
		c.endPage()
		c.plain = true
	}
	if len(c.values)+indexBytes*len(c.indexes)+len(c.definitions.b)+len(c.repetitions.b) >= pageBytes {
		c.endPage()
	}
	c.page.rows++
}

// put takes a value as it is stored.
func (c *Column) put(p physical, v []byte) {
	if p != c.Type.physical || c.Type.width > 0 && len(v) != c.Type.width {
		panic(fmt.Sprintf("parquet: %d bytes of type %d for %s", len(v), p, c.Name))
	}
	switch {
	case c.List && c.left == 0:
		panic(fmt.Sprintf("parquet: a value for %s behind its list", c.Name))
	case c.List:
		c.left--
	default:
		c.begin()
		c.page.levels++
		if c.Optional {
			c.definitions.put(1)
		}
	}
	if p == byteArray {
		c.page.lengths += int64(len(v))
	}
	if c.dict != nil && !c.plain {
		i := c.dict.number(v)
		c.indexes = append(c.indexes, i)
		if e, page := &c.dict.entries[i], uint32(len(c.chunk.pages))+1; e.page != page {
			e.page = page
			c.page.add(&c.Type, v)
		}
		return
	}
	c.page.add(&c.Type, v)
	switch p {
	case boolean:
		if c.bits++; c.bits > 8*len(c.values) {
			c.values = append(c.values, 0)
		}
		c.values[len(c.values)-1] |= v[0] << ((c.bits - 1) % 8)
	case byteArray:
		c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
	default:
		c.values = append(c.values, v...)
	}
}
