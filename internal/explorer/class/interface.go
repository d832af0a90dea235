package class

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Mutability is what an ABI says about a function changing the state.
type Mutability byte

// The mutabilities. Constructors, handlers, and what changes the state in Cairo 0
// have none.
const (
	Unsaid Mutability = iota
	View
	Changing
)

// Door is an entry point, as far as the ABI describes it.
type Door struct {
	Selector        felt.Felt
	Name            string // empty when the ABI has no function of this selector
	Mutability      Mutability
	Inputs, Outputs []abi.Param
}

// Interface is what can be called of a class, and the types that this takes. The
// doors are those of the class itself; names and parameters are its ABI's.
type Interface struct {
	External, L1Handlers, Constructors []Door

	Types []abi.TypeDef
	// TypesTruncated says that some types were left out, because they are too many.
	TypesTruncated bool
}

// The bounds of a row. The parameters of doors beyond doorsText are unsaid, beyond
// maxDoors doors are left out; no real class comes near.
const (
	maxDoors  = 4096
	doorsText = 512 << 10
	typesText = 128 << 10
)

// lists are the doors in their stored order.
func (i *Interface) lists() [3]*[]Door {
	return [...]*[]Door{&i.External, &i.L1Handlers, &i.Constructors}
}

// InterfaceOf keeps of a class what can be called.
func InterfaceOf(c *starknet.Class) *Interface {
	out := &Interface{}
	points, sierra := &starknet.EntryPoints{}, c.Sierra != nil
	if sierra {
		points = &c.Sierra.EntryPoints
	} else if c.Cairo0 != nil {
		points = &c.Cairo0.EntryPoints
	}
	schema, err := abi.Parse(c)
	if err != nil {
		schema = &abi.Schema{} // the doors are still there
	}
	text, count := 0, 0
	add := func(list []starknet.EntryPoint, kind abi.FunctionKind) (doors []Door) {
		for _, p := range list {
			if count++; count > maxDoors {
				return doors
			}
			d := Door{Selector: p.Selector}
			if f, ok := schema.Function(kind, p.Selector); ok {
				d.Name = f.Name
				switch {
				case f.View:
					d.Mutability = View
				case sierra && kind == abi.External:
					d.Mutability = Changing
				}
				if text += textOf(f.Inputs) + textOf(f.Outputs); text <= doorsText {
					d.Inputs, d.Outputs = some(f.Inputs), some(f.Outputs)
				} else {
					d.Inputs, d.Outputs = unsaid(f.Inputs), unsaid(f.Outputs)
				}
			}
			doors = append(doors, d)
		}
		return doors
	}
	out.External = add(points.External, abi.External)
	out.L1Handlers = add(points.L1Handler, abi.L1Handler)
	out.Constructors = add(points.Constructor, abi.Constructor)
	out.keep(schema.Types())
	return out
}

// keep takes in the types that there is room for, in their order. If there is none for all, those without
// which the parameters of doors cannot be read come first.
func (i *Interface) keep(types []abi.TypeDef) {
	text := 0
	for _, t := range types {
		text += len(t.Name) + textOf(t.Members)
	}
	needed := make([]bool, len(types))
	if text > typesText {
		i.TypesTruncated = true
		var lists [][]abi.Param
		for _, list := range i.lists() {
			for _, d := range *list {
				lists = append(lists, d.Inputs, d.Outputs)
			}
		}
		needed = abi.Needed(types, lists...)
	}
	kept, left := make([]bool, len(types)), typesText
	for _, first := range []bool{true, false} {
		for k, t := range types {
			if needed[k] != first {
				continue
			}
			if left -= len(t.Name) + textOf(t.Members); left < 0 {
				break
			}
			kept[k] = true
		}
	}
	for k, t := range types {
		if kept[k] {
			t.Members = some(t.Members)
			i.Types = append(i.Types, t)
		}
	}
}

func textOf(ps []abi.Param) (n int) {
	for _, p := range ps {
		n += len(p.Name) + len(p.Type) + 2
	}
	return n
}

// unsaid stands for parameters that were left out: none would say that there are
// none.
func unsaid(ps []abi.Param) []abi.Param {
	if len(ps) == 0 {
		return nil
	}
	return []abi.Param{{Type: abi.Unsaid}}
}

// Calls makes a reader of calls of the class, which is of one of the two kinds.
// Doors that the ABI does not describe are not in it.
func (i *Interface) Calls(k Kind) *abi.Calls {
	var functions []abi.Function
	for n, list := range i.lists() {
		for _, d := range *list {
			if d.Name != "" {
				functions = append(functions, abi.Function{Kind: doorKinds[n], Name: d.Name, Selector: d.Selector, Inputs: d.Inputs})
			}
		}
	}
	return abi.NewCalls(k != Cairo0, functions, i.Types)
}

// doorKinds are those of lists.
var doorKinds = [...]abi.FunctionKind{abi.External, abi.L1Handler, abi.Constructor}

// some makes an empty list nil, as it reads back.
func some(ps []abi.Param) []abi.Param {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Encode is the row of class_interface.
func (i *Interface) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	params := func(ps []abi.Param) {
		e.Uint(uint64(len(ps)))
		for _, p := range ps {
			e.Text(p.Name)
			e.Text(p.Type)
		}
	}
	for _, list := range i.lists() {
		e.Uint(uint64(len(*list)))
		for k := range *list {
			d := &(*list)[k]
			e.Felt(&d.Selector)
			e.Text(d.Name)
			e.Byte(byte(d.Mutability))
			params(d.Inputs)
			params(d.Outputs)
		}
	}
	e.Uint(uint64(len(i.Types)))
	for k := range i.Types {
		e.Text(i.Types[k].Name)
		e.Byte(boolByte(i.Types[k].Enum))
		params(i.Types[k].Members)
	}
	e.Byte(boolByte(i.TypesTruncated))
	return e.Bytes()
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// DecodeInterface reads a row of class_interface.
func DecodeInterface(b []byte) (*Interface, error) {
	d := record.NewDecoder(b, recordVersion)
	params := func() (ps []abi.Param) {
		if n := d.Len(2); n > 0 {
			ps = make([]abi.Param, n)
			for k := range ps {
				ps[k] = abi.Param{Name: d.Text(), Type: d.Text()}
			}
		}
		return ps
	}
	out, sound := &Interface{}, true
	for _, list := range out.lists() {
		n := d.Len(5)
		for range n {
			door := Door{Selector: d.Felt(), Name: d.Text(), Mutability: Mutability(d.Byte()), Inputs: params(), Outputs: params()}
			sound = sound && door.Mutability <= Changing
			if d.Err() != nil {
				break
			}
			*list = append(*list, door)
		}
	}
	for range d.Len(3) {
		name, enum := d.Text(), d.Byte()
		sound = sound && enum <= 1
		out.Types = append(out.Types, abi.TypeDef{Name: name, Enum: enum == 1, Members: params()})
		if d.Err() != nil {
			break
		}
	}
	truncated := d.Byte()
	out.TypesTruncated = truncated == 1
	if err := d.Finish(); err != nil {
		return nil, err
	}
	if !sound || truncated > 1 {
		return nil, fmt.Errorf("%w: interface of a class with unknown marks", record.ErrCorrupt)
	}
	return out, nil
}

// InterfaceAt returns what can be called of a class. It is not found when the
// class was not fetched. One Get.
func InterfaceAt(ctx context.Context, r store.Reader, hash felt.Felt) (i *Interface, found bool, err error) {
	b, err := r.Get(ctx, InterfaceKey(hash))
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err == nil {
		i, err = DecodeInterface(b)
	}
	if err != nil {
		return nil, false, fmt.Errorf("interface of class %s: %w", hash, err)
	}
	return i, true, nil
}

// Stored is what there is of a class's interface.
type Stored struct {
	*Interface     // nil when the class was not fetched
	Bytes      int // of the row
	Err        error
}

// InterfacesOf returns what is kept of classes and what can be called of them, in
// order. One GetMany. A row that cannot be read is an error in its own place, so
// that it spoils no other.
func InterfacesOf(ctx context.Context, r store.Reader, hashes []felt.Felt) ([]*ABI, []Stored, error) {
	keys := make([]store.Key, 0, 2*len(hashes))
	for i := range hashes {
		keys = append(keys, ABIKey(hashes[i]), InterfaceKey(hashes[i]))
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, nil, fmt.Errorf("read the interfaces of %d classes: %w", len(hashes), err)
	}
	abis, faces := make([]*ABI, len(hashes)), make([]Stored, len(hashes))
	for i := range hashes {
		row, face := values[2*i], values[2*i+1]
		if row == nil || face == nil {
			continue
		}
		abi, err := DecodeABI(row)
		if err == nil {
			faces[i].Interface, err = DecodeInterface(face)
		}
		if err != nil {
			faces[i] = Stored{Err: fmt.Errorf("class %s: %w", hashes[i], err)}
			continue
		}
		abis[i], faces[i].Bytes = abi, len(face)
	}
	return abis, faces, nil
}
