package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// One bad answer is not what everybody gets from then on.
func TestBadAnswersAreNotKept(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	b := w.chain.BlockAt(5)
	tx := b.Transactions[0].Hash.String()
	const five = `{"block_id":{"block_number":5}}`
	byHash := fmt.Sprintf(`{"transaction_hash":%q}`, tx)
	for _, c := range []struct{ method, params, old, new string }{
		{"starknet_getNonce", `[{"block_number":5},"` + contracts.STRK.String() + `"]`, "", "null"},
		{"starknet_call", `[{"contract_address":"0x1","entry_point_selector":"0x1","calldata":[]},{"block_number":5}]`, "", "null"},
		{"starknet_chainId", `[]`, "", `"0x1"`},
		{"starknet_chainId", `[]`, "", `null`},
		{"starknet_getStateUpdate", five, `"block_hash"`, `"block"`},
		{"starknet_getStateUpdate", five, b.Hash.String(), "0x123"},
		{"starknet_getStateUpdate", five, "", `{}`},
		{"starknet_getBlockWithTxs", five, b.Hash.String(), "0x123"},
		{"starknet_getBlockTransactionCount", five, "", fmt.Sprint(len(b.Transactions) + 1)},
		{"starknet_getBlockTransactionCount", five, "", `"x"`},
		{"starknet_traceBlockTransactions", five, "", `[]`},
		{"starknet_getTransactionByHash", byHash, tx, "0x123"},
		{"starknet_getTransactionReceipt", byHash, tx, "0x123"},
	} {
		bad := true
		id, _ := w.pool.Chain()
		nodes := &scripted{chain: id, answer: func(ctx context.Context, a node.Ask) (node.Told, error) {
			if bad && c.old == "" {
				return node.Told{Result: []byte(c.new)}, nil
			}
			told, err := w.pool.Forward(ctx, a)
			if bad && err == nil {
				if !bytes.Contains(told.Result, []byte(c.old)) {
					t.Fatalf("%s: no %s in %s", c.method, c.old, told.Result)
				}
				told.Result = bytes.ReplaceAll(told.Result, []byte(c.old), []byte(c.new))
			}
			return told, err
		}}
		u := New(Options{Pool: nodes, Store: w.store, Depth: depth, CacheBytes: 1 << 20})
		if _, err := call(t, u, c.method, c.params); err != nil {
			t.Fatalf("%s: %v", c.method, err)
		}
		if n := len(u.kept.byKey); n != 0 {
			t.Errorf("%s: an answer with %s for %q is kept", c.method, c.new, c.old)
		}
		bad = false
		if c.method == "starknet_call" {
			continue
		}
		for _, kept := range []bool{false, true} {
			if a, err := call(t, u, c.method, c.params); err != nil || a.Kept != kept {
				t.Errorf("%s: kept is %v, %v", c.method, a.Kept, err)
			}
		}
	}
}

// liar changes what a node says.
func liar(n http.Handler, change func(string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		n.ServeHTTP(rec, r)
		io.WriteString(w, change(rec.Body.String())) //nolint:errcheck // a test server
	})
}

// miscounting is a node that knows of no traces, and of 99 transactions in every block.
func miscounting(n http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		lies := map[string]string{"starknet_getBlockTransactionCount": "99", "starknet_traceBlockTransactions": "[]"}
		if err := json.Unmarshal(body, &asked); err == nil && lies[asked.Method] != "" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, lies[asked.Method])
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		n.ServeHTTP(w, r)
	})
}

// What names another block than the settled one that was asked for, or has not as many
// transactions or traces, is not passed on: another node is asked, and without one there
// is no answer.
func TestAnotherBlockIsNoAnswer(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	settled, open := w.chain.BlockAt(5), w.chain.BlockAt(55)
	lies := strings.NewReplacer(`"block_hash":"`+settled.Hash.String(), `"block_hash":"0x123`,
		`"block_hash":"`+open.Hash.String(), `"block_hash":"0x123`)
	lying := httptest.NewServer(miscounting(liar(w.nodes[0], lies.Replace)))
	t.Cleanup(lying.Close)
	honest := httptest.NewServer(w.nodes[0])
	t.Cleanup(honest.Close)
	for _, alone := range []bool{false, true} {
		cfg := node.Config{HealthInterval: time.Hour, Nodes: []node.Endpoint{{URL: lying.URL}}}
		if !alone {
			cfg.Nodes = append(cfg.Nodes, node.Endpoint{URL: honest.URL})
		}
		p, err := node.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		u := New(Options{Pool: p, Store: w.store, Depth: depth, CacheBytes: 1 << 20})
		for _, c := range []struct{ method, params string }{
			{"starknet_getStateUpdate", `{"block_id":{"block_number":5}}`},
			{"starknet_getStateUpdate", fmt.Sprintf(`{"block_id":{"block_hash":%q}}`, settled.Hash)},
			{"starknet_getBlockWithTxHashes", `{"block_id":{"block_number":5}}`},
			{"starknet_getBlockWithTxs", `{"block_id":{"block_number":5}}`},
			{"starknet_getBlockWithReceipts", `{"block_id":{"block_number":5}}`},
			{"starknet_getTransactionReceipt", fmt.Sprintf(`[%q]`, settled.Transactions[0].Hash)},
			{"starknet_getBlockTransactionCount", `{"block_id":{"block_number":5}}`},
			{"starknet_traceBlockTransactions", `{"block_id":{"block_number":5}}`},
			{"starknet_traceBlockTransactions", fmt.Sprintf(`{"block_id":{"block_hash":%q}}`, settled.Hash)},
		} {
			a, err := call(t, u, c.method, c.params)
			switch {
			case alone && !errors.Is(err, node.ErrMalformed):
				t.Errorf("%s: %v", c.method, err)
			case !alone && (err != nil || string(a.Result) != straight(t, w.nodes[0], c.method, c.params)):
				t.Errorf("%s: %.200s, %v", c.method, a.Result, err)
			}
		}
		// A block that may still be replaced is the node's to tell.
		a, err := call(t, u, "starknet_getStateUpdate", `{"block_id":{"block_number":55}}`)
		if alone && (err != nil || !strings.Contains(string(a.Result), `"0x123"`)) {
			t.Errorf("%.200s, %v", a.Result, err)
		}
		a, err = call(t, u, "starknet_getBlockTransactionCount", `{"block_id":{"block_number":55}}`)
		if alone && (err != nil || string(a.Result) != "99") {
			t.Errorf("%.200s, %v", a.Result, err)
		}
		p.Close()
	}
}

// Null and the id of another chain are not passed on, whether a block is settled or not:
// another node is asked, and without one there is no answer.
func TestNoResultIsNoAnswer(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	id, _ := w.pool.Chain()
	var lying atomic.Bool // not while the pool asks who the node is
	turned := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		lies := map[string]string{"starknet_chainId": `"0x1"`, "starknet_getNonce": "null"}
		if err := json.Unmarshal(body, &asked); err == nil && lying.Load() && lies[asked.Method] != "" {
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, lies[asked.Method])
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.nodes[0].ServeHTTP(rw, r)
	}))
	t.Cleanup(turned.Close)
	honest := httptest.NewServer(w.nodes[0])
	t.Cleanup(honest.Close)
	for _, alone := range []bool{false, true} {
		cfg := node.Config{HealthInterval: time.Hour, Nodes: []node.Endpoint{{URL: turned.URL}}}
		if !alone {
			cfg.Nodes = append(cfg.Nodes, node.Endpoint{URL: honest.URL})
		}
		lying.Store(false)
		p, err := node.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		lying.Store(true)
		u := New(Options{Pool: p, Store: w.store, Depth: depth})
		for _, c := range []struct{ method, params, want string }{
			{"starknet_chainId", `[]`, `"` + id.String() + `"`},
			{"starknet_getNonce", `["latest","` + contracts.STRK.String() + `"]`, `"0x0"`},
			{"starknet_getNonce", `[{"block_number":5},"` + contracts.STRK.String() + `"]`, `"0x0"`},
		} {
			for range 3 { // whichever node is asked first
				a, err := call(t, u, c.method, c.params)
				switch {
				case alone && !errors.Is(err, node.ErrMalformed):
					t.Errorf("%s: %s, %v", c.method, a.Result, err)
				case !alone && (err != nil || string(a.Result) != c.want):
					t.Errorf("%s: %s instead of %s, %v", c.method, a.Result, c.want, err)
				}
			}
		}
		p.Close()
	}
}

// A kept answer is asked for anew after a while, whether it is used or not.
func TestKeptAges(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	now := time.Unix(1_700_000_000, 0)
	u := New(Options{Pool: w.pool, Store: w.store, Depth: depth, CacheBytes: 1 << 20, Now: func() time.Time { return now }})
	for range 3 {
		for _, c := range []struct {
			wait time.Duration
			kept bool
		}{{0, false}, {life / 2, true}, {life/2 - 1, true}} {
			now = now.Add(c.wait)
			for _, name := range []string{"starknet_getStateUpdate", "starknet_getBlockTransactionCount"} {
				if a, err := call(t, u, name, `{"block_id":{"block_number":5}}`); err != nil || a.Kept != c.kept {
					t.Errorf("%s after %s: kept is %v, %v", name, c.wait, a.Kept, err)
				}
			}
		}
		now = now.Add(1)
	}
	if len(u.kept.byKey) != 2 || u.kept.order.Len() != 2 {
		t.Errorf("%d answers are kept", len(u.kept.byKey))
	}
}
