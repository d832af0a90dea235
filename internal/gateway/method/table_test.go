package method_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// specification is what versions 0.8, 0.9 and 0.10 have: a method, its parameters in
// positional order, and its errors. A question mark is an optional parameter; what
// begins with a version is there from it on, and =0.8 is there in that version alone.
const specification = `
specVersion :
chainId :
blockNumber : 32
blockHashAndNumber : 32
syncing :
getBlockWithTxHashes block_id : 24
getBlockWithTxs block_id 0.10/response_flags? : 24
getBlockWithReceipts block_id 0.10/response_flags? : 24
getStateUpdate block_id 0.10/contract_addresses? : 24
getStorageAt contract_address key block_id 0.10/response_flags? : 20 24
getTransactionStatus transaction_hash : 29
getMessagesStatus transaction_hash : 29
getTransactionByHash transaction_hash 0.10/response_flags? : 29
getTransactionByBlockIdAndIndex block_id index 0.10/response_flags? : 24 27
getTransactionReceipt transaction_hash : 29
getClass block_id class_hash : 24 28
getClassHashAt block_id contract_address : 24 20
getClassAt block_id contract_address : 24 20
getBlockTransactionCount block_id : 24
call request block_id : 20 21 40 24
estimateFee request simulation_flags block_id : 0.10/20 41 24
estimateMessageFee message block_id : 0.10/20 40 24
getEvents filter : 31 33 24 34
getNonce block_id contract_address : 24 20
getStorageProof block_id class_hashes? contract_addresses? contracts_storage_keys? : 24 42
getCompiledCasm class_hash : 100 28
addInvokeTransaction invoke_transaction : 54 53 52 0.9/64 0.9/65 55 58 59 61 0.10/69 63
addDeclareTransaction declare_transaction : 51 56 60 54 53 52 0.9/64 0.9/65 55 58 59 57 61 62 63
addDeployAccountTransaction deploy_account_transaction : 54 53 52 0.9/64 0.9/65 55 58 28 59 61 63
traceTransaction transaction_hash : 29 10
simulateTransactions block_id transactions simulation_flags : 24 41
traceBlockTransactions block_id 0.10/trace_flags? : 24
subscribeNewHeads block_id? : 68 24
subscribeEvents from_address? keys? block_id? 0.9/finality_status? : 34 68 24
subscribeTransactionStatus transaction_hash :
0.9/subscribeNewTransactionReceipts finality_status? sender_address? : 67
0.9/subscribeNewTransactions finality_status? sender_address? 0.10/tags? : 67
=0.8/subscribePendingTransactions transaction_details? sender_address? : 67
unsubscribe subscription_id : 66
`

var versions = map[string]starknet.SpecVersion{"0.8": starknet.V08, "0.9": starknet.V09, "0.10": starknet.V010}

// inVersion takes the mark of a word away, and says whether a version has it.
func inVersion(word string, v starknet.SpecVersion) (string, bool) {
	mark, rest, marked := strings.Cut(word, "/")
	if !marked {
		return word, true
	}
	if only, ok := strings.CutPrefix(mark, "="); ok {
		return rest, versions[only] == v
	}
	return rest, versions[mark] <= v
}

// facts is the specification of one version in lines.
func facts(v starknet.SpecVersion) (lines []string) {
	for _, line := range strings.Split(strings.TrimSpace(specification), "\n") {
		words := []string{}
		for i, word := range strings.Fields(line) {
			name, has := inVersion(word, v)
			if i == 0 && !has {
				words = nil
				break
			}
			if has {
				words = append(words, name)
			}
		}
		if words != nil {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines
}

// told is what the table says, in the same form.
func told(m *method.Method, v starknet.SpecVersion) string {
	line := []string{strings.TrimPrefix(m.Name, "starknet_")}
	for _, p := range m.ParamsIn(v) {
		if !p.Required {
			p.Name += "?"
		}
		line = append(line, p.Name)
	}
	line = append(line, ":")
	for _, e := range m.ErrorsIn(v) {
		line = append(line, strconv.Itoa(e.Code))
	}
	return strings.Join(line, " ")
}

func TestTheTableIsTheSpecification(t *testing.T) {
	for name, v := range versions {
		want, got := facts(v), []string{}
		for _, m := range method.In(v) {
			if m.Name != method.Discover { // of OpenRPC
				got = append(got, told(m, v))
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("version %s: the table lacks %q", name, line)
			}
		}
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Errorf("version %s: the specification lacks %q", name, line)
			}
		}
		if len(got) != len(want) {
			t.Errorf("version %s: %d methods, want %d", name, len(got), len(want))
		}
	}
}

// classes are those of the contract; subscriptions are for the WebSocket.
const classes = `
rpc_read_light: rpc.discover chainId specVersion blockNumber blockHashAndNumber syncing
rpc_read_state: call getStorageAt getStorageProof getClass getClassHashAt getClassAt getCompiledCasm getNonce
rpc_read_history: getBlockWithTxHashes getBlockWithTxs getBlockWithReceipts getBlockTransactionCount getTransactionByBlockIdAndIndex getTransactionByHash getTransactionReceipt getTransactionStatus getMessagesStatus getStateUpdate getEvents
rpc_simulation: simulateTransactions estimateFee estimateMessageFee
rpc_write: addInvokeTransaction addDeclareTransaction addDeployAccountTransaction
rpc_trace: traceTransaction traceBlockTransactions
rpc_ws: subscribeNewHeads subscribeEvents subscribeTransactionStatus subscribeNewTransactionReceipts subscribeNewTransactions subscribePendingTransactions unsubscribe
`

func TestTheClassesAreThoseOfTheContract(t *testing.T) {
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(classes), "\n") {
		class, names, _ := strings.Cut(line, ": ")
		for _, name := range strings.Fields(names) {
			want[name] = class
		}
	}
	for _, m := range method.All() {
		name := strings.TrimPrefix(m.Name, "starknet_")
		if want[name] != string(m.Class) {
			t.Errorf("%s is of class %s, want %q", name, m.Class, want[name])
		}
		delete(want, name)
		scopes := map[method.Class]string{method.Write: "read write", method.Trace: "read trace"}[m.Class]
		if scopes == "" {
			scopes = "read"
		}
		if got := strings.Join(m.Scopes(), " "); got != scopes {
			t.Errorf("%s needs the scopes %s, want %s", name, got, scopes)
		}
		if m.Class == method.Write && m.Keep != method.Never {
			t.Errorf("%s: what a write was answered must not be kept", name)
		}
		if (m.Push != "") != strings.HasPrefix(name, "subscribe") || (m.Push != "") != (m.Pushed != nil) {
			t.Errorf("%s: pushes %q", name, m.Push)
		}
		if m.Summary == "" || m.MaxAnswer == 0 || m.Cost < 1 || m.TooLarge == "" || m.Timeout == 0 && !m.Stream() {
			t.Errorf("%s is not complete: %+v", name, m)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the table: %v", want)
	}
}

// TestErrorsHaveNames: every code of the table, and the two tables of errors name none twice.
func TestErrorsHaveNames(t *testing.T) {
	for _, m := range method.All() {
		for _, code := range m.Errors {
			if _, ok := method.ErrorOf(code); !ok {
				t.Errorf("%s: error %d has no name", m.Name, code)
			}
		}
	}
	seen := map[string]bool{}
	for _, e := range method.NodeErrors() {
		if key := fmt.Sprint(e.Code); seen[key] || seen[e.Name] || e.Meaning == "" {
			t.Errorf("error %d %s: there twice, or without a meaning", e.Code, e.Name)
		} else {
			seen[key], seen[e.Name] = true, true
		}
	}
	for _, r := range method.Refusals() {
		if seen[r.Name] || r.Cause == "" || r.Cure == "" || r.Status < 200 || r.Code > -32000 {
			t.Errorf("refusal %+v: there twice, or not complete", r)
		}
		seen[r.Name] = true
	}
}
