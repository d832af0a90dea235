package class

import (
	"context"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Names is a dictionary of the names of events and functions in fetched ABIs. A
// name is true of a selector, because the selector is its hash: no class can give
// a wrong one. But a selector that stands in front of others in some ABI names a
// group of events there, and not an event: it has a row that says so, and no event
// has the name. Functions have rows of their own; what older programs fetched has
// none.
//
// Rows are only ever added, and the order in which classes come does not matter.
var Names = &store.Table{ID: 58, Name: "selector_name", PartitionLen: felt.Size}

// The rows of a selector.
const (
	rowName  = 0 // the name
	rowGroup = 1 // empty: the selector begins longer paths
	rowDoor  = 2 // the name, of a function
)

// PutNames adds the names of an ABI to a batch. Only one that is Ready has any.
func (a *ABI) PutNames(b *store.Batch) {
	if a.Status != Ready {
		return
	}
	schema, err := abi.Load(a.Schema)
	if err != nil {
		return // decoding says so where it matters
	}
	for e := range schema.Events() {
		selector := e.Path[0]
		switch {
		case len(e.Path) > 1:
			b.Put(nameKey(&selector, rowGroup), []byte{})
		case felt.Selector(e.Name) == selector:
			b.Put(nameKey(&selector, rowName), []byte(e.Name))
		}
	}
}

// PutNames adds the names of the functions to a batch.
func (i *Interface) PutNames(b *store.Batch) {
	for _, list := range i.lists() {
		for k := range *list {
			// The door of a proxy for everything else has a name and no selector.
			if d := &(*list)[k]; d.Name != "" && felt.Selector(d.Name) == d.Selector {
				b.Put(nameKey(&d.Selector, rowDoor), []byte(d.Name))
			}
		}
	}
}

func nameKey(selector *felt.Felt, row byte) store.Key {
	return store.Key{Table: Names, Partition: selector[:], Sort: []byte{row}}
}

// CheckName says what is wrong with a row of the dictionary.
func CheckName(selector felt.Felt, sort, value []byte) error {
	if len(sort) == 1 && (sort[0] == rowGroup && len(value) == 0 || (sort[0] == rowName || sort[0] == rowDoor) && felt.Selector(string(value)) == selector) {
		return nil
	}
	return fmt.Errorf("%w: %q is not the name of selector %s", record.ErrCorrupt, value, selector)
}

// FunctionNamesOf returns the names of selectors, in order, empty where no class
// that was fetched has a function of that name. One GetMany.
func FunctionNamesOf(ctx context.Context, r store.Reader, selectors []felt.Felt) ([]string, error) {
	keys := make([]store.Key, len(selectors))
	for i := range selectors {
		keys[i] = nameKey(&selectors[i], rowDoor)
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the functions of %d selectors: %w", len(selectors), err)
	}
	out := make([]string, len(selectors))
	for i, name := range values {
		if name != nil && CheckName(selectors[i], []byte{rowDoor}, name) == nil {
			out[i] = string(name)
		}
	}
	return out, nil
}

// NamesOf returns the names of selectors, in order, empty where there is none or
// it would not be that of an event. One GetMany.
func NamesOf(ctx context.Context, r store.Reader, selectors []felt.Felt) ([]string, error) {
	keys := make([]store.Key, 0, 2*len(selectors))
	for i := range selectors {
		for _, row := range []byte{rowName, rowGroup} {
			keys = append(keys, nameKey(&selectors[i], row))
		}
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the names of %d selectors: %w", len(selectors), err)
	}
	out := make([]string, len(selectors))
	for i := range selectors {
		if name, group := values[2*i], values[2*i+1]; name != nil && group == nil && CheckName(selectors[i], []byte{rowName}, name) == nil {
			out[i] = string(name)
		}
	}
	return out, nil
}
