package simnode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

var specVersions = []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// post sends a body to a node without a network in between.
func post(n http.Handler, body string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	return w.Result()
}

// ask makes one call with params in JSON.
func ask(t testing.TB, n http.Handler, method, params string) response {
	t.Helper()
	resp := post(n, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"starknet_%s","params":%s}`, method, params))
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%s: %v in %q", method, err, body)
	}
	if r.Version != "2.0" || string(r.ID) != "7" || (r.Result == nil) == (r.Error == nil) {
		t.Fatalf("%s: not a response: %s", method, body)
	}
	return r
}

// must is ask for a call that succeeds.
func must(t testing.TB, n http.Handler, method, params string) json.RawMessage {
	t.Helper()
	r := ask(t, n, method, params)
	if r.Error != nil {
		t.Fatalf("%s %s: error %d %s", method, params, r.Error.Code, r.Error.Data)
	}
	return r.Result
}

func decode[T any](t testing.TB, text json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

func keysOf(t testing.TB, text json.RawMessage) []string {
	t.Helper()
	m := decode[map[string]json.RawMessage](t, text)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sortedWords(s string) []string {
	words := strings.Fields(s)
	slices.Sort(words)
	return words
}

const headerWords = `block_hash parent_hash block_number new_root timestamp sequencer_address l1_gas_price l1_data_gas_price
	l2_gas_price l1_da_mode starknet_version `

const claimWords = `event_commitment transaction_commitment receipt_commitment state_diff_commitment event_count transaction_count
	state_diff_length `

func TestErrorCodes(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 40})
	strk := contracts.STRK.String()
	tx := chain.BlockAt(5).Transactions[0].Hash.String()
	for _, c := range []struct {
		method, params string
		code           int
	}{
		{"noSuchMethod", `[]`, -32601},
		{"getBlockWithReceipts", `[]`, -32602},
		{"getBlockWithReceipts", `{"block":"latest"}`, -32602},
		{"getBlockWithReceipts", `["latest",["NO_SUCH_FLAG"]]`, -32602},
		{"getBlockWithReceipts", `["latest",[],1]`, -32602},
		{"getBlockWithReceipts", `["latest"]`, -32602}, // a list holds every member
		{"getStateUpdate", `["latest"]`, -32602},
		{"getBlockWithReceipts", `[{"block_number":99},null]`, 24},
		{"getStateUpdate", `{"block_id":{"block_number":99}}`, 24},
		{"getTransactionByHash", `{"transaction_hash":"0x1"}`, 29},
		{"getTransactionByHash", `{"transaction_hash":"1"}`, -32602},
		{"getTransactionReceipt", `["0x1"]`, 29},
		{"getTransactionStatus", `["0x1"]`, 29},
		{"getMessagesStatus", `["0x1"]`, 29},
		{"getTransactionByBlockIdAndIndex", `{"block_id":"latest","index":5000}`, 27},
		{"getClass", `["latest","0x1"]`, 28},
		{"getClass", `[{"block_number":99},"0x1"]`, 24},
		{"getClassAt", `["latest","0x1234"]`, 20},
		{"getClassHashAt", `["latest","0x1234"]`, 20},
		{"getNonce", `["latest","0x1234"]`, 20},
		{"getStorageAt", `["0x1234","0x0","latest",[]]`, 20},
		{"getStorageProof", `{"block_id":"latest"}`, 42},
		{"getCompiledCasm", `["0x1"]`, 28},
		{"getCompiledCasm", `["` + contracts.Classes().Account.Hash.String() + `"]`, 100},
		{"call", `[{"contract_address":"0x1234","entry_point_selector":"0x1","calldata":[]},"latest"]`, 20},
		{"call", `[{"contract_address":"` + strk + `","entry_point_selector":"0x1","calldata":[]},"latest"]`, 21},
		{"call", `[{"contract_address":"` + strk + `","entry_point_selector":"` + felt.Selector("balance_of").String() + `","calldata":[]},"latest"]`, 40},
		{"call", `[{"contract_address":"` + strk + `","entry_point_selector":"` + felt.Selector("transfer").String() + `","calldata":[]},"latest"]`, 40},
		{"getEvents", `[{"chunk_size":5000}]`, 31},
		{"getEvents", `[{"chunk_size":0}]`, -32602},
		{"getEvents", `[{"chunk_size":5,"continuation_token":"nonsense"}]`, 33},
		{"getEvents", `[{"chunk_size":5,"continuation_token":"3-1-9"}]`, 33},
		{"getEvents", `[{"chunk_size":5,"keys":[[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]}]`, 34},
		{"getEvents", `[{"chunk_size":5,"from_block":{"block_hash":"0x5"}}]`, 24},
		{"traceTransaction", `["0x1"]`, 29},
		{"traceBlockTransactions", `{"block_id":"pre_confirmed"}`, -32602},
		{"subscribeNewHeads", `[]`, -32601},
		{"getTransactionByHash", `["` + tx + `",["INCLUDE_LAST_UPDATE_BLOCK"]]`, -32602},
	} {
		n := simnode.NewNode(chain, simnode.NodeConfig{})
		r := ask(t, n, c.method, c.params)
		if r.Error == nil || r.Error.Code != c.code {
			t.Errorf("%s %s: %+v, want error %d", c.method, c.params, r.Error, c.code)
		}
	}
	empty := simnode.NewNode(simnode.New(simnode.Config{}), simnode.NodeConfig{})
	for _, m := range []string{"blockNumber", "blockHashAndNumber"} {
		if r := ask(t, empty, m, `[]`); r.Error == nil || r.Error.Code != 32 {
			t.Errorf("%s of an empty chain: %+v", m, r.Error)
		}
	}
	if r := ask(t, empty, "getBlockWithReceipts", `{"block_id":"latest"}`); r.Error == nil || r.Error.Code != 24 {
		t.Errorf("latest block of an empty chain: %+v", r.Error)
	}
}

func TestVersionedMethods(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 12})
	for version, want := range map[starknet.SpecVersion]string{starknet.V08: `"0.8.1"`, starknet.V09: `"0.9.0"`, starknet.V010: `"0.10.2"`} {
		n := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
		if got := string(must(t, n, "specVersion", "[]")); got != want {
			t.Errorf("version is %s, want %s", got, want)
		}
		if got := string(must(t, n, "chainId", "[]")); got != `"0x534e5f5345504f4c4941"` {
			t.Errorf("chain id is %s", got)
		}
		if got := string(must(t, n, "syncing", "[]")); got != "false" {
			t.Errorf("syncing is %s", got)
		}
		if version < starknet.V010 {
			for method, params := range map[string]string{
				"getBlockWithReceipts": `["latest",["INCLUDE_PROOF_FACTS"]]`, "getStateUpdate": `["latest",["0x1"]]`,
				"getEvents": `[{"chunk_size":1,"address":["0x1"]}]`,
			} {
				if r := ask(t, n, method, params); r.Error == nil || r.Error.Code != -32602 {
					t.Errorf("%s %s in %s: %+v", method, params, version, r.Error)
				}
			}
		}
	}
	main := simnode.NewNode(simnode.New(simnode.Config{ChainID: contracts.ChainMain, Blocks: 1}), simnode.NodeConfig{})
	if got := string(must(t, main, "chainId", "[]")); got != `"0x534e5f4d41494e"` {
		t.Errorf("chain id is %s", got)
	}
}

func TestTransactionMethods(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 1, Blocks: 50, L1Lag: 30})
	for _, version := range specVersions {
		n := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
		for _, number := range []uint64{3, 17, 45} {
			b := chain.BlockAt(number)
			for i := range b.Transactions {
				hash := b.Transactions[i].Hash.String()
				byHash := must(t, n, "getTransactionByHash", `{"transaction_hash":"`+hash+`"}`)
				byIndex := must(t, n, "getTransactionByBlockIdAndIndex", fmt.Sprintf(`{"block_id":{"block_number":%d},"index":%d}`, number, i))
				plain := b.Transactions[i]
				plain.ProofFacts = nil
				want := starknet.AppendTransaction(nil, &plain, version)
				if !bytes.Equal(byHash, want) || !bytes.Equal(byIndex, want) {
					t.Errorf("transaction %d of block %d differs", i, number)
				}
				receipt := decode[struct {
					Hash   felt.Felt `json:"block_hash"`
					Number uint64    `json:"block_number"`
					Tx     felt.Felt `json:"transaction_hash"`
					Status string    `json:"finality_status"`
				}](t, must(t, n, "getTransactionReceipt", `["`+hash+`"]`))
				if receipt.Hash != b.Hash || receipt.Number != number || receipt.Tx != b.Transactions[i].Hash || receipt.Status != b.Status.String() {
					t.Errorf("receipt %d of block %d: %+v", i, number, receipt)
				}
				status := decode[map[string]string](t, must(t, n, "getTransactionStatus", `["`+hash+`"]`))
				if status["finality_status"] != b.Status.String() || status["execution_status"] != b.Receipts[i].Execution.String() ||
					status["failure_reason"] != b.Receipts[i].RevertReason {
					t.Errorf("status %d of block %d: %v", i, number, status)
				}
			}
		}
		for _, m := range chain.Messages(0, 49) {
			if m.ToL1 {
				continue
			}
			h := simnode.L1TransactionHash(m)
			list := decode[[]map[string]string](t, must(t, n, "getMessagesStatus", fmt.Sprintf(`["0x%x"]`, h)))
			want := chain.BlockAt(m.Block).Transactions[m.TxIndex].Hash.String()
			_, execution := list[0]["execution_status"]
			if len(list) != 1 || list[0]["transaction_hash"] != want || execution != (version >= starknet.V09) {
				t.Errorf("messages of an L1 transaction: %v", list)
			}
		}
	}
}

func TestStateMethods(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: 90})
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	for number := range uint64(90) {
		id := fmt.Sprintf(`{"block_number":%d}`, number)
		u := chain.StateUpdateAt(number)
		for _, d := range u.Diff.Replaced {
			if got := decode[felt.Felt](t, must(t, n, "getClassHashAt", `[`+id+`,"`+d.Address.String()+`"]`)); got != d.ClassHash {
				t.Errorf("class of %s at block %d is %s", d.Address, number, got)
			}
			before := fmt.Sprintf(`{"block_number":%d}`, number-1)
			if got := decode[felt.Felt](t, must(t, n, "getClassHashAt", `[`+before+`,"`+d.Address.String()+`"]`)); got == d.ClassHash {
				t.Errorf("class of %s was replaced before block %d", d.Address, number)
			}
			a, b := must(t, n, "getClassAt", `[`+id+`,"`+d.Address.String()+`"]`), must(t, n, "getClass", `[`+id+`,"`+d.ClassHash.String()+`"]`)
			if !bytes.Equal(a, b) {
				t.Error("getClassAt and getClass differ")
			}
		}
		for _, d := range u.Diff.Nonces {
			if got := decode[felt.Felt](t, must(t, n, "getNonce", `[`+id+`,"`+d.Address.String()+`"]`)); got != d.Nonce {
				t.Errorf("nonce of %s is %s", d.Address, got)
			}
		}
		if number%15 == 0 {
			for _, s := range u.Diff.Storage {
				e := s.Entries[len(s.Entries)-1]
				text := must(t, n, "getStorageAt", fmt.Sprintf(`["%s","%s",%s,["INCLUDE_LAST_UPDATE_BLOCK"]]`, s.Address, e.Key, id))
				got := decode[struct {
					Value felt.Felt
					Block uint64 `json:"last_update_block"`
				}](t, text)
				if got.Value != e.Value || got.Block != number {
					t.Errorf("storage of %s at %s: %+v", s.Address, e.Key, got)
				}
			}
		}
	}
	only := must(t, n, "getStateUpdate", `[{"block_number":40},["`+contracts.STRK.String()+`"]]`)
	u, err := starknet.DecodeStateUpdate(only)
	if err != nil || len(u.Diff.Storage) != 1 || u.Diff.Storage[0].Address != contracts.STRK || len(u.Diff.Nonces) != 0 {
		t.Errorf("filtered state update: %+v, %v", u, err)
	}
}

func TestBatchesAndForm(t *testing.T) {
	chain := simnode.New(simnode.Config{Blocks: 3})
	n := simnode.NewNode(chain, simnode.NodeConfig{MaxBatch: 3})
	for _, c := range []struct{ name, body, want string }{
		{"batch", `[{"jsonrpc":"2.0","id":"a","method":"starknet_blockNumber"},{"jsonrpc":"2.0","id":2,"method":"starknet_syncing","params":[]}]`,
			`[{"jsonrpc":"2.0","id":"a","result":2},{"jsonrpc":"2.0","id":2,"result":false}]`},
		{"notification", `{"jsonrpc":"2.0","method":"starknet_blockNumber"}`, ``},
		{"notifications only", `[{"jsonrpc":"2.0","method":"starknet_blockNumber"}]`, ``},
		{"notification in batch", `[{"jsonrpc":"2.0","method":"starknet_blockNumber"},{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}]`,
			`[{"jsonrpc":"2.0","id":1,"result":2}]`},
		{"not JSON", `{"jsonrpc":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`},
		{"empty", ``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`},
		{"broken batch", `[{]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`},
		{"empty batch", `[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"number", `1`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"batch of a number", `[1]`, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}]`},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"starknet_blockNumber"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"starknet_blockNumber"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"too long", `[1,1,1,1]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request","data":"batch of more than 3 calls"}}`},
	} {
		resp := post(n, c.body)
		got, _ := io.ReadAll(resp.Body)
		if string(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if c.want == "" && resp.StatusCode != http.StatusNoContent {
			t.Errorf("%s: status %d", c.name, resp.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	n.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET gives %d", w.Code)
	}
	if got := n.Requests("starknet_syncing"); got != 1 {
		t.Errorf("%d requests counted", got)
	}
}

// The chain grows and forks while it is read.
func TestReadersDoNotDisturbTheChain(t *testing.T) {
	cfg := simnode.Config{Seed: 1, Blocks: 90, TxPerBlock: 2, Compact: true, L1Lag: 5}
	chain := simnode.New(cfg)
	n := simnode.NewNode(chain, simnode.NodeConfig{})
	holder, tx := chain.Accounts(80)[1], chain.BlockAt(50).Transactions[0].Hash.String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 25 {
			chain.Extend(3)
			chain.Fork(5)
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		for _, c := range [][2]string{
			{"blockHashAndNumber", `[]`}, {"getBlockWithReceipts", `{"block_id":"latest"}`}, {"getStateUpdate", `{"block_id":"l1_accepted"}`},
			{"getTransactionReceipt", `["` + tx + `"]`}, {"getNonce", `["latest","` + holder.String() + `"]`},
			{"getEvents", `[{"from_block":{"block_number":85},"chunk_size":20}]`}, {"traceBlockTransactions", `{"block_id":"latest"}`},
			{"call", viewCallJSON(contracts.STRK, "balanceOf", holder)},
		} {
			must(t, n, c[0], c[1])
		}
		head, _ := chain.Head()
		chain.Holders(contracts.STRK, head)
		chain.PoolAt(contracts.STRK, head)
		chain.Messages(0, head)
	}
	quiet := simnode.New(cfg)
	for range 25 {
		quiet.Extend(3)
		quiet.Fork(5)
	}
	if !bytes.Equal(wire(chain), wire(quiet)) {
		t.Error("readers changed the chain")
	}
}

func viewCallJSON(contract felt.Felt, name string, arg felt.Felt) string {
	return fmt.Sprintf(`[{"contract_address":"%s","entry_point_selector":"%s","calldata":["%s"]},"latest"]`, contract, felt.Selector(name), arg)
}

func FuzzAnswer(f *testing.F) {
	n := simnode.NewNode(simnode.New(simnode.Config{Blocks: 4}), simnode.NodeConfig{})
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"starknet_getEvents","params":[{"chunk_size":3,"keys":[["0x1"]],"continuation_token":"1-1"}]}`,
		`[{"jsonrpc":"2.0","id":1,"method":"starknet_call","params":[{"contract_address":"0x1","entry_point_selector":"0x1","calldata":["0x1"]},"latest"]}]`,
		`{"jsonrpc":"2.0","id":1,"method":"starknet_addInvokeTransaction","params":[{"type":"INVOKE","version":"0x3","tip":"0x0"}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		resp := post(n, body)
		got, _ := io.ReadAll(resp.Body)
		if len(got) > 0 && !json.Valid(got) {
			t.Errorf("%q was answered by %q", body, got)
		}
	})
}
