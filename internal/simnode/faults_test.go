package simnode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

const headCall = `{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}`

func TestHTTPFaults(t *testing.T) {
	var waited []time.Duration
	chain := simnode.New(simnode.Config{Blocks: 10})
	n := simnode.NewNode(chain, simnode.NodeConfig{Wait: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}})
	server := httptest.NewServer(n)
	defer server.Close()
	send := func(body string) (int, http.Header, string, error) {
		resp, err := http.Post(server.URL, "application/json", strings.NewReader(body))
		if err != nil {
			return 0, nil, "", err
		}
		defer resp.Body.Close() //nolint:errcheck
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header, string(text), err
	}
	good := func(when string) {
		t.Helper()
		if status, _, text, err := send(headCall); err != nil || status != 200 || text != `{"jsonrpc":"2.0","id":1,"result":9}` {
			t.Errorf("%s: %d %q %v", when, status, text, err)
		}
	}
	good("at first")

	n.Faults().Set(simnode.Fault{Kind: simnode.FaultHTTPStatus, Next: 2, Status: 500})
	for range 2 {
		if status, _, _, err := send(headCall); status != 500 || err != nil {
			t.Errorf("status %d, %v", status, err)
		}
	}
	good("after two failures")

	n.Faults().Set(simnode.Fault{Kind: simnode.FaultHTTPStatus, Next: 1, Status: 429, RetryAfter: 1500 * time.Millisecond})
	if status, header, _, _ := send(headCall); status != 429 || header.Get("Retry-After") != "2" {
		t.Errorf("status %d, Retry-After %q", status, header.Get("Retry-After"))
	}

	n.Faults().Set(simnode.Fault{Kind: simnode.FaultTruncate, Next: 1})
	if _, _, text, err := send(headCall); !errors.Is(err, io.ErrUnexpectedEOF) || len(text) == 0 {
		t.Errorf("truncated: %q %v", text, err)
	}
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultDrop, Next: 1})
	if _, _, _, err := send(headCall); err == nil {
		t.Error("the connection was not dropped")
	}
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultWrongID, Next: 1})
	if _, _, text, _ := send(headCall); !strings.Contains(text, `"id":"nobody asked"`) {
		t.Errorf("wrong id: %s", text)
	}
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultLatency, Next: 1, Delay: time.Hour})
	good("with latency")
	if len(waited) != 1 || waited[0] != time.Hour {
		t.Errorf("waited %v", waited)
	}
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultHTTPStatus, Status: 503, Method: "starknet_chainId"})
	good("a fault of another method")
	if status, _, _, _ := send(`[` + headCall + `,{"jsonrpc":"2.0","id":2,"method":"starknet_chainId"}]`); status != 503 {
		t.Errorf("status %d", status)
	}
	n.Faults().Clear()
	good("at last")
	if hits := n.Faults().Hits(simnode.FaultHTTPStatus); hits != 4 {
		t.Errorf("%d hits", hits)
	}
}

func TestFaultsByChanceRepeat(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 2})
	run := func(seed uint64) (pattern string) {
		n := simnode.NewNode(chain, simnode.NodeConfig{FaultSeed: seed})
		n.Faults().Set(simnode.Fault{Kind: simnode.FaultRPCError, Probability: 0.3, Code: -32000, Message: "busy"})
		for range 200 {
			if ask(t, n, "blockNumber", "[]").Error != nil {
				pattern += "x"
			} else {
				pattern += "."
			}
		}
		return pattern
	}
	first := run(1)
	if again := run(1); again != first {
		t.Error("the same seed gives other faults")
	}
	if run(2) == first {
		t.Error("another seed gives the same faults")
	}
	if hits := strings.Count(first, "x"); hits < 30 || hits > 90 {
		t.Errorf("%d of 200 requests failed", hits)
	}
}

func TestLyingNode(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 2, Blocks: 8, TxPerBlock: 2, RealHashes: true})
	honest, liar := simnode.NewNode(chain, simnode.NodeConfig{}), simnode.NewNode(chain, simnode.NodeConfig{})
	read := func(n *simnode.Node, number uint64) *starknet.Block {
		b, err := starknet.DecodeBlock(must(t, n, "getBlockWithReceipts", fmt.Sprintf(`[{"block_number":%d},["INCLUDE_PROOF_FACTS"]]`, number)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for kind, change := range map[simnode.FaultKind]int{simnode.FaultLostEvents: -1, simnode.FaultInventedEvents: 1, simnode.FaultWrongParent: 0} {
		liar.Faults().Set(simnode.Fault{Kind: kind})
		for number := uint64(2); number < 8; number++ {
			good, bad := read(honest, number), read(liar, number)
			if err := starknet.Verify(good, chain.StateUpdateAt(number), chain.Config().ChainID); err != nil {
				t.Fatalf("honest block %d: %v", number, err)
			}
			if len(good.Transactions) == 0 {
				continue
			}
			if bad.EventCount() != good.EventCount()+change || (bad.ParentHash == good.ParentHash) == (change == 0) {
				t.Errorf("block %d: fault %d is not there", number, kind)
			}
			if bad.Commitments.EventCount != uint64(bad.EventCount()) {
				t.Errorf("block %d: the count gives the lie away", number)
			}
			var mismatch *starknet.MismatchError
			if err := starknet.Verify(bad, chain.StateUpdateAt(number), chain.Config().ChainID); !errors.As(err, &mismatch) {
				t.Errorf("block %d: fault %d passed verification: %v", number, kind, err)
			}
		}
	}
	if b := chain.BlockAt(7); starknet.Verify(b, chain.StateUpdateAt(7), chain.Config().ChainID) != nil {
		t.Error("a lie changed the chain")
	}
}

func TestLaggingAndStaleNode(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 30})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	head := func() int { return decode[int](t, must(t, n, "blockNumber", "[]")) }

	n.Faults().Set(simnode.Fault{Kind: simnode.FaultHeadLag, Blocks: 7})
	if head() != 22 {
		t.Errorf("head is %d", head())
	}
	if r := ask(t, n, "getBlockWithReceipts", `{"block_id":{"block_number":23}}`); r.Error == nil || r.Error.Code != 24 {
		t.Error("a lagging node knows later blocks")
	}
	if r := ask(t, n, "getTransactionByHash", `{"transaction_hash":"`+chain.BlockAt(29).Transactions[0].Hash.String()+`"}`); r.Error == nil || r.Error.Code != 29 {
		t.Error("a lagging node knows later transactions")
	}
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultHeadLag, Blocks: 12})
	if head() != 17 {
		t.Errorf("head is %d after it went back", head())
	}

	old := chain.BlockAt(28).Hash
	n.Faults().Set(simnode.Fault{Kind: simnode.FaultStale})
	chain.Fork(4)
	chain.Extend(3)
	told := func() string {
		b := decode[map[string]json.RawMessage](t, must(t, n, "getBlockWithTxHashes", `[{"block_number":28}]`))
		return strings.Trim(string(b["block_hash"]), `"`)
	}
	if head() != 29 || told() != old.String() {
		t.Errorf("a stale node tells head %d and block %s", head(), told())
	}
	if _, ok := decode[map[string]any](t, must(t, n, "getBlockWithReceipts", `{"block_id":{"block_hash":"`+old.String()+`"}}`))["block_hash"]; !ok {
		t.Error("a stale node forgot its branch")
	}
	n.Faults().Clear()
	if head() != 32 || told() != chain.BlockAt(28).Hash.String() {
		t.Error("the node did not recover")
	}
	if r := ask(t, n, "getBlockWithReceipts", `{"block_id":{"block_hash":"`+old.String()+`"}}`); r.Error == nil || r.Error.Code != 24 {
		t.Error("an orphaned block is served as if it were canonical")
	}
}
