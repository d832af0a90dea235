package simprover_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simprover"
)

const transaction = `{"type":"INVOKE","version":"0x3","sender_address":"0x1","calldata":["0x2"],"signature":["0x1","0x2"],"nonce":"0x0",` +
	`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},` +
	`"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},"tip":"0x0","paymaster_data":[],"account_deployment_data":[],` +
	`"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}`

type reply struct {
	ID     json.RawMessage `json:"id"`
	Result *struct {
		Proof    string   `json:"proof"`
		Facts    []string `json:"proof_facts"`
		Messages []struct {
			From    string   `json:"from_address"`
			Payload []string `json:"payload"`
		} `json:"l2_to_l1_messages"`
		Additional *struct {
			Signature struct {
				Issued int64 `json:"issued_at"`
			} `json:"signature"`
		} `json:"additional_data"`
	} `json:"result"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

func ask(t *testing.T, url, params string) reply {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":"a","method":"starknet_proveTransaction","params":` + params + `}`
	resp, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var r reply
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		t.Fatalf("status %d: %v", resp.StatusCode, err)
	}
	return r
}

func TestProofs(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	sim := simprover.New(simprover.Options{Now: func() time.Time { return now }})
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	params := `{"block_id":{"block_number":9},"transaction":` + transaction + `}`
	first, second := ask(t, server.URL, params), ask(t, server.URL, params)
	if first.Result == nil || string(first.ID) != `"a"` || first.Result.Proof != second.Result.Proof || len(first.Result.Proof) < 200_000 {
		t.Fatalf("the same request has two proofs, or none: %+v", first.Error)
	}
	if f := first.Result.Facts; len(f) != 9 || f[4] != "0x9" || first.Result.Messages[0].From != "0x1" || first.Result.Additional != nil {
		t.Errorf("facts %v, messages %v", f, first.Result.Messages)
	}
	if other := ask(t, server.URL, strings.Replace(params, ":9}", ":8}", 1)); other.Result.Proof == first.Result.Proof {
		t.Error("two requests have the same proof")
	}
	if placed := ask(t, server.URL, `[{"block_number":9},`+transaction+`]`); placed.Result == nil {
		t.Error("parameters by position are not understood")
	}
	sim.Next(simprover.Screened)
	if r := ask(t, server.URL, params); r.Result.Additional == nil || r.Result.Additional.Signature.Issued != now.Unix() {
		t.Error("a deposit was not attested")
	}
	// A nonce asks for its own answer; what a test said comes first.
	wish := strings.Replace(params, `"nonce":"0x0"`, fmt.Sprintf(`"nonce":"%v"`, felt.MustShortString("reverted")), 1)
	if r := ask(t, server.URL, wish); r.Error == nil || r.Error.Code != -32603 {
		t.Errorf("wished for a revert and got %+v", r.Error)
	}
	sim.Always(simprover.Blocked)
	if r := ask(t, server.URL, params); r.Error == nil || r.Error.Code != 10000 {
		t.Errorf("everything is blocked, and got %+v", r.Error)
	}
}

// TestRefusals: what the real prover refuses before it proves.
func TestRefusals(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(simprover.New(simprover.Options{}))
	t.Cleanup(server.Close)
	good := `{"block_id":{"block_number":9},"transaction":` + transaction + `}`
	for _, x := range []struct {
		old, with string
		code      int
	}{
		{`{"block_number":9}`, `"pending"`, 24},
		{`"INVOKE"`, `"DECLARE"`, 1001},
		{`"0x3"`, `"0x1"`, 1001},
		{`"tip":"0x0"`, `"tip":"0x1"`, 1000},
		{`"0x5f5e100"`, `"0x0"`, 1000},
		{`"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}`, `"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x1"}`, 1000},
		{`"tip"`, `"proof":"AA","tip"`, 1000},
		{`"tip":"0x0",`, ``, -32602},
	} {
		r := ask(t, server.URL, strings.Replace(good, x.old, x.with, 1))
		if r.Error == nil || r.Error.Code != x.code {
			t.Errorf("%s for %s: %+v, want code %d", x.with, x.old, r.Error, x.code)
		}
	}
}

// TestRoom: requests beyond the workers and the queue are told that there is no room.
func TestRoom(t *testing.T) {
	t.Parallel()
	params := `{"block_id":{"block_number":9},"transaction":` + transaction + `}`
	slow := simprover.New(simprover.Options{Workers: 1, Queue: 1, Latency: time.Hour})
	held := httptest.NewServer(slow)
	t.Cleanup(held.CloseClientConnections)
	for range 2 {
		go http.Post(held.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"starknet_proveTransaction","params":`+params+`}`)) //nolint:errcheck,noctx,bodyclose // it is never answered
	}
	deadline := time.Now().Add(time.Minute)
	for ; len(slow.Heard()) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the first two requests were not heard")
		}
	}
	if r := ask(t, held.URL, params); r.Error == nil || r.Error.Code != -32005 {
		t.Errorf("a third request found room: %+v", r.Error)
	}
}

func TestOtherRequests(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(simprover.New(simprover.Options{MaxBody: 1000}))
	t.Cleanup(server.Close)
	for _, x := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/health", "", 200, `{"status":"ok"}`},
		{"GET", "/", "", 405, "POST"},
		{"POST", "/", strings.Repeat(" ", 1001), 413, "large"},
		{"POST", "/", "{", 200, "-32700"},
		{"POST", "/", `{"jsonrpc":"2.0","id":1,"method":"starknet_specVersion"}`, 200, `"0.10.3-rc.2"`},
		{"POST", "/", `{"jsonrpc":"2.0","id":1,"method":"starknet_call"}`, 200, "-32601"},
		{"GET", "/ohttp-keys", "", 404, ""},
	} {
		r, err := http.NewRequest(x.method, server.URL+x.path, strings.NewReader(x.body)) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != x.status || !strings.Contains(string(body), x.want) {
			t.Errorf("%s %s %.60s: %d %s", x.method, x.path, x.body, resp.StatusCode, body)
		}
	}
}
