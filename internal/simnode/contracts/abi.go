package contracts

import (
	"encoding/json"
	"fmt"
	"strings"

	"chainexplorer/internal/felt"
)

// An interface is written as lines, one item each, which is easier to check
// against the field than JSON:
//
//	contract oz_presets::ERC20            the module that events are named under
//	interface oz::erc20::IERC20           functions that follow belong to it
//	view name() -> bytes
//	external transfer(recipient: address, amount: u256) -> bool
//	constructor(owner: address)
//	handler handle_deposit(from: felt, to: address)
//	component oz::ERC20Component ERC20Event    events that follow are flat
//	event Transfer(from: address key, value: u256)
//	struct oz::Pair(a: u128, b: u128)
//	enum oz::Policy(Required, Exempt)
//
// The same lines make a Cairo 1 ABI text and a Cairo 0 ABI.

type function struct {
	kind, name  string // view, external, constructor, handler
	inputs      []param
	output      string
	inInterface string
}

type param struct {
	name, typ string
	key       bool
}

type event struct {
	name      string
	members   []param
	component string
}

type component struct{ path, variant string }

type definition struct {
	path    string
	isEnum  bool
	members []param
}

type contractInterface struct {
	module     string
	functions  []function
	events     []event
	components []component
	types      []definition
	interfaces []string
}

var typeNames = map[string]string{
	"felt": "core::felt252", "address": "core::starknet::contract_address::ContractAddress",
	"class": "core::starknet::class_hash::ClassHash", "eth": "core::starknet::eth_address::EthAddress",
	"u256": "core::integer::u256", "u128": "core::integer::u128", "u64": "core::integer::u64",
	"u32": "core::integer::u32", "u8": "core::integer::u8", "bool": "core::bool",
	"bytes": "core::byte_array::ByteArray", "span<felt>": "core::array::Span::<core::felt252>",
	"span<u256>": "core::array::Span::<core::integer::u256>", "array<felt>": "core::array::Array::<core::felt252>",
	"array<call>":  "core::array::Array::<core::starknet::account::Call>",
	"span<action>": "core::array::Span::<privacy::actions::ServerAction>",
}

// parse reads the lines above. It panics on a bad one: the catalogue is part
// of the program and every class of it is built by the tests.
func parse(text string) *contractInterface {
	c := &contractInterface{}
	iface, comp := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "constructor(") {
			word, rest = "constructor", line
		}
		switch word {
		case "contract":
			c.module = rest
		case "interface":
			iface = rest
			if rest != "" {
				c.interfaces = append(c.interfaces, rest)
			}
		case "component":
			path, variant, _ := strings.Cut(rest, " ")
			comp = path
			if path != "" {
				c.components = append(c.components, component{path, variant})
			}
		case "view", "external", "handler", "constructor":
			name, inputs, output := parseSignature(rest)
			in := iface
			if word == "handler" || word == "constructor" {
				in = ""
			}
			c.functions = append(c.functions, function{word, name, inputs, output, in})
		case "event":
			name, members, _ := parseSignature(rest)
			c.events = append(c.events, event{name, members, comp})
		case "struct", "enum":
			name, members, _ := parseSignature(rest)
			c.types = append(c.types, definition{path: name, isEnum: word == "enum", members: members})
		default:
			panic(fmt.Sprintf("contract interface: bad line %q", line))
		}
	}
	return c
}

func parseSignature(s string) (name string, inputs []param, output string) {
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		panic(fmt.Sprintf("contract interface: bad signature %q", s))
	}
	name = s[:open]
	if _, after, ok := strings.Cut(s[end:], "-> "); ok {
		output = after
	}
	for item := range strings.SplitSeq(s[open+1:end], ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		n, t, _ := strings.Cut(item, ": ")
		t, key := strings.CutSuffix(t, " key")
		inputs = append(inputs, param{n, t, key})
	}
	return name, inputs, output
}

func fullType(t string) string {
	if full, ok := typeNames[t]; ok {
		return full
	}
	if t == "" {
		return "()"
	}
	return t
}

// The JSON forms. Field order is what compilers print.
type abiParam struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Kind string `json:"kind,omitempty"`
}
type abiOutput struct {
	Type string `json:"type"`
}
type abiFunction struct {
	Type       string      `json:"type"`
	Name       string      `json:"name"`
	Inputs     []abiParam  `json:"inputs"`
	Outputs    []abiOutput `json:"outputs"`
	Mutability string      `json:"state_mutability"`
}
type abiConstructor struct {
	Type   string     `json:"type"`
	Name   string     `json:"name"`
	Inputs []abiParam `json:"inputs"`
}
type abiInterface struct {
	Type  string        `json:"type"`
	Name  string        `json:"name"`
	Items []abiFunction `json:"items"`
}
type abiImpl struct {
	Type      string `json:"type"`
	Name      string `json:"name"`
	Interface string `json:"interface_name"`
}
type abiStruct struct {
	Type    string     `json:"type"`
	Name    string     `json:"name"`
	Members []abiParam `json:"members"`
}
type abiEnum struct {
	Type     string     `json:"type"`
	Name     string     `json:"name"`
	Variants []abiParam `json:"variants"`
}
type abiEvent struct {
	Type    string     `json:"type"`
	Name    string     `json:"name"`
	Kind    string     `json:"kind"`
	Members []abiParam `json:"members"`
}
type abiEventEnum struct {
	Type     string     `json:"type"`
	Name     string     `json:"name"`
	Kind     string     `json:"kind"`
	Variants []abiParam `json:"variants"`
}

// sierraABI renders the ABI text of a Cairo 1 class.
func (c *contractInterface) sierraABI() string {
	items := []any{}
	for _, name := range c.interfaces {
		short := name[strings.LastIndex(name, "::")+2:]
		items = append(items, abiImpl{"impl", strings.TrimPrefix(short, "I") + "Impl", name})
		list := abiInterface{Type: "interface", Name: name, Items: []abiFunction{}}
		for _, f := range c.functions {
			if f.inInterface == name {
				list.Items = append(list.Items, f.sierra())
			}
		}
		items = append(items, list)
	}
	items = append(items, c.sierraTypes()...)
	for _, f := range c.functions {
		switch {
		case f.kind == "constructor":
			items = append(items, abiConstructor{"constructor", "constructor", sierraParams(f.inputs)})
		case f.inInterface == "":
			items = append(items, f.sierra())
		}
	}
	items = append(items, c.sierraEvents()...)
	text, err := json.Marshal(items)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (f *function) sierra() abiFunction {
	out := abiFunction{Type: "function", Name: f.name, Inputs: sierraParams(f.inputs), Outputs: []abiOutput{}, Mutability: "external"}
	switch f.kind {
	case "view":
		out.Mutability = "view"
	case "handler":
		out.Type = "l1_handler"
	}
	if f.output != "" {
		out.Outputs = append(out.Outputs, abiOutput{fullType(f.output)})
	}
	return out
}

func sierraParams(ps []param) []abiParam {
	out := make([]abiParam, len(ps))
	for i, p := range ps {
		out[i] = abiParam{Name: p.name, Type: fullType(p.typ)}
	}
	return out
}

// sierraTypes are the structs and enums that the interface mentions.
func (c *contractInterface) sierraTypes() []any {
	uses := func(t string) bool {
		for _, f := range c.functions {
			if strings.Contains(f.output, t) {
				return true
			}
			for _, p := range f.inputs {
				if strings.Contains(p.typ, t) {
					return true
				}
			}
		}
		for _, e := range c.events {
			for _, p := range e.members {
				if strings.Contains(p.typ, t) {
					return true
				}
			}
		}
		for _, d := range c.types {
			for _, p := range d.members {
				if strings.Contains(p.typ, t) {
					return true
				}
			}
		}
		return false
	}
	var items []any
	if uses("u256") {
		items = append(items, abiStruct{"struct", typeNames["u256"], []abiParam{{Name: "low", Type: typeNames["u128"]}, {Name: "high", Type: typeNames["u128"]}}})
	}
	if uses("bytes") {
		items = append(items, abiStruct{"struct", typeNames["bytes"], []abiParam{
			{Name: "data", Type: "core::array::Array::<core::bytes_31::bytes31>"},
			{Name: "pending_word", Type: typeNames["felt"]}, {Name: "pending_word_len", Type: typeNames["u32"]}}})
	}
	if uses("bool") {
		items = append(items, abiEnum{"enum", typeNames["bool"], []abiParam{{Name: "False", Type: "()"}, {Name: "True", Type: "()"}}})
	}
	if uses("span<action>") {
		items = append(items, abiStruct{"struct", typeNames["span<action>"],
			[]abiParam{{Name: "snapshot", Type: "@core::array::Array::<privacy::actions::ServerAction>"}}})
	}
	for _, span := range []string{"felt", "u256"} {
		if uses("span<"+span+">") || uses("array<call>") && span == "felt" {
			items = append(items, abiStruct{"struct", typeNames["span<"+span+">"],
				[]abiParam{{Name: "snapshot", Type: "@core::array::Array::<" + typeNames[span] + ">"}}})
		}
	}
	if uses("array<call>") {
		items = append(items, abiStruct{"struct", "core::starknet::account::Call", []abiParam{
			{Name: "to", Type: typeNames["address"]}, {Name: "selector", Type: typeNames["felt"]}, {Name: "calldata", Type: typeNames["span<felt>"]}}})
	}
	for _, d := range c.types {
		if d.isEnum {
			items = append(items, abiEnum{"enum", d.path, sierraParams(d.members)})
		} else {
			items = append(items, abiStruct{"struct", d.path, sierraParams(d.members)})
		}
	}
	return items
}

// sierraEvents are the event structs, one enum per component, and the
// contract's own enum, which holds components flat.
func (c *contractInterface) sierraEvents() []any {
	var items []any
	variants := map[string][]abiParam{}
	for _, e := range c.events {
		module := c.module
		if e.component != "" {
			module = e.component
		}
		name := module + "::" + e.name
		members := make([]abiParam, len(e.members))
		for i, p := range e.members {
			kind := "data"
			if p.key {
				kind = "key"
			}
			members[i] = abiParam{p.name, fullType(p.typ), kind}
		}
		items = append(items, abiEvent{"event", name, "struct", members})
		variants[e.component] = append(variants[e.component], abiParam{e.name, name, "nested"})
	}
	root := []abiParam{}
	for _, comp := range c.components {
		list := variants[comp.path]
		if list == nil {
			list = []abiParam{}
		}
		items = append(items, abiEventEnum{"event", comp.path + "::Event", "enum", list})
		root = append(root, abiParam{comp.variant, comp.path + "::Event", "flat"})
	}
	root = append(root, variants[""]...)
	return append(items, abiEventEnum{"event", c.module + "::Event", "enum", root})
}

// selector of a function; the names of the old default doors stand for zero.
func (f *function) selector() felt.Felt {
	if f.name == "__default__" || f.name == "__l1_default__" {
		return felt.Zero
	}
	return felt.Selector(f.name)
}
