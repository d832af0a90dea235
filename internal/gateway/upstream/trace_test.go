package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

func TestTracesOfEveryVersionAreWhole(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 30})
	kinds := map[starknet.TxType]int{}
	for _, v := range []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010} {
		sim := simnode.NewNode(chain, simnode.NodeConfig{Version: v})
		for n := range uint64(30) {
			block := fmt.Sprintf(`{"block_id":{"block_number":%d}}`, n)
			if err := checkTrace("starknet_traceBlockTransactions", []byte(straight(t, sim, "starknet_traceBlockTransactions", block))); err != nil {
				t.Fatalf("%s, block %d: %v", v, n, err)
			}
			for i := range chain.BlockAt(n).Transactions {
				tx := &chain.BlockAt(n).Transactions[i]
				kinds[tx.Type]++
				hash := fmt.Sprintf(`{"transaction_hash":%q}`, tx.Hash)
				if err := checkTrace("starknet_traceTransaction", []byte(straight(t, sim, "starknet_traceTransaction", hash))); err != nil {
					t.Fatalf("%s, block %d: %v", v, n, err)
				}
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("only %v", kinds)
	}
}

const anInvocation = `{"contract_address":"0x1","entry_point_selector":"0x2","calldata":["0x3"],"caller_address":"0x4",
	"class_hash":"0x5","entry_point_type":"EXTERNAL","call_type":"CALL","result":["0x6"],"calls":[],"events":[{"order":0,"keys":["0x7"],"data":[]}],
	"messages":[{"order":0,"from_address":"0x8","to_address":"0x9","payload":["0xa"]}],"execution_resources":{"l1_gas":1,"l2_gas":2},"is_reverted":false}`

func aTrace(kind, member string) string {
	call := strings.Replace(anInvocation, `"calls":[]`, `"calls":[`+anInvocation+`]`, 1)
	return fmt.Sprintf(`{"type":%q,%q:%s,"validate_invocation":%s,"execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3}}`, kind, member, call, anInvocation)
}

// Whatever a trace must have and has not, or has in a form that it cannot have, is found.
func TestIncompleteTraces(t *testing.T) {
	const trace = "starknet_traceTransaction"
	needed := map[string]string{"INVOKE": "execute_invocation", "DEPLOY_ACCOUNT": "constructor_invocation", "L1_HANDLER": "function_invocation"}
	for kind, member := range needed {
		whole := aTrace(kind, member)
		if err := checkTrace(trace, []byte(whole)); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var tree any
		if err := json.Unmarshal([]byte(whole), &tree); err != nil {
			t.Fatal(err)
		}
		found := 0
		for path, spoilt := range spoil(tree) {
			err := checkTrace(trace, []byte(spoilt))
			optional := strings.HasSuffix(path, "order gone") || path == "/validate_invocation gone" ||
				strings.HasSuffix(path, "order null") || path == "/validate_invocation null"
			if (err == nil) != optional {
				t.Errorf("%s %s: %v", kind, path, err)
			}
			found++
		}
		if found < 150 {
			t.Errorf("only %d ways to spoil it", found)
		}
	}
	for text, whole := range map[string]bool{
		`{"type":"INVOKE","execute_invocation":{"revert_reason":"x"},"execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3}}`: true,
		`{"type":"INVOKE","execute_invocation":{"revert_reason":1},"execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3}}`:   false,
		`{"type":"DECLARE","execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3},"state_diff":{"x":[]},"more":1}`:            true,
		`{"type":"DECLARE","type":"DECLARE","execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3}}`:                          false,
		`{"type":"OTHER","execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3}}`:                                             false,
		`null`: false, `[]`: false, `"x"`: false, `{}`: false,
	} {
		if err := checkTrace(trace, []byte(text)); (err == nil) != whole {
			t.Errorf("%s: %v", text, err)
		}
	}
	one := aTrace("INVOKE", "execute_invocation")
	for _, c := range []struct {
		method, text string
		whole        bool
	}{
		{"starknet_traceBlockTransactions", `[]`, true},
		{"starknet_traceBlockTransactions", `[{"transaction_hash":"0x1","trace_root":` + one + `}]`, true},
		{"starknet_traceBlockTransactions", `[{"trace_root":` + one + `}]`, false},
		{"starknet_traceBlockTransactions", `[{"transaction_hash":"0x1"}]`, false},
		{"starknet_traceBlockTransactions", `{"traces":[{"transaction_hash":"0x1","trace_root":` + one + `}],"initial_reads":{}}`, true},
		{"starknet_traceBlockTransactions", `{"traces":[{"transaction_hash":"0x1","trace_root":{}}],"initial_reads":{}}`, false},
		{"starknet_traceBlockTransactions", `{"initial_reads":{}}`, false},
		{"starknet_simulateTransactions", `[{"transaction_trace":` + one + `,"fee_estimation":{}}]`, true},
		{"starknet_simulateTransactions", `[{"fee_estimation":{}}]`, false},
		{"starknet_simulateTransactions", `{"simulated_transactions":[{"transaction_trace":` + one + `,"fee_estimation":{}}],"initial_reads":{}}`, true},
		{"starknet_getNonce", `[{}]`, true},
	} {
		if err := checkTrace(c.method, []byte(c.text)); (err == nil) != c.whole {
			t.Errorf("%s %.80s: %v", c.method, c.text, err)
		}
	}
}

// spoil makes copies of a value, each without one member, with it null, or with it of
// another type.
func spoil(tree any) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				at := path + "/" + name
				delete(v, name)
				out[at+" gone"] = marshal(tree)
				v[name] = nil
				out[at+" null"] = marshal(tree)
				for _, other := range []any{-1, map[string]any{}, "zero", []any{1}} {
					v[name] = other
					out[fmt.Sprintf("%s %v", at, other)] = marshal(tree)
				}
				v[name] = value
				walk(at, value)
			}
		case []any:
			for i, value := range v {
				walk(fmt.Sprintf("%s/%d", path, i), value)
			}
		}
	}
	walk("", tree)
	return out
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestIncompleteTraceIsNotReturned(t *testing.T) {
	s := fixed(`{"type":"INVOKE","execution_resources":{"l1_gas":1,"l1_data_gas":2,"l2_gas":3}}`)
	u := New(Options{Pool: s})
	a, err := call(t, u, "starknet_traceTransaction", `["0x1"]`)
	var incomplete *IncompleteTraceError
	if !errors.As(err, &incomplete) || incomplete.Node != "n" || a.Result != nil {
		t.Fatalf("%s, %v", a.Result, err)
	}
	if _, freed := s.count(); freed != 1 {
		t.Error("the memory of the answer was not given back")
	}
}

func BenchmarkCheckTrace(b *testing.B) {
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 10, TxPerBlock: 200})
	sim := simnode.NewNode(chain, simnode.NodeConfig{})
	var h http.Handler = sim
	text := []byte(straight(b, h, "starknet_traceBlockTransactions", `{"block_id":{"block_number":9}}`))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := checkTrace("starknet_traceBlockTransactions", text); err != nil {
			b.Fatal(err)
		}
	}
}

// fixed are nodes with one answer.
func fixed(result string) *scripted {
	return &scripted{answer: answers(node.Told{Result: json.RawMessage(result), Node: "n"}, nil)}
}
