package parquet

import "encoding/binary"

// Types of fields in Thrift's compact protocol, in which everything is written that is not
// a value.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift writes structs. The fields of one come in the order of their numbers.
type thrift struct {
	b    []byte
	last int16   // field of the struct that is open
	open []int16 // the same of those around it
}

func (t *thrift) field(id int16, kind byte) {
	if step := id - t.last; step > 0 && step <= 15 {
		t.b = append(t.b, byte(step)<<4|kind)
	} else {
		t.b = binary.AppendVarint(append(t.b, kind), int64(id))
	}
	t.last = id
}

func (t *thrift) int8(id int16, v int8) {
	t.field(id, thriftByte)
	t.b = append(t.b, byte(v))
}

func (t *thrift) int32(id int16, v int32) {
	t.field(id, thriftInt32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) int64(id int16, v int64) {
	t.field(id, thriftInt64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) bool(id int16, v bool) {
	if v {
		t.field(id, thriftTrue)
	} else {
		t.field(id, thriftFalse)
	}
}

func (t *thrift) bytes(id int16, v []byte) {
	t.field(id, thriftBinary)
	t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...)
}

func (t *thrift) string(id int16, v string) {
	t.field(id, thriftBinary)
	t.item(v)
}

// list begins a list of n items, which follow.
func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
	} else {
		t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
	}
}

// item is a text of a list.
func (t *thrift) item(v string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...)
}

func (t *thrift) numbers(id int16, kind byte, list []int64) {
	t.list(id, kind, len(list))
	for _, n := range list {
		t.b = binary.AppendVarint(t.b, n)
	}
}

// begin opens a struct that is a field.
func (t *thrift) begin(id int16) {
	t.field(id, thriftStruct)
	t.beginItem()
}

// beginItem opens a struct that is an item of a list.
func (t *thrift) beginItem() {
	t.open = append(t.open, t.last)
	t.last = 0
}

// end closes the struct that is open.
func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
}

// empty is a struct without fields: what a union has chosen.
func (t *thrift) empty(id int16) {
	t.begin(id)
	t.end()
}
