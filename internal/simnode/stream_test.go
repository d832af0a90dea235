package simnode_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// stream is a WebSocket client.
type stream struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
}

func dial(t *testing.T, n *simnode.Node, path string) *stream {
	t.Helper()
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, strings.Replace(server.URL, "http", "ws", 1)+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(8 << 20)
	t.Cleanup(func() { conn.CloseNow() }) //nolint:errcheck
	return &stream{t, ctx, conn}
}

type message struct {
	response
	Method string `json:"method"`
	Params struct {
		ID     string          `json:"subscription_id"`
		Result json.RawMessage `json:"result"`
	} `json:"params"`
}

func (s *stream) next() message {
	s.t.Helper()
	_, text, err := s.conn.Read(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return decode[message](s.t, text)
}

func (s *stream) send(method, params string) {
	s.t.Helper()
	text := `{"jsonrpc":"2.0","id":1,"method":"starknet_` + method + `","params":` + params + `}`
	if err := s.conn.Write(s.ctx, websocket.MessageText, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// subscribe returns the subscription's id.
func (s *stream) subscribe(method, params string) string {
	s.t.Helper()
	s.send(method, params)
	m := s.next()
	if m.Error != nil {
		s.t.Fatalf("%s: %+v", method, m.Error)
	}
	return decode[string](s.t, m.Result)
}

// head reads a new head and checks its number and hash.
func (s *stream) head(id string, want *starknet.Block) {
	s.t.Helper()
	m := s.next()
	if m.Method != "starknet_subscriptionNewHeads" || m.Params.ID != id {
		s.t.Fatalf("%s for %s", m.Method, m.Params.ID)
	}
	h, err := starknet.DecodeHeader(m.Params.Result)
	if err != nil || h.Number != want.Number || h.Hash != want.Hash || h.ParentHash != want.ParentHash {
		s.t.Fatalf("head %+v, want block %d: %v", h, want.Number, err)
	}
	if h.Status != 0 {
		s.t.Error("a head has a status")
	}
}

func TestNewHeadsAndReorgs(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 10})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	s := dial(t, n, "/ws")
	id := s.subscribe("subscribeNewHeads", "[]")
	s.head(id, chain.BlockAt(9))
	chain.Extend(2)
	s.head(id, chain.BlockAt(10))
	s.head(id, chain.BlockAt(11))

	old := []*starknet.Block{chain.BlockAt(9), chain.BlockAt(11)}
	chain.Fork(3)
	m := s.next()
	if m.Method != "starknet_subscriptionReorg" || m.Params.ID != id {
		t.Fatalf("%s instead of a reorg", m.Method)
	}
	r := decode[struct {
		StartHash felt.Felt `json:"starting_block_hash"`
		Start     uint64    `json:"starting_block_number"`
		EndHash   felt.Felt `json:"ending_block_hash"`
		End       uint64    `json:"ending_block_number"`
	}](t, m.Params.Result)
	if r.StartHash != old[0].Hash || r.Start != 9 || r.EndHash != old[1].Hash || r.End != 11 {
		t.Errorf("reorg %+v", r)
	}
	for number := uint64(9); number <= 11; number++ {
		s.head(id, chain.BlockAt(number))
	}
	chain.Truncate(2)
	if m := s.next(); m.Method != "starknet_subscriptionReorg" {
		t.Fatalf("%s after a truncation", m.Method)
	}
	chain.Extend(1)
	s.head(id, chain.BlockAt(10))

	s.send("unsubscribe", `["`+id+`"]`)
	if m := s.next(); string(m.Result) != "true" {
		t.Errorf("unsubscribe: %s", m.Result)
	}
	s.send("unsubscribe", `["`+id+`"]`)
	if m := s.next(); m.Error == nil || m.Error.Code != 66 {
		t.Errorf("unsubscribed twice: %+v", m.Error)
	}
	chain.Extend(3)
	s.send("blockNumber", `[]`)
	if m := s.next(); string(m.Result) != "13" {
		t.Errorf("after unsubscribing: %+v", m)
	}
}

func TestReplayFromABlock(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 1100, TxPerBlock: -1})
	n := simnode.NewNode(chain, simnode.NodeConfig{Version: starknet.V09})
	s := dial(t, n, "/")
	id := s.subscribe("subscribeNewHeads", `{"block_id":{"block_number":1096}}`)
	for number := uint64(1096); number < 1100; number++ {
		s.head(id, chain.BlockAt(number))
	}
	for params, code := range map[string]int{`[{"block_number":3}]`: 68, `[{"block_number":3000}]`: 24, `["pre_confirmed"]`: -32602} {
		s.send("subscribeNewHeads", params)
		if m := s.next(); m.Error == nil || m.Error.Code != code {
			t.Errorf("%s: %+v, want %d", params, m.Error, code)
		}
	}
}

func TestEventSubscription(t *testing.T) {
	for _, version := range specVersions {
		chain := simnode.New(simnode.Config{Seed: 4, Blocks: 20})
		n := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
		s := dial(t, n, "/")
		s.subscribe("subscribeEvents", `{"from_address":"`+contracts.STRK.String()+`","keys":[["`+contracts.SelTransfer.String()+`"]],"block_id":{"block_number":10}}`)
		chain.Extend(3)
		want := chain.Events(simnode.EventFilter{From: 10, To: 22, Addresses: []felt.Felt{contracts.STRK}, Keys: [][]felt.Felt{{contracts.SelTransfer}}})
		for i, w := range want {
			m := s.next()
			got := decode[map[string]json.RawMessage](t, m.Params.Result)
			if m.Method != "starknet_subscriptionEvents" || decode[felt.Felt](t, got["transaction_hash"]) != w.Block.Transactions[w.TxIndex].Hash {
				t.Fatalf("event %d is %s", i, m.Params.Result)
			}
			_, finality := got["finality_status"]
			_, index := got["event_index"]
			if finality != (version >= starknet.V09) || index != (version >= starknet.V010) {
				t.Fatalf("event in %s is %s", version, m.Params.Result)
			}
		}
	}
}

func TestTransactionSubscriptions(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 4, Blocks: 20, L1Lag: 1})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	txs, receipts, status := dial(t, n, "/"), dial(t, n, "/"), dial(t, n, "/")
	sender := chain.Accounts(19)[1]
	nonce, _ := chain.NonceAt(sender, 19)
	txs.subscribe("subscribeNewTransactions", `{"sender_address":["`+sender.String()+`"]}`)
	receipts.subscribe("subscribeNewTransactionReceipts", `{}`)
	hash := decode[map[string]felt.Felt](t, must(t, n, "addInvokeTransaction", "["+invokeJSON(sender, felt.FromUint64(5), nonce, 1)+"]"))["transaction_hash"]
	status.subscribe("subscribeTransactionStatus", `["`+hash.String()+`"]`)
	state := func(want string) {
		t.Helper()
		m := status.next()
		got := decode[struct {
			Hash   felt.Felt         `json:"transaction_hash"`
			Status map[string]string `json:"status"`
		}](t, m.Params.Result)
		if m.Method != "starknet_subscriptionTransactionStatus" || got.Hash != hash || got.Status["finality_status"] != want {
			t.Errorf("status %s, want %s", m.Params.Result, want)
		}
	}
	state("RECEIVED")
	chain.Extend(1)
	state("ACCEPTED_ON_L2")
	chain.Extend(1)
	state("ACCEPTED_ON_L1")
	m := txs.next()
	if got := decode[map[string]json.RawMessage](t, m.Params.Result); m.Method != "starknet_subscriptionNewTransaction" ||
		decode[felt.Felt](t, got["transaction_hash"]) != hash || string(got["finality_status"]) != `"ACCEPTED_ON_L2"` {
		t.Errorf("%s %s", m.Method, m.Params.Result)
	}
	b := chain.BlockAt(20)
	for i := range b.Transactions {
		m := receipts.next()
		got := decode[map[string]json.RawMessage](t, m.Params.Result)
		if m.Method != "starknet_subscriptionNewTransactionReceipts" || decode[felt.Felt](t, got["transaction_hash"]) != b.Transactions[i].Hash ||
			decode[felt.Felt](t, got["block_hash"]) != b.Hash {
			t.Errorf("receipt %d: %s", i, m.Params.Result)
		}
	}
}

func TestSubscriptionsByVersion(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 3})
	for method, since := range map[string][]starknet.SpecVersion{
		"subscribeNewTransactions":        {starknet.V09, starknet.V010},
		"subscribeNewTransactionReceipts": {starknet.V09, starknet.V010},
		"subscribePendingTransactions":    {starknet.V08},
	} {
		for _, version := range specVersions {
			s := dial(t, simnode.NewNode(chain, simnode.NodeConfig{Version: version}), "/")
			s.send(method, `{}`)
			m, known := s.next(), false
			for _, v := range since {
				known = known || v == version
			}
			if (m.Error == nil) != known {
				t.Errorf("%s in %s: %+v", method, version, m.Error)
			}
		}
	}
}

func TestDroppedStreams(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 3})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	s := dial(t, n, "/")
	s.subscribe("subscribeNewHeads", "[]")
	s.head("1", chain.BlockAt(2))
	if n.Connections() != 1 {
		t.Errorf("%d connections", n.Connections())
	}
	n.DropConnections()
	if _, _, err := s.conn.Read(s.ctx); err == nil {
		t.Error("the connection is still there")
	}
	s = dial(t, n, "/")
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultDrop, Next: 1})
	s.send("blockNumber", "[]")
	if _, _, err := s.conn.Read(s.ctx); err == nil {
		t.Error("the connection was not dropped")
	}
}

func TestLiveDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain := simnode.New(simnode.Config{Blocks: 20, TxPerBlock: 1, BlockTime: 2 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- chain.Run(ctx, 0, 0.3) }()
		time.Sleep(61 * time.Second) // of the bubble: nobody waits
		synctest.Wait()
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("driver ended with %v", err)
		}
		if head, _ := chain.Head(); head != 49 {
			t.Errorf("head is %d after 30 blocks", head)
		}
		if forks := len(chain.Reorgs()); forks < 3 || forks > 20 {
			t.Errorf("%d forks", forks)
		}
		checkTruth(t, chain)
	})
}
