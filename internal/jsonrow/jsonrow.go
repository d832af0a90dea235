// Package jsonrow appends values to bytes as encoding/json would write them, without escaping
// HTML, and in a third of its time where a value is made of structs, lists, numbers, plain text
// and felts, as the rows of answers are.
//
// How a type is written is worked out once, from the type alone, by the rules of encoding/json.
// So a field that is added to a row is written, and documented, without a word here. What needs
// more than a few of those rules is left to encoding/json itself: text that has to be escaped,
// fractions, maps, and types that write themselves. A type that depends on rules which are not
// followed here (two fields of one name, embedded pointers, methods of pointers) is left to it
// as a whole. Tests hold both against each other, for every type that is answered with.
//
// A struct of which an answer has hundreds may be written by a function of its own, in a third of
// the time once more: see Register. The same tests hold it against encoding/json.
//
// Costs: one allocation for each value handed over, whatever it holds, none for a row, and one
// or two for each value that is left to encoding/json.
package jsonrow

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"chainexplorer/internal/felt"
)

// Append appends a value. When it fails, what was appended is to be thrown away.
func Append(b []byte, v any) ([]byte, error) {
	if v == nil {
		return append(b, "null"...), nil
	}
	w := &writer{}
	b = w.dynamic(b, reflect.ValueOf(v))
	return b, w.err
}

// writer has the first error of what is written.
type writer struct{ err error }

// shapes are how types are written, by reflect.Type: a *shape, nil for a type that is left to encoding/json as a whole.
var shapes sync.Map

// dynamic writes a value of a type that is known only now.
func (w *writer) dynamic(b []byte, v reflect.Value) []byte {
	t := v.Type()
	known, ok := shapes.Load(t)
	if !ok {
		known, _ = shapes.LoadOrStore(t, compile(t))
	}
	s := known.(*shape)
	if s == nil {
		return w.leave(b, v)
	}
	if t.Kind() != reflect.Pointer { // what a pointer leads to can be addressed
		at := reflect.New(t).Elem()
		at.Set(v)
		v = at
	}
	return w.value(b, s, v)
}

// leave has encoding/json write a value.
func (w *writer) leave(b []byte, v reflect.Value) []byte {
	if w.err != nil {
		return b
	}
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if w.err = enc.Encode(v.Interface()); w.err != nil {
		return b
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// value writes a value that can be addressed.
func (w *writer) value(b []byte, s *shape, v reflect.Value) []byte {
	switch s.kind {
	case aFelt:
		return appendFelt(b, v.Addr().Interface().(*felt.Felt))
	case aFeltAt:
		if f := v.Interface().(*felt.Felt); f != nil {
			return appendFelt(b, f)
		}
		return append(b, "null"...)
	case felts:
		return appendFelts(b, *v.Addr().Interface().(*[]felt.Felt))
	case text:
		return appendText(b, v.String())
	case aBool:
		return strconv.AppendBool(b, v.Bool())
	case anInt:
		return strconv.AppendInt(b, v.Int(), 10)
	case aUint:
		return strconv.AppendUint(b, v.Uint(), 10)
	case pointer:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return w.value(b, s.of, v.Elem())
	case anything:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return w.dynamic(b, v.Elem())
	case slice:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return w.list(b, s.of, v)
	case array:
		return w.list(b, s.of, v)
	case object:
		from := len(b)
		if b = w.membersOf(b, s, v); len(b) == from {
			return append(b, "{}"...)
		}
		b[from] = '{' // in place of the first one's comma
		return append(b, '}')
	}
	return w.leave(b, v)
}

func appendFelt(b []byte, f *felt.Felt) []byte { return append(f.AppendHex(append(b, '"')), '"') }

func appendFelts(b []byte, list []felt.Felt) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFelt(b, &list[i])
	}
	return append(b, ']')
}

func appendText(b []byte, s string) []byte {
	if !plain(s) {
		return (&writer{}).leave(b, reflect.ValueOf(s)) // which cannot fail
	}
	n := len(b)
	if cap(b)-n < len(s)+2 {
		b = slices.Grow(b, len(s)+2)
	}
	b = b[:n+len(s)+2]
	b[n] = '"'
	copy(b[n+1:], s)
	b[len(b)-1] = '"'
	return b
}

// list writes the elements of a slice or an array.
func (w *writer) list(b []byte, of *shape, v reflect.Value) []byte {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.value(b, of, v.Index(i))
	}
	return append(b, ']')
}

// membersOf writes the fields of a struct, each behind a comma.
func (w *writer) membersOf(b []byte, s *shape, v reflect.Value) []byte {
	if s.by != nil {
		return s.by(b, v)
	}
	return w.members(b, s.members, v)
}

// members is membersOf by reflection.
func (w *writer) members(b []byte, list []member, v reflect.Value) []byte {
	for i := range list {
		m := &list[i]
		at := v.Field(m.index)
		switch {
		case m.shape.kind == embedded:
			b = w.membersOf(b, m.shape, at)
			continue
		case m.nullable && at.IsNil():
			if !m.omitted {
				b = append(b, m.null...)
			}
			continue
		case m.empty != nil && m.empty(at):
			continue
		}
		b = w.value(append(b, m.name...), m.shape, at)
	}
	return b
}

// plain says that text stands in JSON as it is: it has printable characters of ASCII, and neither
// quotes nor backslashes. It looks at eight bytes at a time, the last eight of which may be among those before.
func plain(s string) bool {
	if len(s) < 8 {
		for i := range len(s) {
			if odd[s[i]] {
				return false
			}
		}
		return true
	}
	any, last := uint64(0), len(s)-8
	for i := 0; i < last; i += 8 {
		any |= oddities(word(s[i:]))
	}
	return (any|oddities(word(s[last:])))&(0x80*ones) == 0
}

// odd tells bytes that do not stand in JSON as they are.
var odd = func() (t [256]bool) {
	for c := range t {
		t[c] = c < ' ' || c > '~' || c == '"' || c == '\\'
	}
	return t
}()

const ones = 0x0101010101010101

// oddities has the highest bit of some byte where one of the eight is odd: it is not ASCII, a control character
// below, the one above, a quote or a backslash. Whatever else it has says nothing.
func oddities(x uint64) uint64 {
	quotes, slashes := x^'"'*ones, x^'\\'*ones
	return x | (x - ' '*ones) | (x + ones) | (quotes - ones) | (slashes - ones)
}

// word is the first eight bytes of a text.
func word(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
