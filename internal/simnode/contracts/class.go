package contracts

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// Layout says how a token class writes its Transfer events.
type Layout uint8

// The event layouts. Legacy puts everything in data; Keyed puts the parties
// (and an NFT's id) in keys.
const (
	NoLayout Layout = iota
	Legacy
	Keyed
)

// Class is one class of the catalogue.
type Class struct {
	Name string
	Hash felt.Felt
	// Compiled is the hash of the compiled form, and CompiledV2 what it
	// becomes when the chain migrates it. Both are made up: nothing here is
	// ever compiled.
	Compiled   felt.Felt
	CompiledV2 felt.Felt
	Class      starknet.Class
	// Layout is set on token classes.
	Layout Layout
	// ByteArrayText says that name and symbol are byte arrays, not short strings.
	ByteArrayText bool

	doors map[felt.Felt]string
}

// Function returns the name of an external entry point.
func (c *Class) Function(selector felt.Felt) (name string, ok bool) {
	name, ok = c.doors[selector]
	return name, ok
}

// Cairo0 reports whether the class is one of the first Cairo.
func (c *Class) Cairo0() bool { return c.Class.Cairo0 != nil }

// derived is a felt made from a label: stable, and below 2^250.
func derived(label string) felt.Felt {
	f := felt.Felt(sha256.Sum256([]byte(label)))
	f[0] &= 0x03
	return f
}

// programLength is how many felts follow the version in a made-up program.
const programLength = 26

func sierra(name, lines string) *Class {
	iface := parse(lines)
	s := &starknet.SierraClass{ContractClassVersion: "0.1.0", ABI: iface.sierraABI()}
	for _, n := range []uint64{1, 7, 0, 2, 11, 4} { // Sierra 1.7.0 by compiler 2.11.4
		s.Program = append(s.Program, felt.FromUint64(n))
	}
	for i := range programLength {
		s.Program = append(s.Program, derived(fmt.Sprintf("program/%s/%d", name, i)))
	}
	c := &Class{Name: name, Class: starknet.Class{Sierra: s}}
	c.setDoors(iface, &s.EntryPoints, 1)
	hash, err := s.Hash()
	if err != nil {
		panic(fmt.Sprintf("class %s: %v", name, err))
	}
	c.Hash = hash
	c.Compiled, c.CompiledV2 = derived("casm/"+hash.String()), derived("casm2/"+hash.String())
	return c
}

// setDoors lists the entry points by ascending selector, as compilers do.
func (c *Class) setDoors(iface *contractInterface, e *starknet.EntryPoints, step uint64) {
	c.doors = map[felt.Felt]string{}
	for i := range iface.functions {
		f := &iface.functions[i]
		point := starknet.EntryPoint{Selector: f.selector(), Index: uint64(i) * step}
		switch f.kind {
		case "constructor":
			e.Constructor = append(e.Constructor, point)
		case "handler":
			e.L1Handler = append(e.L1Handler, point)
		default:
			e.External = append(e.External, point)
			c.doors[point.Selector] = f.name
		}
	}
	bySelector := func(a, b starknet.EntryPoint) int { return a.Selector.Cmp(b.Selector) }
	arrange.By(e.External, bySelector)
	arrange.By(e.L1Handler, bySelector)
}

// cairo0 makes a class of the first Cairo. Its hash is right; its program is made
// up.
func cairo0(name, lines string) *Class {
	iface := parse(lines)
	program, err := json.Marshal(map[string]any{
		"builtins": []string{"pedersen", "range_check", "ecdsa"}, "prime": "0x800000000000011000000000000000000000000000000000000000000000001",
		"main_scope": "__main__", "compiler_version": "0.10.3", "hints": map[string]any{}, "identifiers": map[string]any{},
		"reference_manager": map[string]any{"references": []any{}}, "data": []string{derived("data/" + name).String(), "0x208b7fff7fff7ffe"},
	})
	if err != nil {
		panic(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(program) //nolint:errcheck // a buffer never fails
	w.Close()        //nolint:errcheck
	z := &starknet.Cairo0Class{Program: base64.StdEncoding.EncodeToString(packed.Bytes()), ABI: iface.cairo0ABI()}
	c := &Class{Name: name, Class: starknet.Class{Cairo0: z}}
	c.setDoors(iface, &z.EntryPoints, 17)
	if c.Hash, err = z.Hash(); err != nil {
		panic(fmt.Sprintf("class %s: %v", name, err))
	}
	return c
}

func (c *Class) token(l Layout, byteArray bool) *Class {
	c.Layout, c.ByteArrayText = l, byteArray
	return c
}

// Foreign is a class that somebody sent: its entry points are known by number
// only, except those that the catalogue has a name for.
func Foreign(s *starknet.SierraClass, compiled felt.Felt) (*Class, error) {
	hash, err := s.Hash()
	if err != nil {
		return nil, fmt.Errorf("class hash: %w", err)
	}
	c := &Class{Name: "foreign", Hash: hash, Compiled: compiled, CompiledV2: compiled, Class: starknet.Class{Sierra: s}, doors: map[felt.Felt]string{}}
	for _, e := range s.EntryPoints.External {
		c.doors[e.Selector] = e.Selector.String()
	}
	return c, nil
}
