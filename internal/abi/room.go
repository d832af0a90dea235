package abi

import (
	"strings"

	"chainexplorer/internal/felt"
)

// Room is memory for the fields of many events, which take it by the piece. The zero value is
// ready, and is for one goroutine. Without one each event has its own.
type Room struct {
	fields  []Field
	origins []int
	text    strings.Builder
}

// For how many fields, and for how many bytes of text, memory is taken at first, and at most:
// a transaction has few, and a page many.
const (
	fewFields, manyFields = 12, 96
	littleText, muchText  = 512, 4096
)

// piece is how much memory to take where so much was not enough and so much is needed.
func piece(had, needed, first, most int) int { return max(needed, min(max(2*had, first), most)) }

// take is empty memory for so many fields and origins: what goes beyond it grows elsewhere.
func (r *Room) take(fields, origins int) ([]Field, []int) {
	if r == nil {
		return make([]Field, 0, fields), make([]int, 0, origins)
	}
	if cap(r.fields)-len(r.fields) < fields {
		r.fields = make([]Field, 0, piece(cap(r.fields), fields, fewFields, manyFields))
	}
	if cap(r.origins)-len(r.origins) < origins {
		r.origins = make([]int, 0, piece(cap(r.origins), origins, 2*fewFields, 2*manyFields))
	}
	f, o := len(r.fields), len(r.origins)
	r.fields, r.origins = r.fields[:f+fields], r.origins[:o+origins]
	return r.fields[f : f : f+fields], r.origins[o : o : o+origins]
}

// hex is a felt as text.
func (r *Room) hex(f *felt.Felt) string {
	if r == nil {
		return f.String()
	}
	if r.text.Cap()-r.text.Len() < 2+2*felt.Size {
		size := piece(r.text.Cap(), 2+2*felt.Size, littleText, muchText)
		r.text = strings.Builder{} // the one before belongs to its texts
		r.text.Grow(size)
	}
	var digits [2 + 2*felt.Size]byte
	from := r.text.Len()
	r.text.Write(f.AppendHex(digits[:0])) //nolint:errcheck // it never fails
	return r.text.String()[from:]
}
