package jsonrow

import (
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
