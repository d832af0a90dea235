package abi

import (
	"fmt"
	"slices"

	"chainexplorer/internal/felt"
)

// Events of Cairo 1: enums whose variants are event structs or further enums.

func sierraSchema(items []wireItem) (*Schema, error) {
	x := &expander{resolver: newResolver(items), byName: map[string]*wireItem{}, open: map[string]bool{}}
	var old, enums []*wireItem
	inner := map[string]bool{}
	for i := range items {
		it := &items[i]
		if it.Type != "event" {
			continue
		}
		switch it.Kind {
		case "": // the first compilers: a name and inputs, all of them data
			old = append(old, it)
		case "enum":
			enums = append(enums, it)
			fallthrough
		case "struct":
			if _, ok := x.byName[it.Name]; !ok {
				x.byName[it.Name] = it
			}
			for _, m := range slices.Concat(it.Members, it.Variants) {
				if m.Kind == "nested" || m.Kind == "flat" {
					inner[m.Type] = true
				}
			}
		}
	}
	var events []event
	for _, it := range old {
		if isName(it.Name) {
			events = append(events, x.flat(it.Name, it.Inputs))
		}
	}
	// The contract's own enum is the one that no other event holds. Compilers
	// print it last.
	for _, it := range slices.Backward(enums) {
		if inner[it.Name] {
			continue
		}
		parts, err := x.expand(it, "", true, []partial{{}})
		if err != nil {
			return nil, err
		}
		for i := range parts {
			if e, ok := parts[i].event(); ok {
				events = append(events, e)
			}
		}
		break
	}
	if x.resolver.err != nil {
		return nil, x.resolver.err
	}
	s, err := build(x.resolver.types, events)
	if err != nil {
		return nil, err
	}
	s.describe(items)
	return s, nil
}

// expander follows the variants of event enums to all selector paths.
type expander struct {
	resolver *resolver
	byName   map[string]*wireItem
	open     map[string]bool // events being expanded: none may hold itself
	visits   int
}

// partial is an event on its way: the steps so far, selectors included.
type partial struct {
	name  string
	steps []step
	flaw  flaw
}

// with returns p and one more step; p may go on in other ways too. An event of
// more steps than an answer has fields is known by name only.
func (p partial) with(st step) partial {
	if len(p.steps) >= MaxFields+maxPath || len(st.label) > maxLabelLen {
		return p.flawed(flawUnsupported)
	}
	p.steps = append(slices.Clip(p.steps), st)
	return p
}

func (p partial) flawed(f flaw) partial {
	p.flaw = max(p.flaw, f)
	return p
}

// event splits the leading selectors off.
func (p *partial) event() (event, bool) {
	e := event{name: p.name, flaw: p.flaw}
	n := 0
	for n < len(p.steps) && p.steps[n].kind == stepSelector && p.steps[n].label == "" {
		e.path = append(e.path, p.steps[n].selector)
		n++
	}
	e.steps = slices.Clone(p.steps[n:])
	return e, n > 0
}

func (x *expander) flat(name string, inputs []wireParam) event {
	p := partial{name: name}.with(step{kind: stepSelector, selector: felt.Selector(name)})
	for _, m := range inputs {
		p = x.value(p, stepData, m.Name, m)
	}
	e, _ := p.event()
	return e
}

// value adds a serialized member.
func (x *expander) value(p partial, k stepKind, label string, m wireParam) partial {
	if !isName(m.Name) {
		return p.flawed(flawUnsupported)
	}
	return p.with(step{kind: k, label: label, typ: x.resolver.resolve(m.Type, 0)})
}

// expand continues every event of in with the event type it. Label is the path
// of the member that holds it, empty for the enums that name the event.
func (x *expander) expand(it *wireItem, label string, naming bool, in []partial) ([]partial, error) {
	x.visits += len(in) + len(it.Members) + len(it.Variants)
	if x.visits > maxSteps || len(in) > maxEvents {
		return nil, fmt.Errorf("events of %s: %w", it.Name, ErrTooLarge)
	}
	if x.open[it.Name] {
		return nil, fmt.Errorf("event %s: %w", it.Name, ErrRecursive)
	}
	x.open[it.Name] = true
	defer delete(x.open, it.Name)
	if it.Kind == "enum" {
		return x.variants(it, label, naming, in)
	}
	for _, m := range it.Members {
		path := join(label, m.Name)
		var err error
		switch m.Kind {
		case "nested", "flat":
			inner, ok := x.byName[m.Type]
			if !ok || !isName(m.Name) {
				in = mapAll(in, func(p partial) partial { return p.flawed(flawUndefined) })
				continue
			}
			in, err = x.expand(inner, path, false, in)
		case "key":
			in = mapAll(in, func(p partial) partial { return x.value(p, stepKey, path, m) })
		case "data":
			in = mapAll(in, func(p partial) partial { return x.value(p, stepData, path, m) })
		default:
			in = mapAll(in, func(p partial) partial { return p.flawed(flawUnsupported) })
		}
		if err != nil {
			return nil, err
		}
		x.visits += len(in)
		if x.visits > maxSteps {
			return nil, fmt.Errorf("events of %s: %w", it.Name, ErrTooLarge)
		}
	}
	return in, nil
}

// variants branches: each variant continues each event of in.
func (x *expander) variants(it *wireItem, label string, naming bool, in []partial) ([]partial, error) {
	var out []partial
	for _, v := range it.Variants {
		if !isName(v.Name) {
			continue
		}
		inner, defined := x.byName[v.Type]
		branch := in
		switch v.Kind {
		case "flat":
			// No selector of its own. Without the enum behind it there is
			// nothing that an event could be known by.
			if !defined || inner.Kind != "enum" {
				continue
			}
		case "nested", "key", "data":
			selector := felt.Selector(v.Name)
			branch = mapAll(in, func(p partial) partial {
				if naming {
					p.name = v.Name
				} else if !isTypeName(it.Name) {
					p = p.flawed(flawUnsupported)
				}
				return p.with(step{kind: stepSelector, label: label, typ: noType, text: v.Name, typeName: it.Name, selector: selector})
			})
		default:
			continue
		}
		var err error
		switch {
		case v.Kind == "key":
			branch = mapAll(branch, func(p partial) partial { return x.value(p, stepKey, join(label, v.Name), v) })
		case v.Kind == "data":
			branch = mapAll(branch, func(p partial) partial { return x.value(p, stepData, join(label, v.Name), v) })
		case !defined:
			branch = mapAll(branch, func(p partial) partial { return p.flawed(flawUndefined) })
		case naming:
			branch, err = x.expand(inner, label, inner.Kind == "enum", branch)
		default:
			branch, err = x.expand(inner, join(label, v.Name), false, branch)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, branch...)
	}
	return out, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func mapAll(in []partial, f func(partial) partial) []partial {
	out := make([]partial, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}
