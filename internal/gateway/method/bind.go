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

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
