package method_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// judge holds values against the schemas of a document. Objects are closed for it: a
// field that is not described is a mistake.
type judge struct {
	t        *testing.T
	version  starknet.SpecVersion
	compiler *jsonschema.Compiler
	at       map[string]int // place of a method in the document
	schemas  map[string]*jsonschema.Schema
	node     *simnode.Node
	answered map[string]bool
}

func newJudge(t *testing.T, v starknet.SpecVersion, node *simnode.Node) *judge {
	t.Helper()
	doc := decoded(t, document(v))
	closeObjects(doc)
	j := &judge{t: t, version: v, compiler: jsonschema.NewCompiler(), at: map[string]int{}, schemas: map[string]*jsonschema.Schema{}, node: node, answered: map[string]bool{}}
	j.compiler.DefaultDraft(jsonschema.Draft7)
	if err := j.compiler.AddResource(documentURL, doc); err != nil {
		t.Fatal(err)
	}
	for i, m := range method.In(v) {
		j.at[m.Name] = i
	}
	return j
}

func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			closeObjects(e)
		}
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			closeObjects(e)
		}
	}
}

// holds checks a value against the schema that a pointer below a method leads to.
func (j *judge) holds(name, pointer string, value []byte) {
	j.t.Helper()
	pointer = fmt.Sprintf("#/methods/%d/%s", j.at[name], pointer)
	s := j.schemas[pointer]
	if s == nil {
		var err error
		if s, err = j.compiler.Compile(documentURL + pointer); err != nil {
			j.t.Fatal(err)
		}
		j.schemas[pointer] = s
	}
	if err := s.Validate(decoded(j.t, value)); err != nil {
		j.t.Errorf("version %s: %s: %s: %v\n%.600s", j.version, name, pointer, err, value)
	}
}

// call asks the node, and holds what is sent and what comes back against the document.
func (j *judge) call(name string, params ...string) json.RawMessage {
	j.t.Helper()
	name = "starknet_" + name
	args, err := method.Lookup(name).Bind([]byte("["+strings.Join(params, ",")+"]"), j.version)
	if err != nil {
		j.t.Fatal(err)
	}
	for i, p := range method.Lookup(name).ParamsIn(j.version) {
		if value := args[p.Name]; value != nil {
			j.holds(name, fmt.Sprintf("params/%d/schema", i), value)
		}
	}
	named, err := json.Marshal(args) // some nodes want all or none by position
	if err != nil {
		j.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	j.node.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"`+name+`","params":`+string(named)+`}`)))
	body, err := io.ReadAll(w.Body)
	if err != nil {
		j.t.Fatal(err)
	}
	var r struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(body, &r); err != nil || r.Error != nil {
		j.t.Fatalf("version %s: %s %v: %v %s", j.version, name, params, err, r.Error)
	}
	j.holds(name, "result/schema", r.Result)
	j.answered[name] = true
	return r.Result
}

func quote(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) }

// sent is a transaction of some kind as it is sent.
func sent(t *testing.T, kind string, sender felt.Felt, nonce uint64, more map[string]any) string {
	t.Helper()
	limit := map[string]string{"max_amount": "0x1000000", "max_price_per_unit": "0x1000000000"}
	tx := map[string]any{
		"type": kind, "version": "0x3", "sender_address": sender, "signature": []string{"0x1", "0x2"}, "nonce": felt.FromUint64(nonce), "tip": "0x0",
		"paymaster_data": []any{}, "account_deployment_data": []any{}, "nonce_data_availability_mode": "L1", "fee_data_availability_mode": "L1",
		"resource_bounds": map[string]any{"l1_gas": limit, "l2_gas": limit, "l1_data_gas": limit},
	}
	for name, value := range more {
		if tx[name] = value; value == nil {
			delete(tx, name)
		}
	}
	text, err := json.Marshal(tx)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// transfer is an invoke transaction that the simulated chain carries out.
func transfer(t *testing.T, sender, to felt.Felt, nonce, amount uint64) string {
	t.Helper()
	return sent(t, "INVOKE", sender, nonce, map[string]any{"calldata": []felt.Felt{
		felt.FromUint64(1), contracts.STRK, contracts.SelFnTransfer, felt.FromUint64(3), to, felt.FromUint64(amount), felt.Zero}})
}

// Simulated nodes have neither tries nor compiled classes.
var notSimulated = map[string]string{
	"starknet_getStorageProof": `{"classes_proof":[{"node_hash":"0x1","node":{"left":"0x2","right":"0x3"}}],
		"contracts_proof":{"nodes":[{"node_hash":"0x1","node":{"path":"0x5","length":3,"child":"0x7"}}],"contract_leaves_data":[{"nonce":"0x0","class_hash":"0x1"}]},
		"contracts_storage_proofs":[[]],"global_roots":{"contracts_tree_root":"0x1","classes_tree_root":"0x2","block_hash":"0x3"}}`,
	"starknet_getCompiledCasm": `{"prime":"0x800000000000011000000000000000000000000000000000000000000000001","compiler_version":"2.6.0","bytecode":["0x1"],
		"hints":[[0,["x"]]],"entry_points_by_type":{"CONSTRUCTOR":[],"EXTERNAL":[{"offset":0,"selector":"0x1","builtins":["range_check"]}],"L1_HANDLER":[]}}`,
}

// TestAnswersFitTheirSchemas calls every method in every version.
func TestAnswersFitTheirSchemas(t *testing.T) {
	for name, v := range versions {
		t.Run(name, func(t *testing.T) {
			chain := simnode.New(simnode.Config{Seed: 5, Blocks: 60})
			j := newJudge(t, v, simnode.NewNode(chain, simnode.NodeConfig{Version: v}))
			j.readEverything(chain)
			j.sendEverything(chain)
			for name, sample := range notSimulated {
				j.holds(name, "result/schema", []byte(sample))
				j.answered[name] = true
			}
			for _, m := range method.In(v) {
				if !m.Stream() && m.Name != method.Discover && !j.answered[m.Name] {
					t.Errorf("%s was not called", m.Name)
				}
			}
		})
	}
}

// readEverything reads all blocks, and all that is in them.
func (j *judge) readEverything(chain *simnode.Chain) {
	j.t.Helper()
	for _, name := range []string{"specVersion", "chainId", "blockNumber", "blockHashAndNumber", "syncing"} {
		j.call(name)
	}
	head, _ := chain.Head()
	tags := []string{`"latest"`, `"pending"`}
	if j.version >= starknet.V09 {
		tags = []string{`"latest"`, `"pre_confirmed"`, `"l1_accepted"`}
	}
	for n := range head + 1 {
		tags = append(tags, fmt.Sprintf(`{"block_number":%d}`, n))
	}
	for _, id := range tags {
		for _, name := range []string{"getBlockWithTxHashes", "getBlockWithTxs", "getBlockWithReceipts", "getBlockTransactionCount", "getStateUpdate"} {
			j.call(name, id)
		}
		if id != `"pending"` && id != `"pre_confirmed"` {
			j.call("traceBlockTransactions", id)
		}
	}
	for n := range head + 1 {
		b := chain.BlockAt(n)
		for i := range b.Transactions {
			hash := quote(b.Transactions[i].Hash)
			for _, name := range []string{"getTransactionByHash", "getTransactionReceipt", "getTransactionStatus", "traceTransaction"} {
				j.call(name, hash)
			}
			j.call("getTransactionByBlockIdAndIndex", `{"block_hash":`+quote(b.Hash)+`}`, strconv.Itoa(i))
		}
	}
	for _, m := range chain.Messages(0, head) {
		if !m.ToL1 {
			j.call("getMessagesStatus", fmt.Sprintf(`"%#x"`, simnode.L1TransactionHash(m)))
		}
	}
	for _, c := range chain.Classes(head) {
		j.call("getClass", `"latest"`, quote(c.Hash))
	}
	for _, name := range []string{"getClassAt", "getClassHashAt", "getNonce"} {
		j.call(name, `"latest"`, quote(contracts.STRK))
	}
	j.call("getStorageAt", quote(contracts.STRK), `"0x1"`, `"latest"`)
	j.call("call", `{"contract_address":`+quote(contracts.STRK)+`,"entry_point_selector":`+quote("0x4c4fb1ab068f6039d5780c68dd0fa2f8742cceb3426d19667778ca7f3518a9")+`,"calldata":[]}`, `"latest"`)
	j.call("getEvents", `{"from_block":{"block_number":0},"to_block":"latest","chunk_size":1000}`)
	j.call("getEvents", `{"address":`+quote(contracts.STRK)+`,"keys":[[],["0x1"]],"chunk_size":5}`)
	if j.version >= starknet.V010 {
		j.call("getEvents", `{"address":[`+quote(contracts.STRK)+`],"chunk_size":5}`)
		j.call("getStorageAt", quote(contracts.STRK), `"0x1"`, `"latest"`, `["INCLUDE_LAST_UPDATE_BLOCK"]`)
		j.call("getBlockWithTxs", `"latest"`, `["INCLUDE_PROOF_FACTS"]`)
		j.call("getStateUpdate", `"latest"`, `[`+quote(contracts.STRK)+`]`)
		j.call("traceBlockTransactions", `"latest"`, `["RETURN_INITIAL_READS"]`)
	}
}

// sendEverything estimates, runs and sends transactions of all kinds.
func (j *judge) sendEverything(chain *simnode.Chain) {
	j.t.Helper()
	head, _ := chain.Head()
	sender := chain.Accounts(head)[1]
	nonce, _ := chain.NonceAt(sender, head)
	class := contracts.Variant(9999)
	account := contracts.Classes().Account.Hash
	address := starknet.ComputeContractAddress(felt.Zero, felt.FromUint64(5), account, nil)
	invoke := transfer(j.t, sender, address, nonce, 2e17)
	declare := sent(j.t, "DECLARE", sender, nonce+1, map[string]any{"compiled_class_hash": "0x77", "contract_class": json.RawMessage(starknet.AppendClass(nil, &class.Class))})
	deploy := sent(j.t, "DEPLOY_ACCOUNT", sender, 0, map[string]any{"class_hash": account, "contract_address_salt": "0x5", "constructor_calldata": []string{},
		"sender_address": nil, "account_deployment_data": nil})

	j.call("estimateFee", `[`+invoke+`]`, `["SKIP_VALIDATE"]`, `"latest"`)
	j.call("simulateTransactions", `"latest"`, `[`+invoke+`]`, `["SKIP_FEE_CHARGE"]`)
	if j.version >= starknet.V010 {
		j.call("simulateTransactions", `"latest"`, `[`+invoke+`]`, `["RETURN_INITIAL_READS"]`)
	}
	j.call("estimateMessageFee", `{"from_address":"0x`+strings.Repeat("1", 40)+`","to_address":`+quote(chain.Network().MultiBridge)+`,"entry_point_selector":"0x1","payload":[]}`, `"latest"`)
	j.call("addInvokeTransaction", invoke)
	j.call("addDeclareTransaction", declare)
	chain.Extend(1)
	j.call("addDeployAccountTransaction", deploy)
}

// TestNotificationsFitTheirSchemas subscribes to everything, and makes a fork.
func TestNotificationsFitTheirSchemas(t *testing.T) {
	for name, v := range versions {
		t.Run(name, func(t *testing.T) {
			chain := simnode.New(simnode.Config{Seed: 5, Blocks: 20})
			node := simnode.NewNode(chain, simnode.NodeConfig{Version: v})
			j := newJudge(t, v, node)
			server := httptest.NewServer(node)
			t.Cleanup(server.Close)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			t.Cleanup(cancel)
			conn, _, err := websocket.Dial(ctx, server.URL+"/ws", nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.CloseNow() }) //nolint:errcheck // it is over
			conn.SetReadLimit(-1)

			sender := chain.Accounts(19)[1]
			nonce, _ := chain.NonceAt(sender, 19)
			w := j.call("addInvokeTransaction", transfer(t, sender, felt.FromUint64(5), nonce, 1))
			var told struct {
				Hash string `json:"transaction_hash"`
			}
			if err := json.Unmarshal(w, &told); err != nil {
				t.Fatal(err)
			}
			params := map[string]string{"starknet_subscribeTransactionStatus": `{"transaction_hash":"` + told.Hash + `"}`, "starknet_subscribePendingTransactions": `{"transaction_details":true}`}
			by, waiting := map[string]string{}, map[string]bool{method.Reorg: true}
			for _, m := range method.In(v) {
				if m.Push == "" {
					continue
				}
				by[m.Push], waiting[m.Push] = m.Name, true
				p := params[m.Name]
				if p == "" {
					p = "{}"
				}
				text := `{"jsonrpc":"2.0","id":"` + m.Name + `","method":"` + m.Name + `","params":` + p + `}`
				if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			subscribed := len(by)
			for len(waiting) > 0 || subscribed > 0 {
				_, text, err := conn.Read(ctx)
				if err != nil {
					t.Fatalf("%v, while waiting for %v", err, waiting)
				}
				var m struct {
					ID            string
					Method        string
					Result, Error json.RawMessage
					Params        struct {
						ID     json.RawMessage `json:"subscription_id"`
						Result json.RawMessage
					}
				}
				if err := json.Unmarshal(text, &m); err != nil || m.Error != nil {
					t.Fatalf("%v in %s", err, text)
				}
				switch {
				case m.Method == "":
					j.holds(m.ID, "result/schema", m.Result)
					if subscribed--; subscribed == 0 {
						chain.Extend(3)
					}
				case m.Method == method.Reorg:
					j.holds("starknet_subscribeNewHeads", "x-service-notifications/1/result", m.Params.Result)
				case by[m.Method] == "":
					t.Errorf("%s was pushed, which nothing leads to", m.Method)
				default:
					j.holds(by[m.Method], "x-service-notifications/0/result", m.Params.Result)
					if m.Method == "starknet_subscriptionNewHeads" && strings.Contains(string(m.Params.Result), `"block_number":22,`) && waiting[method.Reorg] {
						chain.Fork(2) // what is gone was seen
					}
				}
				delete(waiting, m.Method)
			}
		})
	}
}

// TestSchemasChangeWithTheVersions holds what answers alone do not show: what must be
// there, and which words are taken.
func TestSchemasChangeWithTheVersions(t *testing.T) {
	for _, c := range []struct {
		component, field string
		needed           string // first version in which it must be there
	}{
		{"BLOCK_HEADER", "l2_gas_price", "0.8"}, {"BLOCK_HEADER", "event_count", "0.10"}, {"BLOCK_HEADER", "receipt_commitment", "0.10"},
		{"EMITTED_EVENT", "transaction_index", "0.10"}, {"EMITTED_EVENT", "event_index", "0.10"}, {"PUSHED_EVENT", "finality_status", "0.9"},
		{"RECEIPT_WITH_BLOCK", "block_number", "0.9"}, {"EVENT_FILTER", "chunk_size", "0.8"},
	} {
		for name, v := range versions {
			if got, want := slices.Contains(method.Component(c.component, v).Required, c.field), v >= versions[c.needed]; got != want {
				t.Errorf("version %s: %s of %s must be there: %v, want %v", name, c.field, c.component, got, want)
			}
		}
	}
	for _, c := range []struct {
		component string
		value     string
		versions  string // that take it
	}{
		{"BLOCK_ID", `"latest"`, "0.8 0.9 0.10"}, {"BLOCK_ID", `"pending"`, "0.8"}, {"BLOCK_ID", `"pre_confirmed"`, "0.9 0.10"}, {"BLOCK_ID", `"l1_accepted"`, "0.9 0.10"},
		{"BLOCK_ID", `{"block_number":-1}`, ""}, {"BLOCK_ID", `{"block_hash":"0x00"}`, ""}, {"BLOCK_ID", `{"block_number":1,"block_hash":"0x1"}`, ""}, {"BLOCK_ID", `7`, ""},
		{"TRACED_BLOCK_ID", `"pre_confirmed"`, ""}, {"TRACED_BLOCK_ID", `"pending"`, "0.8"}, {"PROVEN_BLOCK_ID", `"pending"`, ""}, {"PROVEN_BLOCK_ID", `"pre_confirmed"`, ""},
		{"EMITTERS", `"0x1"`, "0.8 0.9 0.10"}, {"EMITTERS", `["0x1","0x2"]`, "0.10"}, {"SIMULATION_FLAGS", `["RETURN_INITIAL_READS"]`, "0.10"},
		{"TXN_STATUS", `"REJECTED"`, "0.8"}, {"TXN_STATUS", `"CANDIDATE"`, "0.9 0.10"}, {"SUBSCRIPTION_ID", `7`, "0.8"},
	} {
		for name, v := range versions {
			doc := decoded(t, document(v))
			compiler := jsonschema.NewCompiler()
			compiler.DefaultDraft(jsonschema.Draft7)
			if err := compiler.AddResource(documentURL, doc); err != nil {
				t.Fatal(err)
			}
			s, err := compiler.Compile(documentURL + "#/components/schemas/" + c.component)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := s.Validate(decoded(t, []byte(c.value))) == nil, slices.Contains(strings.Fields(c.versions), name); got != want {
				t.Errorf("version %s: %s as %s is taken: %v, want %v", name, c.value, c.component, got, want)
			}
		}
	}
}
