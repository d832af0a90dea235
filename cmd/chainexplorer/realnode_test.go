package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"
)

// Real blocks in the sequencer's own format, as Juno keeps them for its tests. A
// node's answers are made of them here as the public specification has it, without
// any type of ours.

type object = map[string]any

// realChain is the beginning of a public network.
type realChain struct {
	id              string
	blocks, updates []object // as the sequencer gave them
}

var bareHex = regexp.MustCompile(`"([0-9a-f]{60,64})"`) // which the oldest files have without 0x

// readReal reads the first blocks of a network: mainnet or sepolia.
func readReal(t *testing.T, id, network string, blocks int) *realChain {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NethermindEth/juno").Output()
	if err != nil {
		t.Fatalf("find the module with real blocks: %v", err)
	}
	read := func(kind string, n int) (o object) {
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "clients", "feeder", "testdata", network, kind, fmt.Sprint(n, ".json")))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(bareHex.ReplaceAll(b, []byte(`"0x$1"`)), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	c := &realChain{id: id}
	for n := range blocks {
		c.blocks, c.updates = append(c.blocks, read("block", n)), append(c.updates, read("state_update", n))
	}
	return c
}

func list(v any) []any {
	if v == nil {
		return []any{}
	}
	return v.([]any)
}

func or(v, def any) any {
	if v == nil {
		return def
	}
	return v
}

// transaction is what a node says of one.
func (c *realChain) transaction(from object) object {
	out := object{"transaction_hash": from["transaction_hash"], "type": from["type"], "version": from["version"]}
	take := func(names ...string) {
		for _, n := range names {
			out[n] = or(from[n], []any{})
		}
	}
	switch from["type"] {
	case "INVOKE_FUNCTION":
		out["type"] = "INVOKE"
		take("calldata", "signature", "max_fee")
		if from["version"] == "0x0" {
			take("contract_address", "entry_point_selector")
		} else {
			take("sender_address", "nonce")
		}
	case "DEPLOY":
		take("contract_address_salt", "constructor_calldata", "class_hash")
	case "DEPLOY_ACCOUNT":
		take("contract_address_salt", "constructor_calldata", "class_hash", "signature", "max_fee", "nonce")
	case "DECLARE":
		take("sender_address", "class_hash", "signature", "max_fee")
	case "L1_HANDLER":
		take("contract_address", "entry_point_selector", "calldata", "nonce")
	}
	return out
}

func (c *realChain) receipt(tx, from object, status any) object {
	out := object{
		"transaction_hash": tx["transaction_hash"], "type": c.transaction(tx)["type"], "finality_status": status,
		"execution_status": from["execution_status"], "actual_fee": object{"amount": from["actual_fee"], "unit": "WEI"},
		"events": from["events"], "messages_sent": []any{},
		"execution_resources": object{"l1_gas": 0, "l1_data_gas": 0, "l2_gas": 0},
	}
	for _, m := range list(from["l2_to_l1_messages"]) {
		out["messages_sent"] = append(out["messages_sent"].([]any), m)
	}
	switch tx["type"] {
	case "DEPLOY", "DEPLOY_ACCOUNT":
		out["contract_address"] = or(tx["contract_address"], tx["sender_address"])
	case "L1_HANDLER":
		out["message_hash"] = messageHash(tx)
	}
	return out
}

// messageHash is that of a message from L1, which the sequencer does not say: the
// Keccak of sender, recipient, nonce, selector, and payload with its length.
func messageHash(tx object) string {
	calldata := list(tx["calldata"])
	words := []any{calldata[0], tx["contract_address"], tx["nonce"], tx["entry_point_selector"], fmt.Sprintf("%#x", len(calldata)-1)}
	h := sha3.NewLegacyKeccak256()
	for _, w := range append(words, calldata[1:]...) {
		n, ok := new(big.Int).SetString(w.(string), 0)
		if !ok {
			panic(fmt.Sprintf("%v is no number", w))
		}
		h.Write(n.FillBytes(make([]byte, 32))) //nolint:errcheck // a hash never fails
	}
	return fmt.Sprintf("%#x", new(big.Int).SetBytes(h.Sum(nil)))
}

func (c *realChain) blockWithReceipts(n int) object {
	b := c.blocks[n]
	price := func(name string) object {
		p, _ := b[name].(object)
		return object{"price_in_wei": or(p["price_in_wei"], or(b["gas_price"], "0x0")), "price_in_fri": or(p["price_in_fri"], "0x0")}
	}
	items := []any{}
	for i, tx := range list(b["transactions"]) {
		items = append(items, object{"transaction": c.transaction(tx.(object)), "receipt": c.receipt(tx.(object), list(b["transaction_receipts"])[i].(object), b["status"])})
	}
	return object{
		"status": b["status"], "block_hash": b["block_hash"], "parent_hash": b["parent_block_hash"], "block_number": n, "new_root": b["state_root"],
		"timestamp": b["timestamp"], "sequencer_address": or(b["sequencer_address"], "0x0"), "starknet_version": or(b["starknet_version"], ""),
		"l1_gas_price": price("l1_gas_price"), "l1_data_gas_price": object{"price_in_wei": "0x1", "price_in_fri": "0x1"},
		"l2_gas_price": object{"price_in_wei": "0x1", "price_in_fri": "0x1"}, "l1_da_mode": or(b["l1_da_mode"], "CALLDATA"), "transactions": items,
	}
}

func (c *realChain) stateUpdate(n int) object {
	u := c.updates[n]
	from := u["state_diff"].(object)
	diff := object{"storage_diffs": []any{}, "nonces": []any{}, "replaced_classes": []any{}, "deployed_contracts": from["deployed_contracts"],
		"declared_classes": list(from["declared_classes"]), "deprecated_declared_classes": list(from["old_declared_contracts"])}
	for address, entries := range from["storage_diffs"].(object) {
		diff["storage_diffs"] = append(diff["storage_diffs"].([]any), object{"address": address, "storage_entries": entries})
	}
	for address, nonce := range from["nonces"].(object) {
		diff["nonces"] = append(diff["nonces"].([]any), object{"contract_address": address, "nonce": nonce})
	}
	return object{"block_hash": u["block_hash"], "new_root": u["new_root"], "old_root": u["old_root"], "state_diff": diff}
}

// serve is a node that has these blocks and none of their classes.
func (c *realChain) serve(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var calls []object
		batch := json.Unmarshal(body, &calls) == nil
		if !batch {
			calls = make([]object, 1)
			if err := json.Unmarshal(body, &calls[0]); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		answers := []object{}
		for _, call := range calls {
			answers = append(answers, c.answer(call))
		}
		var out any = answers
		if !batch {
			out = answers[0]
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Errorf("answer: %v", err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func (c *realChain) answer(call object) object {
	fail := func(code int, message string) object {
		return object{"jsonrpc": "2.0", "id": call["id"], "error": object{"code": code, "message": message}}
	}
	params, _ := call["params"].(object)
	at := func() (int, bool) {
		switch id := params["block_id"].(type) {
		case string:
			return len(c.blocks) - 1, id == "latest" || id == "l1_accepted"
		case object:
			for n := range c.blocks {
				if id["block_number"] == float64(n) || id["block_hash"] == c.blocks[n]["block_hash"] {
					return n, true
				}
			}
		}
		return 0, false
	}
	n, found := at()
	var result any
	switch method := call["method"].(string); method {
	case "starknet_specVersion":
		result = "0.10.0"
	case "starknet_chainId":
		result = fmt.Sprintf("0x%x", c.id)
	case "starknet_blockNumber":
		result = len(c.blocks) - 1
	case "starknet_blockHashAndNumber":
		result = object{"block_hash": c.blocks[len(c.blocks)-1]["block_hash"], "block_number": len(c.blocks) - 1}
	case "starknet_syncing":
		result = false
	case "starknet_getBlockWithReceipts", "starknet_getStateUpdate", "starknet_getBlockWithTxHashes", "starknet_getBlockTransactionCount":
		if !found {
			return fail(24, "Block not found")
		}
		switch method {
		case "starknet_getBlockWithReceipts":
			result = c.blockWithReceipts(n)
		case "starknet_getStateUpdate":
			result = c.stateUpdate(n)
		case "starknet_getBlockTransactionCount":
			result = len(list(c.blocks[n]["transactions"]))
		default:
			b := c.blockWithReceipts(n)
			hashes := []any{}
			for _, item := range b["transactions"].([]any) {
				hashes = append(hashes, item.(object)["transaction"].(object)["transaction_hash"])
			}
			b["transactions"] = hashes
			result = b
		}
	case "starknet_getClass":
		return fail(28, "Class hash not found")
	default:
		return fail(-32601, "Method not found")
	}
	return object{"jsonrpc": "2.0", "id": call["id"], "result": result}
}
