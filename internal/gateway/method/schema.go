package method

import "chainexplorer/internal/starknet"

// Schema is a JSON Schema of draft 7, as far as parameters and results need one.
type Schema struct {
	Ref         string             `json:"$ref,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Maximum     *int               `json:"maximum,omitempty"`
	MaxItems    *int               `json:"maxItems,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	AnyOf       []*Schema          `json:"anyOf,omitempty"`
	OneOf       []*Schema          `json:"oneOf,omitempty"`

	// order are the properties as they are written down, for readers.
	order []string
}

// refPrefix leads to the components of a document.
const refPrefix = "#/components/schemas/"

// of refers to a component. What it is may depend on the version; its name does not.
func of(name string) *Schema { return &Schema{Ref: refPrefix + name} }

func listOf(item *Schema) *Schema { return &Schema{Type: "array", Items: item} }

func atMost(n int, list *Schema) *Schema {
	list.MaxItems = &n
	return list
}

func anyOf(description string, some ...*Schema) *Schema {
	return &Schema{Description: description, AnyOf: some}
}

func oneOf(description string, some ...*Schema) *Schema {
	return &Schema{Description: description, OneOf: some}
}

func words(description string, values ...string) *Schema {
	return &Schema{Description: description, Type: "string", Enum: values}
}

func text(description string) *Schema { return &Schema{Description: description, Type: "string"} }

func hexText(description, pattern string) *Schema {
	return &Schema{Description: description, Type: "string", Pattern: pattern}
}

func flag(description string) *Schema { return &Schema{Description: description, Type: "boolean"} }

func whole(description string) *Schema {
	zero := 0
	return &Schema{Description: description, Type: "integer", Minimum: &zero}
}

// field is a property of an object.
type field struct {
	name     string
	schema   *Schema
	optional bool
	// since and until are the versions that have it; zero: all.
	since, until starknet.SpecVersion
}

// must is a property that is always there, may one that can be missing.
func must(name string, s *Schema) field { return field{name: name, schema: s} }
func may(name string, s *Schema) field  { return field{name: name, schema: s, optional: true} }

func (f field) from(v starknet.SpecVersion) field { f.since = v; return f }
func (f field) upTo(v starknet.SpecVersion) field { f.until = v; return f }

// felts are properties that are felts.
func felts(names ...string) (out []field) {
	for _, n := range names {
		out = append(out, must(n, of("FELT")))
	}
	return out
}

// object is what an object is in a version.
func object(v starknet.SpecVersion, description string, fields ...field) *Schema {
	s := &Schema{Description: description, Type: "object", Properties: map[string]*Schema{}}
	for _, f := range fields {
		if f.since > v || f.until != 0 && f.until < v {
			continue
		}
		s.Properties[f.name] = f.schema
		s.order = append(s.order, f.name)
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// Fields are the names of an object's properties, in the order in which they are
// best read.
func (s *Schema) Fields() []string { return s.order }
