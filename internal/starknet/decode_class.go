package starknet

// Decoding of classes.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"chainexplorer/internal/felt"
)

// wireClass is a class of either kind as nodes print it. Classes are few, so
// that encoding/json is fast enough for them.
type wireClass struct {
	SierraProgram        *[]felt.Felt     `json:"sierra_program"`
	ContractClassVersion *string          `json:"contract_class_version"`
	Program              *string          `json:"program"`
	EntryPoints          *wireEntryPoints `json:"entry_points_by_type"`
	ABI                  json.RawMessage  `json:"abi"`
}

type wireEntryPoints struct {
	Constructor *[]wireEntryPoint `json:"CONSTRUCTOR"`
	External    *[]wireEntryPoint `json:"EXTERNAL"`
	L1Handler   *[]wireEntryPoint `json:"L1_HANDLER"`
}

type wireEntryPoint struct {
	Selector *felt.Felt      `json:"selector"`
	Index    *uint64         `json:"function_idx"`
	Offset   json.RawMessage `json:"offset"`
}

// DecodeClass reads the result of starknet_getClass. It is a Sierra class if
// it has a Sierra program.
func DecodeClass(data []byte) (*Class, error) {
	var w wireClass
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("decode class: %w", err)
	}
	c, err := w.class()
	if err != nil {
		return nil, fmt.Errorf("decode class: %w", err)
	}
	return c, nil
}

func (w *wireClass) class() (*Class, error) {
	missing := func(path string) error { return &DecodeError{Path: path, Err: ErrMissing} }
	sierra := w.SierraProgram != nil
	if !sierra && w.Program == nil {
		return nil, missing("sierra_program")
	}
	if w.EntryPoints == nil {
		return nil, missing("entry_points_by_type")
	}
	var points EntryPoints
	for _, kind := range []struct {
		name string
		wire *[]wireEntryPoint
		list *[]EntryPoint
	}{
		{"CONSTRUCTOR", w.EntryPoints.Constructor, &points.Constructor},
		{"EXTERNAL", w.EntryPoints.External, &points.External},
		{"L1_HANDLER", w.EntryPoints.L1Handler, &points.L1Handler},
	} {
		path := "entry_points_by_type." + kind.name
		if kind.wire == nil {
			return nil, missing(path)
		}
		for i := range *kind.wire {
			p, err := (*kind.wire)[i].entryPoint(sierra)
			if err != nil {
				return nil, &DecodeError{Path: fmt.Sprintf("%s[%d]", path, i), Err: err}
			}
			*kind.list = append(*kind.list, p)
		}
	}
	if !sierra {
		abi := w.ABI
		if bytes.Equal(abi, []byte("null")) {
			abi = nil
		}
		return &Class{Cairo0: &Cairo0Class{Program: *w.Program, EntryPoints: points, ABI: abi}}, nil
	}
	if w.ContractClassVersion == nil {
		return nil, missing("contract_class_version")
	}
	c := &SierraClass{ContractClassVersion: *w.ContractClassVersion, EntryPoints: points}
	if len(*w.SierraProgram) > 0 {
		c.Program = *w.SierraProgram
	}
	if w.ABI != nil {
		if err := json.Unmarshal(w.ABI, &c.ABI); err != nil {
			return nil, &DecodeError{Path: "abi", Err: err}
		}
	}
	return &Class{Sierra: c}, nil
}

func (w *wireEntryPoint) entryPoint(sierra bool) (p EntryPoint, err error) {
	if w.Selector == nil {
		return p, fmt.Errorf("selector: %w", ErrMissing)
	}
	p.Selector = *w.Selector
	if sierra {
		if w.Index == nil {
			return p, fmt.Errorf("function_idx: %w", ErrMissing)
		}
		p.Index = *w.Index
		return p, nil
	}
	p.Index, err = parseOffset(w.Offset)
	return p, err
}

// parseOffset reads a bytecode offset: hex by the specification, a plain
// number from some nodes.
func parseOffset(raw json.RawMessage) (n uint64, err error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return 0, fmt.Errorf("offset: %w", ErrMissing)
	}
	if raw[0] != '"' {
		err = json.Unmarshal(raw, &n)
		return n, err
	}
	var f felt.Felt
	if err := json.Unmarshal(raw, &f); err != nil {
		return 0, err
	}
	n, ok := f.Uint64()
	if !ok || n > math.MaxInt64 {
		return 0, fmt.Errorf("offset %s: %w", f, felt.ErrRange)
	}
	return n, nil
}
