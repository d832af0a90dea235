package clientgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tsOperation is what the TypeScript client knows of an operation when it runs: everything
// else of it is types.
type tsOperation struct {
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	Query   []string `json:"query,omitempty"`
	Header  []string `json:"header,omitempty"`
	Body    string   `json:"body,omitempty"`
	Paged   bool     `json:"paged,omitempty"`
	Again   bool     `json:"again,omitempty"`
	Session bool     `json:"session,omitempty"`
}

// TypeScriptTable returns operations.ts of the TypeScript client.
func TypeScriptTable(document []byte) ([]byte, error) {
	var d Document
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	all, err := ordered(d.Paths)
	if err != nil {
		return nil, err
	}
	g := &generator{schemas: d.Components.Schemas}
	var b strings.Builder
	b.WriteString("// Made from the API's OpenAPI document by internal/clientgen. Do not edit.\n\n/** What there is to call, by the names of the API's document. */\nexport const operations = {\n")
	for _, o := range all {
		c, err := g.describe(o)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.ID, err)
		}
		row := tsOperation{Method: strings.ToUpper(o.method), Path: o.path, Body: c.bodyType, Paged: c.hasPages(), Again: c.repeatable(), Session: o.Scope == "session"}
		for _, p := range o.Parameters {
			switch {
			case strings.HasPrefix(p.Description, aliasOf):
			case p.In == "query":
				row.Query = append(row.Query, p.Name)
			case p.In == "header":
				row.Header = append(row.Header, p.Name)
			}
		}
		text, err := json.Marshal(row)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.ID, err)
		}
		fmt.Fprintf(&b, "  %s: %s,\n", o.ID, text)
	}
	b.WriteString("} as const;\n")
	return []byte(b.String()), nil
}

// TypeScriptDocument is the part of the document that types of the TypeScript client are
// made from: without headers and failures, which would be nine tenths of them.
func TypeScriptDocument(document []byte) ([]byte, error) {
	var d map[string]any
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	paths, _ := d["paths"].(map[string]any)
	components, _ := d["components"].(map[string]any)
	if len(paths) == 0 || components == nil {
		return nil, fmt.Errorf("read the document: it has no paths, or no components")
	}
	for path, methods := range paths {
		for method, o := range methods.(map[string]any) {
			operation, _ := o.(map[string]any)
			responses, _ := operation["responses"].(map[string]any)
			if responses == nil {
				return nil, fmt.Errorf("%s %s has no answers", method, path)
			}
			maps.DeleteFunc(responses, func(status string, _ any) bool { return status[0] != '2' })
			for _, r := range responses {
				delete(r.(map[string]any), "headers")
			}
			if parameters, ok := operation["parameters"].([]any); ok {
				operation["parameters"] = ownNames(parameters)
			}
		}
	}
	maps.DeleteFunc(components, func(kind string, _ any) bool { return kind != "schemas" })
	// Where the service is, and in which version, makes no difference.
	out, err := json.Marshal(map[string]any{"openapi": d["openapi"], "info": map[string]any{"title": "API", "version": "1"}, "paths": paths, "components": components})
	if err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	return out, nil
}

// ownNames are the parameters without other names of them. Any chain may be named: which
// there are is the service's to say.
func ownNames(parameters []any) []any {
	return slices.DeleteFunc(parameters, func(p any) bool {
		parameter, _ := p.(map[string]any)
		if schema, ok := parameter["schema"].(map[string]any); ok && parameter["name"] == "chain" {
			delete(schema, "enum")
		}
		description, _ := parameter["description"].(string)
		return strings.HasPrefix(description, aliasOf)
	})
}
