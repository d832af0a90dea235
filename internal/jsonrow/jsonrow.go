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
// Costs: one allocation for each value handed over, whatever it holds, none for a row, and one
// or two for each value that is left to encoding/json.
package jsonrow

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"sync"

	"chainexplorer/internal/felt"
)

// Append appends a value. When it fails, what was appended is to be thrown away.
func Append(b []byte, v any) ([]byte, error) {
	if v == nil {
		return append(b, "null"...), nil
	}
	w := &writer{b: b}
	w.dynamic(reflect.ValueOf(v))
	return w.b, w.err
}

// writer is where a value goes. The first error stays.
type writer struct {
	b   []byte
	err error
}

// step writes a value that can be addressed.
type step func(w *writer, v reflect.Value)

// steps are how types are written, by reflect.Type: a step, nil for a type that is left to encoding/json as a whole.
var steps sync.Map

// dynamic writes a value of a type that is known only now.
func (w *writer) dynamic(v reflect.Value) {
	t := v.Type()
	known, ok := steps.Load(t)
	if !ok {
		known, _ = steps.LoadOrStore(t, compile(t))
	}
	write := known.(step)
	if write == nil {
		w.leave(v)
		return
	}
	if t.Kind() != reflect.Pointer { // what a pointer leads to can be addressed
		at := reflect.New(t).Elem()
		at.Set(v)
		v = at
	}
	write(w, v)
}

// leave has encoding/json write a value.
func (w *writer) leave(v reflect.Value) {
	if w.err != nil {
		return
	}
	buf := bytes.NewBuffer(w.b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if w.err = enc.Encode(v.Interface()); w.err == nil {
		w.b = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	}
}

func left(w *writer, v reflect.Value) { w.leave(v) }

func writeBool(w *writer, v reflect.Value)  { w.b = strconv.AppendBool(w.b, v.Bool()) }
func writeInt(w *writer, v reflect.Value)   { w.b = strconv.AppendInt(w.b, v.Int(), 10) }
func writeUint(w *writer, v reflect.Value)  { w.b = strconv.AppendUint(w.b, v.Uint(), 10) }
func writeFelt(w *writer, v reflect.Value)  { w.felt(v.Addr().Interface().(*felt.Felt)) }
func writeFelts(w *writer, v reflect.Value) { w.felts(*v.Addr().Interface().(*[]felt.Felt)) }

func writeFeltAt(w *writer, v reflect.Value) {
	if f := v.Interface().(*felt.Felt); f != nil {
		w.felt(f)
		return
	}
	w.b = append(w.b, "null"...)
}

func (w *writer) felt(f *felt.Felt) { w.b = append(f.AppendHex(append(w.b, '"')), '"') }

func (w *writer) felts(list []felt.Felt) {
	if list == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.b = append(w.b, '[')
	for i := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.felt(&list[i])
	}
	w.b = append(w.b, ']')
}

func writeText(w *writer, v reflect.Value) {
	s := v.String()
	if !plain(s) {
		w.leave(v)
		return
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}

// plain says that text stands in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// list writes a slice, or an array.
func list(element step, isSlice bool) step {
	return func(w *writer, v reflect.Value) {
		if isSlice && v.IsNil() {
			w.b = append(w.b, "null"...)
			return
		}
		w.b = append(w.b, '[')
		for i := range v.Len() {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			element(w, v.Index(i))
		}
		w.b = append(w.b, ']')
	}
}

// pointer writes what a pointer leads to.
func pointer(to step) step {
	return func(w *writer, v reflect.Value) {
		if v.IsNil() {
			w.b = append(w.b, "null"...)
			return
		}
		to(w, v.Elem())
	}
}

func writeAny(w *writer, v reflect.Value) {
	if v.IsNil() {
		w.b = append(w.b, "null"...)
		return
	}
	w.dynamic(v.Elem())
}

// member is a field of an object.
type member struct {
	index   []int
	first   string // its name, quoted, behind an opening brace
	next    string // the same behind a comma
	write   step
	omitted func(reflect.Value) bool // nil: never
}

// object writes a struct.
func object(members []member) step {
	return func(w *writer, v reflect.Value) {
		empty := true
		for i := range members {
			m := &members[i]
			at := v.Field(m.index[0])
			for _, j := range m.index[1:] {
				at = at.Field(j)
			}
			if m.omitted != nil && m.omitted(at) {
				continue
			}
			if empty {
				w.b = append(w.b, m.first...)
				empty = false
			} else {
				w.b = append(w.b, m.next...)
			}
			m.write(w, at)
		}
		if empty {
			w.b = append(w.b, '{')
		}
		w.b = append(w.b, '}')
	}
}
