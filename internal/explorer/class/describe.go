package class

import (
	"context"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Description is what a class that was had says of itself.
type Description struct {
	*ABI
	*Interface
	// Shapes are its events; none unless the ABI is Ready.
	Shapes []abi.EventShape
}

// Describe reads what can be called of a class, and its events; nil when the class is yet
// to be had. One GetMany.
func Describe(ctx context.Context, r store.Reader, hash felt.Felt) (*Description, error) {
	abis, faces, err := InterfacesOf(ctx, r, []felt.Felt{hash})
	if err != nil {
		return nil, err
	}
	if faces[0].Err != nil {
		return nil, faces[0].Err
	}
	if abis[0] == nil || abis[0].Status.Wanted() {
		return nil, nil //nolint:nilnil // there is none yet
	}
	d := &Description{ABI: abis[0], Interface: faces[0].Interface}
	if d.Status == Ready {
		schema, err := abi.Load(d.Schema)
		if err != nil {
			return nil, fmt.Errorf("events of class %s: %w", hash, err)
		}
		d.Shapes = schema.Shapes()
	}
	return d, nil
}

// View is the function of a name that changes nothing, as the ABI declares it.
func (d *Description) View(name string) (*Door, bool) {
	for i := range d.External {
		if door := &d.External[i]; door.Name == name && door.Mutability == View {
			return door, true
		}
	}
	return nil, false
}

// Takes reads and writes the arguments of a function, and Gives its results, whose names
// are result where the ABI has none.
func (d *Description) Takes(door *Door) *abi.Calls { return d.calls(door, door.Inputs) }

// Gives reads the results of a function.
func (d *Description) Gives(door *Door) *abi.Calls {
	out := make([]abi.Param, len(door.Outputs))
	for i, p := range door.Outputs {
		if out[i] = p; p.Name != "" {
			continue
		}
		out[i].Name = "result"
		if len(out) > 1 {
			out[i].Name = fmt.Sprintf("result_%d", i+1)
		}
	}
	return d.calls(door, out)
}

func (d *Description) calls(door *Door, params []abi.Param) *abi.Calls {
	return abi.NewCalls(d.Kind != Cairo0, []abi.Function{{Kind: abi.External, Name: door.Name, Selector: door.Selector, Inputs: params}}, d.Types)
}
