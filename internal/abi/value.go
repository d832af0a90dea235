package abi

import (
	"strconv"
	"unicode/utf8"

	"chainexplorer/internal/felt"
)

// Reading values from a payload. Each felt is read once and belongs to one
// field; every type takes at least one felt, so that the work is bounded by the
// felts there are, whatever lengths they claim.

type verdict uint8

const (
	consumedAll  verdict = iota
	mismatched           // too short, too long, or a value outside its type
	beyondBounds         // an unsupported type, too deep, too many fields
)

// cursor reads one of the two arrays.
type cursor struct {
	felts  []felt.Felt
	pos    int
	source FieldSource
}

type decoder struct {
	types      []typeNode
	keys, data cursor
	fields     []Field
	origins    []int // backing of all OriginIndexes
	room       *Room
}

// run reads a whole event.
func (d *decoder) run(e *event) verdict {
	if !e.keys.fits(len(d.keys.felts)-d.keys.pos) || !e.data.fits(len(d.data.felts)) {
		return mismatched // an early no for the wrong layout
	}
	d.fields, d.origins = d.room.take(e.keys.fields+e.data.fields, len(d.keys.felts)-d.keys.pos+len(d.data.felts))
	for i := range e.steps {
		st := &e.steps[i]
		v := consumedAll
		switch st.kind {
		case stepKey:
			v = d.value(st.label, st.typ, &d.keys, 0)
		case stepData:
			v = d.value(st.label, st.typ, &d.data, 0)
		case stepSelector:
			v = d.selector(st)
		}
		if v != consumedAll {
			return v
		}
	}
	if d.keys.pos != len(d.keys.felts) || d.data.pos != len(d.data.felts) {
		return mismatched
	}
	return consumedAll
}

func (d *decoder) selector(st *step) verdict {
	if d.keys.pos == len(d.keys.felts) || d.keys.felts[d.keys.pos] != st.selector {
		return mismatched
	}
	f, v := d.take(st.label, st.typeName, &d.keys, 1)
	if v == consumedAll {
		f.setText(KindText, st.text)
	}
	return v
}

// take makes a field of the next n felts.
func (d *decoder) take(label, typeName string, in *cursor, n int) (*Field, verdict) {
	if n > len(in.felts)-in.pos {
		return nil, mismatched
	}
	if len(d.fields) == MaxFields {
		return nil, beyondBounds
	}
	start := len(d.origins)
	for i := range n {
		d.origins = append(d.origins, in.pos+i)
	}
	if len(d.fields) == cap(d.fields) {
		d.fields = d.room.more(d.fields)
	}
	d.fields = append(d.fields, Field{
		Label: label, Type: typeName, Source: in.source, Kind: KindFelt, Status: FieldDecoded,
		RawValues:     in.felts[in.pos : in.pos+n : in.pos+n],
		OriginIndexes: d.origins[start:len(d.origins):len(d.origins)],
	})
	in.pos += n
	return &d.fields[len(d.fields)-1], consumedAll
}

func (d *decoder) value(label string, id typeID, in *cursor, depth int) verdict {
	if depth > MaxDepth || len(label) > maxLabelLen {
		return beyondBounds
	}
	t := &d.types[id]
	switch t.kind {
	case kindUnsupported:
		return beyondBounds
	case kindStruct, kindTuple:
		for i := range t.members {
			m := &t.members[i]
			if v := d.value(d.room.join(label, ".", m.label, ""), m.typ, in, depth+1); v != consumedAll {
				return v
			}
		}
		return consumedAll
	case kindEnum:
		return d.enum(label, t, in, depth)
	case kindArray:
		return d.array(label, t, in, depth)
	case kindFixed:
		if uint64(t.count) > uint64(len(in.felts)-in.pos) {
			return mismatched
		}
		if d.types[t.elem].kind == kindFelt {
			return d.bareRun(label, t, in, int(t.count))
		}
		return d.items(label, t, in, int(t.count), depth)
	case kindByteArray:
		return d.byteArray(label, t, in)
	}
	n := 1
	switch t.kind {
	case kindU256:
		n = 2
	case kindU512:
		n = 4
	}
	f, v := d.take(label, t.name, in, n)
	if v != consumedAll {
		return v
	}
	if !f.setScalar(t.kind) {
		return mismatched
	}
	return consumedAll
}

func (d *decoder) enum(label string, t *typeNode, in *cursor, depth int) verdict {
	f, v := d.take(label, t.name, in, 1)
	if v != consumedAll {
		return v
	}
	i, ok := f.RawValues[0].Uint64()
	if !ok || i >= uint64(len(t.members)) {
		return mismatched
	}
	variant := &t.members[i]
	f.setText(KindText, variant.label)
	if variant.typ == noType {
		return consumedAll
	}
	return d.value(d.room.join(label, ".", variant.label, ""), variant.typ, in, depth+1)
}

func (d *decoder) array(label string, t *typeNode, in *cursor, depth int) verdict {
	left := len(in.felts) - in.pos
	if left == 0 {
		return mismatched
	}
	count, ok := in.felts[in.pos].Uint64()
	if !ok || count > uint64(left-1) {
		return mismatched
	}
	n := int(count)
	if d.types[t.elem].kind == kindFelt {
		return d.bareRun(label, t, in, n+1)
	}
	f, v := d.take(label, t.name, in, 1)
	if v != consumedAll {
		return v
	}
	number := strconv.Itoa(n)
	f.NumericValue = new(felt.ShownAs(number))
	f.DisplayValue = felt.ShownAs(d.room.join(number, " items", "", ""))
	if n == 1 {
		f.DisplayValue = felt.ShownAs("1 item")
	}
	return d.items(label, t, in, n, depth)
}

func (d *decoder) items(label string, t *typeNode, in *cursor, n, depth int) verdict {
	for i := range n {
		if v := d.value(d.room.join(label, "[", strconv.Itoa(i), "]"), t.elem, in, depth+1); v != consumedAll {
			return v
		}
	}
	return consumedAll
}

// bareRun makes one field of n felts that mean nothing by their type; of an array
// the first is the length.
func (d *decoder) bareRun(label string, t *typeNode, in *cursor, n int) verdict {
	f, v := d.take(label, t.name, in, n)
	if v != consumedAll {
		return v
	}
	f.Status = FieldRaw
	items := f.RawValues
	if t.kind == kindArray {
		items = items[1:]
	}
	f.DisplayValue = felt.ShownAs(displayList(items))
	return consumedAll
}

func (d *decoder) byteArray(label string, t *typeNode, in *cursor) verdict {
	text, used, err := felt.DecodeByteArray(in.felts[in.pos:])
	if err != nil {
		return mismatched
	}
	f, v := d.take(label, t.name, in, used)
	if v != consumedAll {
		return v
	}
	if utf8.Valid(text) {
		f.setText(KindText, string(text))
		return consumedAll
	}
	f.Kind, f.Status, f.DisplayValue = KindText, FieldPartial, felt.ShownAs(displayBytes(text))
	return consumedAll
}
