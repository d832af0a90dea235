// Package clientgen writes the Go of package client that follows from the API's own OpenAPI
// document: a type for every schema and a method for every operation, with an iterator for
// every list. The result is checked in, and a test holds it against the document that the
// service serves.
//
// It knows the part of OpenAPI that our document uses, and fails on everything else: an
// unknown form must not become a field that silently stays empty.
package clientgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Document is what is read of an OpenAPI document.
type Document struct {
	Paths      map[string]map[string]*Operation `json:"paths"`
	Components struct {
		Schemas map[string]*Schema `json:"schemas"`
	} `json:"components"`
}

// Operation is one of the API.
type Operation struct {
	ID          string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Tags        []string    `json:"tags"`
	Scope       string      `json:"x-service-scope"`
	Tier        string      `json:"x-service-key-tier"`
	Parameters  []Parameter `json:"parameters"`
	RequestBody *struct {
		Content map[string]content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]content `json:"content"`
	} `json:"responses"`

	method, path string
}

type content struct {
	Schema *Schema `json:"schema"`
}

// Parameter is one of an operation.
type Parameter struct {
	In          string  `json:"in"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Schema      *Schema `json:"schema"`
}

// Schema is a type, or a reference to one.
type Schema struct {
	Ref         string             `json:"$ref"`
	Type        types              `json:"type"`
	Format      string             `json:"format"`
	Description string             `json:"description"`
	Properties  map[string]*Schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *Schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Default     any                `json:"default"`
	OneOf       []*Schema          `json:"oneOf"`
	AnyOf       []*Schema          `json:"anyOf"`
	AllOf       []*Schema          `json:"allOf"`
	Extra       json.RawMessage    `json:"additionalProperties"`
}

// types are the names of a schema's types: one text, or a list.
type types []string

func (t *types) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = types{""}
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// Generate returns the files of package client that are made from the document.
func Generate(document []byte) (map[string][]byte, error) {
	var d Document
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	g := &generator{schemas: d.Components.Schemas}
	operations, err := ordered(d.Paths)
	if err != nil {
		return nil, err
	}
	g.table.WriteString("// Operations are those of the API, by their names.\nvar Operations = []Operation{\n")
	for _, o := range operations {
		if err := g.operation(o); err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.ID, err)
		}
	}
	g.table.WriteString("}\n")
	for _, name := range slices.Sorted(maps.Keys(g.schemas)) {
		if !g.used[name] {
			continue
		}
		if err := g.named(name, g.schemas[name]); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	out := map[string][]byte{}
	for name, body := range map[string]*bytes.Buffer{"types.gen.go": &g.types, "operations.gen.go": &g.calls, "table.gen.go": &g.table} {
		text := body.String()
		head := "// Code generated from the API's OpenAPI document by internal/clientgen. DO NOT EDIT.\n\npackage client\n\n"
		imports := ""
		for _, path := range []string{"context", "encoding/json", "io", "iter", "net/http", "net/url", "time"} {
			if regexp.MustCompile(`\b` + path[strings.LastIndexByte(path, '/')+1:] + `\.[A-Z]`).MatchString(text) {
				imports += fmt.Sprintf("\t%q\n", path)
			}
		}
		if imports != "" {
			head += "import (\n" + imports + ")\n\n"
		}
		if out[name], err = format.Source([]byte(head + text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// ordered are the operations by their names.
func ordered(paths map[string]map[string]*Operation) ([]*Operation, error) {
	var out []*Operation
	for path, methods := range paths {
		for method, o := range methods {
			if o.ID == "" {
				return nil, fmt.Errorf("%s %s has no name", method, path)
			}
			o.method, o.path = method, path
			if _, stream := o.Responses["200"].Content["text/event-stream"]; stream {
				continue // what lasts is no call: it is written by hand where there is one
			}
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *Operation) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// generator writes as it goes; used are the schemas that an operation speaks of.
type generator struct {
	schemas      map[string]*Schema
	used         map[string]bool
	types, calls bytes.Buffer
	table        bytes.Buffer
}

// use says that a schema, and whatever it speaks of, is needed.
func (g *generator) use(name string) error {
	if g.used[name] {
		return nil
	}
	s := g.schemas[name]
	if s == nil {
		return fmt.Errorf("there is no schema %s", name)
	}
	if g.used == nil {
		g.used = map[string]bool{}
	}
	g.used[name] = true
	return g.useAll(s)
}

func (g *generator) useAll(s *Schema) error {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return g.use(refName(s.Ref))
	}
	parts := slices.Concat([]*Schema{s.Items}, s.OneOf, slices.Collect(maps.Values(s.Properties)))
	if extra, err := s.extra(); err == nil {
		parts = append(parts, extra)
	}
	for _, part := range parts {
		if err := g.useAll(part); err != nil {
			return err
		}
	}
	return nil
}

func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
