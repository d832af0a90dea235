package node_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// saying is a node that answers calls of contracts, and what is asked of one, with
// result, and everything else as n does.
func saying(n http.Handler, result *string) http.Handler {
	lies := map[string]bool{"starknet_call": true, "starknet_getNonce": true, "starknet_getClassHashAt": true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		var one request
		var batch []request
		if json.Unmarshal(body, &batch) == nil && len(batch) > 0 {
			one = batch[0]
		} else {
			json.Unmarshal(body, &one) //nolint:errcheck // then it is none of these
		}
		if !lies[one.Method] {
			r.Body = io.NopCloser(bytes.NewReader(body))
			n.ServeHTTP(w, r)
			return
		}
		answer := func(id json.RawMessage) string {
			return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + *result + `}`
		}
		if batch == nil {
			io.WriteString(w, answer(one.ID)) //nolint:errcheck // a test server
			return
		}
		text := "["
		for i, c := range batch {
			if i > 0 {
				text += ","
			}
			text += answer(c.ID)
		}
		io.WriteString(w, text+"]") //nolint:errcheck // a test server
	})
}

// TestNullIsNoFelt: a node that says null says nothing, and never zero.
func TestNullIsNoFelt(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: 40})
	at := contractcall.Block{Number: 20, Hash: chain.BlockAt(20).Hash}
	result := ""
	srv := httptest.NewServer(saying(simnode.NewNode(chain, simnode.NodeConfig{}), &result))
	t.Cleanup(srv.Close)
	pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, HealthInterval: time.Hour, MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	balance := contractcall.Call{Contract: contracts.STRK, Selector: felt.Selector("balance_of"), Calldata: []felt.Felt{contracts.Sequencer}}
	for _, result = range []string{`null`, `[null,null]`, `["0x1",null]`} {
		for _, calls := range [][]contractcall.Call{{balance}, {balance, balance}} {
			if got, err := pool.CallAt(t.Context(), at, calls); !errors.Is(err, contractcall.ErrUnavailable) {
				t.Errorf("%d calls answered with %s: %v, %v", len(calls), result, got, err)
			}
		}
		if got, err := pool.CallContract(t.Context(), node.BlockHash(at.Hash), balance.Contract, balance.Selector, balance.Calldata); !errors.Is(err, node.ErrMalformed) {
			t.Errorf("a call answered with %s: %v, %v", result, got, err)
		}
	}
	result = `null`
	if f, _, err := pool.NonceAt(t.Context(), at, contracts.STRK); !errors.Is(err, contractcall.ErrUnavailable) {
		t.Errorf("a nonce of null: %s, %v", f, err)
	}
	if f, _, err := pool.ClassHashAt(t.Context(), at, contracts.STRK); !errors.Is(err, contractcall.ErrUnavailable) {
		t.Errorf("a class of null: %s, %v", f, err)
	}
	result = `[]`
	if got, err := pool.CallAt(t.Context(), at, []contractcall.Call{balance}); err != nil || got[0].Values == nil || len(got[0].Values) != 0 {
		t.Errorf("a call that returns nothing: %v, %v", got, err)
	}
}
