package abi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// Bounds. An ABI beyond them is refused, a payload beyond them is name_only.
const (
	MaxABISize = 4 << 20 // bytes of ABI text; the network allows no larger class
	MaxFields  = 512     // fields of one event
	MaxDepth   = 48      // nesting of one value

	maxItems    = 1 << 14 // items of an ABI
	maxMembers  = 1 << 12 // members of an item
	maxTypes    = 1 << 14 // types that events mention
	maxEvents   = 1 << 12 // selector paths
	maxSteps    = 1 << 16 // members of all events
	maxNameLen  = 255
	maxLabelLen = 1024 // of a field: a path of names
	maxTypeLen  = 2048
	maxTypeNest = 32 // generics and tuples inside each other
	maxPath     = 32 // selectors before the members of an event
)

var (
	// ErrTooLarge says that an ABI is beyond the bounds of this package.
	ErrTooLarge = errors.New("abi too large")
	// ErrRecursive says that a type contains itself by value.
	ErrRecursive = errors.New("type contains itself")
)

// Schema is what an ABI says, ready for decoding. It never changes.
type Schema struct {
	types  []typeNode
	events []event // sorted by path

	functions []Function // sorted by kind and selector
	defs      []TypeDef
}

// flaw says why an event of the ABI has a name and no usable members.
type flaw uint8

const (
	flawNone        flaw = iota
	flawUndefined        // the ABI does not define the event's members
	flawUnsupported      // it defines them in a way that no compiler does
	flaws
)

// event is one way through the event enums of a class: the selectors that it
// starts with, and the members that follow.
type event struct {
	name     string
	path     []felt.Felt
	steps    []step
	flaw     flaw
	emitters emitters // reviewed schemas only

	keys, data extent // what the steps take
}

type stepKind uint8

const (
	stepKey      stepKind = iota // a value in keys
	stepData                     // a value in data
	stepSelector                 // the selector of a variant in keys, after the path
	stepKinds
)

// step is a member of an event. A selector step has the name of its variant in
// text and that of the enum as typeName.
type step struct {
	kind     stepKind
	label    string
	typ      typeID // value steps
	text     string
	typeName string
	selector felt.Felt
}

// Event names one selector path of a schema.
type Event struct {
	Name string
	Path []felt.Felt
}

// Events lists the selector paths of the schema in the order of their
// selectors. The paths must not be changed.
func (s *Schema) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for i := range s.events {
			if !yield(Event{s.events[i].name, s.events[i].path}) {
				return
			}
		}
	}
}

// lookup returns the events whose path starts with the selector.
func (s *Schema) lookup(selector *felt.Felt) []event {
	lo, hi := 0, len(s.events)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if bytes.Compare(s.events[mid].path[0][:], selector[:]) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for hi < len(s.events) && s.events[hi].path[0] == *selector {
		hi++
	}
	return s.events[lo:hi]
}

// build makes a schema of resolved types and events. It is the only way to
// one, for a parsed ABI as for a stored form: sizes and cycles are checked,
// events are sorted and equal ones are one, and types are numbered in the order
// in which events mention them, so that a schema has one form.
func build(types []typeNode, events []event) (*Schema, error) {
	if err := finishTypes(types); err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		if len(e.path) == 0 || len(e.path) > maxPath {
			return nil, fmt.Errorf("event %s has %d selectors: %w", e.name, len(e.path), ErrTooLarge)
		}
		if e.flaw != flawNone {
			e.steps = nil
			continue
		}
		e.steps = slices.DeleteFunc(e.steps, func(st step) bool {
			return st.kind != stepSelector && (st.typ == noType || types[st.typ].kind == kindUnit)
		})
	}
	order := func(a, b event) int { return compareEvents(types, &a, &b) }
	arrange.By(events, order)
	events = slices.CompactFunc(events, func(a, b event) bool { return order(a, b) == 0 && a.emitters == b.emitters })
	if len(events) > maxEvents {
		return nil, fmt.Errorf("%d events: %w", len(events), ErrTooLarge)
	}
	s := &Schema{events: events}
	s.types = compactTypes(types, events)
	measure(s)
	return s, nil
}

func compareEvents(types []typeNode, a, b *event) int {
	if c := slices.CompareFunc(a.path, b.path, felt.Felt.Cmp); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.flaw, b.flaw)); c != 0 {
		return c
	}
	typeName := func(st *step) string {
		if st.kind == stepSelector {
			return st.typeName
		}
		return types[st.typ].name
	}
	return slices.CompareFunc(a.steps, b.steps, func(x, y step) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.label, y.label), cmp.Compare(x.text, y.text),
			cmp.Compare(typeName(&x), typeName(&y)), x.selector.Cmp(y.selector))
	})
}

// compactTypes keeps the types that events mention, numbered by first mention.
func compactTypes(types []typeNode, events []event) []typeNode {
	number := make([]typeID, len(types))
	for i := range number {
		number[i] = noType
	}
	var kept []typeNode
	mention := func(id *typeID) {
		if *id == noType {
			return
		}
		if number[*id] == noType {
			number[*id] = typeID(len(kept))
			kept = append(kept, types[*id])
		}
		*id = number[*id]
	}
	next := 0
	for i := range events {
		for j := range events[i].steps {
			if st := &events[i].steps[j]; st.kind != stepSelector {
				mention(&st.typ)
			}
		}
		// Breadth first: what a kept type mentions is kept after it.
		for ; next < len(kept); next++ {
			if n := kept[next]; n.kind == kindArray || n.kind == kindFixed {
				mention(&n.elem)
				kept[next] = n
			} else {
				members := slices.Clone(n.members)
				for k := range members {
					mention(&members[k].typ)
				}
				kept[next].members = members
			}
		}
	}
	return slices.Clip(kept)
}
