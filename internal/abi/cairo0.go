package abi

import (
	"fmt"
	"strings"

	"chainexplorer/internal/felt"
)

// ABIs of Cairo 0: felts, structs with offsets, tuples, and pointers whose
// length is the member before them.

func cairo0Schema(items []wireItem) (*Schema, error) {
	c := &cairo0{resolver: newResolver(items), sizes: map[string]uint32{}}
	var events []event
	for i := range items {
		it := &items[i]
		if it.Type != "event" || !isName(it.Name) {
			continue
		}
		e := event{name: it.Name, path: []felt.Felt{felt.Selector(it.Name)}}
		c.members(&e, stepKey, it.Keys)
		c.members(&e, stepData, it.Data)
		events = append(events, e)
		if len(events) > maxEvents {
			return nil, fmt.Errorf("more than %d events: %w", maxEvents, ErrTooLarge)
		}
	}
	if c.resolver.err != nil {
		return nil, c.resolver.err
	}
	s, err := build(c.resolver.types, events)
	if err != nil {
		return nil, err
	}
	s.describe(items)
	return s, nil
}

type cairo0 struct {
	resolver *resolver
	sizes    map[string]uint32 // felts of a type that was resolved
	// unplaced says that the definitions have no offsets, and that the order of
	// members is all there is.
	unplaced bool
}

// members adds the members of an event, a pointer and its length as one.
func (c *cairo0) members(e *event, k stepKind, list []wireParam) {
	for i := 0; i < len(list); i++ {
		m := list[i]
		if !isName(m.Name) {
			e.flaw = flawUnsupported
			return
		}
		if i+1 < len(list) && m.Type == "felt" && m.Name == list[i+1].Name+"_len" {
			if elem, ok := strings.CutSuffix(list[i+1].Type, "*"); ok {
				i++
				e.steps = append(e.steps, step{kind: k, label: list[i].Name, typ: c.array(list[i].Type, elem)})
				continue
			}
		}
		typ, _ := c.resolve(m.Type, 0)
		e.steps = append(e.steps, step{kind: k, label: m.Name, typ: typ})
		if len(e.steps) > MaxFields {
			e.flaw = flawUnsupported
			return
		}
	}
}

func (c *cairo0) array(name, elem string) typeID {
	name = strings.TrimSpace(name)
	if id, ok := c.resolver.byName[name]; ok && c.resolver.types[id].kind == kindArray {
		return id
	}
	if !isTypeName(name) {
		return c.resolver.unsupported(name)
	}
	id := c.resolver.add(name, typeNode{kind: kindArray, elem: noType})
	elemID, _ := c.resolve(elem, 0)
	return c.resolver.set(id, func(n *typeNode) { n.elem = elemID })
}

// resolve returns the type of a type string and how many felts it takes. A bare
// pointer says nothing about a payload, so that it is unsupported.
func (c *cairo0) resolve(name string, nest int) (typeID, uint32) {
	r := c.resolver
	name = strings.TrimSpace(name)
	if r.err != nil {
		return noType, 0
	}
	if size, ok := c.sizes[name]; ok {
		return r.byName[name], size
	}
	if !isTypeName(name) || nest > maxTypeNest || strings.HasSuffix(name, "*") {
		return r.unsupported("bare " + name), 0 // not the name of the array
	}
	if name == "felt" {
		c.sizes[name] = 1
		return r.add(name, typeNode{kind: kindFelt, elem: noType}), 1
	}
	if inner, ok := strings.CutPrefix(name, "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			return c.tuple(name, inner, nest)
		}
	}
	if def, ok := r.defs[name]; ok && def.Type == "struct" {
		return c.structure(name, def, nest)
	}
	return r.unsupported(name), 0
}

func (c *cairo0) tuple(name, inner string, nest int) (typeID, uint32) {
	id := c.resolver.add(name, typeNode{kind: kindTuple, elem: noType})
	c.sizes[name] = 0 // while its members are resolved
	var members []member
	size := uint32(0)
	for i, part := range splitTop(inner) {
		if part == "" {
			continue
		}
		label, typ, named := strings.Cut(part, ":")
		if label = strings.TrimSpace(label); !named || !isName(label) {
			label, typ = fmt.Sprint(i), part
		}
		t, n := c.resolve(typ, nest+1)
		size += n
		members = append(members, member{label, t})
	}
	c.sizes[name] = size
	return c.resolver.set(id, func(n *typeNode) { n.members = members }), size
}

// structure resolves a struct if its offsets and its size are what its members
// add up to. Two felts called low and high under the name of the library's
// number are that number.
func (c *cairo0) structure(name string, def *wireItem, nest int) (typeID, uint32) {
	id := c.resolver.add(name, typeNode{kind: kindStruct, elem: noType})
	c.sizes[name] = 0
	members := make([]member, len(def.Members))
	size, sound := uint32(0), c.unplaced || def.Size != nil
	for i, m := range def.Members {
		t, n := c.resolve(m.Type, nest+1)
		sound = sound && isName(m.Name) && (c.unplaced || m.Offset != nil && *m.Offset == size)
		size += n
		members[i] = member{m.Name, t}
	}
	sound = sound && (c.unplaced || *def.Size == size)
	u256 := name == "Uint256" && len(members) == 2 && members[0].label == "low" && members[1].label == "high" &&
		def.Members[0].Type == "felt" && def.Members[1].Type == "felt"
	c.sizes[name] = size
	return c.resolver.set(id, func(n *typeNode) {
		switch {
		case !sound:
			n.kind = kindUnsupported
		case u256:
			n.kind = kindU256
		default:
			n.members = members
		}
	}), size
}
