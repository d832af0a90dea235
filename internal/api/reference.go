package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	"chainexplorer/internal/web"
)

// reference makes the API reference from the route table and from the OpenAPI
// document as it is published: what people read is what programs read.
type reference struct {
	s          *Server
	operations map[string]contractOperation // by operation id
	schemas    map[string]*schema
}

// contractOperation and schema are the parts of the document that the
// reference shows.
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

// newReference reads the document. That it does not fit is a mistake in the table.
func newReference(s *Server, document []byte) *reference {
	var d struct {
		Paths      map[string]map[string]contractOperation `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		panic(fmt.Sprintf("api: read the OpenAPI document: %v", err))
	}
	ref := &reference{s: s, operations: map[string]contractOperation{}, schemas: d.Components.Schemas}
	for _, item := range d.Paths {
		for _, op := range item {
			ref.operations[op.OperationID] = op
		}
	}
	return ref
}

// families lists the operations in the order of the table.
func (ref *reference) families(at site) []web.Family {
	var out []web.Family
	for _, r := range ref.s.table {
		i := slices.IndexFunc(out, func(f web.Family) bool { return f.Name == r.Family })
		if i < 0 {
			out = append(out, web.Family{Name: r.Family, ID: "family-" + strings.ToLower(strings.ReplaceAll(r.Family, " ", "-"))})
			i = len(out) - 1
		}
		out[i].Operations = append(out[i].Operations, ref.operation(r, at))
	}
	return out
}

func (ref *reference) operation(r *Route, at site) web.Operation {
	op := ref.operations[r.ID]
	out := web.Operation{
		ID: r.ID, Method: r.Method, Path: r.Path, Summary: r.Summary, Description: r.Description,
		Certification: string(r.Certification), Tier: string(r.Tier), Scope: r.scopeName(), Class: string(r.Class), Audience: string(r.Audience),
		Evidence: evidenceText(evidenceFor(r.ID)),
		Example:  web.Code{Text: curl(at.origin, ref.target(r, op, at.examples)), Status: http.StatusOK},
	}
	for _, p := range op.Parameters {
		sc := p.Schema
		if sc == nil {
			sc = &schema{}
		}
		out.Parameters = append(out.Parameters, web.Parameter{Name: p.Name, In: p.In, Type: ref.typeName(sc), Required: p.Required,
			Default: plain(sc.Default), Bounds: bounds(sc), Description: p.Description})
	}
	if ok, found := op.Responses["200"]; found && ok.Content[jsonType].Schema != nil {
		top := ok.Content[jsonType].Schema
		out.Answer = ref.typeName(top)
		out.Fields = ref.fields(nil, "", top, nil)
	}
	out.Failures = ref.failures(op)
	return out
}

func evidenceText(e Evidence) string {
	if e.Checks == 0 {
		return "no recorded comparison"
	}
	return fmt.Sprintf("%s answers compared with %s (%s, %s)", web.Group(uint64(e.Checks)), e.Oracle, e.EvidenceLevel, e.CertificationScope)
}

// target is an address that the operation answers: its path and the parameters
// that it needs. A parameter without an example in examples.go takes the
// document's own.
func (ref *reference) target(r *Route, op contractOperation, e examples) string {
	path, query := r.Path, []string{}
	for _, p := range op.Parameters {
		v, ok := e.forParameter(p.Name)
		if !ok && p.Example != nil {
			v = plain(p.Example)
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", escape(v))
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+escape(v))
		case p.In == "query" && (p.Name == "limit" || p.Name == "tx_limit"):
			query = append(query, p.Name+"=2") // an answer that fits a screen
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// failures lists the codes that belong to the statuses of an operation.
func (ref *reference) failures(op contractOperation) (out []web.Failure) {
	paged := slices.ContainsFunc(op.Parameters, func(p contractParameter) bool { return p.Name == "cursor" })
	for _, c := range sortedCodes() {
		info := codes[c]
		_, listed := op.Responses[strconv.Itoa(info.Status)]
		if !listed || c == CodeUnsupportedRoute || c == CodeInvalidCursor && !paged {
			continue
		}
		out = append(out, web.Failure{Status: info.Status, Code: string(c), Slug: info.Slug, Title: info.Title})
	}
	return out
}

// sortedCodes lists all codes by status and name.
func sortedCodes() []Code {
	out := make([]Code, 0, len(codes))
	for c := range codes {
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := codes[out[i]].Status, codes[out[j]].Status; a != b {
			return a < b
		}
		return out[i] < out[j]
	})
	return out
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
		values := make([]string, len(target.Enum))
		for i, v := range target.Enum {
			values[i] = plain(v)
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
	if sc.MinLength != nil {
		parts = append(parts, fmt.Sprintf("%d characters or more", *sc.MinLength))
	}
	if sc.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("up to %d characters", *sc.MaxLength))
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
