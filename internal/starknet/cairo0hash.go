package starknet

// The hash of a class of the first Cairo. It covers the ABI and the program as
// the sequencer's own Python wrote them as JSON, so that this file writes JSON
// as Python does: sorted keys, a space behind commas and colons, ASCII only.

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// A node may serve anything as a class of the first Cairo, and is not blamed for one that does not have its hash. So
// little is done for one that cannot be real.
const (
	// maxProgram bounds an unpacked program; real ones stay below 20 MB.
	maxProgram = 64 << 20
	// maxValues bounds the values and names of a program or an ABI, each of which takes a hundred bytes and more
	// once it is read. Real ones have thirteen bytes of text for each.
	maxValues = 2 << 20
	// maxHashed bounds the felts of bytecode, builtins and entry points; real ones have some ten thousand.
	maxHashed = 1 << 18
)

// Hash is the class hash. It is a function of what a node serves, and equals the
// hash that the class was declared with if the node serves the ABI as it was
// declared: some spellings are lost on the way, see docs. It is slow: some 30 µs
// for each felt of bytecode.
func (c *Cairo0Class) Hash() (felt.Felt, error) {
	program, err := c.program()
	if err != nil {
		return felt.Felt{}, err
	}
	var names, data pedersen
	builtins, ok := program["builtins"].([]any)
	if !ok {
		return felt.Felt{}, errors.New("a program without builtins")
	}
	bytecode, ok := program["data"].([]any)
	if !ok {
		return felt.Felt{}, errors.New("a program without data")
	}
	if points := &c.EntryPoints; len(builtins)+len(bytecode)+len(points.External)+len(points.L1Handler)+len(points.Constructor) > maxHashed {
		return felt.Felt{}, fmt.Errorf("more than %d felts to hash", maxHashed)
	}
	for _, v := range builtins {
		name, _ := v.(string)
		f, err := felt.FromShortString(name)
		if err != nil {
			return felt.Felt{}, fmt.Errorf("builtin %q: %w", name, err)
		}
		names.add(&f)
	}
	for i, v := range bytecode {
		text, _ := v.(string)
		f, err := felt.Parse(text)
		if err != nil {
			return felt.Felt{}, fmt.Errorf("data %d: %w", i, err)
		}
		bytecode[i] = f.String()
		data.add(&f)
	}
	hinted, err := c.hintedHash(program)
	if err != nil {
		return felt.Felt{}, err
	}
	out := pedersenElements(
		element{}, // the version of the form
		pedersenPoints(c.EntryPoints.External), pedersenPoints(c.EntryPoints.L1Handler), pedersenPoints(c.EntryPoints.Constructor),
		names.sum(), toElement(&hinted), data.sum())
	return fromElement(&out), nil
}

func pedersenPoints(list []EntryPoint) element {
	var p pedersen
	for i := range list {
		p.add(&list[i].Selector)
		offset := elementFromUint64(list[i].Index)
		p.addElement(&offset)
	}
	return p.sum()
}

func (c *Cairo0Class) program() (map[string]any, error) {
	packed, err := base64.StdEncoding.DecodeString(c.Program)
	if err != nil {
		return nil, fmt.Errorf("unpack program: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack program: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxProgram+1))
	if err != nil {
		return nil, fmt.Errorf("unpack program: %w", err)
	}
	if len(text) > maxProgram {
		return nil, fmt.Errorf("unpack program: more than %d bytes", maxProgram)
	}
	program, err := parseTree(text)
	if err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	fields, ok := program.(map[string]any)
	if !ok {
		return nil, errors.New("read program: not an object")
	}
	return fields, nil
}

// parseTree reads JSON of at most maxValues values, and leaves numbers as they are written.
func parseTree(text []byte) (tree any, err error) {
	if manyValues(text) {
		return nil, fmt.Errorf("more than %d values", maxValues)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return tree, nil
}

// manyValues counts what begins or parts values, outside of strings.
func manyValues(text []byte) bool {
	n := 0
	for i := 0; i < len(text) && n <= maxValues; i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',', ':', '[', '{':
			n++
		}
	}
	return n > maxValues
}

// programFields are what the hash covers of a program.
var programFields = []string{
	"attributes", "builtins", "compiler_version", "data", "debug_info", "hints", "identifiers", "main_scope", "prime", "reference_manager",
}

// hintedHash covers ABI and program as Python prints them. It changes the tree.
func (c *Cairo0Class) hintedHash(program map[string]any) (felt.Felt, error) {
	var abi any
	if c.ABI != nil {
		var err error
		if abi, err = parseTree(c.ABI); err != nil {
			return felt.Felt{}, fmt.Errorf("read ABI: %w", err)
		}
	}
	covered := map[string]any{"debug_info": nil}
	for _, name := range programFields {
		if v, ok := program[name]; ok && name != "debug_info" {
			covered[name] = v
		}
	}
	if covered["compiler_version"] == nil {
		// Compilers before 0.10 set a space in front of the colon of a named
		// member, and hashes have kept it.
		delete(covered, "compiler_version")
		spaceColons(covered["identifiers"])
		spaceColons(covered["reference_manager"])
	}
	if attributes, _ := covered["attributes"].([]any); len(attributes) == 0 {
		delete(covered, "attributes")
	} else {
		dropEmptyOf(attributes)
	}
	if covered["hints"] == nil {
		covered["hints"] = map[string]any{}
	}
	text, err := appendPython(nil, map[string]any{"abi": abi, "program": covered}, "")
	if err != nil {
		return felt.Felt{}, err
	}
	return felt.Keccak(text), nil
}

// dropEmptyOf removes what attributes did not have when hashes were defined.
func dropEmptyOf(attributes []any) {
	for _, a := range attributes {
		fields, _ := a.(map[string]any)
		if scopes, _ := fields["accessible_scopes"].([]any); len(scopes) == 0 {
			delete(fields, "accessible_scopes")
		}
		if fields["flow_tracking_data"] == nil {
			delete(fields, "flow_tracking_data")
		}
	}
}

// spaceColons turns "a: felt" into "a : felt" in all types and references below.
func spaceColons(tree any) {
	switch t := tree.(type) {
	case []any:
		for _, v := range t {
			spaceColons(v)
		}
	case map[string]any:
		for name, v := range t {
			text, is := v.(string)
			if is && (name == "cairo_type" || name == "value") {
				t[name] = spaced(text)
			} else if !is {
				spaceColons(v)
			}
		}
	}
}

func spaced(text string) string {
	// What has the space already keeps one.
	return strings.ReplaceAll(strings.ReplaceAll(text, " : ", ": "), ": ", " : ")
}

// appendPython prints a tree as Python's json.dumps does with sorted keys. The
// keys of hints are numbers to Python and are sorted as such.
func appendPython(b []byte, tree any, name string) (_ []byte, err error) {
	switch t := tree.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, t), nil
	case json.Number:
		if strings.ContainsAny(string(t), ".eE") {
			return b, fmt.Errorf("number %s is not whole", t)
		}
		return append(b, t...), nil
	case string:
		return appendPythonText(b, t), nil
	case []any:
		b = append(b, '[')
		for i, v := range t {
			if i > 0 {
				b = append(b, ", "...)
			}
			if b, err = appendPython(b, v, ""); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		keys := slices.Sorted(maps.Keys(t))
		if name == "hints" {
			if err := sortNumbers(keys); err != nil {
				return b, err
			}
		}
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendPythonText(b, key), ": "...)
			if b, err = appendPython(b, t[key], key); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
	return b, fmt.Errorf("a %T in JSON", tree)
}

func sortNumbers(keys []string) error {
	at := make(map[string]uint64, len(keys))
	for _, key := range keys {
		n, err := strconv.ParseUint(key, 10, 64)
		if err != nil {
			return fmt.Errorf("hint at %q: %w", key, err)
		}
		at[key] = n
	}
	arrange.By(keys, func(a, b string) int {
		if at[a] < at[b] {
			return -1
		}
		return 1 // equal ones would be spelled alike
	})
	return nil
}

// appendPythonText quotes a text and escapes all but printable ASCII.
func appendPythonText(b []byte, text string) []byte {
	b = append(b, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r <= '~':
			b = append(b, byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		}
	}
	return append(b, '"')
}
