package abi_test

// A generator of types, values and events. It knows how Cairo serializes and
// how this package flattens, and shares no code with either.

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

var (
	prime = new(big.Int).SetBytes(felt.Prime[:])
	one   = big.NewInt(1)
)

// want is a field as it should come out.
type want struct {
	label, typ string
	kind       abi.FieldKind
	status     abi.FieldStatus
	raw        []felt.Felt
	number     *big.Int
	text       *string
	truth      *bool
	address    bool
}

// sample is a type that knows how to make values of itself.
type sample struct {
	name string
	make func(label string) []want
}

type generator struct {
	r     *rand.Rand
	items []any // definitions of the ABI
	next  int
}

func newGenerator(seed uint64) *generator {
	return &generator{r: rand.New(rand.NewPCG(seed, 7))}
}

func (g *generator) fresh(prefix string) string {
	g.next++
	return fmt.Sprintf("%s%d", prefix, g.next)
}

func toFelt(n *big.Int) felt.Felt {
	f, err := felt.FromBig(new(big.Int).Mod(n, prime))
	if err != nil {
		panic(err)
	}
	return f
}

// below returns a number below 2^bits, often an extreme one.
func (g *generator) below(bits uint) *big.Int {
	top := new(big.Int).Lsh(one, bits)
	switch g.r.IntN(4) {
	case 0:
		return new(big.Int)
	case 1:
		return top.Sub(top, one)
	}
	b := make([]byte, 40)
	for i := range b {
		b[i] = byte(g.r.Uint32())
	}
	return new(big.Int).Mod(new(big.Int).SetBytes(b), top)
}

func (g *generator) scalar() sample {
	integer := func(name string, bits uint) sample {
		typ := "core::integer::" + name
		return sample{typ, func(label string) []want {
			n := g.below(bits)
			return []want{{label: label, typ: typ, kind: abi.KindFelt, raw: []felt.Felt{toFelt(n)}, number: n}}
		}}
	}
	signed := func(name string, bits uint) sample {
		typ := "core::integer::" + name
		return sample{typ, func(label string) []want {
			n := new(big.Int).Sub(g.below(bits), new(big.Int).Lsh(one, bits-1))
			return []want{{label: label, typ: typ, kind: abi.KindFelt, raw: []felt.Felt{toFelt(n)}, number: n}}
		}}
	}
	wide := func(name string, halves uint, kind abi.FieldKind) sample {
		typ := "core::integer::" + name
		return sample{typ, func(label string) []want {
			n, raw := g.below(128*halves), []felt.Felt(nil)
			for i := range halves {
				part := new(big.Int).Rsh(n, 128*i)
				raw = append(raw, toFelt(part.Mod(part, new(big.Int).Lsh(one, 128))))
			}
			return []want{{label: label, typ: typ, kind: kind, raw: raw, number: n}}
		}}
	}
	plain := func(typ string, bits uint, kind abi.FieldKind) sample {
		return sample{typ, func(label string) []want {
			return []want{{label: label, typ: typ, kind: kind, raw: []felt.Felt{toFelt(g.below(bits))}, address: kind == abi.KindAddress}}
		}}
	}
	switch g.r.IntN(19) {
	case 0:
		return integer("u8", 8)
	case 1:
		return integer("u16", 16)
	case 2:
		return integer("u32", 32)
	case 3:
		return integer("u64", 64)
	case 4:
		return integer("u128", 128)
	case 5:
		return wide("u256", 2, abi.KindU256)
	case 6:
		return wide("u512", 4, abi.KindFelt)
	case 7:
		return signed("i8", 8)
	case 8:
		return signed("i16", 16)
	case 9:
		return signed("i32", 32)
	case 10:
		return signed("i64", 64)
	case 11:
		return signed("i128", 128)
	case 12:
		return plain("core::starknet::contract_address::ContractAddress", 251, abi.KindAddress)
	case 13:
		return plain("core::starknet::class_hash::ClassHash", 251, abi.KindHash)
	case 14:
		return plain("core::starknet::eth_address::EthAddress", 160, abi.KindAddress)
	case 15:
		return plain("core::bytes_31::bytes31", 248, abi.KindFelt)
	case 16:
		return sample{"core::bool", func(label string) []want {
			b := g.r.IntN(2) == 1
			n := uint64(0)
			if b {
				n = 1
			}
			return []want{{label: label, typ: "core::bool", kind: abi.KindBool, raw: []felt.Felt{felt.FromUint64(n)}, truth: &b}}
		}}
	case 17:
		return sample{"core::byte_array::ByteArray", g.byteArray}
	}
	return plain("core::felt252", 251, abi.KindFelt)
}

func (g *generator) byteArray(label string) []want {
	text := strings.Repeat("é☃a ", g.r.IntN(12)) + strings.Repeat("x", g.r.IntN(32))
	w := want{label: label, typ: "core::byte_array::ByteArray", kind: abi.KindText, text: &text}
	if g.r.IntN(5) == 0 {
		text += "\xff\xfe"
		w.status, w.text = abi.FieldPartial, nil
	}
	// Written out again from the definition: full words, the rest, its length.
	full := len(text) / 31
	w.raw = append(w.raw, felt.FromUint64(uint64(full)))
	for i := range full {
		w.raw = append(w.raw, toFelt(new(big.Int).SetBytes([]byte(text[31*i:31*i+31]))))
	}
	rest := text[31*full:]
	w.raw = append(w.raw, toFelt(new(big.Int).SetBytes([]byte(rest))), felt.FromUint64(uint64(len(rest))))
	return []want{w}
}

type abiMember struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Kind string `json:"kind,omitempty"`
}

// typ makes a type that nests at most depth levels.
func (g *generator) typ(depth int) sample {
	if depth == 0 || g.r.IntN(3) == 0 {
		return g.scalar()
	}
	switch g.r.IntN(6) {
	case 0:
		return g.structure(depth)
	case 1:
		return g.enum(depth, "test::"+g.fresh("Enum"), 1+g.r.IntN(4))
	case 2:
		return g.option(depth)
	case 3:
		return g.tuple(depth)
	case 4:
		return g.fixed(depth)
	}
	return g.array(depth)
}

func (g *generator) structure(depth int) sample {
	name := "test::" + g.fresh("Struct")
	var members []abiMember
	var inner []sample
	for range g.r.IntN(4) {
		s := g.typ(depth - 1)
		inner = append(inner, s)
		members = append(members, abiMember{Name: g.fresh("m"), Type: s.name})
	}
	g.items = append(g.items, map[string]any{"type": "struct", "name": name, "members": members})
	return sample{name, func(label string) (out []want) {
		for i, s := range inner {
			out = append(out, s.make(label+"."+members[i].Name)...)
		}
		return out
	}}
}

func (g *generator) enum(depth int, name string, n int) sample {
	var variants []abiMember
	var inner []sample
	for range n {
		s := sample{"()", func(string) []want { return nil }}
		if g.r.IntN(2) == 0 {
			s = g.typ(depth - 1)
		}
		inner = append(inner, s)
		variants = append(variants, abiMember{Name: g.fresh("V"), Type: s.name})
	}
	return g.declareEnum(name, variants, inner)
}

func (g *generator) option(depth int) sample {
	s := g.typ(depth - 1)
	name := "core::option::Option::<" + s.name + ">"
	return g.declareEnum(name, []abiMember{{Name: "Some", Type: s.name}, {Name: "None", Type: "()"}},
		[]sample{s, {"()", func(string) []want { return nil }}})
}

func (g *generator) declareEnum(name string, variants []abiMember, inner []sample) sample {
	g.items = append(g.items, map[string]any{"type": "enum", "name": name, "variants": variants})
	return sample{name, func(label string) []want {
		i := g.r.IntN(len(inner))
		head := want{label: label, typ: name, kind: abi.KindText, raw: []felt.Felt{felt.FromUint64(uint64(i))}, text: &variants[i].Name}
		return append([]want{head}, inner[i].make(label+"."+variants[i].Name)...)
	}}
}

func (g *generator) tuple(depth int) sample {
	var names []string
	var inner []sample
	for range 2 + g.r.IntN(2) {
		s := g.typ(depth - 1)
		inner, names = append(inner, s), append(names, s.name)
	}
	return sample{"(" + strings.Join(names, ", ") + ")", func(label string) (out []want) {
		for i, s := range inner {
			out = append(out, s.make(fmt.Sprintf("%s.%d", label, i))...)
		}
		return out
	}}
}

func (g *generator) fixed(depth int) sample {
	s, n := g.typ(depth-1), g.r.IntN(4)
	name := fmt.Sprintf("[%s; %d]", s.name, n)
	return sample{name, func(label string) []want { return g.run(s, name, label, n, false) }}
}

// array is one whose items take at least one felt: others are not supported.
func (g *generator) array(depth int) sample {
	s := g.typ(depth - 1)
	for len(s.make("x")) == 0 {
		s = g.typ(depth - 1)
	}
	name := "core::array::" + []string{"Array", "Span"}[g.r.IntN(2)] + "::<" + s.name + ">"
	return sample{name, func(label string) []want { return g.run(s, name, label, g.r.IntN(4), true) }}
}

func (g *generator) run(s sample, name, label string, n int, counted bool) (out []want) {
	head := want{label: label, typ: name, kind: abi.KindFelt}
	if counted {
		head.raw = []felt.Felt{felt.FromUint64(uint64(n))}
	}
	if s.name == "core::felt252" {
		head.status = abi.FieldRaw
		for range n {
			head.raw = append(head.raw, s.make("")[0].raw...)
		}
		if len(head.raw) == 0 {
			return nil
		}
		return []want{head}
	}
	if counted {
		head.number = big.NewInt(int64(n))
		out = append(out, head)
	}
	for i := range n {
		out = append(out, s.make(fmt.Sprintf("%s[%d]", label, i))...)
	}
	return out
}

// randomEvent is an event of a random class: its ABI, and a way to emit it.
type randomEvent struct {
	abi  []byte
	name string
	emit func() (keys, data []felt.Felt, fields []want)
}

// event makes a contract whose events nest up to three enums deep, flat and
// not, among other events.
func (g *generator) event() randomEvent {
	var names []string // that become selectors
	type part struct {
		s       sample
		label   string
		key     bool
		variant string // of a nested enum
		typ     string
	}
	var parts []part
	var structure func(prefix string, depth int) string
	structure = func(prefix string, depth int) string {
		name := "test::" + g.fresh("EventStruct")
		var members []abiMember
		for range g.r.IntN(5) {
			label := g.fresh("f")
			if depth > 0 && g.r.IntN(6) == 0 {
				members = append(members, abiMember{label, structure(prefix+label+".", depth-1), "nested"})
				continue
			}
			if depth > 0 && g.r.IntN(6) == 0 { // an enum inside the struct
				enum, variant := "test::"+g.fresh("InnerEvent"), g.fresh("Inner")
				parts = append(parts, part{label: prefix + label, variant: variant, typ: enum})
				inner := structure(prefix+label+"."+variant+".", depth-1)
				g.items = append(g.items, map[string]any{"type": "event", "name": enum, "kind": "enum",
					"variants": []abiMember{{variant, inner, "nested"}, {g.fresh("Other"), inner, "nested"}}})
				members = append(members, abiMember{label, enum, "flat"})
				continue
			}
			p := part{s: g.typ(3), label: prefix + label, key: g.r.IntN(2) == 0}
			kind := "data"
			if p.key {
				kind = "key"
			}
			parts = append(parts, p)
			members = append(members, abiMember{label, p.s.name, kind})
		}
		g.items = append(g.items, map[string]any{"type": "event", "name": name, "kind": "struct", "members": members})
		return name
	}
	inner := structure("", 2)
	last := g.fresh("Happened")
	names = append(names, last)
	variants := []abiMember{{g.fresh("Other"), inner, "nested"}, {last, inner, "nested"}}
	for range g.r.IntN(3) {
		enum := "test::" + g.fresh("ComponentEvent")
		g.items = append(g.items, map[string]any{"type": "event", "name": enum, "kind": "enum", "variants": variants})
		outer := abiMember{g.fresh("Component"), enum, "flat"}
		if g.r.IntN(2) == 0 {
			outer.Kind = "nested"
			names = append(names, outer.Name)
		}
		variants = []abiMember{outer, {g.fresh("Own"), inner, "nested"}}
	}
	g.items = append(g.items, map[string]any{"type": "event", "name": "test::Contract::Event", "kind": "enum", "variants": variants})
	text, err := json.Marshal(g.items)
	if err != nil {
		panic(err)
	}
	slices.Reverse(names)
	return randomEvent{text, last, func() (keys, data []felt.Felt, fields []want) {
		for _, n := range names {
			keys = append(keys, felt.Selector(n))
		}
		for _, p := range parts {
			if p.variant != "" {
				selector := felt.Selector(p.variant)
				keys = append(keys, selector)
				fields = append(fields, want{label: p.label, typ: p.typ, kind: abi.KindText, raw: []felt.Felt{selector}, text: &p.variant})
				continue
			}
			for _, w := range p.s.make(p.label) {
				if p.key {
					keys = append(keys, w.raw...)
				} else {
					data = append(data, w.raw...)
				}
				fields = append(fields, w)
			}
		}
		return keys, data, fields
	}}
}
