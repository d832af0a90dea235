package live_test

import (
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// ask is a subscription made at the server and at the node.
type ask struct {
	method, params string
	// first is how many notifications the blocks up to the head have for it.
	first int

	here, there string // its ids
}

// asks are the subscriptions of a version, over a chain of 60 blocks.
func (w *world) asks(version starknet.SpecVersion) []ask {
	sender := w.chain.Accounts(59)[1]
	hash := w.chain.BlockAt(50).Hash.String()
	list := []ask{
		{method: "subscribeNewHeads", params: `{}`, first: 1},
		{method: "subscribeNewHeads", params: `[]`, first: 1},
		{method: "subscribeNewHeads", params: `["latest"]`, first: 1},
		{method: "subscribeNewHeads", params: `{"block_id":{"block_number":40}}`, first: 20},
		{method: "subscribeNewHeads", params: `{"block_id":{"block_number":0}}`, first: 60},
		{method: "subscribeNewHeads", params: `[{"block_hash":"` + hash + `"}]`, first: 10},
		w.events(`{}`, simnode.EventFilter{From: 59}),
		w.events(`{"block_id":{"block_number":30}}`, simnode.EventFilter{From: 30}),
		w.events(`["`+contracts.STRK.String()+`",[["`+contracts.SelTransfer.String()+`"]],{"block_number":10}]`,
			simnode.EventFilter{From: 10, Addresses: []felt.Felt{contracts.STRK}, Keys: [][]felt.Felt{{contracts.SelTransfer}}}),
		w.events(`{"keys":[[],["`+sender.String()+`"]],"block_id":{"block_hash":"`+hash+`"}}`,
			simnode.EventFilter{From: 50, Keys: [][]felt.Felt{{}, {sender}}}),
	}
	if version == starknet.V08 {
		return append(list, ask{method: "subscribePendingTransactions", params: `{}`},
			ask{method: "subscribePendingTransactions", params: `{"transaction_details":true}`},
			ask{method: "subscribePendingTransactions", params: `[true,["` + sender.String() + `"]]`})
	}
	list = append(list, w.events(`{"finality_status":"ACCEPTED_ON_L2"}`, simnode.EventFilter{From: 59}),
		ask{method: "subscribeNewTransactions", params: `{}`},
		ask{method: "subscribeNewTransactions", params: `{"sender_address":["` + sender.String() + `"],"finality_status":["ACCEPTED_ON_L2"]}`},
		ask{method: "subscribeNewTransactionReceipts", params: `{}`},
		ask{method: "subscribeNewTransactionReceipts", params: `[["ACCEPTED_ON_L2"],["` + sender.String() + `"]]`})
	if version == starknet.V010 {
		list = append(list, ask{method: "subscribeNewTransactions", params: `{"tags":["INCLUDE_PROOF_FACTS"]}`},
			w.events(`{"from_address":["`+contracts.ETH.String()+`","`+contracts.STRK.String()+`"]}`,
				simnode.EventFilter{From: 59, Addresses: []felt.Felt{contracts.ETH, contracts.STRK}}))
	}
	return list
}

func (w *world) events(params string, f simnode.EventFilter) ask {
	f.To = 59
	return ask{method: "subscribeEvents", params: params, first: len(w.chain.Events(f))}
}

// settled returns when a client of the server has got all that the chain has for it:
// heads is a subscription to new heads that it has.
func (w *world) settled(c *client, heads string) {
	w.t.Helper()
	number, _ := w.chain.Head()
	hash := w.chain.BlockAt(number).Hash.String()
	c.wait("head "+hash, func() bool {
		list := c.notes[heads]
		if len(list) == 0 {
			return false
		}
		last := list[len(list)-1].Result.(map[string]any)
		return last["block_hash"] == hash || last["starting_block_number"] == float64(number+1)
	})
	c.call("blockNumber", "[]") // its answer is queued after what the block had for others
}

// Every subscription of every version gives what a node's own does: the same items in
// the same order, through forks, a chain that becomes shorter, and a start in the past.
func TestEqualToANode(t *testing.T) {
	for _, version := range versions {
		t.Run(version.String(), func(t *testing.T) {
			w := newWorld(t, setup{version: version, limits: live.Limits{Shorter: 1}, chain: simnode.Config{Seed: 7, Blocks: 60, TxPerBlock: 2, L1Lag: 40}})
			mine, node := w.connect(), w.direct()
			asks := w.asks(version)
			for i := range asks {
				a := &asks[i]
				a.here, a.there = mine.subscribe(a.method, a.params), node.subscribe(a.method, a.params)
				for _, c := range []*client{mine, node} {
					id := map[*client]string{mine: a.here, node: a.there}[c]
					c.wait("start of "+a.method+" "+a.params, func() bool { return len(c.notes[id]) >= a.first })
				}
			}
			check := func(step string) {
				t.Helper()
				w.settled(mine, asks[0].here)
				for _, a := range asks {
					same(t, step+": "+a.method+" "+a.params, mine, a.here, node, a.there)
				}
			}
			check("start")
			w.chain.Extend(3)
			check("three blocks")
			w.chain.Fork(3)
			check("a fork")
			w.chain.Fork(30)
			check("a deep fork")
			w.chain.Truncate(4)
			check("a shorter chain")
			w.chain.Extend(6)
			check("a longer one")
			w.chain.Fork(1)
			check("a small fork")
			w.chain.Extend(1)
			check("the end")
			for _, a := range asks {
				if got := mine.call("unsubscribe", `["`+a.here+`"]`); string(got.Result) != "true" {
					t.Errorf("%s: unsubscribe: %+v", a.method, got.Error)
				}
				if got := mine.call("unsubscribe", `["`+a.here+`"]`); got.Error == nil || got.Error.Code != 66 {
					t.Errorf("unsubscribed twice: %+v", got)
				}
			}
			before := map[string]int{}
			for _, a := range asks {
				before[a.here] = len(mine.got(a.here))
			}
			last := w.connect()
			id := last.subscribe("subscribeNewHeads", "[]")
			w.chain.Extend(2)
			w.settled(last, id)
			mine.call("blockNumber", `[]`)
			for _, a := range asks {
				if more := len(mine.got(a.here)) - before[a.here]; more != 0 {
					t.Errorf("%s gave %d notifications after it was ended", a.method, more)
				}
			}
		})
	}
}
