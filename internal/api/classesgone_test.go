package api_test

import (
	"net/http"
	"testing"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

// TestClassesForkedAway: what was fetched of a class outlives the block that led to
// it. Where a fork took that block away, the class is none of the chain's.
func TestClassesForkedAway(t *testing.T) {
	w := newWorld(t, 12)
	lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	change := func(edit func(b *store.Batch)) {
		t.Helper()
		b := &store.Batch{Epoch: lease.Epoch}
		edit(b)
		if err := w.Engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	c := contracts.Variant(4711)
	path := "/v1/" + chainID + "/class/" + c.Hash.String()
	change(func(b *store.Batch) {
		b.Put(class.ABIKey(c.Hash), class.Materialize(&c.Class).Encode())
		b.Put(class.InterfaceKey(c.Hash), class.InterfaceOf(&c.Class).Encode())
	})
	if r := w.Do(http.MethodGet, path, w.Key); r.StatusCode != http.StatusNotFound || r.Envelope().Code != kernel.CodeNotFound {
		t.Errorf("a class that no block names: %d %s", r.StatusCode, r.Body)
	}
	// Contracts from before the first block have classes that no block names, either.
	change(func(b *store.Batch) { b.Put(contract.OriginKey(felt.FromUint64(4711)), contract.EncodeOrigin(c.Hash)) })
	if r := w.Do(http.MethodGet, path, w.Key); r.StatusCode != http.StatusOK {
		t.Errorf("a class of a contract from before the first block: %d %s", r.StatusCode, r.Body)
	}
}
