package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/servertest"
)

// TestEnvelopes walks through what JSON-RPC 2.0 says of requests and batches.
func TestEnvelopes(t *testing.T) {
	w := newWorld(t, 8)
	number := `"result":7`
	ok := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + number + `}` }
	call := func(id string) string { return request(id, "starknet_blockNumber", "") }
	for _, c := range []struct {
		name, body string
		status     int
		answer     string   // to the byte; or
		codes      []string // of the errors, by id; "" for none
	}{
		{"a call", call("1"), 200, ok("1"), nil},
		{"an id that is null", call("null"), 200, ok("null"), nil},
		{"an id that is a text", call(`"\u00e4 \"x"`), 200, ok(`"\u00e4 \"x"`), nil},
		{"an id beyond all doubles", call("9007199254740993123"), 200, ok("9007199254740993123"), nil},
		{"an id as it was written", call("-1.0e2"), 200, ok("-1.0e2"), nil},
		{"params that are an empty array", request("1", "starknet_blockNumber", "[]"), 200, ok("1"), nil},
		{"params that are an empty object", request("1", "starknet_blockNumber", "{}"), 200, ok("1"), nil},
		{"params that are null", request("1", "starknet_blockNumber", "null"), 200, ok("1"), nil},
		{"a notification", `{"jsonrpc":"2.0","method":"starknet_blockNumber"}`, 204, "", nil},
		{"a batch", "[" + call("1") + "," + call(`"b"`) + "]", 200, "[" + ok("1") + "," + ok(`"b"`) + "]", nil},
		{"a batch of one", "[" + call("1") + "]", 200, "[" + ok("1") + "]", nil},
		{"two calls of one id", "[" + call("1") + "," + call("1") + "]", 200, "[" + ok("1") + "," + ok("1") + "]", nil},
		{"a batch with a notification", `[{"jsonrpc":"2.0","method":"starknet_blockNumber"},` + call("2") + "]", 200, "[" + ok("2") + "]", nil},
		{"a batch of notifications", `[{"jsonrpc":"2.0","method":"starknet_blockNumber"},{"jsonrpc":"2.0","method":"nothing"}]`, 204, "", nil},
		{"a batch in which some are none", "[" + call("1") + `,1,{"id":3},{"jsonrpc":"2.0","id":4,"method":"nothing"}]`, 200, "", []string{"", "invalid_request", "invalid_request", "method_not_found"}},
		{"an empty batch", `[]`, 400, "", []string{"invalid_request"}},
		{"no JSON", `{"jsonrpc":"2.0"`, 400, "", []string{"parse_error"}},
		{"nothing", ``, 400, "", []string{"parse_error"}},
		{"a text", `"x"`, 400, "", []string{"invalid_request"}},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"starknet_blockNumber"}`, 400, "", []string{"invalid_request"}},
		{"as many as there may be", "[" + strings.TrimSuffix(strings.Repeat(call("1")+",", wire.MaxBatch), ",") + "]", 200, "[" + strings.TrimSuffix(strings.Repeat(ok("1")+",", wire.MaxBatch), ",") + "]", nil},
		{"one too many", "[" + strings.TrimSuffix(strings.Repeat(call("1")+",", wire.MaxBatch+1), ",") + "]", 400, "", []string{"batch_too_large"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{w.In(t)}
			r := w.post(rpcPath, w.Key, c.body)
			if r.StatusCode != c.status {
				t.Fatalf("status %d, want %d: %s", r.StatusCode, c.status, r.Body)
			}
			if c.codes == nil {
				if string(r.Plain()) != c.answer {
					t.Errorf("got  %s\nwant %s", r.Plain(), c.answer)
				}
				return
			}
			var as []answer
			if strings.HasPrefix(string(r.Body), "[") {
				as = w.many(r)
			} else {
				as = []answer{w.one(r)}
			}
			var codes []string
			for _, a := range as {
				codes = append(codes, a.name())
			}
			if !slices.Equal(codes, c.codes) {
				t.Errorf("got %q, want %q: %s", codes, c.codes, r.Body)
			}
		})
	}
}

// TestRefusals holds every failure of the gateway against the contract: its code, its
// name, its status and what error.data tells.
func TestRefusals(t *testing.T) {
	w := newWorld(t, 8)
	reader := w.NewKey(account.Read)
	batcher := w.NewKey(account.Batch)
	number := request("7", "starknet_blockNumber", "")
	for _, c := range []struct {
		name, path, key, body string
		headers               []string
		status, code          int
		data                  string
		id                    string
		challenge             string
	}{
		{"no key", rpcPath, "", number, nil, 401, -32012, "authentication_required", "null", `Bearer realm="service", error="invalid_token"`},
		{"a key that was never issued", rpcPath, "svc_live_" + strings.Repeat("a", 40), number, nil, 401, -32012, "authentication_required", "null", `Bearer realm="service", error="invalid_token"`},
		{"a revoked key", rpcPath, w.RevokedKey(), number, nil, 401, -32012, "authentication_required", "null", `Bearer realm="service", error="invalid_token"`},
		{"two keys", rpcPath, w.Key, number, []string{"X-Api-Key", w.Key}, 400, -32600, "authentication_invalid", "null", ""},
		{"a key in quotes", rpcPath, `"` + w.Key + `"`, number, nil, 400, -32600, "authentication_invalid", "null", ""},
		{"a key that may not read", rpcPath, batcher, number, nil, 403, -32012, "scope_required", "null", `Bearer realm="service", error="insufficient_scope", scope="read"`},
		{"a key in the address that is none", rpcPath + "/svc_live_nonsense", "", number, nil, 401, -32012, "authentication_required", "null", `Bearer realm="service", error="invalid_token"`},
		{"a key in the address and in a header", rpcPath + "/" + w.Key, w.Key, number, nil, 400, -32600, "authentication_invalid", "null", ""},
		{"another chain", "/v1/SN_OTHER/rpc", w.Key, number, nil, 404, -32004, "unsupported_chain", "null", ""},
		{"another version", "/rpc/v0_7/" + servertest.ChainID, w.Key, number, nil, 404, -32600, "unsupported_spec_version", "null", ""},
		{"a version that no node speaks", "/rpc/v0_8/" + servertest.ChainID, w.Key, number, nil, 503, -32005, "upstream_unavailable", "null", ""},
		{"an encoding that is not taken", rpcPath, w.Key, number, []string{"Content-Encoding", "br"}, 415, -32600, "unsupported_media_type", "null", ""},
		{"a body that is too large", rpcPath, w.Key, strings.Repeat(" ", 9<<20), nil, 413, -32600, "payload_too_large", "null", ""},
		{"a method that is not on the list", rpcPath, w.Key, request("7", "starknet_nothing", ""), nil, 200, -32601, "method_not_found", "7", ""},
		{"a method in another spelling", rpcPath, w.Key, request("7", "starknet_BlockNumber", ""), nil, 200, -32601, "method_not_found", "7", ""},
		{"a method of the node alone", rpcPath, w.Key, request("7", "juno_version", ""), nil, 200, -32601, "method_not_found", "7", ""},
		{"a subscription", rpcPath, w.Key, request("7", "starknet_subscribeNewHeads", ""), nil, 200, -32601, "websocket_required", "7", ""},
		{"a parameter too many", rpcPath, w.Key, request("7", "starknet_blockNumber", "[1]"), nil, 200, -32602, "invalid_params", "7", ""},
		{"a parameter that is missing", rpcPath, w.Key, request("7", "starknet_getNonce", `["latest"]`), nil, 200, -32602, "invalid_params", "7", ""},
		{"a write without the scope", rpcPath, reader, request("7", "starknet_addInvokeTransaction", `[{}]`), nil, 403, -32011, "write_scope_required", "7", `Bearer realm="service", error="insufficient_scope", scope="write"`},
		{"a trace without the scope", rpcPath, w.Key, request("7", "starknet_traceTransaction", `["0x1"]`), nil, 403, -32012, "scope_required", "7", `Bearer realm="service", error="insufficient_scope", scope="trace"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{w.In(t)}
			r := w.post(c.path, c.key, c.body, c.headers...)
			a := w.one(r)
			if a.Error == nil {
				t.Fatalf("no error: %s", r.Body)
			}
			if r.StatusCode != c.status || a.Error.Code != c.code || a.name() != c.data || string(a.ID) != c.id {
				t.Errorf("got %d %d %s, id %s; want %d %d %s, id %s: %s", r.StatusCode, a.Error.Code, a.name(), a.ID, c.status, c.code, c.data, c.id, r.Body)
			}
			d := a.Error.Data
			if d.HTTPStatus != c.status || d.RequestID == "" || d.RequestID != r.Header.Get("X-Request-Id") || d.Service != "rpc" {
				t.Errorf("error.data is %+v", d)
			}
			if got := r.Header.Get("WWW-Authenticate"); got != c.challenge {
				t.Errorf("WWW-Authenticate is %q, want %q", got, c.challenge)
			}
			if wait := r.Header.Get("Retry-After"); d.RetryAfterSeconds > 0 && wait != strconv.Itoa(d.RetryAfterSeconds) {
				t.Errorf("Retry-After is %q, and error.data says %d", wait, d.RetryAfterSeconds)
			}
			if secret := c.key; len(secret) > 20 && strings.Contains(string(r.Body), secret) {
				t.Error("the answer holds the key")
			}
		})
	}
}

// TestContentTypesDoNotMatter holds that curl needs no header.
func TestContentTypesDoNotMatter(t *testing.T) {
	w := newWorld(t, 3)
	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded", "text/plain; charset=utf-8", "", "nonsense/"} {
		if a := w.one(w.post(rpcPath, w.Key, request("1", "starknet_blockNumber", ""), "Content-Type", kind)); string(a.Result) != "2" {
			t.Errorf("%q: %+v", kind, a.Error)
		}
	}
}

// TestKeyInTheAddress holds that a node URL with a key works in every shape, and that
// the key stays out of the log (which servertest looks at when the test ends).
func TestKeyInTheAddress(t *testing.T) {
	w := newWorld(t, 8)
	for _, path := range []string{rpcPath + "/", "/api" + rpcPath + "/", "/rpc/v0_10/" + servertest.ChainID + "/"} {
		r := w.post(path+w.Key, "", request("1", "starknet_blockNumber", ""))
		if a := w.one(r); r.StatusCode != 200 || string(a.Result) != "7" {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
		if r.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: a page could tell the address to others", path)
		}
	}
	// What is no key may be half of one, with a typing mistake.
	odd := "svc-live-" + w.Key[9:]
	w.Secrets = append(w.Secrets, odd)
	if r := w.post(rpcPath+"/"+odd, "", request("1", "starknet_blockNumber", "")); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a key that is none: %d %s", r.StatusCode, r.Body)
	}
}

// TestKeysAreHidden holds that no part of a request that logs and traces record has a
// key when it gets there, wherever a client may have put it.
func TestKeysAreHidden(t *testing.T) {
	const key = "svc_live_kIHcmT6vpZ2hPJ2hCnuFbW5eUYNZDqac1sdUb9"
	for _, c := range []struct {
		path, method, agent, host string
		found                     bool // as the key of the request
	}{
		{path: "/v1/SN_MAIN/rpc/" + key, found: true},
		{path: "/v1/SN_MAIN/rpc/ws/" + key, found: true},
		{path: "/api/v1/SN_MAIN/rpc/" + key, found: true},
		{path: "/rpc/v0_10/SN_MAIN/" + key, found: true},
		{path: "/rpc/v0_10/SN_MAIN/" + key + "/ws", found: true},
		{path: "/rpc/SN_MAIN/" + key},
		{path: "/v1/SN_MAIN/rpc//" + key},
		{path: "//v1//SN_MAIN//rpc/" + key},
		{path: "/v1/SN_MAIN/" + key},
		{path: "/v1/" + key + "/rpc"},
		{path: "/RPC/v0_10/SN_MAIN/" + key},
		{path: "/" + strings.ToUpper(key)},
		{path: "/", agent: "curl " + key},
		{path: "/", host: key + ".example"},
		{path: "/", method: key},
	} {
		req := httptest.NewRequest(http.MethodPost, "http://x/", nil)
		req.URL.Path, req.RequestURI = c.path, c.path
		req.Header.Set("User-Agent", c.agent)
		if c.method != "" {
			req.Method = c.method
		}
		if c.host != "" {
			req.Host = c.host
		}
		gateway.HideKeys(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen := strings.ToLower(strings.Join([]string{r.URL.Path, r.URL.RawPath, r.RequestURI, r.URL.String(), r.Method, r.Host, r.UserAgent(), r.Referer()}, " "))
			if strings.Contains(seen, "svc_live") {
				t.Errorf("%+v: the key shows in %s", c, seen)
			}
			if found := r.Header.Get("X-Service-Api-Key") == key; found != c.found {
				t.Errorf("%+v: the key is found: %t", c, found)
			}
		})).ServeHTTP(httptest.NewRecorder(), req)
	}
}

// TestBudgets holds that a batch pays for every call in it, each on its own.
func TestBudgets(t *testing.T) {
	w := newWorld(t, 8)
	key := w.LimitedKey(account.Limits{LightPerMinute: 4, HeavyPerMinute: 100, Burst: 100})
	number := request("1", "starknet_blockNumber", "")
	as := w.many(w.post(rpcPath, key, "["+strings.TrimSuffix(strings.Repeat(number+",", 6), ",")+"]"))
	good := 0
	for _, a := range as {
		switch {
		case a.Error == nil:
			good++
		case a.Error.Code != -32010 || a.name() != "rate_limited" || a.Error.Data.HTTPStatus != 429 || a.Error.Data.RetryAfterSeconds < 1:
			t.Errorf("refused with %+v", a.Error)
		}
	}
	if len(as) != 6 || good != 4 {
		t.Errorf("%d of %d calls were answered, and 4 were paid for", good, len(as))
	}
	r := w.post(rpcPath, key, number)
	if a := w.one(r); r.StatusCode != 429 || a.name() != "rate_limited" || string(a.ID) != "1" || r.Header.Get("Retry-After") == "" {
		t.Errorf("a single call beyond the budget: %d %s", r.StatusCode, r.Body)
	}
	if got := r.Header.Get("X-Ratelimit-Policy"); got != "light;w=60" {
		t.Errorf("X-Ratelimit-Policy is %q", got)
	}
	// What is not on the list costs as well.
	other := w.LimitedKey(account.Limits{LightPerMinute: 1, HeavyPerMinute: 1, Burst: 100})
	w.post(rpcPath, other, request("1", "nothing", ""))
	if a := w.one(w.post(rpcPath, other, number)); a.name() != "rate_limited" {
		t.Errorf("a call of no method was free: %+v", a.Error)
	}
	// A page of events is worth several calls.
	events := w.LimitedKey(account.Limits{LightPerMinute: 4, HeavyPerMinute: 1, Burst: 100})
	if a := w.one(w.post(rpcPath, events, request("1", "starknet_getEvents", `[{"chunk_size":1}]`))); a.name() != "rate_limited" {
		t.Errorf("a page of events cost no more than a number: %+v", a)
	}
}

// TestClasses holds the header against the table.
func TestClasses(t *testing.T) {
	w := newWorld(t, 8)
	tracer := w.traceKey()
	for body, want := range map[string]string{
		request("1", "starknet_chainId", ""):                                                            "rpc_read_light",
		request("1", "starknet_getNonce", `["latest","0x1"]`):                                           "rpc_read_state",
		request("1", "starknet_getBlockTransactionCount", `["latest"]`):                                 "rpc_read_history",
		request("1", "starknet_estimateFee", `[[],[],"latest"]`):                                        "rpc_simulation",
		request("1", "starknet_addInvokeTransaction", `[{}]`):                                           "rpc_write",
		request("1", "starknet_traceTransaction", `["0x1"]`):                                            "rpc_trace",
		request("1", "starknet_subscribeNewHeads", ``):                                                  "rpc_ws",
		request("1", "nothing", ``):                                                                     "",
		"[" + request("1", "starknet_chainId", "") + "," + request("1", "starknet_syncing", "") + "]":   "rpc_read_light",
		"[" + request("1", "starknet_chainId", "") + "," + request("1", "starknet_getEvents", "") + "]": "rpc_read_light, rpc_read_history",
	} {
		if got := w.post(rpcPath, tracer, body).Header.Get("X-Service-Rpc-Class"); got != want {
			t.Errorf("%s: class %q, want %q", body, got, want)
		}
	}
}

// TestProofTargets is the table of what one call may have proven.
func TestProofTargets(t *testing.T) {
	w := newWorld(t, 8)
	felts := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`"0x1",`, n), ",") + "]" }
	cells := func(contracts, keys int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"contract_address":"0x1","storage_keys":`+felts(keys)+`},`, contracts), ",") + "]"
	}
	for _, c := range []struct {
		name, params string
		refused      string
	}{
		{"nothing", `{"block_id":"latest"}`, ""},
		{"eight classes", `{"block_id":"latest","class_hashes":` + felts(8) + `}`, ""},
		{"nine classes", `{"block_id":"latest","class_hashes":` + felts(9) + `}`, "storage_proof_too_many_targets"},
		{"nine contracts", `["latest",[],` + felts(9) + `]`, "storage_proof_too_many_targets"},
		{"cells of nine contracts", `{"block_id":"latest","contracts_storage_keys":` + cells(9, 1) + `}`, "storage_proof_too_many_targets"},
		{"sixteen cells twice", `{"block_id":"latest","contracts_storage_keys":` + cells(2, 16) + `}`, ""},
		{"seventeen cells", `{"block_id":"latest","contracts_storage_keys":` + cells(1, 17) + `}`, "storage_proof_too_many_targets"},
		{"thirty-three of all kinds", `{"block_id":"latest","class_hashes":` + felts(1) + `,"contracts_storage_keys":` + cells(2, 16) + `}`, "storage_proof_too_many_targets"},
		{"cells hidden behind a second list", `{"block_id":"latest","contracts_storage_keys":[{"contract_address":"0x1","storage_keys":` + felts(16) + `,"storage_keys":` + felts(1) + `}]}`, "storage_proof_too_many_targets"},
		{"cells under a name in another case", `{"block_id":"latest","contracts_storage_keys":[{"contract_address":"0x1","Storage_Keys":` + felts(17) + `}]}`, "storage_proof_too_many_targets"},
		{"a list inside a list", `{"block_id":"latest","class_hashes":[` + felts(100) + `]}`, "invalid_params"},
		{"a block that is not there yet", `{"block_id":"pre_confirmed"}`, "invalid_params"},
		{"the same, spelt otherwise", `{"block_id":"pre\u005fconfirmed"}`, "invalid_params"},
	} {
		a := w.call("starknet_getStorageProof", c.params)
		if got := a.name(); got != c.refused {
			t.Errorf("%s: %q, want %q (%+v)", c.name, got, c.refused, a.Error)
		}
	}
}

// TestDiscover holds that the gateway describes itself.
func TestDiscover(t *testing.T) {
	w := newWorld(t, 3)
	var d struct {
		OpenRPC string `json:"openrpc"`
		Info    struct {
			Version string `json:"version"`
		} `json:"info"`
		Methods []struct {
			Name string `json:"name"`
		} `json:"methods"`
	}
	if err := json.Unmarshal(w.call("rpc.discover", "").Result, &d); err != nil {
		t.Fatal(err)
	}
	if d.OpenRPC == "" || d.Info.Version != "0.10.2" || len(d.Methods) < 30 {
		t.Errorf("got %+v", d)
	}
}

// TestErrorsOfTheIndex: what the index refuses by itself it says in the words of the
// specification, as nodes do.
func TestErrorsOfTheIndex(t *testing.T) {
	w := newWorld(t, 5)
	for _, c := range []struct {
		method, params string
		code           int
		message        string
	}{
		{"starknet_getTransactionByBlockIdAndIndex", `[{"block_number":3},9999]`, 27, "Invalid transaction index in a block"},
		{"starknet_getEvents", `[{"from_block":{"block_number":0},"to_block":{"block_number":3},"chunk_size":100000}]`, 31, "Requested page size is too big"},
		{"starknet_getEvents", `[{"from_block":{"block_number":0},"to_block":{"block_number":3},"chunk_size":10,"continuation_token":"service-v1-x"}]`, 33, "The supplied continuation token is invalid or unknown"},
	} {
		if a := w.call(c.method, c.params); a.Error == nil || a.Error.Code != c.code || a.Error.Message != c.message {
			t.Errorf("%s %s: %+v", c.method, c.params, a.Error)
		}
	}
}
