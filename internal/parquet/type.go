package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// physical is how a value is stored. The numbers are those of the format.
type physical int32

const (
	boolean   physical = 0
	int32s    physical = 1
	int64s    physical = 2
	byteArray physical = 6
	fixed     physical = 7
)

// meaning is what a stored value stands for. The numbers are those of the format's union of
// logical types.
type meaning int16

const (
	noMeaning meaning = 0
	text      meaning = 1
	list      meaning = 3
	decimal   meaning = 5
	timestamp meaning = 8
	integer   meaning = 10
)

// Type is the type of a column's values.
type Type struct {
	physical physical
	meaning  meaning
	unsigned bool
	width    int // bytes of a value; 0 where each has its own
	digits   int // of a decimal
	// converted is what readers know the meaning as that are older than logical types; -1 for none.
	converted int32
}

// What values can be.
var (
	Bool   = Type{physical: boolean, width: 1, converted: -1}
	Int32  = Type{physical: int32s, meaning: integer, width: 4, converted: 17}
	Int64  = Type{physical: int64s, meaning: integer, width: 8, converted: 18}
	Uint64 = Type{physical: int64s, meaning: integer, unsigned: true, width: 8, converted: 14}
	// Timestamp is a moment: milliseconds since 1970, UTC.
	Timestamp = Type{physical: int64s, meaning: timestamp, width: 8, converted: 9}
	// Text is UTF-8.
	Text = Type{physical: byteArray, meaning: text, converted: 0}
)

// Decimal is a whole number of at most so many digits. Values are in two's complement, big
// endian, of as many bytes as the largest needs.
func Decimal(digits int) Type {
	width := int(math.Ceil((float64(digits)*math.Log2(10) + 1) / 8))
	return Type{physical: fixed, meaning: decimal, width: width, digits: digits, converted: 5}
}

// compare orders stored values, as readers do who skip by bounds.
func (t *Type) compare(a, b []byte) int {
	switch {
	case t.physical == int32s:
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
	case t.unsigned:
		return cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
	case t.physical == int64s:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	case t.meaning == decimal && a[0]^b[0] >= 0x80: // one of them is negative
		return cmp.Compare(b[0], a[0])
	}
	return bytes.Compare(a, b)
}
