package abi

import (
	"fmt"
	"strconv"
	"strings"
)

// Resolving the type strings of Cairo 1.

// resolver fills the type table from type strings and the definitions of one
// ABI. A type that it cannot resolve becomes an unsupported one, so that events
// which do not meet it stay decodable.
type resolver struct {
	types  []typeNode
	byName map[string]typeID
	defs   map[string]*wireItem // structs and enums
	err    error                // the table is full
}

func newResolver(items []wireItem) *resolver {
	r := &resolver{byName: map[string]typeID{}, defs: map[string]*wireItem{}}
	for i := range items {
		it := &items[i]
		if it.Type != "struct" && it.Type != "enum" {
			continue
		}
		if before, ok := r.defs[it.Name]; ok && !sameDefinition(before, it) {
			// Two meanings of one name: neither is certain.
			r.defs[it.Name] = &wireItem{Type: "conflict", Name: it.Name}
			continue
		}
		r.defs[it.Name] = it
	}
	return r
}

func sameDefinition(a, b *wireItem) bool {
	same := func(x, y []wireParam) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i].Name != y[i].Name || x[i].Type != y[i].Type {
				return false
			}
		}
		return true
	}
	return a.Type == b.Type && same(a.Members, b.Members) && same(a.Variants, b.Variants)
}

// add puts a node in the table under a name.
func (r *resolver) add(name string, n typeNode) typeID {
	if len(r.types) >= maxTypes {
		r.err = fmt.Errorf("more than %d types: %w", maxTypes, ErrTooLarge)
		return noType
	}
	n.name = name
	id := typeID(len(r.types))
	r.types = append(r.types, n)
	r.byName[name] = id
	return id
}

// set changes a node that add made, if there was room for it.
func (r *resolver) set(id typeID, change func(*typeNode)) typeID {
	if id != noType && r.err == nil {
		change(&r.types[id])
	}
	return id
}

func (r *resolver) unsupported(name string) typeID {
	if !isTypeName(name) {
		name = "?"
	}
	if id, ok := r.byName[name]; ok {
		return id
	}
	return r.add(name, typeNode{elem: noType})
}

// resolve returns the type of a type string.
func (r *resolver) resolve(name string, nest int) typeID {
	name = strings.TrimSpace(name)
	if id, ok := r.byName[name]; ok || r.err != nil {
		if r.err != nil {
			return noType
		}
		return id
	}
	if !isTypeName(name) || nest > maxTypeNest {
		return r.unsupported(name)
	}
	if k, ok := builtins[name]; ok {
		return r.add(name, typeNode{kind: k, elem: noType})
	}
	if def, ok := r.defs[name]; ok && !strings.HasPrefix(name, "core::array::") {
		return r.define(name, def)
	}
	switch {
	case name[0] == '@':
		return r.resolve(name[1:], nest+1)
	case name[0] == '(':
		return r.tuple(name, nest)
	case name[0] == '[':
		return r.fixed(name, nest)
	}
	base, arg, ok := generic(name)
	if !ok {
		return r.unsupported(name)
	}
	switch base {
	case "core::array::Array", "core::array::Span":
		id := r.add(name, typeNode{kind: kindArray, elem: noType})
		elem := r.resolve(arg, nest+1)
		return r.set(id, func(n *typeNode) { n.elem = elem })
	case "core::box::Box":
		return r.resolve(arg, nest+1)
	case "core::option::Option":
		id := r.add(name, typeNode{kind: kindEnum, elem: noType})
		some := r.resolve(arg, nest+1)
		return r.set(id, func(n *typeNode) { n.members = []member{{"Some", some}, {"None", noType}} })
	}
	return r.unsupported(name)
}

// define resolves a struct or enum that the ABI defines. It is in the table
// before its members are, because they may lead back to it.
func (r *resolver) define(name string, def *wireItem) typeID {
	k, list := kindStruct, def.Members
	switch def.Type {
	case "enum":
		k, list = kindEnum, def.Variants
	case "conflict":
		return r.unsupported(name)
	}
	for _, m := range list {
		if !isName(m.Name) {
			return r.unsupported(name)
		}
	}
	id := r.add(name, typeNode{kind: k, elem: noType})
	members := make([]member, len(list))
	for i, m := range list {
		members[i] = member{m.Name, r.resolve(m.Type, 0)}
	}
	return r.set(id, func(n *typeNode) { n.members = members })
}

func (r *resolver) tuple(name string, nest int) typeID {
	inner, ok := strings.CutSuffix(name[1:], ")")
	if !ok {
		return r.unsupported(name)
	}
	id := r.add(name, typeNode{kind: kindTuple, elem: noType})
	var members []member
	for i, part := range splitTop(inner) {
		if part == "" && i > 0 { // the comma after a single element
			continue
		}
		members = append(members, member{strconv.Itoa(i), r.resolve(part, nest+1)})
	}
	return r.set(id, func(n *typeNode) { n.members = members })
}

// fixed resolves [T; N].
func (r *resolver) fixed(name string, nest int) typeID {
	inner, ok := strings.CutSuffix(name[1:], "]")
	semi := strings.LastIndexByte(inner, ';')
	if !ok || semi < 0 {
		return r.unsupported(name)
	}
	count, err := strconv.ParseUint(strings.TrimSpace(inner[semi+1:]), 10, 31)
	if err != nil {
		return r.unsupported(name)
	}
	id := r.add(name, typeNode{kind: kindFixed, elem: noType})
	elem := r.resolve(inner[:semi], nest+1)
	return r.set(id, func(n *typeNode) { n.elem, n.count = elem, uint32(count) })
}

// generic takes base::<arg> apart.
func generic(name string) (base, arg string, ok bool) {
	open := strings.IndexByte(name, '<')
	if open <= 0 || name[len(name)-1] != '>' {
		return "", "", false
	}
	base, arg = strings.TrimSuffix(name[:open], "::"), name[open+1:len(name)-1]
	return base, arg, len(splitTop(arg)) == 1
}

// splitTop splits a list at its own commas, not at those of what it nests.
func splitTop(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '<':
			depth++
		case ')', ']', '>':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(s[start:]))
}
