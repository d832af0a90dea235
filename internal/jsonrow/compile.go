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

// kind is a way of writing.
type kind uint8

const (
	left    kind = iota // to encoding/json
	aFelt               // felt.Felt
	aFeltAt             // *felt.Felt
	felts               // []felt.Felt
	text
	aBool
	anInt
	aUint
	pointer
	anything // an interface
	slice
	array
	object
	embedded // an object whose members are those of the one that it is in
)

// shape is how a type is written.
type shape struct {
	kind    kind
	of      *shape // what a pointer leads to, or a list holds
	members []member
	by      memberWriter // writes the members in their place; nil where nothing was registered
}

// member is a field of an object.
type member struct {
	index    int
	name     string // quoted, behind a comma
	null     string // the same with null
	shape    *shape
	nullable bool                     // it may be nil, and is written as null then
	omitted  bool                     // then
	empty    func(reflect.Value) bool // tells what is left out besides; nil: nothing
}

// compiler works out how a type is written. unable says that it depends on what is not followed here.
type compiler struct {
	under  map[reflect.Type]*shape // types that are being worked out: some hold themselves
	unable bool
}

// compile returns nil for what is left to encoding/json as a whole.
func compile(t reflect.Type) *shape {
	c := &compiler{under: map[reflect.Type]*shape{}}
	if s := c.of(t); !c.unable {
		return s
	}
	return nil
}

func (c *compiler) of(t reflect.Type) *shape {
	if at := c.under[t]; at != nil {
		return at // it will be whole when something is written
	}
	at := &shape{}
	c.under[t] = at
	defer delete(c.under, t)
	*at = c.make(t)
	return at
}

func (c *compiler) make(t reflect.Type) shape {
	switch t {
	case reflect.TypeFor[felt.Felt]():
		return shape{kind: aFelt}
	case reflect.TypeFor[*felt.Felt]():
		return shape{kind: aFeltAt}
	case reflect.TypeFor[[]felt.Felt]():
		return shape{kind: felts}
	case reflect.TypeFor[json.Number]():
		return shape{}
	}
	if t.Kind() != reflect.Interface && writesItself(t) {
		return shape{}
	}
	if t.Kind() != reflect.Pointer && writesItself(reflect.PointerTo(t)) {
		c.unable = true // whether its method is called depends on where it stands
		return shape{}
	}
	return c.plain(t)
}

// plain is how a type is written that leaves it to its kind.
func (c *compiler) plain(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.Bool:
		return shape{kind: aBool}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return shape{kind: anInt}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return shape{kind: aUint}
	case reflect.String:
		return shape{kind: text}
	case reflect.Pointer:
		return shape{kind: pointer, of: c.of(t.Elem())}
	case reflect.Interface:
		return shape{kind: anything}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return shape{} // base64
		}
		return shape{kind: slice, of: c.of(t.Elem())}
	case reflect.Array:
		return shape{kind: array, of: c.of(t.Elem())}
	case reflect.Struct:
		return c.object(t)
	case reflect.Map:
		c.of(t.Elem()) // what it holds can be addressed nowhere, and is looked at for what is not followed here
	}
	return shape{}
}

func (c *compiler) object(t reflect.Type) shape {
	members := c.members(t)
	c.distinct(members, map[string]bool{})
	return shape{kind: object, members: members, by: registered[t]}
}

// distinct finds members of one name: one of them counts, or none.
func (c *compiler) distinct(members []member, names map[string]bool) {
	for _, m := range members {
		if m.shape.kind == embedded {
			c.distinct(m.shape.members, names)
			continue
		}
		c.unable = c.unable || names[m.name]
		names[m.name] = true
	}
}

// members are the fields of a struct. A struct in it that has no name of its own is one whose
// members are its own.
func (c *compiler) members(t reflect.Type) (out []member) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			switch f.Type.Kind() {
			case reflect.Struct:
				// As encoding/json has it, whether or not the type writes itself.
				inner := &shape{kind: embedded, members: c.members(f.Type)}
				if f.IsExported() { // nobody is handed what is not
					inner.by = registered[f.Type]
				}
				out = append(out, member{index: i, shape: inner})
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
		m := member{index: i, shape: c.of(f.Type), name: `,"` + name + `":`}
		m.null = m.name + "null"
		// Others that may be nil are written by encoding/json, or by methods of their own.
		m.nullable = f.Type.Kind() == reflect.Pointer && (m.shape.kind == aFeltAt || m.shape.kind == pointer)
		if strings.ContainsFunc(name, oddInName) { // some names count as none
			c.unable = true
		}
		switch options {
		case "":
		case "omitempty":
			m.omitted, m.empty = m.nullable, emptiness(f.Type)
		case "omitzero":
			if _, judges := f.Type.MethodByName("IsZero"); judges || f.Type.Kind() != reflect.Slice {
				c.unable = true
			}
			m.empty = reflect.Value.IsZero // none, and not an empty list
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
