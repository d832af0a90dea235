package search_test

import (
	"testing"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/search"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestFind: an identifier finds all that it names and nothing else, and a name the
// known tokens that the chain has.
func TestFind(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 5, Blocks: 20})
	e := pebbletest.Open(t, catalog.Tables())
	x, err := index.New(index.Options{Store: e, Source: simsource.Source{Chain: c}, Verify: index.VerifyOff})
	if err != nil {
		t.Fatal(err)
	}
	head, _ := c.Head()
	if err := x.RunTo(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	list, err := registry.Builtin().With("SN_SEPOLIA", c.Network().Registry())
	if err != nil {
		t.Fatal(err)
	}
	known := list.Chain("SN_SEPOLIA")
	find := func(q search.Query) (out *search.Result) {
		t.Helper()
		err := e.View(t.Context(), func(r store.Reader) (err error) {
			out, err = search.Find(t.Context(), r, known, q)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	count := func(r *search.Result) [5]int {
		return [5]int{len(r.Blocks), len(r.Transactions), len(r.Addresses), len(r.Classes), len(r.Tokens)}
	}
	b := c.BlockAt(head)
	number, nowhere := head, head+1
	if r := find(search.Query{Number: &number}); count(r) != [5]int{1} || r.Blocks[0].Hash != b.Hash {
		t.Errorf("the number finds %+v", r)
	}
	if r := find(search.Query{ID: &b.Hash}); count(r) != [5]int{1} || r.Blocks[0].Number != head {
		t.Errorf("the block's hash finds %+v", r)
	}
	last := len(b.Transactions) - 1
	if r := find(search.Query{ID: &b.Transactions[last].Hash}); count(r) != [5]int{0, 1} || r.Transactions[0].Block != head || int(r.Transactions[0].Index) != last {
		t.Errorf("the transaction's hash finds %+v", r)
	}
	for _, q := range []search.Query{{}, {Number: &nowhere}, {ID: &[]felt.Felt{felt.FromUint64(0x1234567)}[0]}, {Name: "no token is called so"}} {
		if r := find(q); count(r) != [5]int{} {
			t.Errorf("%+v finds %+v", q, r)
		}
	}
	r := find(search.Query{Number: &number, Name: "uSd"})
	if len(r.Blocks) != 1 || len(r.Tokens) == 0 || !r.Tokens[0].Known || r.Tokens[0].Lookalike {
		t.Fatalf("a name that is a number, too, finds %+v", r)
	}
	if r := find(search.Query{ID: &r.Tokens[0].Address}); count(r) != [5]int{0, 0, 1} {
		t.Errorf("the token's address finds %+v", r)
	}
}
