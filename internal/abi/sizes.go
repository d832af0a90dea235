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
