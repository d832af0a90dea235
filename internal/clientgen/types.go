package clientgen

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// raw stands for what has no one form.
const raw = "json.RawMessage"

// extra is the schema of an object's other properties; nil when there are none, or any.
func (s *Schema) extra() (*Schema, error) {
	switch string(s.Extra) {
	case "", "false", "true":
		return nil, nil //nolint:nilnil // there is none
	}
	var out Schema
	if err := json.Unmarshal(s.Extra, &out); err != nil {
		return nil, fmt.Errorf("additionalProperties: %w", err)
	}
	return &out, nil
}

// formless says that values of a schema have no one form, or none that is told.
func (s *Schema) formless() bool {
	if len(s.OneOf) > 0 || len(s.Type) == 0 {
		return s.Ref == ""
	}
	extra, err := s.extra()
	return slices.Contains(s.Type, "object") && len(s.Properties) == 0 && extra == nil && err == nil
}

// goType is the Go of a schema, and whether null is a value of it.
func (g *generator) goType(s *Schema) (name string, null bool, err error) {
	if len(s.AllOf) > 0 || len(s.AnyOf) > 0 {
		return "", false, fmt.Errorf("allOf and anyOf are not known here")
	}
	if s.Ref != "" {
		name := refName(s.Ref)
		if to := g.schemas[name]; to != nil && to.formless() {
			return raw, false, nil
		}
		return GoName(name), false, nil
	}
	if len(s.OneOf) == 2 && s.OneOf[0].Ref != "" && slices.Equal(s.OneOf[1].Type, types{"null"}) {
		name, _, err := g.goType(s.OneOf[0])
		return name, true, err
	}
	if s.formless() {
		return raw, false, nil
	}
	kinds := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	null = len(kinds) < len(s.Type)
	if len(kinds) != 1 {
		return "", false, fmt.Errorf("it has the types %v", kinds)
	}
	switch kinds[0] {
	case "boolean":
		return "bool", null, nil
	case "number":
		return "float64", null, nil
	case "integer":
		if s.Format == "int32" {
			return "int", null, nil
		}
		return "int64", null, nil
	case "string":
		if s.Format == "date-time" {
			return "time.Time", null, nil
		}
		return "string", null, nil
	case "array":
		item, _, err := g.goType(s.Items)
		return "[]" + item, null, err
	case "object":
		return g.object(s, null)
	}
	return "", false, fmt.Errorf("type %s is not known here", kinds[0])
}

// object is the Go of an object that has no name.
func (g *generator) object(s *Schema, null bool) (string, bool, error) {
	extra, err := s.extra()
	if err != nil {
		return "", false, err
	}
	switch {
	case len(s.Properties) > 0:
		var b strings.Builder
		b.WriteString("struct {\n")
		err := g.fields(&b, s)
		return b.String() + "}", null, err
	case extra != nil:
		item, _, err := g.goType(extra)
		return "map[string]" + item, null, err
	}
	return raw, null, nil
}

// named writes the type of a schema.
func (g *generator) named(name string, s *Schema) error {
	if s.formless() {
		return nil // whoever speaks of it has raw JSON
	}
	doc := s.Description
	if doc == "" {
		doc = "is an object of the API."
	}
	t, _, err := g.goType(s)
	if err != nil {
		return err
	}
	comment(&g.types, GoName(name), doc)
	fmt.Fprintf(&g.types, "type %s %s\n\n", GoName(name), t)
	return nil
}

// fields writes those of an object. What may be null or missing is a pointer, a slice or
// raw JSON: nothing is zero because it was not said.
func (g *generator) fields(b io.Writer, s *Schema) error {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		t, null, err := g.goType(p)
		if err != nil {
			return fmt.Errorf("property %s: %w", name, err)
		}
		field := GoName(name)
		if other, twice := seen[field]; twice {
			return fmt.Errorf("properties %s and %s are both %s", other, name, field)
		}
		seen[field] = name
		optional := !slices.Contains(s.Required, name)
		if (null || optional) && t != raw && !strings.HasPrefix(t, "[]") && !strings.HasPrefix(t, "map[") {
			t = "*" + t
		}
		tag := name
		if optional {
			tag += ",omitzero" // an empty list that was sent is not one that was not
		}
		if p.Description != "" {
			for line := range strings.Lines(wrap(p.Description)) {
				fmt.Fprintf(b, "// %s\n", strings.TrimRight(line, "\n"))
			}
		}
		fmt.Fprintf(b, "%s %s `json:%q`\n", field, t, tag)
	}
	return nil
}
