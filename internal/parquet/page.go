package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// What pages are, and how their values are encoded. The numbers are those of the format.
const (
	dataPage       = 0
	dictionaryPage = 2

	plainEncoding      = 0
	hybridEncoding     = 3
	dictionaryEncoding = 8

	zstdCodec = 6
)

// page is what the indexes say of a page.
type page struct {
	bounds
	rows    int64
	levels  int64 // values, with those that are missing and lists that are empty
	missing int64 // of these
	lengths int64 // sum of the lengths of texts
	size    int   // in the file
}

// chunk is the pages of a column in a row group.
type chunk struct {
	page         // all of them together
	pages []page // of data
	data  []byte // the same as they go into the file
	// dictionary is the page that goes before them.
	dictionary []byte
	unpacked   int64 // the size of all pages, had they not been packed
	indexed    int   // pages of which the values are in the dictionary
	offset     int64 // in the file
	// dictionarySize is that of its page, 0 without one.
	dictionarySize int
}

const (
	// packWindow is how far back a match is looked for.
	packWindow = 1 << 20
	// mostPage is how large a page can be, by a single list.
	mostPage = math.MaxInt32 - 1<<20
)

// packer packs pages of all files. It has memory for as many at once as there are processors.
var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
		zstd.WithWindowSize(packWindow), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options do not go together
	}
	return e
})

// endPage packs the page that is being filled.
func (c *Column) endPage() {
	if c.page.rows == 0 {
		return
	}
	raw := c.w.raw[:0]
	if c.List {
		raw = appendLevels(raw, c.repetitions.end())
	}
	if c.List || c.Optional {
		raw = appendLevels(raw, c.definitions.end())
	}
	encoding := int32(plainEncoding)
	if c.dict != nil && !c.plain && len(c.dict.entries) > 0 {
		encoding = dictionaryEncoding
		h := &c.w.indexes
		h.reset(max(1, bits.Len(uint(len(c.dict.entries)-1))))
		for _, i := range c.indexes {
			h.put(i)
		}
		raw = append(append(raw, byte(h.width)), h.end()...)
		c.chunk.indexed++
	} else {
		raw = append(raw, c.values...)
	}
	c.w.raw = raw

	at := len(c.chunk.data)
	c.chunk.data = c.appendPage(c.chunk.data, raw, dataPage, int32(c.page.levels), encoding, hybridEncoding, hybridEncoding)
	p := c.page
	p.size = len(c.chunk.data) - at
	p.min, p.max = slices.Clone(p.min), slices.Clone(p.max)
	c.chunk.pages = append(c.chunk.pages, p)
	c.chunk.rows += p.rows
	c.chunk.levels += p.levels
	c.chunk.missing += p.missing
	c.chunk.lengths += p.lengths
	if p.any {
		c.chunk.add(&c.Type, p.min)
		c.chunk.add(&c.Type, p.max)
	}
	c.beginPage()
}

func (c *Column) beginPage() {
	c.page = page{bounds: bounds{min: c.page.min, max: c.page.max}}
	c.values, c.indexes, c.bits = c.values[:0], c.indexes[:0], 0
	c.repetitions.reset(1)
	c.definitions.reset(1)
}

// endDictionary packs the dictionary, if anything is in it.
func (c *Column) endDictionary() {
	if c.dict == nil || len(c.dict.entries) == 0 {
		return
	}
	c.chunk.dictionary = c.appendPage(c.chunk.dictionary, c.dict.values, dictionaryPage, int32(len(c.dict.entries)), plainEncoding)
}

// headerOf is the field of a page's header that has what the kind of page has.
var headerOf = map[int32]int16{dataPage: 5, dictionaryPage: 7}

// appendPage packs a page and appends it behind its header.
func (c *Column) appendPage(b, raw []byte, kind int32, header ...int32) []byte {
	if len(raw) > mostPage {
		c.w.fail(fmt.Errorf("a page of %s would have %d bytes, of at most %d", c.Name, len(raw), mostPage)) //nolint:errcheck // it is kept
		return b
	}
	c.w.packed = packer().EncodeAll(raw, c.w.packed[:0])
	t := thrift{b: b}
	t.beginItem()
	t.int32(1, kind)
	t.int32(2, int32(len(raw)))
	t.int32(3, int32(len(c.w.packed)))
	t.int32(4, int32(crc32.ChecksumIEEE(c.w.packed)))
	t.begin(headerOf[kind])
	for i, n := range header {
		t.int32(int16(i+1), n)
	}
	t.end()
	t.end()
	c.chunk.unpacked += int64(len(t.b) - len(b) + len(raw))
	return append(t.b, c.w.packed...)
}

// appendLevels appends levels with their length before them.
func appendLevels(b, levels []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(levels))), levels...)
}

// endChunk gives what the footer says of the chunk, and begins the next one in the memory of
// its pages.
func (c *Column) endChunk() chunk {
	done := c.chunk
	c.chunk = chunk{data: done.data[:0], dictionary: done.dictionary[:0]}
	done.dictionarySize = len(done.dictionary)
	done.size = len(done.dictionary) + len(done.data)
	done.dictionary, done.data = nil, nil
	c.plain = false
	if c.dict != nil {
		c.dict.reset()
	}
	return done
}
