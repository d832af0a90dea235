package abi

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"chainexplorer/internal/felt"
)

// Writing the arguments of a call from what a person typed. It is the inverse of reading
// calldata: the same types, in the same order.

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

// ArgumentError says what is wrong with the text of an argument.
type ArgumentError struct {
	Index   int
	Label   string
	Problem string
}

func (e *ArgumentError) Error() string { return e.Label + ": " + e.Problem }

// ErrNoArguments says that the arguments of a function are not known, or not supported.
var ErrNoArguments = errors.New("the arguments of the function are not known")

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

// scalar writes a value of fixed size.
func (w *writer) scalar(k kind, v literal) error {
	if v.kind == litShort && (k == kindFelt || k == kindBytes31) {
		f, err := felt.FromShortString(v.text)
		if err != nil {
			return errors.New("has more than 31 characters, or others than those of ASCII, between the quotes")
		}
		return w.put(f)
	}
	if v.kind != litWord && v.kind != litText {
		return errors.New("needs a single value")
	}
	if k == kindBool {
		switch v.text {
		case "true", "1":
			return w.put(felt.FromUint64(1))
		case "false", "0":
			return w.put(felt.Zero)
		}
		return errors.New("is neither true nor false")
	}
	n, ok := parseNumber(v.text)
	if !ok {
		return errors.New("is not a number: it may be decimal, or hexadecimal with 0x in front")
	}
	switch k {
	case kindU256:
		return w.parts(n, 2)
	case kindU512:
		return w.parts(n, 4)
	case kindI8, kindI16, kindI32, kindI64, kindI128:
		limit := new(big.Int).Lsh(big.NewInt(1), uint(typeBits[k]-1))
		if n.Cmp(limit) >= 0 || n.Cmp(new(big.Int).Neg(limit)) < 0 {
			return fmt.Errorf("does not fit into %d bits with a sign", typeBits[k])
		}
		if n.Sign() < 0 {
			n.Add(n, felt.Felt(felt.Prime).Big())
		}
	default:
		if n.Sign() < 0 {
			return errors.New("is below zero")
		}
		if bits := typeBits[k]; bits > 0 && n.BitLen() > bits {
			return fmt.Errorf("does not fit into %d bits", bits)
		}
	}
	f, err := felt.FromBig(n)
	if err != nil {
		return errors.New("is too large: a felt is below 2^251 + 17·2^192 + 1")
	}
	return w.put(f)
}

// parts writes a number in words of 128 bits, the lowest first.
func (w *writer) parts(n *big.Int, words int) error {
	if n.Sign() < 0 {
		return errors.New("is below zero")
	}
	if n.BitLen() > words*128 {
		return fmt.Errorf("does not fit into %d bits", words*128)
	}
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for range words {
		f, err := felt.FromBig(new(big.Int).And(n, mask))
		if err != nil {
			return err
		}
		if err := w.put(f); err != nil {
			return err
		}
		n = new(big.Int).Rsh(n, 128)
	}
	return nil
}

// parseNumber reads a whole number of at most 512 bits, in either base.
func parseNumber(s string) (*big.Int, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = rest, 16
	}
	if digits == "" || len(digits) > 160 || strings.ContainsAny(digits, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if ok && negative {
		n.Neg(n)
	}
	return n, ok
}
