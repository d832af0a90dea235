package jsonrow

import (
	"fmt"
	"reflect"
	"strconv"

	"chainexplorer/internal/felt"
)

// memberWriter writes the members of a struct that can be addressed.
type memberWriter func(b []byte, v reflect.Value) []byte

// registered are the structs that are written by functions of their own. Nothing is added once
// something was written.
var registered = map[reflect.Type]memberWriter{}

// Register has the members of a struct written by a function, which appends each behind its name, as
// the functions below do, in the order of the fields. It must write what encoding/json would: a
// package that registers a type has a test that holds the two against each other. It is for the
// initialization of packages, and returns true.
func Register[T any](write func(b []byte, v *T) []byte) bool {
	registered[reflect.TypeFor[T]()] = func(b []byte, v reflect.Value) []byte { return write(b, v.Addr().Interface().(*T)) }
	return true
}

// The members that a registered function appends. The name of each is as `,"name":`.

// Text appends a text.
func Text(b []byte, name, s string) []byte { return appendText(append(b, name...), s) }

// TextAt appends a text that may be nil.
func TextAt(b []byte, name string, s *string) []byte {
	if s == nil {
		return Null(b, name)
	}
	return Text(b, name, *s)
}

// Shown appends a value as it is shown to people.
func Shown(b []byte, name string, s *felt.Shown) []byte {
	if text := s.Text(); text != nil {
		return Text(b, name, *text)
	}
	return append(s.AppendDigits(append(append(b, name...), '"')), '"')
}

// ShownAt appends a value as it is shown to people, which may be nil.
func ShownAt(b []byte, name string, s *felt.Shown) []byte {
	if s == nil {
		return Null(b, name)
	}
	return Shown(b, name, s)
}

// Null appends null.
func Null(b []byte, name string) []byte { return append(append(b, name...), "null"...) }

// Felt appends a felt that may be nil.
func Felt(b []byte, name string, f *felt.Felt) []byte {
	if f == nil {
		return Null(b, name)
	}
	return appendFelt(append(b, name...), f)
}

// Felts appends a list of felts.
func Felts(b []byte, name string, list []felt.Felt) []byte {
	return appendFelts(append(b, name...), list)
}

// Int appends a number.
func Int(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

// Uint appends a number that has no sign.
func Uint(b []byte, name string, n uint64) []byte {
	return strconv.AppendUint(append(b, name...), n, 10)
}

// Bool appends a truth.
func Bool(b []byte, name string, v bool) []byte { return strconv.AppendBool(append(b, name...), v) }

// BoolAt appends a truth that may be nil.
func BoolAt(b []byte, name string, v *bool) []byte {
	if v == nil {
		return Null(b, name)
	}
	return Bool(b, name, *v)
}

// Ints appends a list of numbers.
func Ints(b []byte, name string, list []int) []byte {
	if list == nil {
		return Null(b, name)
	}
	b = append(append(b, name...), '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

// Texts appends a list of texts.
func Texts(b []byte, name string, list []string) []byte {
	if list == nil {
		return Null(b, name)
	}
	b = append(append(b, name...), '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	return append(b, ']')
}

// ObjectAt appends a struct that may be nil by a function that appends its members.
func ObjectAt[T any](b []byte, name string, v *T, members func([]byte, *T) []byte) []byte {
	if v == nil {
		return Null(b, name)
	}
	return appendObject(append(b, name...), v, members)
}

// List appends a list of structs by a function that appends the members of each.
func List[T any](b []byte, name string, list []T, members func([]byte, *T) []byte) []byte {
	if list == nil {
		return Null(b, name)
	}
	b = append(append(b, name...), '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendObject(b, &list[i], members)
	}
	return append(b, ']')
}

// appendObject appends a struct that has members.
func appendObject[T any](b []byte, v *T, members func([]byte, *T) []byte) []byte {
	from := len(b)
	b = members(b, v)
	b[from] = '{' // in place of the first one's comma
	return append(b, '}')
}

// Rows appends a list of which most answers have nothing, as Append does. What it holds must be such that
// Append cannot fail: no numbers with fractions, and nothing that writes itself.
func Rows[T any](b []byte, name string, list []T) []byte {
	b = append(b, name...)
	if len(list) == 0 && list != nil {
		return append(b, '[', ']')
	}
	out, err := Append(b, list)
	if err != nil {
		panic(fmt.Errorf("write %T: %w", list, err))
	}
	return out
}
