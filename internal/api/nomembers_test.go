package api_test

import (
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// TestEventWithoutMembers: an event that has nothing to tell is decoded, too, and its list of fields is empty and
// there: whoever goes by decodingStatus can read it.
func TestEventWithoutMembers(t *testing.T) {
	w := newWorld(t, 30)
	head, _ := w.Chain.Head()
	c, ok := w.Chain.ClassAt(contracts.STRK, head)
	if !ok {
		t.Fatal("no fee token")
	}
	var number uint64
	var hash felt.Felt
	tx := -1
	for ; tx < 0 && number < head; number++ {
		b := w.Chain.BlockAt(number)
		tx = slices.IndexFunc(b.Receipts, func(r starknet.Receipt) bool { return len(r.Events) > 0 && r.Events[0].From == contracts.STRK })
		if tx >= 0 {
			hash = b.Receipts[tx].TransactionHash
		}
	}
	number--
	w.Rewrite(number, func(b *starknet.Block) {
		r := &b.Receipts[tx]
		r.Events = slices.Clone(r.Events)
		r.Events[0] = starknet.Event{From: contracts.STRK, Keys: []felt.Felt{felt.Selector("Stirred")}}
	})
	told := &starknet.Class{Sierra: &starknet.SierraClass{ABI: `[{"type":"event","name":"a::Stirred","kind":"struct","members":[]},
		{"type":"event","name":"a::Event","kind":"enum","variants":[{"name":"Stirred","type":"a::Stirred","kind":"nested"}]}]`}}
	lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	batch.Put(class.ABIKey(c.Hash), class.Materialize(told).Encode())
	if err := w.Engine.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/tx/" + hash.String() + "?logLimit=1", "/events?address=" + contracts.STRK.String() + "&order=asc&limit=1&from_block=0"} {
		body := string(w.Do("GET", "/v1/"+chainID+path, w.Key).Plain())
		if !strings.Contains(body, `"decodingStatus":"decoded","eventName":"Stirred","eventNameSource":"class_abi","eventNameUnavailableReason":null,"decodedFields":[],"decodedFieldsSource":"class_abi"`) {
			t.Errorf("GET %s: %.1200s", path, body)
		}
	}
}
