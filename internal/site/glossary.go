package site

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/kernel"
)

// glossaryFile says what the fields of the contract mean. Most names mean the
// same wherever they stand: they are explained once.
//
//go:embed glossary.txt
var glossaryFile string

var glossary = parseGlossary(glossaryFile)

// parseGlossary reads lines of the form "name: text"; # begins a comment. A
// mistake in the file is one in the program.
func parseGlossary(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, meaning, ok := strings.Cut(line, ": ")
		if _, twice := out[name]; !ok || twice || meaning == "" {
			panic(fmt.Sprintf("site: glossary.txt: %q", line))
		}
		out[name] = meaning
	}
	return out
}

// describe gives every property of the contract that has no description of its
// own the one of the glossary. A felt keeps how it is spelled in its pattern.
func describe(r huma.Registry) {
	for name, schema := range r.Map() {
		for field, p := range schema.Properties {
			if p.Description != "" && p.Description != kernel.FeltSpelling {
				continue
			}
			meaning, ok := glossary[name+"."+field]
			if !ok {
				meaning, ok = glossary[field]
			}
			if ok {
				p.Description = meaning
			}
		}
	}
}

// openAnswers lets answers grow: a client that validates must not refuse a field
// that a later version adds. What callers send stays exact: a member of a body that
// nobody knows is a mistake.
func openAnswers(o *huma.OpenAPI) {
	sent := map[string]bool{}
	for _, item := range o.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			for _, m := range op.RequestBody.Content {
				reachable(o.Components.Schemas, m.Schema, sent)
			}
		}
	}
	for name, schema := range o.Components.Schemas.Map() {
		if !sent[name] && schema.AdditionalProperties == false {
			schema.AdditionalProperties = nil
		}
	}
}

// reachable notes the names of the schemas that a schema is made of.
func reachable(r huma.Registry, s *huma.Schema, seen map[string]bool) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, schemaPrefix)
		if seen[name] {
			return
		}
		seen[name] = true
		reachable(r, r.SchemaFromRef(s.Ref), seen)
		return
	}
	reachable(r, s.Items, seen)
	for _, p := range s.Properties {
		reachable(r, p, seen)
	}
	for _, list := range [][]*huma.Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, p := range list {
			reachable(r, p, seen)
		}
	}
}
