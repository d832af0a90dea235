// Package strictjson reads the JSON documents of exact verification. What two readers
// could understand differently is refused: members that are there twice, bytes that are
// not UTF-8, anything behind the end. Numbers are integers, however they are spelled.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth is more than any of the documents needs.
const maxDepth = 16

// MaxInteger is the largest integer that every reader of JSON has exactly (RFC 7493),
// and so the largest that a canonical form is defined for.
const MaxInteger = 1<<53 - 1

// Value is a string, a json.Number, a bool, nil, a []Value or an *Object.
type Value any

// Object is an object, with its members by their names.
type Object struct {
	path    string
	members map[string]Value
}

// Error says what is wrong with a document, and where.
type Error struct {
	Path   string // such as evidence.declaration; "" for the document itself
	Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// Fail makes an Error.
func Fail(path, format string, args ...any) error {
	return &Error{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// Parse reads a document that is one object of at most limit bytes.
func Parse(data []byte, limit int) (*Object, error) {
	switch {
	case len(data) > limit:
		return nil, Fail("", "it has more than %d bytes", limit)
	case !utf8.Valid(data):
		return nil, Fail("", "it is not UTF-8")
	case !json.Valid(data): // reading token by token alone would let some mistakes pass
		return nil, Fail("", "it is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := value(d, "", 0)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, Fail("", "it is not an object")
	}
	return o, nil
}

func value(d *json.Decoder, path string, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, Fail("", "it is nested more than %d deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	switch token {
	case json.Delim('{'):
		return object(d, path, depth)
	case json.Delim('['):
		list := []Value{}
		for d.More() {
			v, err := value(d, fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, end(d)
	}
	return token, nil
}

func object(d *json.Decoder, path string, depth int) (Value, error) {
	o := &Object{path: path, members: map[string]Value{}}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read JSON: %w", err)
		}
		name, _ := token.(string) // json.Valid saw to it
		if _, twice := o.members[name]; twice {
			return nil, Fail(o.at(name), "it is there twice")
		}
		if o.members[name], err = value(d, o.at(name), depth+1); err != nil {
			return nil, err
		}
	}
	return o, end(d)
}

func end(d *json.Decoder) error {
	if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read JSON: %w", err)
	}
	return nil
}

// at is the path of a member. Names come from outside: they are quoted unless plain.
func (o *Object) at(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || name == "" || len(name) > 64 {
		name = fmt.Sprintf("%.64q", name)
	}
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// Exactly refuses an object whose members are others than these.
func (o *Object) Exactly(names ...string) error {
	for _, n := range names {
		if _, there := o.members[n]; !there {
			return Fail(o.at(n), "it is missing")
		}
	}
	if len(o.members) == len(names) {
		return nil
	}
	var extra []string
	for n := range o.members {
		if !slices.Contains(names, n) {
			extra = append(extra, n)
		}
	}
	return Fail(o.at(slices.Min(extra)), "it does not belong here")
}

// String returns a member that is a string.
func (o *Object) String(name string) (string, error) {
	s, ok := o.members[name].(string)
	if !ok {
		return "", Fail(o.at(name), "it is not a string")
	}
	return s, nil
}

// OptionalString returns a member that is a string or null, which is not the same as "".
func (o *Object) OptionalString(name string) (*string, error) {
	if v, there := o.members[name]; there && v == nil {
		return nil, nil
	}
	s, err := o.String(name)
	if err != nil {
		return nil, Fail(o.at(name), "it is neither a string nor null")
	}
	return &s, nil
}

// Object returns a member that is an object.
func (o *Object) Object(name string) (*Object, error) {
	v, ok := o.members[name].(*Object)
	if !ok {
		return nil, Fail(o.at(name), "it is not an object")
	}
	return v, nil
}

// Strings returns a member that is an array of strings.
func (o *Object) Strings(name string) ([]string, error) { return array[string](o, name, "strings") }

// Objects returns a member that is an array of objects.
func (o *Object) Objects(name string) ([]*Object, error) { return array[*Object](o, name, "objects") }

func array[T any](o *Object, name, of string) ([]T, error) {
	list, ok := o.members[name].([]Value)
	if !ok {
		return nil, Fail(o.at(name), "it is not an array")
	}
	out := make([]T, len(list))
	for i, v := range list {
		if out[i], ok = v.(T); !ok {
			return nil, Fail(o.at(name), "it is not an array of %s", of)
		}
	}
	return out, nil
}

// Integer returns a member that is an integer from low to high, however it is spelled.
func (o *Object) Integer(name string, low, high uint64) (uint64, error) {
	text, ok := o.members[name].(json.Number)
	if !ok {
		return 0, Fail(o.at(name), "it is not a number")
	}
	n, err := integer(string(text))
	if err != nil {
		return 0, Fail(o.at(name), "%v", err)
	}
	if n < low || n > high {
		return 0, Fail(o.at(name), "it is not from %d to %d", low, high)
	}
	return n, nil
}

// Path is where a member stands in its document.
func (o *Object) Path(name string) string { return o.at(name) }
