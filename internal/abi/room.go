package abi

import (
	"slices"
	"strings"

	"chainexplorer/internal/felt"
)

// Room is memory for the fields of many events, which take it by the piece. The zero value is
// ready, and is for one goroutine. Without one each event has its own.
type Room struct {
	fields  []Field
	origins []int
	text    strings.Builder
	// How much was taken since the room is new, or as good as new.
	takenFields, takenOrigins, takenText int
	// door is the path of the call that is read.
	door [2]felt.Felt
	// says is how much text there was the last time.
	says int
}

// For how many fields, and for how many bytes of text, memory is taken at first, and at most:
// a transaction has few, and a page many.
const (
	fewFields, manyFields = 12, 96
	littleText, muchText  = 128, 4096
	moreFields            = 4 // where there are more than their types say at least
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
	r.takenFields, r.takenOrigins = r.takenFields+fields, r.takenOrigins+origins
	f, o := len(r.fields), len(r.origins)
	r.fields, r.origins = r.fields[:f+fields], r.origins[:o+origins]
	return r.fields[f : f : f+fields], r.origins[o : o : o+origins]
}

// more is a list that take returned last and that is full, with memory for more behind it.
func (r *Room) more(full []Field) []Field {
	if r == nil {
		return slices.Grow(full, 1)
	}
	r.takenFields += moreFields
	n, from := len(r.fields), len(r.fields)-cap(full)
	if from < 0 || cap(r.fields)-n < moreFields { // elsewhere: those who point to a field of it go on to do so
		r.fields = append(make([]Field, 0, piece(cap(r.fields), len(full)+moreFields, fewFields, manyFields)), full...)
		n, from = len(full), 0
	}
	r.fields = r.fields[:n+moreFields]
	return r.fields[from:n:len(r.fields)]
}

// join is a text of four.
func (r *Room) join(a, b, c, d string) string {
	if r == nil {
		return a + b + c + d
	}
	size := len(a) + len(b) + len(c) + len(d)
	from := r.room(size)
	r.text.WriteString(a) //nolint:errcheck // it never fails
	r.text.WriteString(b) //nolint:errcheck // as above
	r.text.WriteString(c) //nolint:errcheck // as above
	r.text.WriteString(d) //nolint:errcheck // as above
	return r.text.String()[from:]
}

// room takes memory for a text of some size where it is needed, and returns where the text begins.
func (r *Room) room(size int) (from int) {
	if r.text.Cap()-r.text.Len() < size {
		most := max(piece(r.text.Cap(), size, littleText, muchText), r.says)
		r.says = 0                 // once
		r.text = strings.Builder{} // the one before belongs to its texts
		r.text.Grow(most)
	}
	r.takenText += size
	return r.text.Len()
}

// roomy is for how many fields a room keeps memory: few transactions have more.
const roomy = 4 * manyFields

// Recycle takes back the memory of all fields that were read, but not of their texts: the fields are not
// looked at any more. There is room for as many at once then.
func (r *Room) Recycle() {
	clear(r.fields)
	*r = Room{fields: recycled(r.fields, r.takenFields, roomy), origins: recycled(r.origins, r.takenOrigins, 2*roomy),
		says: min(r.takenText, muchText)}
}

// recycled is empty memory for as much as was taken, within a bound.
func recycled[T any](list []T, taken, most int) []T {
	if n := min(taken, most); n > cap(list) || cap(list) > most {
		return make([]T, 0, n)
	}
	return list[:0]
}
