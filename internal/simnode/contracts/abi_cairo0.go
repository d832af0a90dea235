package contracts

import "encoding/json"

// cairo0ABI renders the ABI of a class of the first Cairo.
func (c *contractInterface) cairo0ABI() json.RawMessage {
	type field struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	fields := func(ps []param) []field {
		out := []field{}
		for _, p := range ps {
			if p.typ == "array<felt>" || p.typ == "span<felt>" {
				out = append(out, field{p.name + "_len", "felt"}, field{p.name, "felt*"})
				continue
			}
			t := "felt"
			if p.typ == "u256" {
				t = "Uint256"
			}
			out = append(out, field{p.name, t})
		}
		return out
	}
	items := []any{map[string]any{"type": "struct", "name": "Uint256", "size": 2, "members": []any{
		map[string]any{"name": "low", "offset": 0, "type": "felt"}, map[string]any{"name": "high", "offset": 1, "type": "felt"}}}}
	for _, e := range c.events {
		items = append(items, map[string]any{"type": "event", "name": e.name, "keys": []any{}, "data": fields(e.members)})
	}
	for _, f := range c.functions {
		item := map[string]any{"type": "function", "name": f.name, "inputs": fields(f.inputs), "outputs": []field{}}
		switch f.kind {
		case "view":
			item["stateMutability"] = "view"
		case "constructor":
			item["type"], item["name"] = "constructor", "constructor"
		case "handler":
			item["type"] = "l1_handler"
		}
		if f.output != "" {
			item["outputs"] = fields([]param{{name: "res", typ: f.output}})
		}
		items = append(items, item)
	}
	text, err := json.Marshal(items)
	if err != nil {
		panic(err)
	}
	return text
}
