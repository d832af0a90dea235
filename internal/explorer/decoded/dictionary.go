package decoded

import (
	"context"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// nameless collects what only a dictionary may name: by selector, each asked for once.
type nameless struct {
	selectors []felt.Felt
	places    map[felt.Felt][]int
}

func (n *nameless) add(selector felt.Felt, place int) {
	if n.places == nil {
		n.places = map[felt.Felt][]int{}
	}
	if n.places[selector] == nil {
		n.selectors = append(n.selectors, selector)
	}
	n.places[selector] = append(n.places[selector], place)
}

// look tells the names that a dictionary has, "" for none, to each of the places. It
// is false when the dictionary could not be read. One round trip, if any.
func (n *nameless) look(ctx context.Context, r store.Reader, dictionary func(context.Context, store.Reader, []felt.Felt) ([]string, error), tell func(place int, name string)) (ok bool, err error) {
	if len(n.selectors) == 0 {
		return true, nil
	}
	names, err := dictionary(ctx, r, n.selectors)
	if err != nil {
		return false, ctx.Err()
	}
	for k, name := range names {
		if name == "" {
			continue
		}
		for _, i := range n.places[n.selectors[k]] {
			tell(i, name)
		}
	}
	return true, nil
}
