package site

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/web"
)

// What the reference reads of the published OpenAPI document: its operations,
// parameters and schemas, and how these read in words.

type contractOperation struct {
	OperationID string              `json:"operationId"`
	Parameters  []contractParameter `json:"parameters"`
	Responses   map[string]struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

type contractParameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Example     any     `json:"example"`
	Schema      *schema `json:"schema"`
}

type schema struct {
	Ref         string             `json:"$ref"`
	Type        oneOrMore          `json:"type"`
	Format      string             `json:"format"`
	Description string             `json:"description"`
	Enum        []any              `json:"enum"`
	Default     any                `json:"default"`
	Minimum     json.Number        `json:"minimum"`
	Maximum     json.Number        `json:"maximum"`
	MinLength   *int               `json:"minLength"`
	MaxLength   *int               `json:"maxLength"`
	Pattern     string             `json:"pattern"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	AllOf       []*schema          `json:"allOf"`
}

// oneOrMore is a type, or a list of them.
type oneOrMore []string

func (t *oneOrMore) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

const schemaPrefix = "#/components/schemas/"

// resolve follows a reference, and looks through a choice between something
// and null.
func (ref *reference) resolve(sc *schema) (out *schema, name string, null bool) {
	for range 8 { // deeper than any chain of references of ours
		switch {
		case sc.Ref != "":
			name = strings.TrimPrefix(sc.Ref, schemaPrefix)
			next := ref.schemas[name]
			if next == nil {
				return &schema{}, name, null
			}
			sc = next
		case len(sc.AnyOf)+len(sc.OneOf)+len(sc.AllOf) > 0 && len(sc.Type) == 0:
			var some *schema
			for _, v := range slices.Concat(sc.AnyOf, sc.OneOf, sc.AllOf) {
				if slices.Equal(v.Type, oneOrMore{"null"}) {
					null = true
				} else if some == nil {
					some = v
				}
			}
			if some == nil {
				return sc, name, null
			}
			sc = some
		default:
			return sc, name, null || slices.Contains(sc.Type, "null")
		}
	}
	return sc, name, null
}

// typeName is a schema's type in a word or two.
func (ref *reference) typeName(sc *schema) string {
	target, name, null := ref.resolve(sc)
	kinds := slices.DeleteFunc(slices.Clone([]string(target.Type)), func(t string) bool { return t == "null" })
	text := strings.Join(kinds, " or ")
	switch {
	case text == "array" && target.Items != nil:
		text = "array of " + ref.typeName(target.Items)
	case name != "" && text == "object":
		text = name
	case len(target.Enum) > 0:
		var values []string
		for _, v := range target.Enum {
			if v != nil { // null is said below
				values = append(values, plain(v))
			}
		}
		text = strings.Join(values, ", ")
	case target.Format != "" && text == "string":
		text += " (" + target.Format + ")"
	}
	if text == "" {
		text = "any"
	}
	if null {
		text += " or null"
	}
	return text
}

// maxDepth bounds nesting in a field table; seen keeps it from going in circles.
const maxDepth = 6

// fields lists the fields of an object, and of the objects in it, in the order
// of the contract.
func (ref *reference) fields(out []web.Field, parent string, sc *schema, seen []*schema) []web.Field {
	target, _, _ := ref.resolve(sc)
	for target.Items != nil {
		parent = strings.TrimSuffix(parent, ".") + "[]."
		target, _, _ = ref.resolve(target.Items)
	}
	if len(target.Properties) == 0 || len(seen) >= maxDepth || slices.Contains(seen, target) {
		return out
	}
	seen = append(slices.Clone(seen), target)
	for _, name := range propertyOrder(target) {
		p := target.Properties[name]
		description := p.Description
		if description == "" {
			described, _, _ := ref.resolve(p)
			description = described.Description
		}
		out = append(out, web.Field{Parent: parent, Name: name, Type: ref.typeName(p), Description: description})
		out = ref.fields(out, parent+name+".", p, seen)
	}
	return out
}

// propertyOrder is the order of required, which is that of the Go type, then
// the optional ones by name.
func propertyOrder(sc *schema) []string {
	out := slices.DeleteFunc(slices.Clone(sc.Required), func(n string) bool { return sc.Properties[n] == nil })
	var rest []string
	for n := range sc.Properties {
		if !slices.Contains(out, n) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return append(out, rest...)
}

// bounds says what values are taken.
func bounds(sc *schema) string {
	var parts []string
	if sc.Minimum != "" {
		parts = append(parts, "at least "+sc.Minimum.String())
	}
	if sc.Maximum != "" {
		parts = append(parts, "at most "+sc.Maximum.String())
	}
	switch {
	case sc.MinLength != nil && sc.MaxLength != nil:
		parts = append(parts, fmt.Sprintf("%d to %d characters", *sc.MinLength, *sc.MaxLength))
	case sc.MaxLength != nil:
		parts = append(parts, fmt.Sprintf("up to %d characters", *sc.MaxLength))
	case sc.MinLength != nil:
		parts = append(parts, fmt.Sprintf("%d or more characters", *sc.MinLength))
	}
	if sc.Pattern != "" {
		parts = append(parts, "like "+sc.Pattern)
	}
	return strings.Join(parts, ", ")
}

// plain writes a JSON value as people would.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	}
}
