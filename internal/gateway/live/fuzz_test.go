package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/coder/websocket"

	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/simnode"
)

// Whatever a client sends, the session answers with JSON or not at all, and goes on.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads"}`,
		`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeEvents","params":{"keys":[["0x1"]],"block_id":{"block_number":3}}}`,
		`[{"jsonrpc":"2.0","id":"x","method":"starknet_subscribeNewTransactions","params":[[],[],["INCLUDE_PROOF_FACTS"]]},{"jsonrpc":"2.0","method":"starknet_blockNumber"}]`,
		`{"jsonrpc":"2.0","id":null,"method":"starknet_unsubscribe","params":[1]}`,
		`[{"jsonrpc":"2.0","id":2,"method":"starknet_unsubscribe","params":["\u0031"]},1]`,
		`{"jsonrpc":"2.0","id":5,"method":"starknet_subscribeTransactionStatus","params":["0x1"]}`,
		`[]`, `{`, ``, `null`, `[[`,
	} {
		f.Add([]byte(seed))
	}
	w := newWorld(f, setup{chain: simnode.Config{Blocks: 5, TxPerBlock: 1}, limits: live.Limits{Subscriptions: 1 << 20, Watched: 1 << 20}})
	c := w.connect()
	n := 0
	f.Fuzz(func(t *testing.T, body []byte) {
		c.t = t
		if len(body) > 1<<20 {
			return
		}
		if err := c.conn.Write(context.Background(), websocket.MessageText, body); err != nil {
			t.Fatal(err)
		}
		n++
		id := fmt.Sprintf(`"fuzz-%d"`, n)
		c.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"starknet_chainId"}`)
		if m := c.answer(id); !json.Valid(m.Result) {
			t.Fatalf("after %q: %+v", body, m)
		}
		c.mu.Lock() // or memory grows with every round
		clear(c.answers)
		clear(c.notes)
		c.order = nil
		c.mu.Unlock()
	})
}

// Whatever a node calls a block, it is taken apart or refused, and what is made of it
// is JSON.
func FuzzBlock(f *testing.F) {
	chain := simnode.New(simnode.Config{Blocks: 2, TxPerBlock: 2})
	w := &world{t: f, chain: chain, node: simnode.NewNode(chain, simnode.NodeConfig{})}
	text, _, err := w.fetch(context.Background(), "starknet_getBlockWithReceipts", json.RawMessage(`{"block_id":{"block_number":1},"response_flags":[]}`), 0, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(text))
	f.Add([]byte(`{"block_number":1,"block_hash":"0x1","parent_hash":"0x2","\u0007":1,"transactions":[{"transaction":{},"receipt":{"transaction_hash":"0x1","events":[{}]}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, made := range live.TakeApart(body) {
			if !json.Valid(made) {
				t.Fatalf("%q is made of %q", made, body)
			}
		}
	})
}
