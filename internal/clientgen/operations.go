package clientgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// aliasOf begins what is said of another name of a parameter, which clients do not need.
const aliasOf = "Alias of "

// call is an operation as Go sees it.
type call struct {
	*Operation
	name, receiver, client string // GetBlock, *Chain, c.client
	args                   []string
	query                  []Parameter
	must                   []Parameter // of the query: arguments
	body, bodyType         string      // the argument's type, and the content's
	answer                 string      // the type; "" when there is none to read
	paged                  bool
	page                   *Schema // of the answer
}

// operation writes the method of an operation, and the type of its query.
func (g *generator) operation(o *Operation) error {
	c, err := g.describe(o)
	if err != nil {
		return err
	}
	if err := g.queryType(c); err != nil {
		return err
	}
	g.method(c)
	if err := g.iterator(c); err != nil {
		return err
	}
	g.row(c)
	return nil
}

// describe finds out what an operation takes and gives.
func (g *generator) describe(o *Operation) (*call, error) {
	c := &call{Operation: o, name: GoName(o.ID), receiver: "*Client", client: "c"}
	if strings.HasPrefix(o.path, "/v1/{chain}/") {
		c.receiver, c.client = "*Chain", "c.client"
	}
	for _, p := range o.Parameters {
		switch {
		case p.In == "path" && p.Name == "chain", strings.HasPrefix(p.Description, aliasOf):
		case p.In == "query" && p.Required:
			c.args = append(c.args, argument(p.Name)+" string")
			c.must = append(c.must, p)
		case p.In == "query":
			c.query = append(c.query, p)
		case p.In == "path" || p.In == "header":
			c.args = append(c.args, argument(p.Name)+" string")
		default:
			return nil, fmt.Errorf("a parameter in %s is not known here", p.In)
		}
	}
	return c, g.bodies(c)
}

// repeatable says whether nothing happens twice when it is called twice.
func (c *call) repeatable() bool {
	again := c.Operation.method == "get" || c.Scope == "read" || c.Scope == "batch" ||
		slices.ContainsFunc(c.Parameters, func(p Parameter) bool { return p.Name == "Idempotency-Key" })
	return again && c.body != "io.Reader" && c.body != raw // a raw body may say anything
}

// hasPages says whether its answer is a page of items.
func (c *call) hasPages() bool {
	return c.page != nil && c.page.Properties["nextCursor"] != nil && slices.ContainsFunc(c.query, func(p Parameter) bool { return p.Name == "cursor" })
}

// bodies finds what goes in and what comes out.
func (g *generator) bodies(c *call) error {
	if c.RequestBody != nil {
		for kind, b := range c.RequestBody.Content {
			c.bodyType = kind
			if kind != "application/json" {
				c.body = "io.Reader"
				break
			}
			t, _, err := g.goType(b.Schema)
			if err != nil {
				return fmt.Errorf("body: %w", err)
			}
			if c.body = t; t != raw {
				c.body = "*" + t
			}
			if err := g.useAll(b.Schema); err != nil {
				return err
			}
		}
		if len(c.RequestBody.Content) != 1 {
			return fmt.Errorf("it takes %d kinds of bodies", len(c.RequestBody.Content))
		}
	}
	for _, status := range slices.Sorted(maps.Keys(c.Responses)) {
		b, ok := c.Responses[status].Content["application/json"]
		if status[0] != '2' || !ok {
			continue
		}
		t, _, err := g.goType(b.Schema)
		if err != nil {
			return fmt.Errorf("answer %s: %w", status, err)
		}
		if c.answer != "" && c.answer != t {
			return fmt.Errorf("it answers with %s and %s", c.answer, t)
		}
		c.answer, c.page = t, g.schemas[refName(b.Schema.Ref)]
		if err := g.useAll(b.Schema); err != nil {
			return err
		}
	}
	return nil
}

// queryType writes the type of the query parameters.
func (g *generator) queryType(c *call) error {
	if len(c.query) == 0 {
		return nil
	}
	b := &g.calls
	fmt.Fprintf(b, "// %sQuery are the parameters of %s. What is empty or zero is not sent.\ntype %sQuery struct {\n", c.name, c.name, c.name)
	var values strings.Builder
	for _, p := range c.query {
		t, _, err := g.goType(p.Schema)
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		field, add := GoName(p.Name), ""
		switch t {
		case "string":
			add = "addText"
		case "int64":
			add = "addNumber"
		case "[]string":
			add = "addTexts"
		case "bool":
			add = "addTruth"
		default:
			return fmt.Errorf("parameter %s: %s is not known in a query", p.Name, t)
		}
		for line := range strings.Lines(wrap(p.Description)) {
			fmt.Fprintf(b, "// %s\n", strings.TrimRight(line, "\n"))
		}
		fmt.Fprintf(b, "%s %s\n", field, t)
		fmt.Fprintf(&values, "%s(v, %q, q.%s)\n", add, p.Name, field)
	}
	fmt.Fprintf(b, "}\n\nfunc (q *%sQuery) values() url.Values {\nv := url.Values{}\nif q == nil {\nreturn v\n}\n%sreturn v\n}\n\n", c.name, values.String())
	return nil
}

// method writes the call itself.
func (g *generator) method(c *call) {
	args := slices.Concat([]string{"ctx context.Context"}, c.args)
	path := "\"" + c.path + "\""
	for _, p := range c.Parameters {
		if p.In != "path" {
			continue
		}
		value := "url.PathEscape(" + argument(p.Name) + ")"
		if p.Name == "chain" {
			value = "url.PathEscape(c.id)"
		}
		path = strings.Replace(path, "{"+p.Name+"}", "\" + "+value+" + \"", 1)
	}
	path = strings.TrimSuffix(strings.ReplaceAll(path, ` + ""`, ""), ` + ""`)
	fields := []string{fmt.Sprintf("operation: %q", c.ID), "method: http.Method" + GoName(c.Operation.method), "path: " + path}
	if c.body != "" {
		args = append(args, "body "+c.body)
		fields = append(fields, "body: body", fmt.Sprintf("kind: %q", c.bodyType))
	}
	if len(c.query) > 0 {
		args = append(args, "opts *"+c.name+"Query")
	}
	if query := c.values(); query != "" {
		fields = append(fields, "query: "+query)
	}
	for _, p := range c.Parameters {
		if p.In == "header" {
			fields = append(fields, fmt.Sprintf("header: http.Header{%q: {%s}}", p.Name, argument(p.Name)))
		}
	}
	if c.repeatable() {
		fields = append(fields, "again: true")
	}
	if c.Scope == "session" {
		fields = append(fields, "session: true")
	}
	b := &g.calls
	comment(b, c.name, c.Summary+". "+c.Description)
	result, target := "error", "nil"
	if c.answer != "" {
		result, target = "(*"+c.answer+", error)", "out"
	}
	fmt.Fprintf(b, "func (c %s) %s(%s) %s {\n", c.receiver, c.name, strings.Join(args, ", "), result)
	if c.answer != "" {
		fmt.Fprintf(b, "out := new(%s)\n", c.answer)
	}
	fmt.Fprintf(b, "err := %s.do(ctx, request{%s}, %s)\n", c.client, strings.Join(fields, ", "), target)
	if c.answer == "" {
		b.WriteString("return err\n}\n\n")
		return
	}
	b.WriteString("if err != nil {\nreturn nil, err\n}\nreturn out, nil\n}\n\n")
}

// values is the Go of the query.
func (c *call) values() string {
	var must []string
	for _, p := range c.must {
		must = append(must, fmt.Sprintf("%q: {%s}", p.Name, argument(p.Name)))
	}
	required := "url.Values{" + strings.Join(must, ", ") + "}"
	switch {
	case len(c.query) == 0 && len(must) == 0:
		return ""
	case len(c.query) == 0:
		return required
	case len(must) == 0:
		return "opts.values()"
	}
	return "joined(" + required + ", opts.values())"
}

// iterator writes what goes over all pages of a list.
func (g *generator) iterator(c *call) error {
	if !c.hasPages() {
		return nil
	}
	items := c.page.Properties["items"]
	if items == nil || items.Items == nil {
		return fmt.Errorf("it has pages without items")
	}
	item, _, err := g.goType(items.Items)
	if err != nil {
		return err
	}
	c.paged = true
	names := []string{"ctx"}
	args := slices.Concat([]string{"ctx context.Context"}, c.args, []string{"opts *" + c.name + "Query"})
	for _, a := range c.args {
		names = append(names, strings.TrimSuffix(a, " string"))
	}
	b := &g.calls
	comment(b, c.name+"All", fmt.Sprintf("goes over the items of all pages of %s, from the query's cursor on. It ends with the first error.", c.name))
	fmt.Fprintf(b, `func (c %s) %sAll(%s) iter.Seq2[%s, error] {
	return pages(func(cursor string) ([]%s, *string, error) {
		var at %sQuery
		if opts != nil {
			at = *opts
		}
		if cursor != "" {
			at.Cursor = cursor
		}
		page, err := c.%s(%s, &at)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.NextCursor, nil
	})
}

`, c.receiver, c.name, strings.Join(args, ", "), item, item, c.name, c.name, strings.Join(names, ", "))
	return nil
}
