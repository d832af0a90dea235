package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Operation tells of one of the API: for programs that are made of all of them, such as a
// command line. Others have the methods.
type Operation struct {
	// ID is its name, Group what it is about, and Tier for whom it is.
	ID, Group, Summary, Description string
	Method, Path, Scope, Tier       string
	// Paged says that its answer is a page of items, and Body that it takes a body.
	Paged, Body bool
	Parameters  []Parameter
}

// Parameter is one of an operation.
type Parameter struct {
	// In is path, query or header.
	Name, In, Description       string
	Required, Repeated, Integer bool
	// Enum are the values that it takes; none when it takes others.
	Enum []string
	// Default is what it is when it is not given; "" when there is none.
	Default string
}

// OperationOf finds an operation by its name.
func OperationOf(id string) (*Operation, bool) {
	i := slices.IndexFunc(Operations, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		return nil, false
	}
	return &Operations[i], true
}

// Call asks for an operation that takes no body, by its parameters, and gives the answer
// back as it came.
func (c *Client) Call(ctx context.Context, o *Operation, values url.Values) (json.RawMessage, error) {
	if o.Body {
		return nil, fmt.Errorf("%s: it takes a body: use its method", o.ID)
	}
	r := request{operation: o.ID, method: o.Method, path: o.Path, query: url.Values{}, again: o.Method == "GET", session: o.Scope == "session"}
	for name := range values {
		if !slices.ContainsFunc(o.Parameters, func(p Parameter) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%s: it has no parameter %s", o.ID, name)
		}
	}
	for _, p := range o.Parameters {
		given := values[p.Name]
		switch {
		case len(given) == 0 && p.Required:
			return nil, fmt.Errorf("%s: it needs %s", o.ID, p.Name)
		case len(given) > 1 && !p.Repeated:
			return nil, fmt.Errorf("%s: it takes one %s", o.ID, p.Name)
		case len(given) == 0:
		case p.In == "path":
			r.path = strings.Replace(r.path, "{"+p.Name+"}", url.PathEscape(given[0]), 1)
		case p.In == "query":
			r.query[p.Name] = given
		default:
			return nil, fmt.Errorf("%s: it needs a header: use its method", o.ID)
		}
	}
	var out json.RawMessage
	if err := c.do(ctx, r, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// page is what all pages have in common.
type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor *string           `json:"nextCursor"`
}

// CallAll goes over the items of all pages of an operation, as they came.
func (c *Client) CallAll(ctx context.Context, o *Operation, values url.Values) iter.Seq2[json.RawMessage, error] {
	return pages(func(cursor string) ([]json.RawMessage, *string, error) {
		if !o.Paged {
			return nil, nil, fmt.Errorf("%s: it has no pages", o.ID)
		}
		at := maps.Clone(values)
		if cursor != "" {
			at.Set("cursor", cursor)
		}
		answer, err := c.Call(ctx, o, at)
		if err != nil {
			return nil, nil, err
		}
		var p page
		if err := json.Unmarshal(answer, &p); err != nil {
			return nil, nil, fmt.Errorf("%s: the answer cannot be read: %w", o.ID, err)
		}
		return p.Items, p.NextCursor, nil
	})
}

// Followable says whether an operation can be followed: its pages are of a range of blocks.
func (o *Operation) Followable() bool {
	return o.Paged && o.has("from_block") && o.has("to_block")
}

func (o *Operation) has(name string) bool {
	return slices.ContainsFunc(o.Parameters, func(p Parameter) bool { return p.Name == name })
}

// Follow goes along with a list by its operation. Its bounds, order and cursor are not used.
func (c *Chain) Follow(ctx context.Context, o *Operation, values url.Values, options FollowOptions) iter.Seq2[Change[json.RawMessage], error] {
	if !o.Followable() {
		return func(yield func(Change[json.RawMessage], error) bool) {
			yield(Change[json.RawMessage]{}, fmt.Errorf("%s: it has no range of blocks to be followed by", o.ID))
		}
	}
	return follow(ctx, c, options, func(ctx context.Context, from, to int64) iter.Seq2[json.RawMessage, error] {
		at := maps.Clone(values)
		if at == nil {
			at = url.Values{}
		}
		at.Set("chain", c.id)
		at.Set("from_block", number(from))
		at.Set("to_block", number(to))
		at.Del("cursor")
		if o.has("order") {
			at.Set("order", "asc")
			return c.client.CallAll(ctx, o, at)
		}
		return oldestFirst(c.client.CallAll(ctx, o, at))
	})
}
