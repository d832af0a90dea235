package abi

import (
	"errors"
	"fmt"
	"strings"

	"chainexplorer/internal/felt"
)

// Writing the arguments of a call from what a person typed. It is the inverse of reading
// calldata: the same types, in the same order.

// ArgumentError says what is wrong with the text of an argument.
type ArgumentError struct {
	Index   int
	Label   string
	Problem string
}

func (e *ArgumentError) Error() string { return e.Label + ": " + e.Problem }

// ErrNoArguments says that the arguments of a function are not known, or not supported.
var ErrNoArguments = errors.New("the arguments of the function are not known")

// longestArgument bounds the text of one argument.
const longestArgument = 16 << 10

// Encode writes calldata of at most so many felts. What is wrong with a text is an
// *ArgumentError.
func (c *Calls) Encode(kind FunctionKind, selector felt.Felt, texts []string, most int) ([]felt.Felt, error) {
	e := c.door(kind, selector)
	if e == nil {
		return nil, ErrNoArguments
	}
	if len(texts) != len(e.steps) {
		return nil, fmt.Errorf("%d arguments were given, the function takes %d", len(texts), len(e.steps))
	}
	w := &writer{types: c.schema.types, most: most}
	for i := range e.steps {
		st := &e.steps[i]
		v, err := w.read(st.typ, texts[i])
		if err == nil {
			err = w.value(st.typ, v, 0)
		}
		if err != nil {
			return nil, &ArgumentError{i, st.label, err.Error()}
		}
	}
	return w.out, nil
}

// writer makes felts of values.
type writer struct {
	types []typeNode
	out   []felt.Felt
	most  int
}

// read takes the text of an argument apart, as far as its type has parts.
func (w *writer) read(id typeID, text string) (literal, error) {
	if len(text) > longestArgument {
		return literal{}, fmt.Errorf("is longer than %d characters", longestArgument)
	}
	if w.types[id].kind == kindByteArray {
		return literal{kind: litText, text: text}, nil
	}
	return parseLiteral(text)
}

func (w *writer) put(felts ...felt.Felt) error {
	if len(w.out)+len(felts) > w.most {
		return fmt.Errorf("takes more than the %d felts that a call may have", w.most)
	}
	w.out = append(w.out, felts...)
	return nil
}

func (w *writer) value(id typeID, v literal, depth int) error {
	if id == noType || depth > MaxDepth {
		return errors.New("is nested too deeply")
	}
	t := &w.types[id]
	switch t.kind {
	case kindUnsupported, kindUnit:
		return fmt.Errorf("the type %s is not supported here", t.name)
	case kindStruct:
		return w.record(t, v, depth)
	case kindTuple:
		if v.kind != litTuple && v.kind != litList || len(v.items) != len(t.members) {
			return fmt.Errorf("needs %d values in parentheses", len(t.members))
		}
		for i, m := range t.members {
			if err := w.value(m.typ, v.items[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	case kindArray, kindFixed:
		return w.list(t, v, depth)
	case kindEnum:
		return w.enum(t, v, depth)
	case kindByteArray:
		if v.kind != litText && v.kind != litShort && v.kind != litWord {
			return errors.New("needs a text in quotes")
		}
		return w.put(felt.EncodeByteArray([]byte(v.text))...)
	}
	return w.scalar(t.kind, v)
}

func (w *writer) record(t *typeNode, v literal, depth int) error {
	if v.kind != litRecord || len(v.items) != len(t.members) {
		return fmt.Errorf("needs the members %s in braces", labels(t.members))
	}
	for _, m := range t.members {
		at := -1
		for i, name := range v.names {
			if name == m.label {
				at = i
			}
		}
		if at < 0 {
			return fmt.Errorf("the member %s is missing", m.label)
		}
		if err := w.value(m.typ, v.items[at], depth+1); err != nil {
			return fmt.Errorf("%s %w", m.label, err)
		}
	}
	return nil
}

func (w *writer) list(t *typeNode, v literal, depth int) error {
	if v.kind != litList {
		return errors.New("needs a list in brackets, such as [1, 2]")
	}
	if t.kind == kindFixed {
		if uint32(len(v.items)) != t.count {
			return fmt.Errorf("needs %d values, and has %d", t.count, len(v.items))
		}
	} else if err := w.put(felt.FromUint64(uint64(len(v.items)))); err != nil {
		return err
	}
	for i, item := range v.items {
		if err := w.value(t.elem, item, depth+1); err != nil {
			return fmt.Errorf("item %d %w", i+1, err)
		}
	}
	return nil
}

func (w *writer) enum(t *typeNode, v literal, depth int) error {
	for i, m := range t.members {
		if v.text != m.label || v.kind != litWord && v.kind != litVariant {
			continue
		}
		if err := w.put(felt.FromUint64(uint64(i))); err != nil {
			return err
		}
		switch {
		case m.typ == noType && v.kind == litVariant:
			return fmt.Errorf("%s takes no value", m.label)
		case m.typ == noType:
			return nil
		case v.kind != litVariant:
			return fmt.Errorf("%s needs a value in parentheses", m.label)
		}
		return w.value(m.typ, v.items[0], depth+1)
	}
	return fmt.Errorf("needs one of %s", labels(t.members))
}

// labels are the names of members, of which there may be many.
func labels(members []member) string {
	var names []string
	for i, m := range members {
		if i == 12 {
			names = append(names, "…")
			break
		}
		names = append(names, m.label)
	}
	return strings.Join(names, ", ")
}
