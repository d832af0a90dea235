package abi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// class is an ABI with one event of one member.
func class(typ string, defs ...string) string {
	return `[` + strings.Join(append(defs,
		`{"type":"event","name":"m::E","kind":"struct","members":[{"name":"v","type":"`+typ+`","kind":"data"}]}`,
		`{"type":"event","name":"m::Event","kind":"enum","variants":[{"name":"E","type":"m::E","kind":"nested"}]}`), ",") + `]`
}

func structDef(name string, types ...string) string {
	var members []string
	for i, t := range types {
		members = append(members, fmt.Sprintf(`{"name":"m%d","type":"%s"}`, i, t))
	}
	return `{"type":"struct","name":"` + name + `","members":[` + strings.Join(members, ",") + `]}`
}

func mustParse(t testing.TB, text string) *abi.Schema {
	t.Helper()
	s, err := abi.ParseSierra([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every type at the edges of its range.
func TestRanges(t *testing.T) {
	p2 := func(n uint) felt.Felt { return toFelt(bigPower(n)) }
	p2less := func(n uint) felt.Felt { return toFelt(bigPower(n).Sub(bigPower(n), one)) }
	minus := func(n uint) felt.Felt { return toFelt(bigPower(n).Neg(bigPower(n))) }
	minusMore := func(n uint) felt.Felt {
		v := bigPower(n)
		return toFelt(v.Neg(v.Add(v, one)))
	}
	address, class_ := "core::starknet::contract_address::ContractAddress", "core::starknet::class_hash::ClassHash"
	for _, c := range []struct {
		typ  string
		data []felt.Felt
		want string // the display, or empty for a mismatch
	}{
		{"core::bool", felts(0), "false"}, {"core::bool", felts(1), "true"}, {"core::bool", felts(2), ""},
		{"core::integer::u8", felts(255), "255"}, {"core::integer::u8", felts(256), ""},
		{"core::integer::u16", felts(65535), "65535"}, {"core::integer::u16", felts(65536), ""},
		{"core::integer::u32", felts(p2less(32)), "4294967295"}, {"core::integer::u32", felts(p2(32)), ""},
		{"core::integer::u64", felts(p2less(64)), "18446744073709551615"}, {"core::integer::u64", felts(p2(64)), ""},
		{"core::integer::u128", felts(p2less(128)), "340282366920938463463374607431768211455"}, {"core::integer::u128", felts(p2(128)), ""},
		{"core::integer::u128", felts("0x8ac7230489e80000"), "10000000000000000000"},
		{"core::integer::u128", felts("0x56bc75e2d63100000"), "100000000000000000000"},
		{"core::integer::u256", felts(p2less(128), p2less(128)), "115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		{"core::integer::u256", felts(p2(128), 0), ""}, {"core::integer::u256", felts(0, p2(128)), ""}, {"core::integer::u256", felts(7), ""},
		{"core::integer::i8", felts("-128"), "-128"}, {"core::integer::i8", felts("-129"), ""}, {"core::integer::i8", felts(127), "127"}, {"core::integer::i8", felts(128), ""},
		{"core::integer::i64", felts(minus(63)), "-9223372036854775808"}, {"core::integer::i64", felts(minusMore(63)), ""},
		{"core::integer::i128", felts(minus(127)), "-170141183460469231731687303715884105728"}, {"core::integer::i128", felts(minusMore(127)), ""},
		{"core::integer::i128", felts("-1"), "-1"}, {"core::integer::i128", felts(p2(127)), ""},
		{address, felts(p2less(251)), p2less(251).String()}, {address, felts(p2(251)), ""},
		{class_, felts(p2less(251)), p2less(251).String()}, {class_, felts("-1"), ""},
		{"core::starknet::eth_address::EthAddress", felts(p2less(160)), "0x" + strings.Repeat("f", 40)}, {"core::starknet::eth_address::EthAddress", felts(p2(160)), ""},
		{"core::bytes_31::bytes31", felts(p2less(248)), p2less(248).String()}, {"core::bytes_31::bytes31", felts(p2(248)), ""},
		{"core::felt252", felts("-1"), "0x800000000000011000000000000000000000000000000000000000000000000"},
		{"core::byte_array::ByteArray", felts(0, "0x48656c6c6f", 5), "Hello"},
		{"core::byte_array::ByteArray", felts(0, "0x48656c6c6f", 4), ""}, {"core::byte_array::ByteArray", felts(0, "0x48656c6c6f", 31), ""},
		{"core::byte_array::ByteArray", felts(1, p2(248), 0, 0), ""}, {"core::byte_array::ByteArray", felts(2, 1, 0, 0), ""},
		{"core::array::Array::<core::felt252>", felts(0), "[]"},
		{"core::array::Array::<core::felt252>", felts(9, 1, 2, 3, 4, 5, 6, 7, 8, 9), "[0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, and 1 more]"},
		{"core::array::Array::<core::felt252>", felts(2, 1), ""}, {"core::array::Array::<core::felt252>", nil, ""},
		{"core::option::Option::<core::integer::u8>", felts(1), "None"}, {"core::option::Option::<core::integer::u8>", felts(2), ""},
		{"@core::array::Array::<core::felt252>", felts(1, 1), "[0x1]"}, {"core::box::Box::<core::integer::u8>", felts(3), "3"},
	} {
		r := abi.Decode(mustParse(t, class(c.typ)), felts("E"), c.data)
		switch {
		case c.want == "" && (r.Status != abi.NameOnly || r.UnavailableReason != abi.PayloadShapeMismatch || r.Name != "E" || r.NameSource != abi.ClassABI):
			t.Errorf("%s %v: %s %s", c.typ, c.data, r.Status, r.UnavailableReason)
		case c.want != "" && (r.Status != abi.Decoded || r.Fields[0].DisplayValue.String() != c.want):
			t.Errorf("%s %v: %s %s %+v", c.typ, c.data, r.Status, r.UnavailableReason, r.Fields)
		}
	}
}

// Reasons of the closed set, one by one.
func TestReasons(t *testing.T) {
	felt1 := `{"name":"a","type":"core::felt252","kind":"data"}`
	event := func(name, members string) string {
		return `{"type":"event","name":"` + name + `","kind":"struct","members":[` + members + `]}`
	}
	enum := func(name, variants string) string {
		return `{"type":"event","name":"` + name + `","kind":"enum","variants":[` + variants + `]}`
	}
	list := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	for _, c := range []struct {
		name       string
		abi        string
		keys, data []felt.Felt
		status     abi.Status
		event      string
		reason     abi.Reason
	}{
		{"no such event", class("core::felt252"), felts("F"), felts(1), abi.Unknown, "", abi.SchemaUnavailable},
		{"no key", class("core::felt252"), nil, felts(1), abi.Unknown, "", abi.SchemaUnavailable},
		{"key left over", class("core::felt252"), felts("E", 1), felts(1), abi.NameOnly, "E", abi.PayloadShapeMismatch},
		{"undefined type", class("m::Nowhere"), felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"array of nothing", class("core::array::Array::<()>"), felts("E"), felts(3), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"map", class("core::dict::Felt252Dict::<core::felt252>"), felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"two meanings of a type", class("m::S", structDef("m::S", "core::felt252"), structDef("m::S", "core::bool")), felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"same type twice", class("m::S", structDef("m::S", "core::felt252"), structDef("m::S", "core::felt252")), felts("E"), felts(1), abi.Decoded, "E", ""},
		{"no payload", class("()"), felts("E"), nil, abi.Decoded, "E", ""},
		{"event of an undefined struct", list(enum("m::Event", `{"name":"E","type":"m::Gone","kind":"nested"}`)), felts("E"), nil, abi.NameOnly, "E", abi.SchemaUnavailable},
		{"bad member name", list(event("m::E", `{"name":"<b>","type":"core::felt252","kind":"data"}`), enum("m::Event", `{"name":"E","type":"m::E","kind":"nested"}`)),
			felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"bad event name", list(event("m::E", felt1), enum("m::Event", `{"name":"<b>","type":"m::E","kind":"nested"}`)), felts("<b>"), felts(1), abi.Unknown, "", abi.SchemaUnavailable},
		{"member of an unknown kind", list(event("m::E", `{"name":"a","type":"core::felt252","kind":"odd"}`), enum("m::Event", `{"name":"E","type":"m::E","kind":"nested"}`)),
			felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"two events of one selector, both fit", list(event("m::A", felt1), event("m::B", `{"name":"b","type":"core::integer::u8","kind":"data"}`),
			enum("m::Event", `{"name":"E","type":"m::A","kind":"nested"},{"name":"E","type":"m::B","kind":"nested"}`)),
			felts("E"), felts(1), abi.NameOnly, "E", abi.SelectorOnlyAttribution},
		{"two events of one selector, one fits", list(event("m::A", felt1), event("m::B", `{"name":"b","type":"core::integer::u8","kind":"data"}`),
			enum("m::Event", `{"name":"E","type":"m::A","kind":"nested"},{"name":"E","type":"m::B","kind":"nested"}`)),
			felts("E"), felts(256), abi.Decoded, "E", ""},
		{"two events of one selector, one unsupported", list(event("m::A", felt1), event("m::B", `{"name":"b","type":"m::Nowhere","kind":"data"}`),
			enum("m::Event", `{"name":"E","type":"m::A","kind":"nested"},{"name":"E","type":"m::B","kind":"nested"}`)),
			felts("E"), felts(256), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"the same event by two ways", list(event("m::A", felt1), enum("m::C", `{"name":"E","type":"m::A","kind":"nested"}`),
			enum("m::Event", `{"name":"E","type":"m::A","kind":"nested"},{"name":"C","type":"m::C","kind":"flat"}`)), felts("E"), felts(256), abi.Decoded, "E", ""},
		{"nested", list(event("m::A", felt1), enum("m::C", `{"name":"E","type":"m::A","kind":"nested"}`), enum("m::Event", `{"name":"C","type":"m::C","kind":"nested"}`)),
			felts("C", "E"), felts(1), abi.Decoded, "E", ""},
		{"nested, inner selector missing", list(event("m::A", felt1), enum("m::C", `{"name":"E","type":"m::A","kind":"nested"}`), enum("m::Event", `{"name":"C","type":"m::C","kind":"nested"}`)),
			felts("C"), felts(1), abi.Unknown, "", abi.SchemaUnavailable},
		{"event that is not the contract's", list(event("m::A", felt1), event("m::B", felt1), enum("m::Event", `{"name":"E","type":"m::A","kind":"nested"}`)),
			felts("B"), felts(1), abi.Unknown, "", abi.SchemaUnavailable},
		{"contract's enum not last", list(event("m::A", felt1), enum("m::Event", `{"name":"C","type":"m::C","kind":"nested"}`), enum("m::C", `{"name":"E","type":"m::A","kind":"nested"}`)),
			felts("C", "E"), felts(1), abi.Decoded, "E", ""},
		{"shorter path of two fits", list(event("m::K", `{"name":"k","type":"core::felt252","kind":"key"}`), event("m::A", felt1), enum("m::C", `{"name":"F","type":"m::A","kind":"nested"}`),
			enum("m::D", `{"name":"E","type":"m::C","kind":"nested"}`), enum("m::Event", `{"name":"E","type":"m::K","kind":"nested"},{"name":"D","type":"m::D","kind":"flat"}`)),
			felts("E", "F"), nil, abi.Decoded, "E", ""},
		{"longer path of two fits", list(event("m::K", `{"name":"k","type":"core::felt252","kind":"key"}`), event("m::A", felt1), enum("m::C", `{"name":"F","type":"m::A","kind":"nested"}`),
			enum("m::D", `{"name":"E","type":"m::C","kind":"nested"}`), enum("m::Event", `{"name":"E","type":"m::K","kind":"nested"},{"name":"D","type":"m::D","kind":"flat"}`)),
			felts("E", "F"), felts(1), abi.Decoded, "F", ""},
		{"flat struct", list(event("m::A", felt1), enum("m::C", `{"name":"E","type":"m::A","kind":"flat"}`), enum("m::Event", `{"name":"C","type":"m::C","kind":"nested"}`)),
			felts("C"), felts(1), abi.Unknown, "", abi.SchemaUnavailable},
		{"flawed twice", list(event("m::E", `{"name":"<b>","type":"core::felt252","kind":"data"},{"name":"n","type":"m::Gone","kind":"nested"}`), enum("m::Event", `{"name":"E","type":"m::E","kind":"nested"}`)),
			felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"more members than fields", list(event("m::E", strings.Repeat(felt1+",", 600)+felt1), enum("m::Event", `{"name":"E","type":"m::E","kind":"nested"}`)),
			felts("E"), zeros(601), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"more candidates than are tried", list(event("m::A", felt1), enum("m::Event", strings.Repeat(`{"name":"E","type":"m::A","kind":"nested"},`, 2)+
			func() string {
				var variants []string
				for i := range 70 {
					variants = append(variants, fmt.Sprintf(`{"name":"E","type":"(core::felt252, [core::felt252; %d])","kind":"data"}`, i))
				}
				return strings.Join(variants, ",")
			}())),
			felts("E"), felts(1, 1), abi.NameOnly, "E", abi.SelectorOnlyAttribution},
		{"a label without end", class("m::S0", func() (defs []string) {
			for i := range 6 {
				next := fmt.Sprintf("m::S%d", i+1)
				if i == 5 {
					next = "core::felt252"
				}
				defs = append(defs, fmt.Sprintf(`{"type":"struct","name":"m::S%d","members":[{"name":"%s","type":"%s"}]}`, i, strings.Repeat("x", 250), next))
			}
			return defs
		}()...), felts("E"), felts(1), abi.NameOnly, "E", abi.SchemaShapeUnsupported},
		{"old compilers", `[{"type":"event","name":"E","inputs":[{"name":"a","type":"core::felt252"},{"name":"l","type":"core::array::Array::<core::felt252>"}]}]`,
			felts("E"), felts(1, 2, 3, 4), abi.Decoded, "E", ""},
		{"odd items", list(`5`, `"x"`, `{"type":"event","name":7}`, `{"type":"new thing","name":"x"}`, `null`, event("m::E", felt1), enum("m::Event", `{"name":"E","type":"m::E","kind":"nested"}`)),
			felts("E"), felts(1), abi.Decoded, "E", ""},
	} {
		s := mustParse(t, c.abi)
		if _, err := abi.Load(s.Encode()); err != nil {
			t.Errorf("%s: stored form: %v", c.name, err)
		}
		r := abi.Decode(s, c.keys, c.data)
		if r.Status != c.status || r.Name != c.event || r.UnavailableReason != c.reason {
			t.Errorf("%s: %s %q %s", c.name, r.Status, r.Name, r.UnavailableReason)
		}
		checkCover(t, r, c.keys, c.data)
	}
}

// Cairo 0: structs, tuples, pointers with their lengths.
func TestCairo0(t *testing.T) {
	const defs = `{"type":"struct","name":"Uint256","size":2,"members":[{"name":"low","offset":0,"type":"felt"},{"name":"high","offset":1,"type":"felt"}]},
	{"type":"struct","name":"Cell","size":3,"members":[{"name":"key","offset":0,"type":"felt"},{"name":"at","offset":1,"type":"(x: felt, y: felt)"}]},
	{"type":"struct","name":"Askew","size":2,"members":[{"name":"key","offset":1,"type":"felt"},{"name":"at","offset":0,"type":"felt"}]},
	{"type":"struct","name":"Short","size":1,"members":[{"name":"key","offset":0,"type":"felt"},{"name":"at","offset":1,"type":"felt"}]}`
	for _, c := range []struct {
		members string
		data    []felt.Felt
		want    string // labels and displays, or the reason
	}{
		{`{"name":"from_","type":"felt"},{"name":"value","type":"Uint256"}`, felts(7, 5, 1), "from_=0x7 value=340282366920938463463374607431768211461"},
		{`{"name":"value","type":"Uint256"}`, felts("-1", 0), "payload_shape_mismatch"},
		{`{"name":"list_len","type":"felt"},{"name":"list","type":"felt*"},{"name":"last","type":"felt"}`, felts(2, 8, 9, 3), "list=[0x8, 0x9] last=0x3"},
		{`{"name":"cells_len","type":"felt"},{"name":"cells","type":"Cell*"}`, felts(1, 4, 5, 6), "cells=1 item cells[0].key=0x4 cells[0].at.x=0x5 cells[0].at.y=0x6"},
		{`{"name":"cells_len","type":"felt"},{"name":"cells","type":"Cell*"}`, felts(2, 4, 5, 6), "payload_shape_mismatch"},
		{`{"name":"pair","type":"(felt, Uint256)"}`, felts(1, 2, 0), "pair.0=0x1 pair.1=2"},
		{`{"name":"n","type":"felt"},{"name":"list","type":"felt*"}`, felts(1, 1), "schema_shape_unsupported"},
		{`{"name":"list","type":"felt*"}`, felts(1, 1), "schema_shape_unsupported"},
		{`{"name":"a","type":"Askew"}`, felts(1, 1), "schema_shape_unsupported"},
		{`{"name":"a","type":"Short"}`, felts(1, 1), "schema_shape_unsupported"},
		{`{"name":"a","type":"Missing"}`, felts(1, 1), "schema_shape_unsupported"},
		{`{"name":"list_len","type":"felt"}`, felts(1), "list_len=0x1"},
		{``, nil, ""},
	} {
		s, err := abi.ParseCairo0([]byte(`[` + defs + `,{"type":"event","name":"E","keys":[],"data":[` + c.members + `]}]`))
		if err != nil {
			t.Fatal(err)
		}
		r := abi.Decode(s, felts("E"), c.data)
		checkCover(t, r, felts("E"), c.data)
		got := string(r.UnavailableReason)
		if r.Status == abi.Decoded {
			var parts []string
			for _, f := range r.Fields {
				parts = append(parts, f.Label+"="+f.DisplayValue.String())
			}
			got = strings.Join(parts, " ")
		}
		if got != c.want || r.Name != "E" {
			t.Errorf("%s %v: %s, want %s", c.members, c.data, got, c.want)
		}
		if loaded, err := abi.Load(s.Encode()); err != nil || abi.Decode(loaded, felts("E"), c.data).Status != r.Status {
			t.Errorf("%s: after loading: %v", c.members, err)
		}
	}
}

func TestFunctions(t *testing.T) {
	s := mustParse(t, `[{"type":"impl","name":"I","interface_name":"m::I"},
	{"type":"interface","name":"m::I","items":[{"type":"function","name":"balance_of","inputs":[{"name":"account","type":"core::felt252"}],"outputs":[{"type":"core::integer::u256"}],"state_mutability":"view"}]},
	{"type":"l1_handler","name":"balance_of","inputs":[],"outputs":[],"state_mutability":"external"},
	{"type":"constructor","name":"constructor","inputs":[{"name":"owner","type":"core::felt252"}]},
	{"type":"struct","name":"core::integer::u256","members":[{"name":"low","type":"core::integer::u128"},{"name":"high","type":"core::integer::u128"}]}]`)
	f, ok := s.Function(abi.External, felt.Selector("balance_of"))
	if !ok || !f.View || f.Inputs[0] != (abi.Param{Name: "account", Type: "core::felt252"}) || f.Outputs[0].Type != "core::integer::u256" {
		t.Errorf("balance_of is %+v", f)
	}
	if f, ok := s.Function(abi.L1Handler, felt.Selector("balance_of")); !ok || f.View {
		t.Errorf("the handler is %+v", f)
	}
	if _, ok := s.Function(abi.Constructor, felt.Selector("balance_of")); ok {
		t.Error("found a constructor that is not there")
	}
	if len(s.Functions()) != 3 || len(s.Types()) != 1 || s.Types()[0].Enum || len(s.Types()[0].Members) != 2 {
		t.Errorf("%+v %+v", s.Functions(), s.Types())
	}
	c0, err := abi.Parse(&starknet.Class{Cairo0: &starknet.Cairo0Class{ABI: []byte(`[{"type":"function","name":"__default__","inputs":[],"outputs":[]},{"type":"function","name":"get","inputs":[],"outputs":[],"stateMutability":"view"}]`)}})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := c0.Function(abi.External, felt.Zero); !ok || f.Name != "__default__" {
		t.Errorf("the door for everything is %+v", f)
	}
	if f, ok := c0.Function(abi.External, felt.Selector("get")); !ok || !f.View {
		t.Errorf("get is %+v", f)
	}
}

func TestNoABI(t *testing.T) {
	for _, c := range []*starknet.Class{nil, {}, {Sierra: &starknet.SierraClass{}}, {Cairo0: &starknet.Cairo0Class{}}} {
		if _, err := abi.Parse(c); !errors.Is(err, abi.ErrNoABI) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if r := abi.Decode(nil, felts("E"), nil); r.Status != abi.Unknown {
		t.Error(r)
	}
}
