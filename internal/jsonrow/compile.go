package jsonrow

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"chainexplorer/internal/felt"
)

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// writesItself says that a type brings its own way of being written.
func writesItself(t reflect.Type) bool { return t.Implements(marshaler) || t.Implements(textMarshaler) }

// compiler works out how a type is written. unable says that it depends on what is not followed here.
type compiler struct {
	under  map[reflect.Type]*step // types that are being worked out: some hold themselves
	unable bool
}

// compile returns nil for what is left to encoding/json as a whole.
func compile(t reflect.Type) step {
	c := &compiler{under: map[reflect.Type]*step{}}
	if s := c.of(t); !c.unable {
		return s
	}
	return nil
}

func (c *compiler) of(t reflect.Type) step {
	if at := c.under[t]; at != nil {
		return func(w *writer, v reflect.Value) { (*at)(w, v) } // it will be there when something is written
	}
	at := new(step)
	c.under[t] = at
	defer delete(c.under, t)
	*at = c.make(t)
	return *at
}

func (c *compiler) make(t reflect.Type) step {
	switch t {
	case reflect.TypeFor[felt.Felt]():
		return writeFelt
	case reflect.TypeFor[*felt.Felt]():
		return writeFeltAt
	case reflect.TypeFor[[]felt.Felt]():
		return writeFelts
	case reflect.TypeFor[json.Number]():
		return left
	}
	if t.Kind() != reflect.Interface && writesItself(t) {
		return left
	}
	if t.Kind() != reflect.Pointer && writesItself(reflect.PointerTo(t)) {
		c.unable = true // whether its method is called depends on where it stands
		return left
	}
	return c.plain(t)
}

// plain is how a type is written that leaves it to its kind.
func (c *compiler) plain(t reflect.Type) step {
	switch t.Kind() {
	case reflect.Bool:
		return writeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return writeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return writeUint
	case reflect.String:
		return writeText
	case reflect.Pointer:
		return pointer(c.of(t.Elem()))
	case reflect.Interface:
		return writeAny
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return left // base64
		}
		return list(c.of(t.Elem()), t.Kind() == reflect.Slice)
	case reflect.Struct:
		return c.object(t)
	case reflect.Map:
		c.of(t.Elem()) // what it holds can be addressed nowhere, and is looked at for what is not followed here
		return left
	}
	return left
}

func (c *compiler) object(t reflect.Type) step {
	members := c.members(t, nil)
	names := map[string]bool{}
	for _, m := range members {
		if names[m.next] {
			c.unable = true // one of them counts, or none
		}
		names[m.next] = true
	}
	return object(members)
}

// members are the fields of a struct, with those of the structs in it that have no name of their own.
func (c *compiler) members(t reflect.Type, path []int) (out []member) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		index := append(append([]int{}, path...), i)
		if tag == "-" || !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			switch f.Type.Kind() {
			case reflect.Struct:
				// As encoding/json has it, whether or not the type writes itself.
				out = append(out, c.members(f.Type, index)...)
				continue
			case reflect.Pointer:
				c.unable = true
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		m := member{index: index, write: c.of(f.Type), first: `{"` + name + `":`, next: `,"` + name + `":`}
		if strings.ContainsFunc(name, oddInName) { // some names count as none
			c.unable = true
		}
		switch options {
		case "":
		case "omitempty":
			m.omitted = emptiness(f.Type)
		default:
			c.unable = true
		}
		out = append(out, m)
	}
	return out
}

// oddInName tells characters that names of ours do not have.
func oddInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// emptiness tells a value that omitempty leaves out; nil of a type that has none.
func emptiness(t reflect.Type) func(reflect.Value) bool {
	switch t.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return func(v reflect.Value) bool { return v.Len() == 0 }
	case reflect.Struct, reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return nil
	}
	return reflect.Value.IsZero
}
