package abi

import "chainexplorer/internal/felt"

// EventShape is an event of a class as its ABI describes it.
type EventShape struct {
	Name string
	// Path are the selectors that its keys begin with.
	Path    []felt.Felt
	Members []EventMember
	// Undefined says that the ABI names the event and does not say what it holds.
	Undefined bool
}

// EventMember is a value of an event.
type EventMember struct {
	Name, Type string
	Key        bool
}

// Shapes describes the events of the schema, in the order of their selectors.
func (s *Schema) Shapes() []EventShape {
	out := make([]EventShape, len(s.events))
	for i := range s.events {
		e := &s.events[i]
		out[i] = EventShape{Name: e.name, Path: e.path, Undefined: e.flaw != flawNone}
		for k := range e.steps {
			st := &e.steps[k]
			m := EventMember{Name: st.label, Type: st.typeName, Key: st.kind != stepData}
			if st.kind != stepSelector {
				m.Type = s.types[st.typ].name
			}
			out[i].Members = append(out[i].Members, m)
		}
	}
	return out
}
