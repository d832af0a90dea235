package abi

import (
	"cmp"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// FunctionKind is the kind of an entry point.
type FunctionKind uint8

// The kinds of entry points.
const (
	External FunctionKind = iota
	L1Handler
	Constructor
)

// Function is an entry point of a class.
type Function struct {
	Kind     FunctionKind
	Name     string
	Selector felt.Felt
	Inputs   []Param
	Outputs  []Param
	// View says that the function changes nothing, as its ABI declares it.
	View bool
}

// Param is an argument or a result. A result of Cairo 1 has no name.
type Param struct{ Name, Type string }

// TypeDef is a struct or an enum as the ABI defines it.
type TypeDef struct {
	Name    string
	Enum    bool
	Members []Param
}

// Functions lists the entry points of a parsed ABI by kind and selector. A
// schema that was loaded from its stored form has none. The slice must not be
// changed.
func (s *Schema) Functions() []Function { return s.functions }

// Types lists the structs and enums that a parsed ABI defines, in its order. A
// schema that was loaded from its stored form has none. The slice must not be
// changed.
func (s *Schema) Types() []TypeDef { return s.defs }

// Function returns the entry point of a kind and selector.
func (s *Schema) Function(kind FunctionKind, selector felt.Felt) (*Function, bool) {
	i, ok := slices.BinarySearchFunc(s.functions, 0, func(f Function, _ int) int {
		return cmp.Or(cmp.Compare(f.Kind, kind), f.Selector.Cmp(selector))
	})
	if !ok {
		return nil, false
	}
	return &s.functions[i], true
}

// describe collects functions and definitions. Two functions with one selector
// are one; if their arguments differ, these are not known.
func (s *Schema) describe(items []wireItem) {
	for i := range items {
		it := &items[i]
		kind := External
		switch it.Type {
		case "function":
		case "l1_handler":
			kind = L1Handler
		case "constructor":
			kind = Constructor
		case "struct":
			s.defs = append(s.defs, TypeDef{Name: it.Name, Members: params(it.Members)})
			continue
		case "enum":
			s.defs = append(s.defs, TypeDef{Name: it.Name, Enum: true, Members: params(it.Variants)})
			continue
		default:
			continue
		}
		if !isName(it.Name) {
			continue
		}
		f := Function{Kind: kind, Name: it.Name, Inputs: params(it.Inputs), Outputs: params(it.Outputs),
			View: it.Mutability == "view" || it.View == "view"}
		// The doors of an old proxy for whatever else is called stand under zero.
		if it.Name != "__default__" && it.Name != "__l1_default__" {
			f.Selector = felt.Selector(it.Name)
		}
		s.functions = append(s.functions, f)
	}
	order := func(a, b Function) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Selector.Cmp(b.Selector)) }
	arrange.StablyBy(s.functions, order)
	s.settle(order)
	s.functions = slices.CompactFunc(s.functions, func(a, b Function) bool { return order(a, b) == 0 })
}

// settle makes the arguments of functions unsaid that have one door and disagree.
// The functions are sorted.
func (s *Schema) settle(order func(a, b Function) int) {
	for first, i := 0, 1; i < len(s.functions); i++ {
		f := &s.functions[first]
		switch {
		case order(*f, s.functions[i]) != 0:
			first = i
		case !slices.Equal(f.Inputs, s.functions[i].Inputs):
			f.Inputs = []Param{{Type: Unsaid}}
		}
	}
}

func params(ps []wireParam) []Param {
	out := make([]Param, len(ps))
	for i, p := range ps {
		out[i] = Param{p.Name, p.Type}
	}
	return out
}
