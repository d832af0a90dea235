package clientgen

import (
	"fmt"
	"slices"
	"strings"
)

// row writes an operation for those who ask what there is.
func (g *generator) row(c *call) {
	b := &g.table
	fmt.Fprintf(b, "{ID: %q, Group: %q, Summary: %q, Description: %q, Method: %q, Path: %q, Scope: %q, Tier: %q", c.ID, strings.Join(c.Tags, ", "), c.Summary, c.Description,
		strings.ToUpper(c.Operation.method), c.path, c.Scope, c.Tier)
	if c.paged {
		b.WriteString(", Paged: true")
	}
	if c.body != "" {
		b.WriteString(", Body: true")
	}
	var rows []string
	for _, p := range c.Parameters {
		if strings.HasPrefix(p.Description, aliasOf) {
			continue
		}
		row := fmt.Sprintf("{Name: %q, In: %q, Description: %q", p.Name, p.In, p.Description)
		s := p.Schema
		if p.Required {
			row += ", Required: true"
		}
		if slices.Contains(s.Type, "array") {
			row += ", Repeated: true"
			s = s.Items
		}
		if slices.Contains(s.Type, "integer") {
			row += ", Integer: true"
		}
		if len(s.Enum) > 0 && p.Name != "chain" { // which chains there are is the service's to say
			row += fmt.Sprintf(", Enum: %#v", texts(s.Enum))
		}
		if s.Default != nil {
			row += fmt.Sprintf(", Default: %q", fmt.Sprint(s.Default))
		}
		rows = append(rows, row+"}")
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, ", Parameters: []Parameter{\n%s,\n}", strings.Join(rows, ",\n"))
	}
	b.WriteString("},\n")
}

func texts(values []any) (out []string) {
	for _, v := range values {
		out = append(out, fmt.Sprint(v))
	}
	return out
}
