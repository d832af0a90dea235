package class_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// TestUnsaidArguments: a function whose arguments do not fit a row is not one
// without arguments, and a class of that many words still has its names.
func TestUnsaidArguments(t *testing.T) {
	c := &starknet.SierraClass{}
	var items []string
	for _, f := range []struct{ name, typ string }{{"first", "core::bool"}, {"huge", "(" + strings.Repeat("core::felt252,", 60_000) + ")"}, {"last", "core::bool"}} {
		c.EntryPoints.External = append(c.EntryPoints.External, starknet.EntryPoint{Selector: felt.Selector(f.name)})
		items = append(items, `{"type":"function","name":"`+f.name+`","inputs":[{"name":"x","type":"`+f.typ+`"}]}`)
	}
	c.ABI = "[" + strings.Join(items, ",") + "]"
	row := class.InterfaceOf(&starknet.Class{Sierra: c}).Encode()
	i, err := class.DecodeInterface(row)
	if err != nil || len(row) > 1<<20 {
		t.Fatalf("a row of %d bytes: %v", len(row), err)
	}
	calls := i.Calls(class.Sierra)
	for name, want := range map[string]abi.Status{"first": abi.Decoded, "huge": abi.NameOnly, "last": abi.NameOnly} {
		for _, data := range [][]felt.Felt{nil, {felt.FromUint64(1)}} {
			r := calls.Decode(abi.External, felt.Selector(name), data)
			if len(data) == 0 && name == "first" {
				if r.UnavailableReason != abi.PayloadShapeMismatch {
					t.Errorf("first without arguments: %s", r.UnavailableReason)
				}
				continue
			}
			if r.Name != name || r.Status != want || want == abi.NameOnly && r.UnavailableReason != abi.SchemaShapeUnsupported {
				t.Errorf("%s of %d felts: %+v", name, len(data), r)
			}
		}
	}
}

// TestTypesThatFunctionsNeed: of a class with more types than a row has room for, those stay that its functions
// take and give, wherever the ABI has them and however they name them.
func TestTypesThatFunctionsNeed(t *testing.T) {
	items := []string{`{"type":"function","name":"run","state_mutability":"view","inputs":[{"name":"x","type":"(core::array::Span::<@m::Outer>, [m::Fixed; 1])"}],"outputs":[{"type":"core::result::Result::<m::Given, core::felt252>"}]}`}
	for i := range 6000 {
		items = append(items, `{"type":"struct","name":"m::Idle`+felt.FromUint64(uint64(i)).String()+`","members":[{"name":"a","type":"core::felt252"},{"name":"b","type":"m::Idle"}]}`)
	}
	items = append(items, `{"type":"struct","name":"m::Outer","members":[{"name":"a","type":"core::option::Option::<m::Inner>"}]}`,
		`{"type":"enum","name":"core::result::Result::<m::Given, core::felt252>","variants":[{"name":"Ok","type":"m::Given"},{"name":"Err","type":"core::felt252"}]}`,
		`{"type":"struct","name":"m::Given","members":[{"name":"a","type":"core::bool"}]}`, `{"type":"struct","name":"m::Fixed","members":[{"name":"a","type":"core::bool"}]}`,
		`{"type":"enum","name":"m::Inner","variants":[{"name":"One","type":"()"},{"name":"Other","type":"m::Outer"}]}`)
	c := &starknet.SierraClass{ABI: "[" + strings.Join(items, ",") + "]"}
	c.EntryPoints.External = []starknet.EntryPoint{{Selector: felt.Selector("run")}}
	row := class.InterfaceOf(&starknet.Class{Sierra: c}).Encode()
	i, err := class.DecodeInterface(row)
	if err != nil || !i.TypesTruncated || len(i.Types) < 1000 || len(i.Types) > 5000 || len(row) > 1<<18 {
		t.Fatalf("a row of %d bytes with %d types: %v", len(row), len(i.Types), err)
	}
	n := felt.FromUint64
	r := i.Calls(class.Sierra).Decode(abi.External, felt.Selector("run"), []felt.Felt{n(1), n(0), n(0), n(1)})
	if r.Status != abi.Decoded || len(r.Fields) != 4 || r.Fields[2].DisplayValue.String() != "One" {
		t.Errorf("the call is %s (%s) with %+v", r.Status, r.UnavailableReason, r.Fields)
	}
}
