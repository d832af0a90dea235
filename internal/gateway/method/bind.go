package method

import (
	"encoding/json"
	"fmt"
	"slices"

	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// Args are the parameters of a call by name, each as the caller wrote it.
type Args map[string]json.RawMessage

// Bind names the parameters of a call, which come as an array, as an object or not at
// all. It checks that they are the method's, that none that is needed is missing and
// none is there twice; the values are for whoever answers to judge. An optional
// parameter that is null counts as missing. The error is in words for the caller.
func (m *Method) Bind(params json.RawMessage, v starknet.SpecVersion) (Args, error) {
	known := m.ParamsIn(v)
	args := Args{}
	s := jsonscan.New(params)
	switch {
	case len(params) == 0:
	case params[0] == '[':
		i := 0
		for more := s.OpenArray(); more; more = s.NextElement() {
			if i == len(known) {
				return nil, fmt.Errorf("%s has %d parameters", m.Name, len(known))
			}
			args[known[i].Name] = s.Raw()
			i++
		}
	case params[0] == '{':
		for more := s.OpenObject(); more; more = s.NextMember() {
			name := string(s.Key())
			if !slices.ContainsFunc(known, func(p Param) bool { return p.Name == name }) {
				return nil, fmt.Errorf("%s has no parameter %q", m.Name, clip(name))
			}
			if _, twice := args[name]; twice {
				return nil, fmt.Errorf("parameter %s is given twice", name)
			}
			args[name] = s.Raw()
		}
	default:
		return nil, fmt.Errorf("params must be an array or an object")
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	for i := range known {
		p := &known[i]
		value, given := args[p.Name]
		if given && string(value) == "null" && !p.Required {
			delete(args, p.Name)
		}
		if p.Required && !given {
			return nil, fmt.Errorf("parameter %s is missing", p.Name)
		}
	}
	return args, nil
}

// ForNode is how a node is asked: params as the caller wrote them, except for an array
// that leaves out parameters. Some nodes take those for given and others refuse the call,
// so that it is put by name, which all understand. Every value stays as it was written.
func (m *Method) ForNode(params json.RawMessage, args Args, v starknet.SpecVersion) json.RawMessage {
	known := m.ParamsIn(v)
	if len(params) == 0 || params[0] != '[' || len(args) == len(known) {
		return params
	}
	out := make(json.RawMessage, 0, len(params)+24*len(args)+2)
	out = append(out, '{')
	for i := range known {
		value, given := args[known[i].Name]
		if !given {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), known[i].Name...), `":`...)
		out = append(out, value...)
	}
	return append(out, '}')
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
