package abi

import "fmt"

// Sizes and cycles of types. After finishTypes no type of the table takes zero
// felts, so that the work of decoding is bounded by the felts there are.

type sizer struct {
	types []typeNode
	state []uint8 // of each type: new, open, empty, filled
}

const (
	sizeNew uint8 = iota
	sizeOpen
	sizeEmpty
	sizeFilled
)

// finishTypes refuses types that contain themselves by value, turns types that
// take no felt into units, drops members of such types, and marks arrays of
// them as unsupported.
func finishTypes(types []typeNode) error {
	z := sizer{types, make([]uint8, len(types))}
	for id := range types {
		if _, err := z.empty(typeID(id)); err != nil {
			return err
		}
	}
	for id := range types {
		t := &types[id]
		if z.state[id] == sizeEmpty {
			*t = typeNode{kind: kindUnit, name: t.name, elem: noType}
			continue
		}
		switch t.kind {
		case kindArray:
			if t.elem == noType || z.state[t.elem] == sizeEmpty {
				*t = typeNode{kind: kindUnsupported, name: t.name, elem: noType}
			}
		case kindStruct, kindTuple:
			kept := t.members[:0:0]
			for _, m := range t.members {
				if m.typ != noType && z.state[m.typ] != sizeEmpty {
					kept = append(kept, m)
				}
			}
			t.members = kept
		case kindEnum:
			for i := range t.members {
				if m := &t.members[i]; m.typ != noType && z.state[m.typ] == sizeEmpty {
					m.typ = noType
				}
			}
		}
	}
	return nil
}

// empty reports whether a value of the type takes no felt. It follows only what
// a value holds directly: behind an array's length or an enum's index a type may
// come again.
func (z *sizer) empty(id typeID) (bool, error) {
	if id == noType {
		return true, nil
	}
	t := &z.types[id]
	switch z.state[id] {
	case sizeOpen:
		return false, fmt.Errorf("%s: %w", t.name, ErrRecursive)
	case sizeEmpty, sizeFilled:
		return z.state[id] == sizeEmpty, nil
	}
	z.state[id] = sizeOpen
	empty := false
	switch t.kind {
	case kindUnit:
		empty = true
	case kindFixed:
		e, err := z.empty(t.elem)
		if err != nil {
			return false, err
		}
		empty = e || t.count == 0
	case kindStruct, kindTuple:
		empty = true
		for _, m := range t.members {
			e, err := z.empty(m.typ)
			if err != nil {
				return false, err
			}
			empty = empty && e
		}
	}
	z.state[id] = sizeFilled
	if empty {
		z.state[id] = sizeEmpty
	}
	return empty, nil
}

// extent is how many felts something takes: at least least, and no more if it is
// exact. They make at least so many fields.
type extent struct {
	least  int
	exact  bool
	fields int
}

// maxExtent is where counting stops: no payload is that long.
const maxExtent = 1 << 24

func (x extent) plus(y extent) extent {
	return extent{min(x.least+y.least, maxExtent), x.exact && y.exact, min(x.fields+y.fields, MaxFields)}
}

// fits says whether n felts can be it.
func (x extent) fits(n int) bool { return n == x.least || n > x.least && !x.exact }

// measure computes the extents of events, so that a payload of another layout
// is told apart before anything is made of it.
func measure(s *Schema) {
	known := make([]*extent, len(s.types))
	for i := range s.events {
		e := &s.events[i]
		e.keys, e.data = extent{exact: true}, extent{exact: true}
		for _, st := range e.steps {
			switch st.kind {
			case stepKey:
				e.keys = e.keys.plus(extentOf(s.types, known, st.typ))
			case stepData:
				e.data = e.data.plus(extentOf(s.types, known, st.typ))
			case stepSelector:
				e.keys = e.keys.plus(extent{1, true, 1})
			}
		}
	}
}

func extentOf(types []typeNode, known []*extent, id typeID) extent {
	if known[id] != nil {
		return *known[id]
	}
	t := &types[id]
	x := extent{1, true, 1}
	switch t.kind {
	case kindU256:
		x.least = 2
	case kindU512:
		x.least = 4
	case kindByteArray:
		x = extent{3, false, 1}
	case kindArray, kindEnum:
		x.exact = false
	case kindUnsupported:
		x = extent{} // anything: the reason is not the payload's
	case kindFixed:
		item := extentOf(types, known, t.elem)
		count := int(min(t.count, maxExtent))
		x = extent{min(item.least*count, maxExtent), item.exact, 1}
		if types[t.elem].kind != kindFelt {
			x.fields = min(item.fields*count, MaxFields)
		}
	case kindStruct, kindTuple:
		x.least, x.fields = 0, 0
		for _, m := range t.members {
			x = x.plus(extentOf(types, known, m.typ))
		}
	}
	known[id] = &x
	return x
}
