package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/verification/strictjson"
)

// Bounds of a class. The chain takes programs of some 80,000 felts.
const (
	MaxArtifact = 16 << 20
	maxProgram  = 1 << 18
	maxPoints   = 4096
)

// ReadArtifact reads what a compiler wrote, strictly: it may be forged. Debug information
// is no part of a class and is not looked at. Toolchain is not known from it.
func ReadArtifact(data []byte) (*Result, error) {
	o, err := strictjson.Parse(data, MaxArtifact)
	if err != nil {
		return nil, err
	}
	if err := o.Exactly("sierra_program", "sierra_program_debug_info", "contract_class_version", "entry_points_by_type", "abi"); err != nil {
		return nil, err
	}
	c := &starknet.SierraClass{}
	if c.ContractClassVersion, err = o.String("contract_class_version"); err != nil {
		return nil, err
	}
	program, err := o.Strings("sierra_program")
	if err != nil {
		return nil, err
	}
	if len(program) == 0 || len(program) > maxProgram {
		return nil, strictjson.Fail("sierra_program", "there are not 1 to %d felts", maxProgram)
	}
	c.Program = make([]felt.Felt, len(program))
	for i, text := range program {
		if c.Program[i], err = parseFelt(text); err != nil {
			return nil, strictjson.Fail("sierra_program", "%v", err)
		}
	}
	points, err := o.Object("entry_points_by_type")
	if err != nil {
		return nil, err
	}
	if err := points.Exactly("CONSTRUCTOR", "EXTERNAL", "L1_HANDLER"); err != nil {
		return nil, err
	}
	for kind, to := range map[string]*[]starknet.EntryPoint{"CONSTRUCTOR": &c.EntryPoints.Constructor, "EXTERNAL": &c.EntryPoints.External, "L1_HANDLER": &c.EntryPoints.L1Handler} {
		if *to, err = entryPoints(points, kind); err != nil {
			return nil, err
		}
	}
	if _, err := o.Objects("abi"); err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage // the order of an ABI's members counts
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	c.ABI = spaced(raw["abi"])
	return describe(c)
}

func entryPoints(o *strictjson.Object, kind string) ([]starknet.EntryPoint, error) {
	list, err := o.Objects(kind)
	if err != nil {
		return nil, err
	}
	if len(list) > maxPoints {
		return nil, strictjson.Fail(o.Path(kind), "there are more than %d", maxPoints)
	}
	var points []starknet.EntryPoint
	for _, p := range list {
		if err := p.Exactly("selector", "function_idx"); err != nil {
			return nil, err
		}
		text, err := p.String("selector")
		if err != nil {
			return nil, err
		}
		selector, err := parseFelt(text)
		if err != nil {
			return nil, strictjson.Fail(p.Path("selector"), "%v", err)
		}
		index, err := p.Integer("function_idx", 0, math.MaxUint32)
		if err != nil {
			return nil, err
		}
		points = append(points, starknet.EntryPoint{Selector: selector, Index: index})
	}
	return points, nil
}

var errSpelling = errors.New("it is not a felt in its shortest spelling")

// parseFelt takes a felt in the one spelling that compilers write.
func parseFelt(text string) (felt.Felt, error) {
	f, err := felt.Parse(text)
	if err != nil || f.String() != text {
		return felt.Felt{}, errSpelling
	}
	return f, nil
}

// spaced brings an ABI into the form in which classes are declared: a space behind every
// comma and colon, and no other outside of strings. Its exact bytes are hashed.
func spaced(abi []byte) string {
	var b bytes.Buffer
	b.Grow(len(abi))
	inString := false
	for i := 0; i < len(abi); i++ {
		switch c := abi[i]; {
		case inString:
			b.WriteByte(c)
			if c == '\\' {
				i++
				b.WriteByte(abi[i]) // JSON does not end in the middle of an escape
			} else if c == '"' {
				inString = false
			}
		case c == ' ', c == '\n', c == '\t', c == '\r':
		case c == ',', c == ':':
			b.WriteByte(c)
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
			inString = c == '"'
		}
	}
	return b.String()
}

// The class as it is declared, in the form that is digested.
type (
	wireClass struct {
		ABI         string     `json:"abi"`
		Version     string     `json:"contract_class_version"`
		EntryPoints wirePoints `json:"entry_points_by_type"`
		Program     []string   `json:"sierra_program"`
	}
	wirePoints struct {
		Constructor []wirePoint `json:"CONSTRUCTOR"`
		External    []wirePoint `json:"EXTERNAL"`
		L1Handler   []wirePoint `json:"L1_HANDLER"`
	}
	wirePoint struct {
		Index    uint64 `json:"function_idx"`
		Selector string `json:"selector"`
	}
)

// describe computes what a class is compared by.
func describe(c *starknet.SierraClass) (*Result, error) {
	hash, err := c.Hash()
	if err != nil {
		return nil, err
	}
	points := func(list []starknet.EntryPoint) []wirePoint {
		out := make([]wirePoint, len(list))
		for i, p := range list {
			out[i] = wirePoint{p.Index, p.Selector.String()}
		}
		return out
	}
	w := wireClass{ABI: c.ABI, Version: c.ContractClassVersion, EntryPoints: wirePoints{points(c.EntryPoints.Constructor), points(c.EntryPoints.External), points(c.EntryPoints.L1Handler)}}
	for _, f := range c.Program {
		w.Program = append(w.Program, f.String())
	}
	canonical, err := strictjson.Canonical(w)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(canonical)
	return &Result{Class: c, ClassHash: hash, Parts: c.Parts(), CandidateDigest: "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// Differences names the parts in which two classes differ: abi, entry_points, program.
func Differences(a, b Parts) (differ []string) {
	if a.ABI != b.ABI {
		differ = append(differ, "abi")
	}
	if a.External != b.External || a.L1Handler != b.L1Handler || a.Constructor != b.Constructor {
		differ = append(differ, "entry_points")
	}
	if a.Program != b.Program {
		differ = append(differ, "program")
	}
	return differ
}
