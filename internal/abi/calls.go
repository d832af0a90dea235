package abi

import (
	"slices"

	"chainexplorer/internal/felt"
)

// Calls reads calldata with the entry points of a class. It never changes.
//
// An entry point is an event without keys to this package: its path is the
// selector and the kind of door, and its data is the calldata. So arguments have
// the fields, the bounds and the reasons that events have, and the source of all
// of them is data.
type Calls struct{ schema *Schema }

// Unsaid is the type of arguments that are not known: those of two functions
// with one selector that disagree, and what is beyond the bounds of a stored
// interface. Nothing decodes as it.
const Unsaid = "?"

// NewCalls makes a reader of the entry points that an ABI describes and the
// structs and enums that their arguments are made of. Types of Cairo 0 are taken
// to be laid out in the order of their members. Whatever the ABI says there is a
// reader: one whose types cannot be resolved, because they contain themselves or
// are too many, has names alone.
func NewCalls(sierra bool, functions []Function, types []TypeDef) *Calls {
	if len(functions) > maxEvents {
		functions = functions[:maxEvents]
	}
	items := make([]wireItem, len(types))
	for i, t := range types {
		items[i] = wireItem{Type: "struct", Name: t.Name, Members: wireParams(t.Members)}
		if t.Enum {
			items[i] = wireItem{Type: "enum", Name: t.Name, Variants: wireParams(t.Members)}
		}
	}
	r := newResolver(items)
	c0 := &cairo0{resolver: r, sizes: map[string]uint32{}, unplaced: true}
	events := make([]event, len(functions))
	for i := range functions {
		f := &functions[i]
		events[i] = event{name: f.Name, path: doorPath(f.Kind, f.Selector)}
		if inputs := wireParams(f.Inputs); sierra {
			r.arguments(&events[i], inputs)
		} else {
			c0.members(&events[i], stepData, inputs)
		}
	}
	if r.err == nil {
		if s, err := build(r.types, slices.Clone(events)); err == nil {
			return &Calls{s}
		}
	}
	for i := range events {
		events[i].flaw = flawUnsupported
	}
	s, err := build(nil, events)
	if err != nil { // names alone are within every bound
		return &Calls{&Schema{}}
	}
	return &Calls{s}
}

// arguments adds the arguments of a function of Cairo 1.
func (r *resolver) arguments(e *event, inputs []wireParam) {
	for _, in := range inputs {
		if !isName(in.Name) || len(e.steps) == MaxFields {
			e.flaw = flawUnsupported
			return
		}
		e.steps = append(e.steps, step{kind: stepData, label: in.Name, typ: r.resolve(in.Type, 0)})
	}
}

func doorPath(kind FunctionKind, selector felt.Felt) []felt.Felt {
	return []felt.Felt{selector, felt.FromUint64(uint64(kind))}
}

// doorPath is doorPath in the memory of the room, until the next.
func (r *Room) doorPath(kind FunctionKind, selector felt.Felt) []felt.Felt {
	if r == nil {
		return doorPath(kind, selector)
	}
	r.door = [2]felt.Felt{selector, felt.FromUint64(uint64(kind))}
	return r.door[:]
}

func wireParams(ps []Param) []wireParam {
	out := make([]wireParam, len(ps))
	for i, p := range ps {
		out[i] = wireParam{Name: p.Name, Type: p.Type}
	}
	return out
}

// Name is the function behind a door, empty when the class has none there.
func (c *Calls) Name(kind FunctionKind, selector felt.Felt) string {
	if c == nil {
		return ""
	}
	_, n, last := c.schema.candidates(doorPath(kind, selector), 0)
	if n == 0 {
		return ""
	}
	return last.name
}

// Decode reads the calldata of a call. A nil reader attributes nothing. Fields
// are the arguments, and OriginIndexes are places in the calldata.
func (c *Calls) Decode(kind FunctionKind, selector felt.Felt, calldata []felt.Felt) Result {
	return c.DecodeIn(nil, kind, selector, calldata)
}

// DecodeIn is Decode with memory for the fields; nil takes some for the call alone.
func (c *Calls) DecodeIn(room *Room, kind FunctionKind, selector felt.Felt, calldata []felt.Felt) Result {
	if c != nil {
		if r, ok := c.schema.decode(room.doorPath(kind, selector), calldata, 0, room); ok {
			r.stamp(ClassABI)
			return r
		}
	}
	return Result{Status: Unknown, UnavailableReason: SchemaUnavailable}
}
