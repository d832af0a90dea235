package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/client"
	"chainexplorer/internal/arrange"
)

// names are those that integrators know of tools and arguments, where they are not the
// operation's own.
var names = map[string]struct {
	tool string
	args map[string]string // by the names of the API
}{
	"getStatus":             {tool: "status"},
	"search":                {tool: "search"},
	"getBlock":              {tool: "block_detail"},
	"listBlockTransactions": {tool: "block_transactions", args: map[string]string{"number_or_hash": "block_number"}},
	"getTransaction":        {tool: "tx_detail", args: map[string]string{"logLimit": "log_limit"}},
	"getAddress":            {tool: "address_summary"},
	"listAddressActivity":   {tool: "address_activity"},
}

// Tool is an operation of the API as agents see it.
type Tool struct {
	Operation *client.Operation
	Name      string
	Schema    json.RawMessage // of the arguments
	params    map[string]client.Parameter
}

// Tools are all of them: one for every operation that reads, with a key that anybody can have.
func Tools(chains []string) []Tool {
	var out []Tool
	for i := range client.Operations {
		o := &client.Operations[i]
		if o.Method != "GET" || o.Scope != "read" || o.Tier != "official_public" || o.ID == "getTokenHoldings" {
			continue
		}
		out = append(out, toolOf(o, chains))
	}
	arrange.By(out, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func toolOf(o *client.Operation, chains []string) Tool {
	known := names[o.ID]
	t := Tool{Operation: o, Name: cmp.Or(known.tool, snake(o.ID)), params: map[string]client.Parameter{}}
	properties, required := map[string]any{}, []string{}
	for _, p := range o.Parameters {
		if p.Name == "chain" {
			chain := map[string]any{"type": "string", "description": "The chain; the service's default unless set."}
			if len(chains) > 0 {
				chain["enum"] = chains
			}
			properties[argChain] = chain
			continue
		}
		name := cmp.Or(known.args[p.Name], snake(p.Name))
		t.params[name] = p
		value := map[string]any{"type": "string"}
		if p.Integer {
			value["type"] = "integer"
		}
		if len(p.Enum) > 0 {
			value["enum"] = p.Enum
		}
		if p.Repeated {
			value = map[string]any{"type": "array", "items": value, "maxItems": maxValues}
		}
		value["description"] = p.Description
		properties[name] = value
		if p.Required {
			required = append(required, name)
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err != nil {
		panic(fmt.Sprintf("mcp: the schema of %s: %v", o.ID, err)) // texts and maps of them always encode
	}
	t.Schema = schema
	return t
}

const (
	argChain = "chain_id"
	// maxValues is how many values an argument has at most, as in the API.
	maxValues = 128
)

// values are the parameters of the API for the arguments of a call.
func (t *Tool) values(raw json.RawMessage, chain string) (url.Values, error) {
	out := url.Values{}
	var args map[string]json.RawMessage
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fmt.Errorf("the arguments are no object")
		}
	}
	for name, value := range args {
		if string(value) == "null" {
			continue
		}
		p, ok := t.params[name]
		if name == argChain && strings.Contains(t.Operation.Path, "{chain}") {
			p, ok = client.Parameter{Name: "chain"}, true
		}
		if !ok {
			return nil, fmt.Errorf("there is no argument %s", strconv.QuoteToASCII(cut(name)))
		}
		var list []json.RawMessage
		if p.Repeated && json.Unmarshal(value, &list) == nil {
			if len(list) > maxValues {
				return nil, fmt.Errorf("%s has more than %d values", name, maxValues)
			}
		} else {
			list = []json.RawMessage{value}
		}
		for _, v := range list {
			text, err := scalar(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out.Add(p.Name, text)
		}
	}
	if strings.Contains(t.Operation.Path, "{chain}") && !out.Has("chain") {
		out.Set("chain", chain)
	}
	for name, p := range t.params {
		if p.Required && out.Get(p.Name) == "" {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}
	return out, nil
}

// scalar is the text of a value: agents write numbers as texts and texts as numbers.
func scalar(raw json.RawMessage) (string, error) {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case len(raw) > 0 && (raw[0] == '{' || raw[0] == '['):
		return "", fmt.Errorf("it must be a text or a number")
	}
	return string(raw), nil
}

func cut(text string) string { return text[:min(len(text), 40)] }

// snake writes a name of the API as names of tools are written.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
