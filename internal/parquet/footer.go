package parquet

import (
	"encoding/binary"
	"slices"
)

// How often a field is there. The numbers are those of the format.
const (
	required = 0
	optional = 1
	repeated = 2
)

// Orders of the bounds of pages. The numbers are those of the format.
const (
	unordered  = 0
	ascending  = 1
	descending = 2
)

const (
	// version is that of the format.
	version = 2
	// indexedBytes is how much of a bound an index of pages has: a felt as text is whole.
	indexedBytes = 66
	// boundBytes is the longest bound that the footer has. There are none beside a longer one.
	boundBytes = 4 << 10
)

// span is where something lies in the file.
type span struct{ offset, size int64 }

// footer writes the indexes of pages, and what readers begin with.
func (w *Writer) footer(keys []string, metadata map[string]string) {
	var columnIndexes, offsetIndexes []span
	index := func(list *[]span, write func(*thrift, *Column, *chunk)) {
		for i := range w.groups {
			for j := range w.groups[i].chunks {
				var t thrift
				t.beginItem()
				write(&t, w.columns[j], &w.groups[i].chunks[j])
				t.end()
				*list = append(*list, span{w.offset, int64(len(t.b))})
				w.write(t.b)
			}
		}
	}
	index(&columnIndexes, writeColumnIndex)
	index(&offsetIndexes, writeOffsetIndex)

	var t thrift
	t.beginItem()
	t.int32(1, version)
	w.writeSchema(&t)
	rows := int64(0)
	for i := range w.groups {
		rows += w.groups[i].rows
	}
	t.int64(3, rows)
	t.list(4, thriftStruct, len(w.groups))
	for i := range w.groups {
		n := i * len(w.columns)
		w.writeGroup(&t, &w.groups[i], columnIndexes[n:], offsetIndexes[n:])
	}
	t.list(5, thriftStruct, len(keys))
	for _, k := range keys {
		t.beginItem()
		t.string(1, k)
		t.string(2, metadata[k])
		t.end()
	}
	t.string(6, w.program)
	t.list(7, thriftStruct, len(w.columns)) // bounds are in the order of their type
	for range w.columns {
		t.beginItem()
		t.empty(1)
		t.end()
	}
	t.end()
	w.write(t.b)
	w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(t.b))), magic...))
}

// writeSchema writes the tree of columns, every node before what is below it.
func (w *Writer) writeSchema(t *thrift) {
	nodes := 1
	for _, c := range w.columns {
		nodes++
		if c.List {
			nodes += 2
		}
	}
	t.list(2, thriftStruct, nodes)
	group := func(name string, often int32, children int, converted int32, meaning meaning) {
		t.beginItem()
		if often >= 0 {
			t.int32(3, often)
		}
		t.string(4, name)
		t.int32(5, int32(children))
		if converted >= 0 {
			t.int32(6, converted)
			t.begin(10)
			t.empty(int16(meaning))
			t.end()
		}
		t.end()
	}
	group(w.schema, -1, len(w.columns), -1, noMeaning)
	for _, c := range w.columns {
		name, often := c.Name, int32(required)
		switch {
		case c.Optional:
			often = optional
		case c.List:
			group(c.Name, required, 1, convertedList, list)
			group(listNode, repeated, 1, -1, noMeaning)
			name = elementNode
		}
		c.Type.writeNode(t, name, often)
	}
}

// What the nodes below a list are called.
const (
	listNode    = "list"
	elementNode = "element"
)

// convertedList is a list for readers that are older than logical types.
const convertedList = 3

func (y *Type) writeNode(t *thrift, name string, often int32) {
	t.beginItem()
	t.int32(1, int32(y.physical))
	if y.physical == fixed {
		t.int32(2, int32(y.width))
	}
	t.int32(3, often)
	t.string(4, name)
	if y.converted >= 0 {
		t.int32(6, y.converted)
	}
	if y.meaning == decimal {
		t.int32(7, 0)
		t.int32(8, int32(y.digits))
	}
	if y.meaning != noMeaning {
		t.begin(10)
		t.begin(int16(y.meaning))
		switch y.meaning {
		case decimal:
			t.int32(1, 0)
			t.int32(2, int32(y.digits))
		case timestamp:
			t.bool(1, true) // UTC
			t.begin(2)
			t.empty(1) // milliseconds
			t.end()
		case integer:
			t.int8(1, int8(8*y.width))
			t.bool(2, !y.unsigned)
		}
		t.end()
		t.end()
	}
	t.end()
}

func (w *Writer) writeGroup(t *thrift, g *rowGroup, columnIndexes, offsetIndexes []span) {
	unpacked, packed := int64(0), int64(0)
	t.beginItem()
	t.list(1, thriftStruct, len(g.chunks))
	for i := range g.chunks {
		k := &g.chunks[i]
		unpacked, packed = unpacked+k.unpacked, packed+int64(k.size)
		t.beginItem()
		t.int64(2, 0) // nothing says of what
		t.begin(3)
		w.columns[i].writeChunk(t, k)
		t.end()
		t.int64(4, offsetIndexes[i].offset)
		t.int32(5, int32(offsetIndexes[i].size))
		t.int64(6, columnIndexes[i].offset)
		t.int32(7, int32(columnIndexes[i].size))
		t.end()
	}
	t.int64(2, unpacked)
	t.int64(3, g.rows)
	t.int64(5, g.chunks[0].offset)
	t.int64(6, packed)
	t.end()
}

func (c *Column) writeChunk(t *thrift, k *chunk) {
	t.int32(1, int32(c.Type.physical))
	encodings, plain := []int64{plainEncoding, hybridEncoding}, len(k.pages)-k.indexed
	if k.indexed > 0 {
		encodings = append(encodings, dictionaryEncoding)
	}
	t.numbers(2, thriftInt32, encodings)
	if c.List {
		t.list(3, thriftBinary, 3)
		t.item(c.Name)
		t.item(listNode)
		t.item(elementNode)
	} else {
		t.list(3, thriftBinary, 1)
		t.item(c.Name)
	}
	t.int32(4, zstdCodec)
	t.int64(5, k.levels)
	t.int64(6, k.unpacked)
	t.int64(7, int64(k.size))
	t.int64(9, k.offset+int64(k.dictionarySize))
	if k.dictionarySize > 0 {
		t.int64(11, k.offset)
	}
	t.begin(12)
	t.int64(3, k.missing)
	if k.any && len(k.min) <= boundBytes && len(k.max) <= boundBytes {
		t.bytes(5, k.max)
		t.bytes(6, k.min)
		t.bool(7, true) // they are what they say, and not rounded
		t.bool(8, true)
	}
	t.end()
	stats := [][3]int32{{dataPage, plainEncoding, int32(plain)}, {dataPage, dictionaryEncoding, int32(k.indexed)}, {dictionaryPage, plainEncoding, int32(min(k.dictionarySize, 1))}}
	stats = slices.DeleteFunc(stats, func(s [3]int32) bool { return s[2] == 0 })
	t.list(13, thriftStruct, len(stats))
	for _, s := range stats {
		t.beginItem()
		t.int32(1, s[0])
		t.int32(2, s[1])
		t.int32(3, s[2])
		t.end()
	}
	t.begin(16)
	if c.Type.physical == byteArray {
		t.int64(1, k.lengths)
	}
	if c.List {
		t.numbers(2, thriftInt64, []int64{k.rows, k.levels - k.rows})
	}
	if c.List || c.Optional {
		t.numbers(3, thriftInt64, []int64{k.missing, k.levels - k.missing})
	}
	t.end()
}

// writeColumnIndex writes what readers skip pages by.
func writeColumnIndex(t *thrift, c *Column, k *chunk) {
	t.list(1, thriftTrue, len(k.pages))
	for i := range k.pages {
		if k.pages[i].any {
			t.b = append(t.b, thriftFalse)
		} else {
			t.b = append(t.b, thriftTrue) // nothing but null
		}
	}
	rounded := make([]bounds, len(k.pages))
	for i := range k.pages {
		b := k.pages[i].bounds
		if b.any && c.Type.physical == byteArray {
			b.min, b.max = cut(b.min, indexedBytes), atLeast(b.max, indexedBytes)
		}
		if !b.any {
			b.min, b.max = nil, nil
		}
		rounded[i] = b
	}
	t.list(2, thriftBinary, len(rounded))
	for _, b := range rounded {
		t.item(string(b.min))
	}
	t.list(3, thriftBinary, len(rounded))
	for _, b := range rounded {
		t.item(string(b.max))
	}
	t.int32(4, c.Type.order(rounded))
	var missing, repetitions, definitions []int64
	for i := range k.pages {
		p := &k.pages[i]
		missing = append(missing, p.missing)
		repetitions = append(repetitions, p.rows, p.levels-p.rows)
		definitions = append(definitions, p.missing, p.levels-p.missing)
	}
	t.numbers(5, thriftInt64, missing)
	if c.List {
		t.numbers(6, thriftInt64, repetitions)
	}
	if c.List || c.Optional {
		t.numbers(7, thriftInt64, definitions)
	}
}

// order tells how the bounds of pages follow one another.
func (y *Type) order(list []bounds) int32 {
	list = slices.DeleteFunc(slices.Clone(list), func(b bounds) bool { return !b.any })
	up, down := true, true
	for i := 1; i < len(list); i++ {
		least, most := y.compare(list[i-1].min, list[i].min), y.compare(list[i-1].max, list[i].max)
		up = up && least <= 0 && most <= 0
		down = down && least >= 0 && most >= 0
	}
	switch {
	case up:
		return ascending
	case down:
		return descending
	}
	return unordered
}

// writeOffsetIndex writes where pages lie.
func writeOffsetIndex(t *thrift, c *Column, k *chunk) {
	offset, row := k.offset+int64(k.dictionarySize), int64(0)
	t.list(1, thriftStruct, len(k.pages))
	for i := range k.pages {
		t.beginItem()
		t.int64(1, offset)
		t.int32(2, int32(k.pages[i].size))
		t.int64(3, row)
		t.end()
		offset += int64(k.pages[i].size)
		row += k.pages[i].rows
	}
	if c.Type.physical != byteArray {
		return
	}
	lengths := make([]int64, len(k.pages))
	for i := range k.pages {
		lengths[i] = k.pages[i].lengths
	}
	t.numbers(2, thriftInt64, lengths)
}
