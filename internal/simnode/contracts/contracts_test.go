package contracts_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

type item struct {
	Type     string  `json:"type"`
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	Items    []item  `json:"items"`
	Inputs   []field `json:"inputs"`
	Outputs  []field `json:"outputs"`
	Members  []field `json:"members"`
	Variants []field `json:"variants"`
}

type field struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Kind string `json:"kind"`
}

// primitive matches types that need no definition.
var primitive = regexp.MustCompile(`^(\(\)|core::(felt252|bytes_31::bytes31|integer::u(8|16|32|64|128)|` +
	`starknet::(contract_address::ContractAddress|class_hash::ClassHash|eth_address::EthAddress)))$`)

var array = regexp.MustCompile(`^@?core::array::Array::<(.*)>$`)

// An ABI text defines everything it mentions, and the entry points are the
// functions it lists.
func TestABIsAreWhole(t *testing.T) {
	for _, class := range contracts.Classes().All() {
		if class.Cairo0() {
			if !json.Valid(class.Class.Cairo0.ABI) {
				t.Errorf("%s: ABI is not JSON", class.Name)
			}
			continue
		}
		var items []item
		if err := json.Unmarshal([]byte(class.Class.Sierra.ABI), &items); err != nil {
			t.Fatalf("%s: %v", class.Name, err)
		}
		defined := map[string]bool{}
		var used []field
		functions := map[felt.Felt]bool{}
		for _, it := range items {
			if it.Type != "impl" && it.Type != "interface" && it.Type != "function" {
				if defined[it.Name] {
					t.Errorf("%s: %s is defined twice", class.Name, it.Name)
				}
				defined[it.Name] = true
			}
			for _, f := range append(it.Items, it) {
				used = append(append(append(append(used, f.Inputs...), f.Outputs...), f.Members...), f.Variants...)
				if f.Type == "function" {
					functions[felt.Selector(f.Name)] = true
				}
			}
		}
		for _, f := range used {
			name := f.Type
			for m := array.FindStringSubmatch(name); m != nil; m = array.FindStringSubmatch(name) {
				name = m[1]
			}
			if !primitive.MatchString(name) && !defined[name] {
				t.Errorf("%s: type %s of %s is not defined", class.Name, name, f.Name)
			}
		}
		points := class.Class.Sierra.EntryPoints.External
		if len(points) != len(functions) {
			t.Errorf("%s: %d entry points and %d functions", class.Name, len(points), len(functions))
		}
		for i, p := range points {
			if !functions[p.Selector] {
				t.Errorf("%s: an entry point is not in the ABI", class.Name)
			}
			if i > 0 && points[i-1].Selector.Cmp(p.Selector) >= 0 {
				t.Errorf("%s: entry points are not in order", class.Name)
			}
		}
		if last := items[len(items)-1]; last.Type != "event" || last.Kind != "enum" || !strings.HasSuffix(last.Name, "::Event") {
			t.Errorf("%s: the ABI does not end with the event enum", class.Name)
		}
	}
}

func TestHashesDiffer(t *testing.T) {
	seen := map[felt.Felt]string{}
	all := contracts.Classes().All()
	for n := range 8 {
		all = append(all, contracts.Variant(n), contracts.OldVariant(n))
	}
	for _, class := range all {
		if other, ok := seen[class.Hash]; ok {
			t.Errorf("%s and %s have one hash", class.Name, other)
		}
		seen[class.Hash] = class.Name
	}
	first := contracts.Variant(3)
	if again := contracts.Variant(3); again != first {
		t.Error("a variant was made twice")
	}
}
