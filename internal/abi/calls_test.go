package abi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

func callsOf(s *abi.Schema, sierra bool) *abi.Calls {
	return abi.NewCalls(sierra, s.Functions(), s.Types())
}

// brief is a result in a line: what it is, and label = value of each argument.
func brief(r abi.Result) string {
	parts := []string{string(r.Status), r.Name, string(r.UnavailableReason)}
	for _, f := range r.Fields {
		parts = append(parts, f.Label+"="+f.DisplayValue.String())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

const callsABI = `[
	{"type":"impl","name":"Impl","interface_name":"m::I"},
	{"type":"struct","name":"core::integer::u256","members":[{"name":"low","type":"core::integer::u128"},{"name":"high","type":"core::integer::u128"}]},
	{"type":"struct","name":"core::starknet::account::Call","members":[{"name":"to","type":"core::starknet::contract_address::ContractAddress"},
		{"name":"selector","type":"core::felt252"},{"name":"calldata","type":"core::array::Span::<core::felt252>"}]},
	{"type":"struct","name":"m::Tree","members":[{"name":"leaf","type":"core::integer::u8"},{"name":"kids","type":"core::array::Array::<m::Tree>"}]},
	{"type":"interface","name":"m::I","items":[
		{"type":"function","name":"transfer","inputs":[{"name":"recipient","type":"core::starknet::contract_address::ContractAddress"},{"name":"amount","type":"core::integer::u256"}],"outputs":[],"state_mutability":"external"},
		{"type":"function","name":"execute","inputs":[{"name":"calls","type":"core::array::Span::<core::starknet::account::Call>"},{"name":"when","type":"core::option::Option::<core::integer::u64>"}],"outputs":[],"state_mutability":"external"},
		{"type":"function","name":"plant","inputs":[{"name":"tree","type":"m::Tree"}],"outputs":[],"state_mutability":"external"},
		{"type":"function","name":"nothing","inputs":[],"outputs":[],"state_mutability":"external"},
		{"type":"function","name":"lost","inputs":[{"name":"x","type":"m::Undefined"}],"outputs":[],"state_mutability":"external"},
		{"type":"function","name":"same","inputs":[{"name":"x","type":"core::bool"}],"outputs":[],"state_mutability":"external"}]},
	{"type":"function","name":"same","inputs":[{"name":"x","type":"core::bool"}],"outputs":[],"state_mutability":"external"},
	{"type":"function","name":"torn","inputs":[{"name":"x","type":"core::bool"}],"outputs":[],"state_mutability":"external"},
	{"type":"function","name":"torn","inputs":[{"name":"y","type":"core::bool"}],"outputs":[],"state_mutability":"view"},
	{"type":"l1_handler","name":"handle","inputs":[{"name":"from_address","type":"core::felt252"},{"name":"amount","type":"core::integer::u256"}],"outputs":[],"state_mutability":"external"},
	{"type":"constructor","name":"constructor","inputs":[{"name":"name","type":"core::byte_array::ByteArray"},{"name":"owner","type":"core::starknet::contract_address::ContractAddress"}]}
]`

const callsCairo0 = `[
	{"type":"struct","name":"Uint256","size":2,"members":[{"name":"low","offset":0,"type":"felt"},{"name":"high","offset":1,"type":"felt"}]},
	{"type":"struct","name":"CallArray","size":4,"members":[{"name":"to","offset":0,"type":"felt"},{"name":"selector","offset":1,"type":"felt"},{"name":"data_offset","offset":2,"type":"felt"},{"name":"data_len","offset":3,"type":"felt"}]},
	{"type":"function","name":"transfer","inputs":[{"name":"recipient","type":"felt"},{"name":"amount","type":"Uint256"}],"outputs":[{"name":"success","type":"felt"}]},
	{"type":"function","name":"__execute__","inputs":[{"name":"call_array_len","type":"felt"},{"name":"call_array","type":"CallArray*"},{"name":"calldata_len","type":"felt"},{"name":"calldata","type":"felt*"},{"name":"nonce","type":"felt"}],"outputs":[]},
	{"type":"function","name":"point","inputs":[{"name":"at","type":"(x : felt, y : felt)"}],"outputs":[],"stateMutability":"view"},
	{"type":"function","name":"bare","inputs":[{"name":"p","type":"felt*"}],"outputs":[]},
	{"type":"function","name":"__default__","inputs":[{"name":"selector","type":"felt"},{"name":"calldata_size","type":"felt"},{"name":"calldata","type":"felt*"}],"outputs":[]},
	{"type":"l1_handler","name":"on_receive","inputs":[{"name":"from_address","type":"felt"},{"name":"v","type":"felt"}],"outputs":[]},
	{"type":"constructor","name":"constructor","inputs":[{"name":"owner","type":"felt"}],"outputs":[]}
]`

func TestCalls(t *testing.T) {
	cairo1 := callsOf(mustParse(t, callsABI), true)
	s, err := abi.ParseCairo0([]byte(callsCairo0))
	if err != nil {
		t.Fatal(err)
	}
	cairo0 := callsOf(s, false)
	const mismatch, unsupported = "payload_shape_mismatch", "schema_shape_unsupported"
	for _, c := range []struct {
		calls    *abi.Calls
		kind     abi.FunctionKind
		function string
		calldata []felt.Felt
		want     string
	}{
		{cairo1, abi.External, "transfer", felts(0xabc, 5, 0), "decoded transfer recipient=0xabc amount=5"},
		{cairo1, abi.External, "transfer", felts(0xabc, 0, 1), "decoded transfer recipient=0xabc amount=340282366920938463463374607431768211456"},
		{cairo1, abi.External, "transfer", felts(0xabc, 5), "name_only transfer " + mismatch},
		{cairo1, abi.External, "transfer", felts(0xabc, 5, 0, 0), "name_only transfer " + mismatch},
		{cairo1, abi.External, "transfer", nil, "name_only transfer " + mismatch},
		{cairo1, abi.L1Handler, "transfer", felts(0xabc, 5, 0), "unknown schema_unavailable"},
		{cairo1, abi.External, "execute", felts(1, 7, 8, 2, 3, 4, 0, 99), "decoded execute calls=1 item calls[0].to=0x7 calls[0].selector=0x8 calls[0].calldata=[0x3, 0x4] when=Some when.Some=99"},
		{cairo1, abi.External, "execute", felts(0, 1), "decoded execute calls=0 items when=None"},
		{cairo1, abi.External, "execute", felts(1<<40, 1), "name_only execute " + mismatch},
		{cairo1, abi.External, "plant", felts(1, 2, 3, 0, 4, 0), "decoded plant tree.leaf=1 tree.kids=2 items tree.kids[0].leaf=3 tree.kids[0].kids=0 items tree.kids[1].leaf=4 tree.kids[1].kids=0 items"},
		{cairo1, abi.External, "nothing", nil, "decoded nothing"},
		{cairo1, abi.External, "nothing", felts(1), "name_only nothing " + mismatch},
		{cairo1, abi.External, "lost", felts(1), "name_only lost " + unsupported},
		{cairo1, abi.External, "same", felts(1), "decoded same x=true"},
		{cairo1, abi.External, "torn", felts(1), "name_only torn " + unsupported},
		{cairo1, abi.External, "elsewhere", felts(1), "unknown schema_unavailable"},
		{cairo1, abi.L1Handler, "handle", felts(0xe, 1, 0), "decoded handle from_address=0xe amount=1"},
		{cairo1, abi.Constructor, "constructor", felts(0, "0x616263", 3, 9), "decoded constructor name=abc owner=0x9"},
		{cairo0, abi.External, "transfer", felts(0xabc, 5, 0), "decoded transfer recipient=0xabc amount=5"},
		{cairo0, abi.External, "__execute__", felts(1, 7, 8, 0, 2, 2, 5, 6, 3), "decoded __execute__ call_array=1 item call_array[0].to=0x7 call_array[0].selector=0x8 call_array[0].data_offset=0x0 call_array[0].data_len=0x2 calldata=[0x5, 0x6] nonce=0x3"},
		{cairo0, abi.External, "__execute__", felts(1, 7, 8, 0, 2, 2, 5, 6), "name_only __execute__ " + mismatch},
		{cairo0, abi.External, "point", felts(1, 2), "decoded point at.x=0x1 at.y=0x2"},
		{cairo0, abi.External, "bare", felts(1), "name_only bare " + unsupported},
		{cairo0, abi.L1Handler, "on_receive", felts(1, 2), "decoded on_receive from_address=0x1 v=0x2"},
		{cairo0, abi.Constructor, "constructor", felts(1), "decoded constructor owner=0x1"},
		{cairo0, abi.External, "behind_the_proxy", felts(1), "unknown schema_unavailable"},
		{nil, abi.External, "transfer", felts(1), "unknown schema_unavailable"},
	} {
		r := c.calls.Decode(c.kind, felt.Selector(c.function), c.calldata)
		if got := brief(r); got != c.want {
			t.Errorf("%s%v is %s\nwant %s", c.function, c.calldata, got, c.want)
		}
		checkCover(t, r, felts("path"), c.calldata)
		if name := c.calls.Name(c.kind, felt.Selector(c.function)); name != r.Name {
			t.Errorf("%s is named %q and decoded as %q", c.function, name, r.Name)
		}
	}
	if got := cairo0.Name(abi.External, felt.Zero); got != "__default__" {
		t.Errorf("the door of a proxy is %q", got)
	}
}

// Arguments of random types, with random values: every felt comes back.
func TestRandomCalls(t *testing.T) {
	decoded := 0
	for seed := range uint64(800) {
		g := newGenerator(seed)
		var inputs []abiMember
		var samples []sample
		for range g.r.IntN(5) {
			s := g.typ(3)
			samples, inputs = append(samples, s), append(inputs, abiMember{Name: g.fresh("a"), Type: s.name})
		}
		g.items = append(g.items, map[string]any{"type": "function", "name": "f", "inputs": inputs})
		text, err := json.Marshal(g.items)
		if err != nil {
			t.Fatal(err)
		}
		calls := callsOf(mustParse(t, string(text)), true)
		for range 4 {
			var wants []want
			var data []felt.Felt
			for i, s := range samples {
				for _, w := range s.make(inputs[i].Name) {
					wants, data = append(wants, w), append(data, w.raw...)
				}
			}
			if len(wants) > abi.MaxFields {
				continue
			}
			r := calls.Decode(abi.External, felt.Selector("f"), data)
			if r.Status != abi.Decoded || r.FieldsSource != abi.ClassABI {
				t.Fatalf("seed %d: %s %s\n%s\n%v", seed, r.Status, r.UnavailableReason, text, data)
			}
			compareFields(t, seed, r.Fields, wants)
			checkCover(t, r, felts("f"), data)
			if r := calls.Decode(abi.External, felt.Selector("f"), append(data, felt.Zero)); r.UnavailableReason != abi.PayloadShapeMismatch {
				t.Fatalf("seed %d: one felt too many: %s %s", seed, r.Status, r.UnavailableReason)
			}
			decoded++
		}
	}
	if decoded < 2500 {
		t.Errorf("only %d calls decoded", decoded)
	}
}

// No real class has a function of an unsupported shape.
func TestRealCalls(t *testing.T) {
	functions := 0
	for _, c := range realClasses(t) {
		s := c.parse(t)
		calls := callsOf(s, c.sierra)
		for _, f := range s.Functions() {
			functions++
			if got := calls.Name(f.Kind, f.Selector); got != f.Name {
				t.Errorf("%s: %s is named %q", c.name, f.Name, got)
			}
			data := make([]felt.Felt, 40)
			r := calls.Decode(f.Kind, f.Selector, data)
			checkCover(t, r, felts("f"), data)
			// The door of a proxy has a pointer whose length is called its size, and
			// the very first compiler of Cairo 1 called types otherwise.
			untyped := len(f.Inputs) > 0 && f.Inputs[0].Type == ""
			if r.UnavailableReason == abi.SchemaShapeUnsupported && !strings.HasSuffix(f.Name, "default__") && !untyped {
				t.Errorf("%s: arguments of %s: %+v", c.name, f.Name, f.Inputs)
			}
			if len(f.Inputs) == 0 && calls.Decode(f.Kind, f.Selector, nil).Status != abi.Decoded {
				t.Errorf("%s: %s without arguments is not decoded", c.name, f.Name)
			}
		}
	}
	if functions < 400 {
		t.Errorf("%d functions", functions)
	}
}

// What a hostile ABI says keeps the names and costs no time.
func TestHostileCalls(t *testing.T) {
	function := func(name, typ string) abi.Function {
		return abi.Function{Name: name, Selector: felt.Selector(name), Inputs: []abi.Param{{Name: "x", Type: typ}}}
	}
	def := func(name string, types ...string) abi.TypeDef {
		d := abi.TypeDef{Name: name}
		for i, typ := range types {
			d.Members = append(d.Members, abi.Param{Name: fmt.Sprintf("m%d", i), Type: typ})
		}
		return d
	}
	var doubling, enums []abi.TypeDef // each twice in the next: 2^60 felts, or depths
	doubling = append(doubling, def("d0", "core::felt252"))
	for i := 1; i <= 60; i++ {
		last := fmt.Sprintf("d%d", i-1)
		doubling = append(doubling, def(fmt.Sprintf("d%d", i), last, last))
	}
	for i := range 60 {
		enum := def(fmt.Sprintf("e%d", i), fmt.Sprintf("e%d", i+1))
		enum.Enum = true
		enums = append(enums, enum)
	}
	var wide, many []abi.Function
	for i := range 5000 {
		wide = append(wide, function(fmt.Sprintf("f%d", i), fmt.Sprintf("(core::felt252, [core::felt252; %d], core::array::Array::<[core::bool; %d]>, [core::integer::u8; %d])", i, i, i)))
		many = append(many, function("f", "core::felt252"))
	}
	long := abi.Function{Name: "f", Selector: felt.Selector("f")}
	for range 4000 {
		long.Inputs = append(long.Inputs, abi.Param{Name: "x", Type: "core::felt252"})
	}
	start := time.Now()
	for name, c := range map[string]struct {
		functions []abi.Function
		types     []abi.TypeDef
	}{
		"recursive":       {[]abi.Function{function("f", "m::S"), function("g", "core::bool")}, []abi.TypeDef{def("m::S", "m::S")}},
		"two meanings":    {[]abi.Function{function("f", "m::S")}, []abi.TypeDef{def("m::S", "core::bool"), def("m::S", "core::felt252")}},
		"two functions":   {[]abi.Function{function("f", "core::felt252"), function("f", "core::bytes_31::bytes31")}, nil},
		"doubling":        {[]abi.Function{function("f", "d60")}, doubling},
		"deep":            {[]abi.Function{function("f", "e0")}, enums},
		"too many types":  {append(wide, function("f", "core::bool"))[1000:], nil},
		"many of a door":  {many, nil},
		"long":            {[]abi.Function{long}, nil},
		"arrays of huge":  {[]abi.Function{function("f", "core::array::Array::<[core::felt252; 2147483647]>")}, nil},
		"not a type":      {[]abi.Function{function("f", "<script>\x00")}, nil},
		"not a name":      {[]abi.Function{{Name: "f", Selector: felt.Selector("f"), Inputs: []abi.Param{{Name: "a b", Type: "core::bool"}}}}, nil},
		"bad member name": {[]abi.Function{function("f", "m::S")}, []abi.TypeDef{{Name: "m::S", Members: []abi.Param{{Name: "<b>", Type: "core::bool"}}}}},
	} {
		for _, sierra := range []bool{true, false} {
			calls := abi.NewCalls(sierra, c.functions, c.types)
			for _, data := range [][]felt.Felt{nil, felts(1), make([]felt.Felt, 3000)} {
				r := calls.Decode(abi.External, felt.Selector("f"), data)
				checkCover(t, r, felts("f"), data)
				if name == "too many types" && r.Name == "" {
					continue // only so many functions are taken
				}
				if r.Name != "f" || r.Status == abi.Decoded && name != "many of a door" && name != "arrays of huge" {
					t.Errorf("%s (sierra %t) of %d felts: %s", name, sierra, len(data), brief(r))
				}
			}
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// FuzzCalls: whatever an ABI says, every call ends in an answer that keeps its
// promises.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(callsABI), []byte{1, 1, 1, 2})
	f.Add([]byte(callsCairo0), []byte{1, 1, 1, 2, 1, 0})
	for seed := range uint64(4) {
		g := newGenerator(seed)
		s := g.typ(3)
		g.items = append(g.items, map[string]any{"type": "function", "name": "f", "inputs": []abiMember{{Name: "a", Type: s.name}}})
		text, err := json.Marshal(g.items)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte{1, 0, 1, 3})
	}
	f.Fuzz(func(t *testing.T, text, bytes []byte) {
		data := payload(bytes)
		for i, parse := range []func([]byte) (*abi.Schema, error){abi.ParseSierra, abi.ParseCairo0} {
			s, err := parse(text)
			if err != nil {
				continue
			}
			calls := callsOf(s, i == 0)
			for _, fn := range s.Functions() {
				r := calls.Decode(fn.Kind, fn.Selector, data)
				if checkCover(t, r, felts("f"), data); r.Name != fn.Name && len(s.Functions()) <= 4096 {
					t.Fatalf("%s decodes as %q", fn.Name, r.Name)
				}
			}
		}
	})
}
