package abi

import (
	"strings"

	"chainexplorer/internal/felt"
)

// What the arguments of a call are, and how a person writes them.

// Input is how the value of an argument is written.
type Input string

// The ways of writing. Not every type has one.
const (
	InputNone    Input = ""        // the type is not supported
	InputNumber  Input = "number"  // decimal, or hexadecimal with 0x
	InputFelt    Input = "felt"    // a number, or up to 31 characters in single quotes
	InputBool    Input = "bool"    // true or false
	InputText    Input = "text"    // as it is
	InputLiteral Input = "literal" // lists, structs and enums, as in the example
)

// Argument is one value that a call takes.
type Argument struct {
	Label, Type string
	Input       Input
	Example     string // how a value could be written
}

// door is the only entry point of a kind and selector; nil when it has no members that can
// be relied on.
func (c *Calls) door(kind FunctionKind, selector felt.Felt) *event {
	if c == nil {
		return nil
	}
	if _, n, e := c.schema.candidates(doorPath(kind, selector), 0); n == 1 && e.flaw == flawNone {
		return e
	}
	return nil
}

// Arguments are those of a function, in order; false when they are not known.
func (c *Calls) Arguments(kind FunctionKind, selector felt.Felt) ([]Argument, bool) {
	e := c.door(kind, selector)
	if e == nil {
		return nil, false
	}
	out := make([]Argument, len(e.steps))
	for i := range e.steps {
		st := &e.steps[i]
		t := &c.schema.types[st.typ]
		out[i] = Argument{Label: st.label, Type: t.name, Input: c.schema.input(st.typ, map[typeID]bool{})}
		if out[i].Input != InputNone {
			out[i].Example = c.schema.example(st.typ, 0)
		}
	}
	return out, true
}

// input says how a type is written; none when some part of it is not supported. A type that
// comes again inside itself is judged once: seen are those that are looked at.
func (s *Schema) input(id typeID, seen map[typeID]bool) Input {
	if id == noType {
		return InputNone
	}
	t := &s.types[id]
	switch t.kind {
	case kindUnsupported, kindUnit:
		return InputNone
	case kindFelt, kindBytes31:
		return InputFelt
	case kindBool:
		return InputBool
	case kindByteArray:
		return InputText
	case kindArray, kindFixed, kindStruct, kindTuple:
		if seen[id] {
			return InputLiteral
		}
		seen[id] = true
		if (t.kind == kindArray || t.kind == kindFixed) && s.input(t.elem, seen) == InputNone {
			return InputNone
		}
		for _, m := range t.members {
			if s.input(m.typ, seen) == InputNone {
				return InputNone
			}
		}
		return InputLiteral
	case kindEnum: // a variant that is not supported spoils no other
		return InputLiteral
	}
	return InputNumber
}

// exampleDepth is how deep an example shows a type.
const exampleDepth = 3

func (s *Schema) example(id typeID, depth int) string {
	if id == noType || depth > exampleDepth {
		return "…"
	}
	t := &s.types[id]
	list := func(open, end string, named bool) string {
		parts := make([]string, 0, len(t.members))
		for i, m := range t.members {
			if i == 6 {
				parts = append(parts, "…")
				break
			}
			part := s.example(m.typ, depth+1)
			if named {
				part = m.label + ": " + part
			}
			parts = append(parts, part)
		}
		return open + strings.Join(parts, ", ") + end
	}
	switch t.kind {
	case kindBool:
		return "true"
	case kindByteArray:
		if depth == 0 {
			return "some text"
		}
		return `"some text"`
	case kindAddress, kindClassHash, kindStorageAddress, kindEthAddress:
		return "0x123"
	case kindArray, kindFixed:
		return "[" + s.example(t.elem, depth+1) + ", …]"
	case kindStruct:
		return list("{", "}", true)
	case kindTuple:
		return list("(", ")", false)
	case kindEnum:
		if len(t.members) == 0 {
			return "…"
		}
		if m := t.members[0]; m.typ != noType {
			return m.label + "(" + s.example(m.typ, depth+1) + ")"
		}
		return t.members[0].label
	}
	return "1"
}
