package simnode_test

import (
	"encoding/json"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

func TestEventsEqualBruteForce(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	chain := simnode.New(simnode.Config{Seed: 8, Blocks: 60, TxPerBlock: 2})
	transfer := contracts.SelTransfer
	holder := chain.Accounts(59)[2]
	filters := []simnode.EventFilter{
		{To: 59},
		{From: 10, To: 20},
		{To: 59, Addresses: []felt.Felt{contracts.STRK}},
		{To: 59, Addresses: []felt.Felt{contracts.STRK, chain.Pool()}},
		{To: 59, Keys: [][]felt.Felt{{transfer}}},
		{To: 59, Keys: [][]felt.Felt{{transfer}, {holder}}},
		{To: 59, Keys: [][]felt.Felt{{transfer}, {}, {holder}}},
		{To: 59, Keys: [][]felt.Felt{{}, {holder}}},
		{From: 5, To: 1000, Keys: [][]felt.Felt{{transfer, contracts.SelApproval}}},
		{From: 50, To: 40},
		{From: 70, To: 90},
	}
	for _, version := range specVersions {
		n := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
		for k, f := range filters {
			if len(f.Addresses) > 1 && version < starknet.V010 {
				continue
			}
			for _, chunk := range []int{1, 7, 1000} {
				if chunk == 1 && k != 5 || chunk == 7 && k < 5 && k != 1 {
					continue
				}
				checkEvents(t, n, version, f, chunk, bruteForce(chain, f))
			}
		}
	}
}

// bruteForce reads every event of the chain and applies the filter's rules in
// its own way.
func bruteForce(chain *simnode.Chain, f simnode.EventFilter) (out []simnode.EventRef) {
	head, _ := chain.Head()
	for number := range head + 1 {
		b := chain.BlockAt(number)
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				e := &b.Receipts[i].Events[j]
				fits := number >= f.From && number <= f.To
				if len(f.Addresses) > 0 {
					fits = fits && slices.Index(f.Addresses, e.From) >= 0
				}
				for k, allowed := range f.Keys {
					hit := len(allowed) == 0
					for _, a := range allowed {
						hit = hit || len(e.Keys) > k && e.Keys[k] == a
					}
					fits = fits && hit
				}
				if fits {
					out = append(out, simnode.EventRef{Block: b, TxIndex: i, Index: j, Event: e})
				}
			}
		}
	}
	return out
}

func checkEvents(t *testing.T, n *simnode.Node, version starknet.SpecVersion, f simnode.EventFilter, chunk int, want []simnode.EventRef) {
	t.Helper()
	type item struct {
		From    felt.Felt   `json:"from_address"`
		Keys    []felt.Felt `json:"keys"`
		Data    []felt.Felt `json:"data"`
		Hash    felt.Felt   `json:"block_hash"`
		Number  uint64      `json:"block_number"`
		Tx      felt.Felt   `json:"transaction_hash"`
		TxIndex *int        `json:"transaction_index"`
		Index   *int        `json:"event_index"`
	}
	var got []item
	token := ""
	for {
		params := map[string]any{"from_block": map[string]uint64{"block_number": f.From}, "to_block": map[string]uint64{"block_number": f.To},
			"chunk_size": chunk, "keys": f.Keys}
		if f.Keys == nil {
			delete(params, "keys")
		}
		switch len(f.Addresses) {
		case 0:
		case 1:
			params["address"] = f.Addresses[0]
		default:
			params["address"] = f.Addresses
		}
		if token != "" {
			params["continuation_token"] = token
		}
		text, err := json.Marshal(map[string]any{"filter": params})
		if err != nil {
			t.Fatal(err)
		}
		page := decode[struct {
			Events []item  `json:"events"`
			Token  *string `json:"continuation_token"`
		}](t, must(t, n, "getEvents", string(text)))
		got = append(got, page.Events...)
		if page.Token == nil {
			break
		}
		if len(page.Events) != chunk {
			t.Fatalf("a page of %d events has a successor", len(page.Events))
		}
		token = *page.Token
	}
	if len(got) != len(want) {
		t.Fatalf("filter %+v gives %d events, want %d", f, len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.From != w.Event.From || !slices.Equal(g.Keys, w.Event.Keys) || !slices.Equal(g.Data, w.Event.Data) || g.Hash != w.Block.Hash ||
			g.Number != w.Block.Number || g.Tx != w.Block.Transactions[w.TxIndex].Hash {
			t.Fatalf("event %d differs: %+v", i, g)
		}
		if version < starknet.V010 {
			if g.TxIndex != nil || g.Index != nil {
				t.Fatal("indices before 0.10")
			}
		} else if *g.TxIndex != w.TxIndex || *g.Index != w.Index {
			t.Fatalf("event %d is at %d/%d, want %d/%d", i, *g.TxIndex, *g.Index, w.TxIndex, w.Index)
		}
	}
}
