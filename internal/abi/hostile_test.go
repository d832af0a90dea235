package abi_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

func bigPower(n uint) *big.Int { return new(big.Int).Lsh(one, n) }

// ABIs that would cost time or memory, or have no finite values.
func TestHostileABIs(t *testing.T) {
	var nested strings.Builder // each enum twice in the next: 2^40 paths
	nested.WriteString(`[{"type":"event","name":"e0","kind":"enum","variants":[]}`)
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&nested, `,{"type":"event","name":"e%d","kind":"enum","variants":[{"name":"A","type":"e%d","kind":"nested"},{"name":"B","type":"e%d","kind":"nested"}]}`, i, i-1, i-1)
	}
	nested.WriteString("]")
	wide := class("m::T0", func() (defs []string) { // more types than a table holds
		var types []string
		for i := range 4000 {
			types = append(types, fmt.Sprintf("(core::felt252, [core::felt252; %d])", i))
		}
		for i := range 5 {
			defs = append(defs, structDef(fmt.Sprintf("m::T%d", i), append(types, fmt.Sprintf("m::T%d", i+1))...))
			for j := range types {
				types[j] = fmt.Sprintf("(%s, core::bool)", types[j])
			}
		}
		return defs
	}()...)
	enum := func(name string, variants ...string) string {
		return `{"type":"event","name":"` + name + `","kind":"enum","variants":[{"name":"A","type":"` + strings.Join(variants, `","kind":"nested"},{"name":"B","type":"`) + `","kind":"nested"}]}`
	}
	for name, c := range map[string]struct {
		abi string
		err error
	}{
		"struct in itself":             {class("m::S", structDef("m::S", "core::felt252", "m::S")), abi.ErrRecursive},
		"struct in itself by a tuple":  {class("m::S", structDef("m::S", "(core::felt252, m::S)")), abi.ErrRecursive},
		"struct in itself by another":  {class("m::S", structDef("m::S", "m::R"), structDef("m::R", "[m::S; 2]")), abi.ErrRecursive},
		"event in itself":              {"[" + enum("m::Event", "m::Other") + "," + enum("m::Inner", "m::Inner") + "," + enum("m::Last", "m::Inner") + "]", abi.ErrRecursive},
		"paths without end":            {nested.String(), abi.ErrTooLarge},
		"too many types":               {wide, abi.ErrTooLarge},
		"too many members":             {class("m::S", structDef("m::S", make([]string, 5000)...)), abi.ErrTooLarge},
		"too many items":               {"[" + strings.Repeat(`{"type":"function","name":"f"},`, 20000) + `{"type":"function","name":"f"}]`, abi.ErrTooLarge},
		"too long":                     {"[" + strings.Repeat(" ", abi.MaxABISize) + "]", abi.ErrTooLarge},
		"interfaces hide no items":     {`[{"type":"interface","name":"i","items":[` + strings.Repeat(`{"type":"function","name":"f"},`, 20000) + `{}]}]`, abi.ErrTooLarge},
		"deep types are only a name":   {class(strings.Repeat("core::array::Array::<", 60) + "core::felt252" + strings.Repeat(">", 60)), nil},
		"long types are only a name":   {class("m::" + strings.Repeat("x", 5000)), nil},
		"chain of structs":             {class("m::S0", chain(4000)...), nil},
		"doubling structs":             {class("m::D40", doubling(40, "core::felt252")...), nil},
		"doubling structs of nothing":  {class("m::D40", doubling(40, "()")...), nil},
		"fixed array of unlikely size": {class("[core::felt252; 2147483647]"), nil},
		"fixed array of any size":      {class("[core::felt252; 99999999999999999999]"), nil},
		"unbalanced types":             {class("((core::array::Array::<core::felt252, >)"), nil},
	} {
		s, err := abi.ParseSierra([]byte(c.abi))
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		if _, err := abi.Load(s.Encode()); err != nil {
			t.Errorf("%s: stored form: %v", name, err)
		}
		for _, data := range [][]felt.Felt{nil, felts(1), make([]felt.Felt, 2000)} {
			r := abi.Decode(s, felts("E"), data)
			checkCover(t, r, felts("E"), data)
			if r.Name != "E" {
				t.Errorf("%s: %s %q", name, r.Status, r.Name)
			}
		}
	}
	for _, text := range []string{"{}", "[", "5", `"x"`, "[]]", "null x", strings.Repeat("[", 20000)} {
		if _, err := abi.ParseSierra([]byte(text)); err == nil {
			t.Errorf("%.20q was accepted", text)
		}
		if _, err := abi.ParseCairo0([]byte(text)); err == nil {
			t.Errorf("%.20q was accepted", text)
		}
	}
}

func chain(n int) (defs []string) {
	for i := range n {
		next := fmt.Sprintf("m::S%d", i+1)
		if i == n-1 {
			next = "core::felt252"
		}
		defs = append(defs, structDef(fmt.Sprintf("m::S%d", i), next))
	}
	return defs
}

func doubling(n int, leaf string) []string {
	defs := []string{structDef("m::D0", leaf)}
	for i := 1; i <= n; i++ {
		half := fmt.Sprintf("m::D%d", i-1)
		defs = append(defs, structDef(fmt.Sprintf("m::D%d", i), half, half))
	}
	return defs
}

// Payloads that claim more than they hold end at once, with the right reason.
// The work is bounded by the felts there are: if it followed the claims, none
// of these would end.
func TestHostilePayloads(t *testing.T) {
	const tree = `{"type":"enum","name":"m::Tree","variants":[{"name":"Leaf","type":"()"},{"name":"Node","type":"core::array::Array::<m::Tree>"},{"name":"Next","type":"m::Tree"}]}`
	huge := []felt.Felt{felt.FromUint64(1<<64 - 1), toFelt(bigPower(64)), toFelt(bigPower(250)), felts("-1")[0], felt.FromUint64(1 << 62), felt.FromUint64(1 << 31)}
	for _, typ := range []string{
		"core::array::Array::<core::felt252>", "core::array::Array::<core::integer::u256>", "core::array::Array::<core::array::Array::<core::felt252>>",
		"core::byte_array::ByteArray", "core::array::Array::<core::byte_array::ByteArray>", "m::Tree", "core::array::Span::<m::Tree>",
		"core::option::Option::<core::integer::u8>", "core::array::Array::<(core::felt252, core::felt252)>",
	} {
		s := mustParse(t, class(typ, tree))
		for _, h := range huge {
			for _, data := range [][]felt.Felt{{h}, {h, h}, {h, h, h, h}, {felt.FromUint64(1), h}, {felt.FromUint64(1), h, h}, {felt.Zero, h, h}} {
				r := abi.Decode(s, felts("E"), data)
				if data[0] == h && (r.Status != abi.NameOnly || r.UnavailableReason != abi.PayloadShapeMismatch) {
					t.Errorf("%s %v: %s %s", typ, data, r.Status, r.UnavailableReason)
				}
				checkCover(t, r, felts("E"), data)
			}
		}
	}
	s := mustParse(t, class("m::Tree", tree))
	next, node := felt.FromUint64(2), felt.FromUint64(1)
	deep := make([]felt.Felt, 100_000) // as deep as it is long
	for i := range deep {
		deep[i] = next
	}
	if r := abi.Decode(s, felts("E"), deep); r.Status != abi.NameOnly || r.UnavailableReason != abi.SchemaShapeUnsupported {
		t.Errorf("deep: %s %s", r.Status, r.UnavailableReason)
	}
	for i := range deep {
		deep[i] = node // arrays of one
	}
	if r := abi.Decode(s, felts("E"), deep); r.Status != abi.NameOnly || r.UnavailableReason != abi.SchemaShapeUnsupported {
		t.Errorf("deep arrays: %s %s", r.Status, r.UnavailableReason)
	}
	if r := abi.Decode(s, felts("E"), felts(2, 2, 1, 2, 0, 0)); r.Status != abi.Decoded || r.Fields[3].Label != "v.Next.Next.Node" || r.Fields[5].Label != "v.Next.Next.Node[1]" {
		t.Errorf("a small tree: %s %s %+v", r.Status, r.UnavailableReason, r.Fields)
	}
}

// MaxFields fields are decoded, one more is not; bare felts do not count.
func TestFieldBound(t *testing.T) {
	numbers, bare := mustParse(t, class("core::array::Array::<core::integer::u8>")), mustParse(t, class("core::array::Array::<core::felt252>"))
	payload := func(n int) []felt.Felt {
		data := make([]felt.Felt, n+1)
		data[0] = felt.FromUint64(uint64(n))
		return data
	}
	if r := abi.Decode(numbers, felts("E"), payload(abi.MaxFields-1)); r.Status != abi.Decoded || len(r.Fields) != abi.MaxFields {
		t.Errorf("%s %s", r.Status, r.UnavailableReason)
	}
	if r := abi.Decode(numbers, felts("E"), payload(abi.MaxFields)); r.Status != abi.NameOnly || r.UnavailableReason != abi.SchemaShapeUnsupported {
		t.Errorf("%s %s", r.Status, r.UnavailableReason)
	}
	if r := abi.Decode(bare, felts("E"), payload(50_000)); r.Status != abi.Decoded || len(r.Fields) != 1 {
		t.Errorf("%s %s", r.Status, r.UnavailableReason)
	}
	// Nested to the bound and beyond.
	for depth, want := range map[int]abi.Status{abi.MaxDepth: abi.Decoded, abi.MaxDepth + 1: abi.NameOnly} {
		if r := abi.Decode(mustParse(t, class("m::S0", chain(depth)...)), felts("E"), felts(1)); r.Status != want {
			t.Errorf("%d structs: %s %s", depth, r.Status, r.UnavailableReason)
		}
	}
}

// Stored forms that are cut, padded, changed or written another way.
func TestDamagedStoredForms(t *testing.T) {
	accepted := 0
	for seed := range uint64(60) {
		g := newGenerator(seed)
		stored := mustParse(t, string(g.event().abi)).Encode()
		for n := range len(stored) {
			if _, err := abi.Load(stored[:n]); !errors.Is(err, abi.ErrCorrupt) {
				t.Fatalf("seed %d, %d bytes of %d: %v", seed, n, len(stored), err)
			}
		}
		if _, err := abi.Load(append(stored[:len(stored):len(stored)], 0)); !errors.Is(err, abi.ErrCorrupt) {
			t.Fatalf("seed %d: longer: %v", seed, err)
		}
		for range 200 {
			damaged := append([]byte(nil), stored...)
			damaged[g.r.IntN(len(damaged))] ^= byte(1 + g.r.IntN(255))
			if s, err := abi.Load(damaged); err == nil {
				accepted++
				if string(s.Encode()) != string(damaged) {
					t.Fatalf("seed %d: loaded, and its form is another", seed)
				}
			}
		}
	}
	t.Log(accepted, "damaged forms were forms of something else")
	if _, err := abi.Load([]byte{2, 0, 0}); !errors.Is(err, abi.ErrCorrupt) {
		t.Error("another version was accepted:", err)
	}
	// A type of every kind that there is not.
	one := mustParse(t, class("core::integer::u8")).Encode()
	for k := 26; k < 256; k++ {
		one[2] = byte(k) // version, number of types, kind
		if _, err := abi.Load(one); !errors.Is(err, abi.ErrCorrupt) {
			t.Errorf("kind %d was accepted: %v", k, err)
		}
	}
	if s, err := abi.Load([]byte{1, 0, 0}); err != nil || abi.Decode(s, felts("E"), nil).Status != abi.Unknown {
		t.Error("the empty schema:", err)
	}
	if _, err := abi.Load([]byte{1, 0x80, 0, 0}); !errors.Is(err, abi.ErrCorrupt) {
		t.Error("a longer spelling of a number was accepted:", err)
	}
}
