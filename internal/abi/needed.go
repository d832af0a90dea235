package abi

import "strings"

// Needed says which of the types it takes to read parameters: those that the parameters
// name, and those that these are made of in turn.
func Needed(types []TypeDef, lists ...[]Param) []bool {
	n := &needs{types: types, needed: make([]bool, len(types)), byName: map[string][]int{}, seen: map[string]bool{}}
	for i := range types {
		n.byName[types[i].Name] = append(n.byName[types[i].Name], i)
	}
	for _, list := range lists {
		n.all(list)
	}
	for len(n.open) > 0 {
		last := len(n.open) - 1
		i := n.open[last]
		n.open = n.open[:last]
		n.all(types[i].Members)
	}
	return n.needed
}

type needs struct {
	types  []TypeDef
	needed []bool
	open   []int // needed, and not looked into yet
	byName map[string][]int
	seen   map[string]bool // type strings
}

func (n *needs) all(list []Param) {
	for _, p := range list {
		n.name(p.Type, 0)
	}
}

// name marks the definitions of a type string, and of those that it is put together from.
func (n *needs) name(name string, nest int) {
	if name = strings.TrimSpace(name); name == "" || n.seen[name] || nest > maxTypeNest || len(name) > maxTypeLen {
		return
	}
	n.seen[name] = true
	for _, i := range n.byName[name] {
		n.needed[i] = true
		n.open = append(n.open, i)
	}
	inner, parts := "", false
	switch last := len(name) - 1; {
	case name[0] == '@':
		n.name(name[1:], nest+1)
	case name[last] == '*': // of Cairo 0
		n.name(name[:last], nest+1)
	case name[0] == '[' && name[last] == ']':
		if semi := strings.LastIndexByte(name, ';'); semi > 0 {
			n.name(name[1:semi], nest+1)
		}
	case name[0] == '(' && name[last] == ')':
		inner, parts = name[1:last], true
	case name[last] == '>':
		if open := strings.IndexByte(name, '<'); open >= 0 {
			inner, parts = name[open+1:last], true
		}
	}
	if !parts {
		return
	}
	for _, part := range splitTop(inner) {
		// A tuple of Cairo 0 may name its parts: "low : felt", and no path.
		if label, typ, named := strings.Cut(part, ":"); named && !strings.HasPrefix(typ, ":") && isName(strings.TrimSpace(label)) {
			part = typ
		}
		n.name(part, nest+1)
	}
}
