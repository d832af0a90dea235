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
