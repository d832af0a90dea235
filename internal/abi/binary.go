package abi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
)

// The stored form of what event decoding needs. Integers are unsigned varints,
// text is its length and its bytes, a type reference is 0 for none or the
// type's number plus one:
//
//	schema   version(1 byte) n type*n  n event*n
//	type     kind(1 byte) text(name), then
//	           array   reference
//	           fixed   reference count
//	           struct, tuple, enum   n (text reference)*n
//	event    flaw(1 byte) text(name)  n selector(32 bytes)*n  n step*n
//	step     kind(1 byte) text(label), then
//	           key, data   reference
//	           selector    text(variant) text(enum) selector(32 bytes)
//
// A schema has exactly one form: types are numbered by first mention, events
// are sorted. Load refuses every other text.

const formatVersion = 1

// ErrCorrupt says that bytes are not the stored form of a schema.
var ErrCorrupt = errors.New("not a stored schema")

// Encode returns the stored form of the events and their types. Functions are
// not part of it.
func (s *Schema) Encode() []byte {
	b := make([]byte, 0, 64*(len(s.types)+2*len(s.events))+8)
	b = append(b, formatVersion)
	b = binary.AppendUvarint(b, uint64(len(s.types)))
	for i := range s.types {
		t := &s.types[i]
		b = appendText(append(b, byte(t.kind)), t.name)
		switch t.kind {
		case kindArray:
			b = appendRef(b, t.elem)
		case kindFixed:
			b = binary.AppendUvarint(appendRef(b, t.elem), uint64(t.count))
		case kindStruct, kindTuple, kindEnum:
			b = binary.AppendUvarint(b, uint64(len(t.members)))
			for _, m := range t.members {
				b = appendRef(appendText(b, m.label), m.typ)
			}
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.events)))
	for i := range s.events {
		e := &s.events[i]
		b = appendText(append(b, byte(e.flaw)), e.name)
		b = binary.AppendUvarint(b, uint64(len(e.path)))
		for j := range e.path {
			b = append(b, e.path[j][:]...)
		}
		b = binary.AppendUvarint(b, uint64(len(e.steps)))
		for j := range e.steps {
			st := &e.steps[j]
			b = appendText(append(b, byte(st.kind)), st.label)
			if st.kind != stepSelector {
				b = appendRef(b, st.typ)
				continue
			}
			b = appendText(appendText(b, st.text), st.typeName)
			b = append(b, st.selector[:]...)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendRef(b []byte, id typeID) []byte { return binary.AppendUvarint(b, uint64(id+1)) }

// Load reads the stored form.
func Load(stored []byte) (*Schema, error) {
	r := &reader{text: string(stored)}
	if v := r.byte(); v != formatVersion {
		return nil, fmt.Errorf("version %d: %w", v, ErrCorrupt)
	}
	types := r.readTypes()
	events := r.readEvents(len(types))
	if r.bad || r.at != len(r.text) {
		return nil, ErrCorrupt
	}
	s, err := build(types, events)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if !bytes.Equal(s.Encode(), stored) {
		return nil, fmt.Errorf("not in its one form: %w", ErrCorrupt)
	}
	return s, nil
}

// reader reads the stored form. The first error sticks. Texts are parts of one
// string, so that a schema is few allocations.
type reader struct {
	text string
	at   int
	bad  bool
}

func (r *reader) take(n int) string {
	if r.bad || n > len(r.text)-r.at {
		r.bad = true
		return ""
	}
	r.at += n
	return r.text[r.at-n : r.at]
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

// uint reads a number of at most limit. Longer spellings of a number are let
// through here and refused by the comparison of forms.
func (r *reader) uint(limit int) int {
	n := uint64(0)
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if n > uint64(limit) {
				break
			}
			return int(n)
		}
	}
	r.bad = true
	return 0
}

// count reads how many things of at least size bytes follow.
func (r *reader) count(limit, size int) int {
	return r.uint(min(limit, (len(r.text)-r.at)/size))
}

func (r *reader) name(valid func(string) bool) string {
	s := r.take(r.uint(maxLabelLen + maxTypeLen))
	if !r.bad && !valid(s) {
		r.bad = true
	}
	return s
}

func (r *reader) ref(types int) typeID { return typeID(r.uint(types)) - 1 }

func (r *reader) felt() (f felt.Felt) {
	f, err := felt.FromBytes([]byte(r.take(felt.Size)))
	r.bad = r.bad || err != nil
	return f
}

func (r *reader) readTypes() []typeNode {
	types := make([]typeNode, r.count(maxTypes, 2))
	for i := range types {
		t := &types[i]
		t.kind, t.elem = kind(r.byte()), noType
		t.name = r.name(isTypeName)
		switch t.kind {
		case kindArray:
			t.elem = r.ref(len(types))
			r.bad = r.bad || t.elem == noType
		case kindFixed:
			t.elem = r.ref(len(types))
			t.count = uint32(r.uint(1<<31 - 1))
			r.bad = r.bad || t.elem == noType
		case kindStruct, kindTuple, kindEnum:
			t.members = make([]member, r.count(maxMembers, 2))
			for j := range t.members {
				t.members[j] = member{r.name(isLabel), r.ref(len(types))}
			}
		default:
			r.bad = r.bad || t.kind >= kindUnit
		}
		if r.bad {
			return nil
		}
	}
	return types
}

func (r *reader) readEvents(types int) []event {
	events := make([]event, r.count(maxEvents, 4))
	for i := range events {
		e := &events[i]
		e.flaw = flaw(r.byte())
		e.name = r.name(isName)
		e.path = make([]felt.Felt, r.count(maxPath, felt.Size))
		for j := range e.path {
			e.path[j] = r.felt()
		}
		e.steps = make([]step, r.count(MaxFields+maxPath, 2))
		for j := range e.steps {
			st := &e.steps[j]
			st.kind, st.typ = stepKind(r.byte()), noType
			st.label = r.name(isLabel)
			switch {
			case st.kind < stepSelector:
				st.typ = r.ref(types)
				r.bad = r.bad || st.typ == noType
			case st.kind == stepSelector:
				st.text, st.typeName, st.selector = r.name(isName), r.name(isTypeName), r.felt()
			default:
				r.bad = true
			}
		}
		if r.bad = r.bad || e.flaw >= flaws; r.bad {
			return nil
		}
	}
	return events
}

// isLabel says whether s is a path of names, or a place in a tuple.
func isLabel(s string) bool {
	if len(s) == 0 || len(s) > maxLabelLen {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
