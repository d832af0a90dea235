package address

import (
	"slices"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transfer"
)

// TestMerge: two lists become one in their order, as long as the page and one more, and nothing is
// taken from behind the place up to which both lists are known.
func TestMerge(t *testing.T) {
	at := func(block uint64) Place { return Place{Place: transfer.Place{Place: explorer.Place{Block: block}}} }
	items := func(blocks ...uint64) (out []Item) {
		for _, b := range blocks {
			out = append(out, Item{At: at(b)})
		}
		return out
	}
	end := at(4)
	for _, c := range []struct {
		order      event.Order
		a, b, want []uint64
		limit      int
		end        *Place
	}{
		{event.Asc, []uint64{1, 4, 5}, []uint64{2, 3, 6}, []uint64{1, 2, 3, 4, 5, 6}, 9, nil},
		{event.Desc, []uint64{5, 4, 1}, []uint64{6, 3, 2}, []uint64{6, 5, 4, 3, 2, 1}, 9, nil},
		{event.Asc, []uint64{1, 4, 5}, []uint64{2, 3, 6}, []uint64{1, 2, 3}, 2, nil},
		{event.Asc, []uint64{1, 5}, []uint64{2, 4, 6}, []uint64{1, 2, 4}, 9, &end},
		{event.Desc, []uint64{5, 1}, []uint64{6, 4, 2}, []uint64{6, 5, 4}, 9, &end},
		{event.Asc, nil, []uint64{2, 7}, []uint64{2}, 9, &end},
		{event.Asc, nil, nil, nil, 9, nil},
	} {
		q := ActivityQuery{Order: c.order, Limit: c.limit}
		var got []uint64
		for _, i := range q.merge(items(c.a...), items(c.b...), c.end) {
			got = append(got, i.At.Block)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v and %v are %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
