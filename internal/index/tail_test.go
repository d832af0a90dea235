package index_test

import (
	"context"
	"encoding/json"
	"testing"

	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

// A node that claims a head far away, and that L1 accepted all its blocks, does not
// talk the indexer out of recomputing the newest of them.
func TestClaimedHeadDoesNotSwitchVerificationOff(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, L1Lag: 10, TxPerBlock: 6, RealHashes: true})
	quiet := openMem(t)
	want := runTo(t, quiet, serve(t, c, 0, nil), 39)
	far := func(_ liar.Call, result any) any {
		if m, ok := result.(map[string]any); ok {
			m["block_number"] = json.Number("1000000")
			return m
		}
		return json.Number("1000000")
	}
	forge := func(_ liar.Call, result any) any {
		block := result.(map[string]any)
		block["status"] = "ACCEPTED_ON_L1"
		for _, p := range block["transactions"].([]any) {
			for _, e := range p.(map[string]any)["receipt"].(map[string]any)["events"].([]any) {
				if data := e.(map[string]any)["data"].([]any); len(data) > 1 {
					data[0] = "0x7777"
				}
			}
		}
		return block
	}
	rules := []liar.Rule{{Method: "starknet_blockNumber", Rewrite: far}, {Method: "starknet_blockHashAndNumber", Rewrite: far}, {Method: receipts, Rewrite: forge}}
	pool, proxies := liars(t, c, rules, nil)
	e := openMem(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x, err := index.New(index.Options{Store: e, Source: &index.Nodes{Pool: pool}, Announce: func(a index.Announcement) {
		if a.Head.Number >= 39 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := simsource.State(t, e); got.Head != want.Head {
		t.Errorf("head %+v, want %+v", got.Head, want.Head)
	}
	checkHashes(t, e, c, 39)
	if proxies[0].Told() == 0 {
		t.Error("no lie was told")
	}
}
