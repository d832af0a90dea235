package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// TestPassedOnUntouched holds that what a caller writes reaches the node, and what the
// node writes reaches the caller, to the byte.
func TestPassedOnUntouched(t *testing.T) {
	const params = `{"block_id": {"block_number":  1.0e0},"contract_address":"0x0A<>&\u00e9"}`
	const result = `{"a": 1.500, "b":"\u003c<>" , "c":[ 10000000000000000000001 ]}`
	const failure = `{"code":20,"message":"<none>","data":{"x": 1E5}}`
	fails := false
	w, n := scriptedWorld(t, func(_ *http.Request, method string, _ json.RawMessage) (string, bool) {
		if method != "starknet_getNonce" {
			return "", false
		}
		if fails {
			return `"error": ` + failure, true
		}
		return `"result": ` + result, true
	})
	r := w.post(rpcPath, w.Key, `{"jsonrpc":"2.0","method":"starknet_getNonce","params":`+params+`,"id": 1.0}`)
	if want := `{"jsonrpc":"2.0","id":1.0,"result":` + result + `}`; string(r.Body) != want {
		t.Errorf("got  %s\nwant %s", r.Body, want)
	}
	if asked := n.asked("starknet_getNonce"); len(asked) != 1 || !strings.Contains(asked[0], params) {
		t.Errorf("the node was asked %q", asked)
	}
	fails = true
	r = w.post(rpcPath, w.Key, `{"jsonrpc":"2.0","method":"starknet_getNonce","params":`+params+`,"id":"e"}`)
	if want := `{"jsonrpc":"2.0","id":"e","error":` + failure + `}`; string(r.Body) != want || r.StatusCode != 200 {
		t.Errorf("got  %d %s\nwant %s", r.StatusCode, r.Body, want)
	}
}

// TestShortArrays holds that an array without the optional parameters at its end reaches
// every node, also one that wants all positions or none; a whole one is not touched.
func TestShortArrays(t *testing.T) {
	servertest.Watched(t)
	w, n := scriptedWorld(t, func(_ *http.Request, method string, _ json.RawMessage) (string, bool) {
		return `"result":{}`, method == "starknet_getStateUpdate"
	})
	for written, asked := range map[string]string{
		`[{"block_number": 2.0e0}]`:                 `{"block_id":{"block_number": 2.0e0}}`,
		`[{"block_number": 3.0e0} , [ "0x0<1>" ] ]`: `[{"block_number": 3.0e0} , [ "0x0<1>" ] ]`,
		`{ "block_id": {"block_number":  4.0e0 } }`: `{ "block_id": {"block_number":  4.0e0 } }`,
	} {
		if a := w.call("starknet_getStateUpdate", written); a.Error != nil {
			t.Errorf("%s: %v", written, a.Error)
		}
		all := n.asked("starknet_getStateUpdate")
		if last := all[len(all)-1]; !strings.Contains(last, `"params":`+asked) {
			t.Errorf("%s: the node was asked %s", written, last)
		}
	}
}

// TestLargeAnswers holds the bounds of answers: of a method, and of a batch together.
func TestLargeAnswers(t *testing.T) {
	const mib = 1 << 20
	w, _ := scriptedWorld(t, func(_ *http.Request, method string, params json.RawMessage) (string, bool) {
		var size []int
		switch method {
		case "starknet_getClass", "starknet_getCompiledCasm":
			json.Unmarshal(params, &size) //nolint:errcheck // a test's own
			return `"result":"` + strings.Repeat("x", size[len(size)-1]) + `"`, true
		}
		return "", false
	})
	class := func(size int) string { return request("1", "starknet_getClass", fmt.Sprintf("[0,%d]", size)) }
	if r := w.post(rpcPath, w.Key, class(5*mib)); r.StatusCode != 200 || len(r.Plain()) < 5*mib {
		t.Errorf("a class of 5 MiB: %d, %d bytes", r.StatusCode, len(r.Body))
	}
	a := w.one(w.post(rpcPath, w.Key, request("1", "starknet_getCompiledCasm", fmt.Sprint("[", 4*mib+1, "]"))))
	if a.name() != "compiled_casm_response_too_large" {
		t.Errorf("a compiled class that is too large: %+v", a.Error)
	}
	if a = w.one(w.post(rpcPath, w.Key, request("1", "starknet_getCompiledCasm", fmt.Sprint("[", 4*mib-1000, "]")))); a.Error != nil {
		t.Errorf("a compiled class that is not: %+v", a.Error)
	}
	r := w.post(rpcPath, w.Key, "["+class(7*mib)+","+class(7*mib)+","+class(7*mib)+","+class(10)+"]")
	as := w.many(r)
	refused := 0
	for i, a := range as {
		switch {
		case a.Error == nil:
		case a.name() == "batch_response_too_large" && a.Error.Code == -32005:
			refused++
		default:
			t.Errorf("call %d: %+v", i, a.Error)
		}
	}
	if r.StatusCode != 200 || len(as) != 4 || refused != 1 || len(r.Plain()) > 16*mib {
		t.Errorf("%d, %d bytes, %d answers, %d of them refused", r.StatusCode, len(r.Plain()), len(as), refused)
	}
}

// TestLargeBatches holds that a batch of large answers takes no more memory from others
// than it can use: beside it a single call is answered.
func TestLargeBatches(t *testing.T) {
	const mib = 1 << 20
	w, _ := scriptedWorld(t, func(_ *http.Request, method string, _ json.RawMessage) (string, bool) {
		if method != "starknet_getClass" {
			return "", false
		}
		return `"result":"` + strings.Repeat("x", 15*mib) + `"`, true
	})
	var calls []string
	for i := range 50 {
		calls = append(calls, request(strconv.Itoa(i), "starknet_getClass", fmt.Sprintf(`["latest","0x%x"]`, i)))
	}
	good := 0
	for i, a := range w.many(w.post(rpcPath, w.Key, "["+strings.Join(calls, ",")+"]")) {
		if string(a.ID) != strconv.Itoa(i) {
			t.Errorf("answer %d has the id %s", i, a.ID)
		}
		if a.Error == nil {
			good++
		} else if a.name() != "batch_response_too_large" {
			t.Errorf("call %d: %+v", i, a.Error)
		}
	}
	if good != 1 {
		t.Errorf("%d answers of 15 MiB in 16", good)
	}
	if a := w.call("starknet_getClass", `["latest","0x77"]`); a.Error != nil {
		t.Errorf("a call after it: %+v", a.Error)
	}
}

// TestWrites holds that a transaction goes to the node once, in the order of a batch,
// and that the caller learns what is known when its end is not.
func TestWrites(t *testing.T) {
	cut := false
	w, n := scriptedWorld(t, func(_ *http.Request, method string, params json.RawMessage) (string, bool) {
		if method != "starknet_addInvokeTransaction" {
			return "", false
		}
		if cut {
			panic(http.ErrAbortHandler)
		}
		var p []struct {
			Nonce string `json:"nonce"`
		}
		json.Unmarshal(params, &p) //nolint:errcheck // a test's own
		return `"result":{"transaction_hash":"` + p[0].Nonce + `"}`, true
	})
	const tx = `[{"type":"INVOKE","version":"0x3","sender_address":"0x1","calldata":[],"signature":[],"nonce":%q,` +
		`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},` +
		`"tip":"0x0","paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}]`
	var batch []string
	for i := range 20 {
		batch = append(batch, request(strconv.Itoa(i), "starknet_addInvokeTransaction", fmt.Sprintf(tx, fmt.Sprintf("0x%x", i))))
	}
	for i, a := range w.many(w.post(rpcPath, w.Key, "["+strings.Join(batch, ",")+"]")) {
		if want := fmt.Sprintf(`{"transaction_hash":"0x%x"}`, i); string(a.Result) != want {
			t.Errorf("transaction %d: %s %+v", i, a.Result, a.Error)
		}
	}
	asked := n.asked("starknet_addInvokeTransaction")
	if len(asked) != 20 {
		t.Fatalf("the node was sent %d transactions, and not 20", len(asked))
	}
	for i, body := range asked {
		if !strings.Contains(body, fmt.Sprintf(`"nonce":"0x%x"`, i)) {
			t.Errorf("transaction %d came out of order: %s", i, body)
		}
	}
	cut = true
	r := w.post(rpcPath, w.Key, request("1", "starknet_addInvokeTransaction", fmt.Sprintf(tx, "0x5")))
	a := w.one(r)
	if a.name() != "delivery_unknown" || !strings.HasPrefix(a.Error.Data.TransactionHash, "0x") || r.Header.Get("Retry-After") != "" || r.StatusCode != 200 {
		t.Errorf("a transaction whose end is not known: %d %s", r.StatusCode, r.Body)
	}
	if got := len(n.asked("starknet_addInvokeTransaction")); got != 21 {
		t.Errorf("it was sent %d times", got-20)
	}
}

// TestWritesCanBeRefused holds that the operator's switch comes before everything.
func TestWritesCanBeRefused(t *testing.T) {
	w := newWorld(t, 3, func(o *servertest.Options) { o.Gateway.NoWrites = true })
	r := w.post(rpcPath, w.Key, request("1", "starknet_addInvokeTransaction", `[{}]`))
	if a := w.one(r); a.name() != "writes_disabled" || r.StatusCode != 503 {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// TestSaturation holds that a key has so many calls at work and no more, and that
// others are served meanwhile.
func TestSaturation(t *testing.T) {
	servertest.Watched(t)
	held := make(chan struct{})
	var release sync.Once
	defer release.Do(func() { close(held) })
	entered := make(chan struct{}, 1000)
	w, _ := scriptedWorld(t, func(r *http.Request, method string, _ json.RawMessage) (string, bool) {
		if method != "starknet_getNonce" {
			return "", false
		}
		entered <- struct{}{}
		select {
		case <-held:
		case <-r.Context().Done():
		}
		return `"result":"0x0"`, true
	})
	greedy, _ := w.Stranger("greedy", account.Enterprise, account.Limits{LightPerMinute: 1e6, Burst: 1e6})
	var work sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for i := range 128 + 8 {
		work.Go(func() {
			a := w.one(w.post(rpcPath, greedy, request("1", "starknet_getNonce", fmt.Sprintf(`["latest","0x%x"]`, i))))
			mu.Lock()
			defer mu.Unlock()
			if a.name() == "local_saturation" && a.Error.Code == -32005 && a.Error.Data.RetryAfterSeconds > 0 {
				refused++
			}
			if refused == 8 {
				release.Do(func() { close(held) })
			}
		})
	}
	for range 32 { // its share
		<-entered
	}
	if a := w.call("starknet_chainId", ""); a.Error != nil {
		t.Errorf("somebody else is not served: %+v", a.Error)
	}
	work.Wait()
	if refused < 8 {
		t.Errorf("%d calls were refused", refused)
	}
}

// TestVersions holds that a path is answered in its version, by a node that speaks it.
func TestVersions(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 41, Blocks: 8, L1Lag: 30})
	var urls []string
	for _, v := range []starknet.SpecVersion{starknet.V08, starknet.V010} {
		srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{Version: v}))
		t.Cleanup(srv.Close)
		urls = append(urls, srv.URL)
	}
	pool := openPool(t, urls...)
	w := newWorld(t, 8, func(o *servertest.Options) {
		o.Gateway.Chains = []gateway.Chain{{ID: servertest.ChainID, Pool: pool}}
	})
	for path, want := range map[string]string{
		"/rpc/v0_8/" + servertest.ChainID:  `"0.8.1"`,
		"/rpc/v0_10/" + servertest.ChainID: `"0.10.2"`,
		rpcPath:                            `"0.10.2"`,
	} {
		if a := w.one(w.post(path, w.Key, request("1", "starknet_specVersion", ""))); string(a.Result) != want {
			t.Errorf("%s speaks %s, want %s (%+v)", path, a.Result, want, a.Error)
		}
	}
	r := w.post("/rpc/v0_9/"+servertest.ChainID, w.Key, request("1", "starknet_specVersion", ""))
	if a := w.one(r); r.StatusCode != 503 || a.name() != "upstream_unavailable" || strings.Join(a.Error.Data.SpecVersions, " ") != "0.10 0.8" {
		t.Errorf("a version that nobody speaks: %d %s", r.StatusCode, r.Body)
	}
	// A method of another version is none.
	if a := w.one(w.post("/rpc/v0_8/"+servertest.ChainID, w.Key, request("1", "starknet_getBlockWithTxs", `["latest",["INCLUDE_PROOF_FACTS"]]`))); a.name() != "invalid_params" {
		t.Errorf("a parameter of a later version: %+v", a)
	}
}

// TestFaultyNodes lets a node do everything wrong that it can, under load, beside one
// that does not: every answer belongs to its call, and nothing is left behind.
func TestFaultyNodes(t *testing.T) {
	servertest.Watched(t)
	chain := simnode.New(simnode.Config{Seed: 41, Blocks: 30, L1Lag: 30})
	good := simnode.NewNode(chain, simnode.NodeConfig{})
	bad := simnode.NewNode(chain, simnode.NodeConfig{})
	var urls []string
	for _, n := range []*simnode.Node{bad, good} {
		srv := httptest.NewServer(n)
		t.Cleanup(srv.Close)
		urls = append(urls, srv.URL)
	}
	pool := openPool(t, urls...)
	w := newWorld(t, 3, func(o *servertest.Options) {
		o.Gateway.Chains = []gateway.Chain{{ID: servertest.ChainID, Pool: pool}}
	})
	bad.Faults().Set(
		simnode.Fault{Kind: simnode.FaultTruncate, Probability: 0.1},
		simnode.Fault{Kind: simnode.FaultDrop, Probability: 0.1},
		simnode.Fault{Kind: simnode.FaultWrongID, Probability: 0.1},
		simnode.Fault{Kind: simnode.FaultHTTPStatus, Status: 500, Probability: 0.1},
		simnode.Fault{Kind: simnode.FaultRPCError, Code: -32603, Message: "internal", Probability: 0.1},
	)
	var work sync.WaitGroup
	for client := range 8 {
		work.Go(func() {
			for i := range 40 {
				n := (client*40 + i*7) % 30
				id := fmt.Sprintf(`"%d-%d"`, client, i)
				a := w.one(w.post(rpcPath, w.Key, request(id, "starknet_getBlockWithTxHashes", fmt.Sprintf(`[{"block_number":%d}]`, n))))
				if string(a.ID) != id {
					t.Errorf("call %s has the answer of %s", id, a.ID)
				}
				if a.Error != nil {
					t.Errorf("call %s failed beside a good node: %+v", id, a.Error)
					continue
				}
				var b struct {
					Number int `json:"block_number"`
				}
				if err := json.Unmarshal(a.Result, &b); err != nil || b.Number != n {
					t.Errorf("call %s asked for block %d and got %d (%v)", id, n, b.Number, err)
				}
			}
		})
	}
	work.Wait()
	hits := 0
	for _, k := range []simnode.FaultKind{simnode.FaultTruncate, simnode.FaultDrop, simnode.FaultWrongID, simnode.FaultHTTPStatus, simnode.FaultRPCError} {
		hits += bad.Faults().Hits(k)
	}
	if hits == 0 {
		t.Error("nothing went wrong")
	}
}
